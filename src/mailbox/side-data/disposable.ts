import { once } from '../../base/share-work.ts'
import { POPULAR_DOMAINS } from '../../names/popular.ts'
import { registrableDomain } from '../../names/suffix.ts'
import { loadPackage } from '../../own-files.ts'

/**
 * On the shipped lists, but not disposable: forwarders to one person's permanent mailbox, and providers of real
 * mailboxes.
 */
const REAL = new Set([
  ...POPULAR_DOMAINS,
  ...`duck.com simplelogin.com simplelogin.co simplelogin.fr simplelogin.io slmail.me slmails.com 8shield.net 8alias.com aleeas.com dralias.com silomails.com
      passmail.net passmail.com passinbox.com mozmail.com relay.firefox.com privaterelay.appleid.com icloud-mail.com anonaddy.com anonaddy.me addy.io
      4wrd.cc mailer.me erine.email opayq.com sneakemail.com 33mail.com burnermail.io hide-my-email.com spamgourmet.com ivpn.me cloak.id
      keemail.me tuta.com tutamail.com tutanota.de startmail.com runbox.com mailfence.com disroot.org riseup.net cock.li kolabnow.com
      consultant.com dr.com writeme.com myself.com mindless.com post.com engineer.com usa.com europe.com asia.com email.com iname.com
      tom.com 21cn.com sify.com sdf.org nus.edu.sg test.de gmail.co`.split(/\s+/),
])

/** Disposable domains that are on neither shipped list. */
const ALSO_DISPOSABLE = new Set(['dbbd8.club', 'tempmail.lol'])

/** Mail hosts of disposable domains that are themselves on no list. */
const DISPOSABLE_HOSTS = new Set([
  'mail.tm',
  'mailinator.com',
  'mailinator.net',
  'yopmail.com',
  'guerrillamail.com',
  'sharklasers.com',
  'maildrop.cc',
  'generator.email',
  'emailfake.com',
  'temp-mail.io',
  'temp-mail.org',
  'dropmail.me',
  '1secmail.com',
  'moakt.com',
  'mohmal.com',
  'trashmail.com',
  'discard.email',
  'mailnesia.com',
  'getnada.com',
  'inboxes.com',
  'tempmail.plus',
])

/**
 * Whether a domain is disposable: it or a parent domain is on a shipped list (public suffixes such as `za.com` do not
 * count for the names below them), and neither is known as real. Undefined if a list that cannot be read could have it.
 * `domain` in lower case, as A-labels.
 */
export function isDisposable(domain: string): boolean | undefined {
  const names = upward(domain)
  if (names.some((name) => REAL.has(name))) return false
  if (names.some((name) => ALSO_DISPOSABLE.has(name))) return true
  return anyOf(disposableLists.map((list) => list() && names.some((name) => list()?.has(name))))
}

/** Whether the mail of a domain goes to a disposable mail host, as {@link isDisposable}. `mxHosts` in any case. */
export const hasDisposableHost = (mxHosts: readonly string[]): boolean | undefined =>
  anyOf(
    mxHosts.slice(0, 20).map((host) => {
      const names = upward(host.toLowerCase().replace(/\.$/, ''))
      if (names.some((name) => REAL.has(name))) return false
      return names.some((name) => DISPOSABLE_HOSTS.has(name)) || isDisposable(names.at(-1) ?? '')
    }),
  )

/** The name and its parent domains up to the registrable domain: at most 10. */
function upward(name: string): string[] {
  if (name.length > 253) return []
  const registrable = registrableDomain(name)
  if (registrable === undefined) return [name]
  const names: string[] = []
  for (let at = name; names.length < 10; at = at.slice(at.indexOf('.') + 1)) {
    names.push(at)
    if (at === registrable) return names
  }
  return [...names, registrable]
}

/** True if any of them is, else undefined if any is not known. */
export const anyOf = (found: readonly (boolean | undefined)[]): boolean | undefined =>
  found.includes(true) || (found.includes(undefined) ? undefined : false)

/** A shipped list of domains, read at first use and not at startup; undefined if its file is missing or damaged. */
const shippedList = (read: () => Iterable<string>): (() => ReadonlySet<string> | undefined) =>
  once(() => {
    try {
      return new Set(read())
    } catch {
      return undefined
    }
  })

type Careful = { readonly disposableEmailBlocklist: () => readonly string[] }
type Large = { readonly blacklist: () => ReadonlySet<string> }
/** Disposable domains: a curated list (disposable-email-domains) and a large one (mailchecker). */
const disposableLists = [
  shippedList(() => (loadPackage('disposable-email-domains-js') as Careful).disposableEmailBlocklist()),
  shippedList(() => (loadPackage('mailchecker') as Large).blacklist()),
]

/** Every domain of a provider that offers mailboxes to anyone (email-providers). */
export const freeDomains = shippedList(() => loadPackage('email-providers/all.json') as readonly string[])

/** The well-known providers of these. */
export const commonDomains = shippedList(() => loadPackage('email-providers/common.json') as readonly string[])
