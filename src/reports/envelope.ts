import type { HeavyAsk, HeavyKind } from '../lane/heavy.ts'
import { parseAuthenticationResults } from '../message/authentication-results.ts'
import { signersOf, type VerifiedSignature } from '../message/dkim.ts'
import { lookupKeys } from '../message/keys.ts'
import { authorOf, type CountedMail, fieldBody, parseMail } from '../message/parse.ts'
import { verify } from '../message/verify.ts'
import type { Ctx } from '../world.ts'
import type { Envelope, ReportSignature } from './reporters.ts'

type EnvelopeOutline = Pick<Envelope, 'from' | 'isTrusted'> &
  Pick<CountedMail, 'lfEnds'> & { readonly keys: readonly string[] }

/** Reads who sent a message, and the names of the keys that verify it. `trusted`: names of hosts (`--reports-trust`). */
export const envelope: HeavyKind<{ readonly trusted: readonly string[] }, EnvelopeOutline> = {
  name: 'envelope',
  work: (octets, { trusted }) => {
    const mail = parseMail(octets)
    const results = trusted.length > 0 ? mail.fields.find(({ name }) => name === 'authentication-results') : undefined
    return {
      from: authorOf(mail.fields).mailboxes.map(({ address }) => address.toLowerCase()),
      isTrusted: results !== undefined && saysPass(fieldBody(results), trusted),
      lfEnds: mail.lfEnds,
      keys: signersOf(mail).keys,
    }
  },
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
  isPartial: signature?.limit !== undefined,
  ...(key?.onlyFor && { isOfTlsReports: true }),
})
