/**
 * Filters that rewrite the links of the mail that their customers receive: the host of such links, and the link that
 * was there before; `undo` is absent where the link does not tell it. `seen`: the source of the row.
 */
type Rewriter = {
  readonly service: string
  readonly host: RegExp
  /** What its links have besides the host, where it runs on hosts of its customers. */
  readonly path?: RegExp
  readonly undo?: (link: string) => string | undefined
  readonly seen: string
}

const parameter =
  (name: RegExp) =>
  (link: string): string | undefined =>
    percentDecoded(name.exec(link)?.[1])
/** Links that the rewriter put behind its own URL. */
const behind = (link: string): string | undefined => percentDecoded(/.\/(https?(?::\/\/|%3A).*)$/i.exec(link)?.[1])

const KACHI = 'github.com/ninoseki/kachi, rules (November 2026)'
const IN_TEXTS = 'links in public texts and code (November 2026)'
const REWRITERS: readonly Rewriter[] = [
  {
    service: 'Proofpoint URL Defense (urldefense.com)',
    host: /^urldefense\.(?:com|us)$/,
    undo: (link) => link.replace(/^.*?\/v3\/__(.+?)__;[^$]*\$?/, '$1'),
    seen: KACHI,
  },
  {
    service: 'Proofpoint URL Defense (urldefense.proofpoint.com)',
    host: /^urldefense\.proofpoint\.com$/,
    undo: (link) => {
      const written = /[?;&]u=([^&]+)/.exec(link)?.[1]
      return percentDecoded(link.includes('/v1/') ? written : written?.replaceAll('-', '%').replaceAll('_', '/'))
    },
    seen: KACHI,
  },
  {
    service: 'Microsoft Safe Links (safelinks.protection.outlook.com)',
    host: /\.safelinks\.protection\.(?:outlook\.com|office365\.us)$/,
    undo: parameter(/[?;&]url=([^&]+)/),
    seen: KACHI,
  },
  {
    service: 'Barracuda Link Protect (linkprotect.cudasvc.com)',
    host: /^linkprotect\.cudasvc\.com$/,
    undo: parameter(/[?;&]a=([^&]+)/),
    seen: KACHI,
  },
  {
    service: 'FireEye URL Defense (protect2.fireeye.com)',
    host: /^protect2?\.fireeye\.com$/,
    undo: parameter(/[?;&]u=([^&]+)/),
    seen: KACHI,
  },
  {
    service: 'Trend Micro Email Security (ctp.trendmicro.com)',
    host: /(?:ctp|urlprotect)\.trendmicro\.com$/,
    undo: parameter(/[?;&]url=([^&]+)/),
    seen: KACHI,
  },
  {
    service: 'Libraesva URL Sandbox (urlsand.esvalabs.com)',
    host: /^urlsand\.esvalabs\.com$/,
    undo: parameter(/[?;&]u=([^&]+)/),
    seen: KACHI,
  },
  { service: 'Sophos Email (protection.sophos.com)', host: /\.protection\.sophos\.com$/, seen: KACHI },
  {
    service: 'Cisco Secure Email (secure-web.cisco.com)',
    host: /^secure-web\.cisco\.com$/,
    undo: behind,
    seen: 'University of Texas, KB0015830; docs.ces.cisco.com/docs/url-defense (November 2026)',
  },
  {
    service: 'Mimecast URL Protect (protect.mimecast.com, mimecastprotect.com)',
    host: /^protect(?:-[a-z]{2})?\.mimecast\.com$|^url(?:\.[a-z]{2,4})?\.m\.mimecastprotect\.com$/,
    seen: `LogRhythm PIE, Invoke-PIEUrlDecode; ${IN_TEXTS}`,
  },
  {
    service: 'Symantec Click-time URL Protection (clicktime.symantec.com)',
    host: /^clicktime\.symantec\.com$/,
    undo: parameter(/[?;&]u=([^&]+)/),
    seen: IN_TEXTS,
  },
  {
    service: 'Check Point Harmony Email (url.avanan.click, protect.checkpoint.com)',
    host: /^(?:url\.avanan\.click|protect\.checkpoint\.com)$/,
    undo: (link) => /___(https?:.+?)___/i.exec(link)?.[1],
    seen: IN_TEXTS,
  },
  {
    service: 'Hornetsecurity (atpscan.global.hornetsecurity.com)',
    host: /^atpscan\.(?:[a-z]+\.)?hornetsecurity\.com$/,
    undo: parameter(/[?;&]u=([^&]+)/),
    seen: IN_TEXTS,
  },
  {
    service: 'Fortinet FortiMail (/fmlurlsvc/)',
    host: /./,
    path: /^https?:\/\/[^/]+\/fmlurlsvc\/\?/i,
    undo: parameter(/[?;&]url=([^&]+)/),
    seen: IN_TEXTS,
  },
  {
    service: 'Trustwave MailMarshal (scanmail.trustwave.com)',
    host: /^scanmail\.trustwave\.com$/,
    undo: parameter(/[?;&]u=([^&]+)/),
    seen: IN_TEXTS,
  },
  {
    service: 'TitanHQ LinkLock (linklock.titanhq.com)',
    host: /^linklock\.titanhq\.com$/,
    undo: parameter(/[?;&]url=([^&]+)/),
    seen: IN_TEXTS,
  },
  {
    service: 'Topsec (scanner.topsec.com)',
    host: /^scanner\.topsec\.com$/,
    undo: parameter(/[?;&]u=([^&]+)/),
    seen: IN_TEXTS,
  },
  {
    service: 'Vade (vadesecure.com)',
    host: /^(?:antiphishing|(?:m365|gws)\.[a-z]{2})\.vadesecure\.com$/,
    undo: parameter(/[?;&]u=([^&]+)/),
    seen: IN_TEXTS,
  },
  { service: 'Mailinblack (mailinblack.com)', host: /^mibc-[a-z]{2}-\d+\.mailinblack\.com$/, seen: IN_TEXTS },
  { service: 'INKY (inky.com)', host: /^shared\.outlook\.inky\.com$/, seen: IN_TEXTS },
  {
    service: 'Proofpoint URL Isolation (urlisolation.com)',
    host: /^urlisolation\.com$/,
    undo: parameter(/[?;&]url=([^&]+)/),
    seen: IN_TEXTS,
  },
  { service: 'Darktrace (antigena.com)', host: /^(?:[a-z]{2}\d\d\.)?l\.antigena\.com$/, seen: IN_TEXTS },
  { service: 'URL protection of emailprotection.link', host: /^url\.emailprotection\.link$/, seen: IN_TEXTS },
  { service: 'KnowBe4 Defend (defend.egress.com)', host: /^links\.[a-z]{2}\d\.defend\.egress\.com$/, seen: IN_TEXTS },
]

function percentDecoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** A link with its host, up to a character that ends one in a text or in HTML. */
const LINK = /https?:\/\/([^\s"'<>/:?]{1,255})[^\s"'<>]{0,4000}/gi

/** The filter whose links a text has, and the text with the links that were there before. Linear. */
export function withoutRewriting(text: string): { readonly service: string; readonly text: string } | undefined {
  let service: string | undefined
  const original = text.replace(LINK, (link, name: string) => {
    const found = REWRITERS.find(({ host, path }) => host.test(name.toLowerCase()) && (path?.test(link) ?? true))
    service ??= found?.service
    return found?.undo?.(link) ?? link
  })
  return service === undefined ? undefined : { service, text: original }
}
