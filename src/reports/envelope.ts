import type { HeavyAsk, HeavyKind } from '../lane/heavy.ts'
import { parseAuthenticationResults } from '../message/authentication-results.ts'
import { signersOf, type VerifiedSignature } from '../message/dkim.ts'
import { lookupKeys } from '../message/keys.ts'
import { authorOf, type CountedMail, type Field, fieldBody, parseMail } from '../message/parse.ts'
import { verify } from '../message/verify.ts'
import { canonicalName } from '../names/domain.ts'
import type { Ctx } from '../world.ts'
import type { Envelope, ReportSignature } from './reporters.ts'

type EnvelopeOutline = Pick<Envelope, 'from' | 'isTrusted' | 'domains'> &
  Pick<CountedMail, 'lfEnds'> & { readonly keys: readonly string[] }

/** Reads who sent a message, and the names of the keys that verify it. `trusted`: names of hosts (`--reports-trust`). */
export const envelope: HeavyKind<{ readonly trusted: readonly string[] }, EnvelopeOutline> = {
  name: 'envelope',
  work: (octets, { trusted }) => {
    const mail = parseMail(octets)
    const results = trusted.length > 0 ? mail.fields.find(({ name }) => name === 'authentication-results') : undefined
    return {
      from: authorOf(mail.fields).mailboxes.map(({ address }) => address.toLowerCase()),
      ...domainsIn(mail.fields),
      isTrusted: results !== undefined && saysPass(fieldBody(results), trusted),
      lfEnds: mail.lfEnds,
      keys: signersOf(mail).keys,
    }
  },
}

/** The fields that name the domain of a TLS report, and where (RFC 8460 §5.3). */
const DOMAIN: Readonly<Record<string, RegExp>> = {
  'tls-report-domain': /^\s*([^\s;]{1,253})\s*$/,
  subject: /\bReport Domain:\s*([^\s;]{1,253})/i,
}

function domainsIn(fields: readonly Field[]): Pick<Envelope, 'domains'> {
  const named = Object.entries(DOMAIN).flatMap(([name, pattern]) => {
    const field = fields.find((one) => one.name === name)
    const domain = field && pattern.exec(fieldBody(field).slice(0, 1_000))?.[1]
    return domain === undefined ? [] : [[name, canonicalName(domain)] as const]
  })
  return named.length === 0 ? {} : { domains: Object.fromEntries(named) }
}

/** Whether an Authentication-Results field of a trusted host says dmarc=pass (RFC 8601 §2.2). */
function saysPass(text: string, trusted: readonly string[]): boolean {
  const { host, claims } = parseAuthenticationResults(text)
  return trusted.includes(host) && claims.some(({ method, result }) => method === 'dmarc' && result === 'pass')
}

/** How long the DNS may take to answer for all keys of a message, ms. */
const DNS_MS = 5_000

/** What is known of a message that brings a report. Rejects with LaneError; never because of the DNS. */
export async function envelopeOf(
  message: Uint8Array,
  ctx: Pick<Ctx, 'resolve' | 'heavy' | 'now'>,
  trusted: readonly string[],
  ask: HeavyAsk,
): Promise<Envelope> {
  const { lfEnds, keys, ...said } = await ctx.heavy(envelope, message, { trusted }, ask)
  const signal = AbortSignal.any([ask.signal, AbortSignal.timeout(DNS_MS)])
  const answers = await lookupKeys({ resolve: ctx.resolve, signal }, keys)
  ask.signal.throwIfAborted()
  const { dkim } = await ctx.heavy(verify, message, { lfEnds, keys: answers, at: ctx.now(), isReport: true }, ask)
  return { ...said, signatures: dkim.map(signatureOf) }
}

/** What says nothing about the sender: a key that is gone, a signature that has expired. */
const SILENT: readonly string[] = ['signature.key_gone', 'signature.key_revoked', 'signature.expired']

function signsOf(names: readonly string[] = []): Pick<ReportSignature, 'signs'> {
  const signs = Object.keys(DOMAIN).filter((name) => names.includes(name))
  return signs.length === 0 ? {} : { signs }
}

const signatureOf = ({ domain, result, because, signature, key }: VerifiedSignature): ReportSignature => ({
  domain,
  result:
    result === 'pass'
      ? 'pass'
      : result === 'temperror'
        ? 'unanswered'
        : because !== undefined && SILENT.includes(because.id)
          ? 'unknown'
          : 'fail',
  signsFrom: signature?.names.includes('from') ?? false,
  ...signsOf(signature?.names),
  isPartial: signature?.limit !== undefined,
  ...(key?.onlyFor && { isOfTlsReports: true }),
})
