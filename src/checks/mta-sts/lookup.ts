import type { Problem } from '../../base/problem.ts'
import type { Domain } from '../../names/domain.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
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
  | { readonly kind: 'content_type'; readonly contentType: string }
  | { readonly kind: 'refused'; readonly problem: Problem }
  | { readonly kind: 'unknown'; readonly reason: FetchReason; readonly problem: Problem }

/** The MTA-STS records at `_mta-sts`, and the policy. */
export type StsFacts = OneRecord<StsRecord> & {
  readonly domain: Domain
  /** The target of `_mta-sts`, if that is an alias: the record can be changed only there. */
  readonly alias?: string
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
  const [alias] = answer.cname
  const found = { domain, ...(alias !== undefined && { alias }), ...oneRecord(answer.records, kind) }
  // RFC 8461 §3.1: without exactly one readable record there is no policy.
  if (!found.parsed?.ok) return found
  const policy = await fetchPolicy(ctx, domain)
  if (policy.kind !== 'unknown' || (await mayHaveAddress(ctx, `mta-sts.${domain}`))) return { ...found, policy }
  return { ...found, policy: { kind: 'refused', problem: stsFetchProblem('no_host', { host: `mta-sts.${domain}` }) } }
}

/** Whether a host has an address, or that is not known: asked only where it did not answer. */
async function mayHaveAddress(ctx: Pick<Ctx, 'resolve' | 'signal'>, host: string): Promise<boolean> {
  const answers = await Promise.all(
    (['A', 'AAAA'] as const).map((type) => settled(ctx.resolve(host, type, ctx.signal))),
  )
  return answers.some((answer) => answer instanceof DnsError || answer.kind === 'found')
}

async function fetchPolicy(ctx: Pick<Ctx, 'fetch' | 'signal'>, domain: Domain): Promise<PolicyAnswer> {
  try {
    // RFC 8461 §3.3: HTTPS, the certificate valid for mta-sts.<domain>, redirects not followed, status 200 and
    // text/plain.
    const limits = { maxBytes: MAX_POLICY_BYTES, redirects: 0, accept: 'text/plain' }
    const answer = await ctx.fetch(policyUrl(domain), ctx.signal, limits)
    if (answer.status >= 300 && answer.status < 400)
      return { kind: 'refused', problem: stsFetchProblem('redirect', { status: answer.status }) }
    if (answer.status !== 200) return { kind: 'refused', problem: stsFetchProblem('status', { status: answer.status }) }
    if (!isPlainText(answer.contentType)) return { kind: 'content_type', contentType: answer.contentType }
    const policy = parseStsPolicy(new TextDecoder().decode(answer.body))
    return policy.ok ? { kind: 'read', policy: policy.value } : { kind: 'invalid', problem: policy.problem }
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    const { reason, problem } = error
    return isTheirs(error) || isRefused(error) ? { kind: 'refused', problem } : { kind: 'unknown', reason, problem }
  }
}

/** Nothing listens at the port of the host. */
const isRefused = ({ reason, cause }: FetchError): boolean =>
  reason === 'connect' && cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
