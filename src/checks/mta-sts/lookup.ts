import type { Problem } from '../../base/problem.ts'
import type { Domain } from '../../names/domain.ts'
import { FetchError, type FetchReason, isTheirs } from '../../net/fetch.ts'
import type { Ctx } from '../../world.ts'
import { type OneRecord, oneRecord } from '../one-record.ts'
import { isStsRecord, parseStsRecord, resemblesStsRecord, type StsRecord } from './parse.ts'
import { isPlainText, MAX_POLICY_BYTES, parseStsPolicy, type StsPolicy } from './policy.ts'
import { stsFetchProblem } from './problems.ts'

/**
 * The result of fetching the policy. `refused` is a fault that every sender gets; `unknown` may be our own, or
 * temporary.
 */
export type PolicyAnswer =
  | { readonly kind: 'read'; readonly policy: StsPolicy }
  | { readonly kind: 'invalid'; readonly problem: Problem }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'content_type'; readonly contentType: string }
  | { readonly kind: 'refused'; readonly reason: FetchReason; readonly problem: Problem }
  | { readonly kind: 'unknown'; readonly reason: FetchReason; readonly problem: Problem }

/** The MTA-STS records at `_mta-sts`, and the policy. */
export type StsFacts = OneRecord<StsRecord> & {
  readonly domain: Domain
  /** Fetched only if there is exactly one readable record. */
  readonly policy?: PolicyAnswer
  /** Mail hosts that the policy does not name; filled in by the judge if both are known. */
  readonly uncovered?: readonly string[]
}

export const policyUrl = (domain: string): string => `https://mta-sts.${domain}/.well-known/mta-sts.txt`

/**
 * Queries the MTA-STS record of `domain` and, if there is one, fetches the policy (RFC 8461 §3): one GET, 64 KiB, no
 * redirect, with a verified certificate. Rejects with DnsError if the record's name gives no answer; everything else is
 * in the facts.
 */
export async function lookupMtaSts(ctx: Pick<Ctx, 'resolve' | 'fetch' | 'signal'>, domain: Domain): Promise<StsFacts> {
  const answer = await ctx.resolve(`_mta-sts.${domain}`, 'TXT', ctx.signal)
  const kind = { is: isStsRecord, resembles: resemblesStsRecord, parse: parseStsRecord }
  const found = { domain, ...oneRecord(answer.records, kind) }
  // RFC 8461 §3.1: without exactly one readable record there is no policy.
  return found.parsed?.ok ? { ...found, policy: await fetchPolicy(ctx, domain) } : found
}

async function fetchPolicy(ctx: Pick<Ctx, 'fetch' | 'signal'>, domain: Domain): Promise<PolicyAnswer> {
  try {
    // RFC 8461 §3.3: HTTPS, the certificate valid for mta-sts.<domain>, redirects not followed, status 200 and
    // text/plain.
    const limits = { maxBytes: MAX_POLICY_BYTES, redirects: 0, accept: 'text/plain' }
    const answer = await ctx.fetch(policyUrl(domain), ctx.signal, limits)
    if (answer.status >= 300 && answer.status < 400)
      return { kind: 'refused', reason: 'redirect', problem: stsFetchProblem('redirect', { status: answer.status }) }
    if (answer.status !== 200) return { kind: 'status', status: answer.status }
    if (!isPlainText(answer.contentType)) return { kind: 'content_type', contentType: answer.contentType }
    const policy = parseStsPolicy(new TextDecoder().decode(answer.body))
    return policy.ok ? { kind: 'read', policy: policy.value } : { kind: 'invalid', problem: policy.problem }
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    const { reason, problem } = error
    return isTheirs(error) ? { kind: 'refused', reason, problem } : { kind: 'unknown', reason, problem }
  }
}
