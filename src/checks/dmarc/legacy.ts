import type { Domain } from '../../names/domain.ts'
import { registrableDomain } from '../../names/suffix.ts'
import { type DmarcReading, type Policy, parseDmarc } from './parse.ts'
import { policiesOf } from './policy.ts'
import { type WalkAnswer, walkDomains } from './walk.ts'

/** How a receiver of RFC 7489 reads the same records: by the public suffix list, with `pct`, without `np`, `psd` and `t`. */
export type LegacyReading = {
  readonly organizationalDomain: string
  /** Where the record was found; absent if DMARC is not applied. */
  readonly foundAt?: string
  readonly policy?: Policy
  /** Percentage of messages to which the policy applies, if it is not 100 (RFC 7489 §6.3). */
  readonly pct?: number
}

/** Policy discovery of RFC 7489 §6.6.3 from the answers of the walk; undefined if they are not sufficient. */
export function legacyReading(domain: Domain, answers: readonly WalkAnswer[]): LegacyReading | undefined {
  const domains = walkDomains(domain)
  const organizationalDomain = registrableDomain(domain) ?? domain
  const own = recordsAt(answers[0])
  if (own === undefined) return undefined
  if (own.length > 0) return readingOf(own, domain, organizationalDomain, false)
  if (organizationalDomain === domain) return { organizationalDomain }
  const index = domains.indexOf(organizationalDomain)
  const above = recordsAt(answers[index])
  return above && readingOf(above, organizationalDomain, organizationalDomain, true)
}

/** §6.6.3 step 5: with several records, as with none, discovery ends and DMARC is not applied. */
function readingOf(
  records: readonly DmarcReading[],
  foundAt: string,
  organizationalDomain: string,
  inherited: boolean,
): LegacyReading {
  const [reading] = records
  if (records.length !== 1 || !reading) return { organizationalDomain }
  const { record } = reading
  // §6.6.3 step 6: without a valid "p", or with an invalid "sp", only a valid "rua" keeps the record, as p=none. RFC 7489 does not know `np`.
  const known = { ...reading, faults: reading.faults.filter((fault) => fault.tag !== 'np') }
  const policies = policiesOf(known)
  const reports = record.rua.some((uri) => uri.problem === undefined)
  if (typeof policies === 'string' || (record.p === undefined && !reports)) return { organizationalDomain }
  const pct = /^\d{1,3}$/.test(record.removed.pct ?? '') ? Number(record.removed.pct) : 100
  return {
    organizationalDomain,
    foundAt,
    policy: inherited ? policies.sp : policies.p,
    ...(pct < 100 ? { pct } : {}),
  }
}

function recordsAt(answer: WalkAnswer | undefined): readonly DmarcReading[] | undefined {
  if (answer === undefined || answer.kind === 'unknown') return undefined
  return answer.texts.flatMap((text) => {
    const parsed = parseDmarc(text)
    return parsed.ok ? [parsed.value] : []
  })
}
