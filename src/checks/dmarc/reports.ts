import type { Problem } from '../../base/problem.ts'
import { type Domain, labelsOf } from '../../names/domain.ts'
import { parseDmarc } from './parse.ts'
import { destinationProblem } from './problems.ts'
import type { ReportUri } from './uri.ts'

/**
 * Whether a destination gets reports (RFC 9990 §4): `internal` has the same organizational domain and needs no
 * authorization; `unauthorized` has not declared that it accepts them; `unknown` has no answer; `invalid` is not a
 * usable URI.
 */
export type Authorization = 'internal' | 'authorized' | 'unauthorized' | 'unknown' | 'invalid'
export type Destination = ReportUri & {
  readonly authorization: Authorization
  /** Why it is unauthorized, unknown or unreachable. */
  readonly reason?: Problem
  /** Whether the host of a `mailto:` accepts mail; null: no answer; absent: not queried. */
  readonly takesMail?: boolean | null
}

/** Maximum number of report destinations that are queried; the others are `unknown`. */
export const MAX_DESTINATIONS = 10

/**
 * The name at which a destination authorizes reports about `policyDomain`, the domain where the record was found (RFC
 * 9990 §4 steps 1 to 3).
 */
export const authorizationName = (policyDomain: string, host: string): string =>
  `${policyDomain}._report._dmarc.${host}`

/** Reads the records at {@link authorizationName} (RFC 9990 §4 steps 6 to 9). */
export function judgeAuthorization(
  texts: readonly string[],
  host: Domain,
): Pick<Destination, 'authorization' | 'reason'> {
  const records = texts.flatMap((text) => {
    const parsed = parseDmarc(text)
    // Step 6: discarded unless the text is a list of tag=value pairs that begins with v=DMARC1.
    return parsed.ok && !parsed.value.faults.some((fault) => fault.kind === 'item' && fault.tag === '')
      ? [parsed.value.record]
      : []
  })
  if (records.length === 0) return { authorization: 'unauthorized', reason: destinationProblem('no_record') }
  // Step 9 and the text after it: an overriding URI must keep the destination host, or no report is sent at all.
  const elsewhere = records.flatMap((record) => record.rua).find((uri) => uri.host !== undefined && uri.host !== host)
  if (elsewhere)
    return {
      authorization: 'unauthorized',
      reason: destinationProblem('redirects', { host: elsewhere.host! }),
    }
  return { authorization: 'authorized' }
}

type Relation =
  | { readonly kind: 'internal' | 'external' }
  /**
   * The host is below the organizational domain: it is internal unless one of these domains has a record with a psd
   * tag.
   */
  | { readonly kind: 'below'; readonly domains: readonly string[] }

/**
 * The relation of a host to the organizational domain of a policy, without another tree walk: both walks meet in the
 * organizational domain, so only a boundary (psd) between the two can separate them (RFC 9989 §4.10.2).
 */
export function relationOf(host: string, policyDomain: string, organizationalDomain: string): Relation {
  if (host === organizationalDomain || host === policyDomain) return { kind: 'internal' }
  if (!host.endsWith(`.${organizationalDomain}`)) return { kind: 'external' }
  const above = labelsOf(organizationalDomain).length
  const labels = labelsOf(host)
  const domains = labels.slice(0, labels.length - above).map((_, i) => labels.slice(i).join('.'))
  // RFC 9989 §4.10 step 4: a long name is queried itself, then its last 7 labels.
  return { kind: 'below', domains: domains.filter((_, i) => i === 0 || labels.length - i <= 7).slice(0, 8) }
}
