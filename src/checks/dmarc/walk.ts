import type { Problem } from '../../base/problem.ts'
import { canonicalName, type Domain, labelsOf } from '../../names/domain.ts'
import { registrableDomain } from '../../names/suffix.ts'
import { type DmarcReading, type Policy, parseDmarc, policiesOf, resemblesDmarc } from './parse.ts'
import { walkProblem } from './problems.ts'

/** The DNS answer at one name of the walk; `unknown` without an answer, with the reason. */
export type WalkAnswer =
  | {
      readonly kind: 'found' | 'nodata' | 'nxdomain'
      readonly texts: readonly string[]
      /** The name of the texts, if the queried name is an alias (CNAME). */
      readonly alias?: string
    }
  | { readonly kind: 'unknown'; readonly reason: Problem }

/** The result of a step of the walk. */
type Decision =
  | 'no_record'
  | 'record'
  | 'discarded_several' // RFC 9989 §4.10 steps 2 and 6
  | 'discarded_malformed' // texts that were meant to be DMARC records but are not
  | 'boundary_psd_n' // a record that declares: this is the organizational domain; the walk stops
  | 'boundary_psd_y' // a record of a public suffix; the walk stops
  | 'unanswered'

export type Step = {
  /** The queried name: `_dmarc.` and `domain`. */
  readonly name: string
  readonly domain: string
  readonly answer: WalkAnswer['kind']
  /** Why there was no answer. */
  readonly reason?: Problem
  /** The texts that are DMARC records, or were meant to be; at most {@link MAX_RECORDS}. */
  readonly records: readonly string[]
  /** The number of such texts. */
  readonly count: number
  /** The number of TXT records at the name that are unrelated to DMARC. */
  readonly others: number
  readonly decision: Decision
  /** The name of the records, if {@link Step.name} is an alias (CNAME). */
  readonly alias?: string
}

/** A record that the walk kept, and its domain. */
export type Found = { readonly domain: string; readonly text: string; readonly reading: DmarcReading }

export type Walk = {
  /** In the order of the walk, up to the step that stopped it. At most 8. */
  readonly steps: readonly Step[]
  /** The record that applies (RFC 9989 §4.10.1), absent if there is none or if that could not be determined. */
  readonly applied?: Found
  /** The organizational domain (§4.10.2), absent if it could not be determined. */
  readonly organizationalDomain?: string
  /** The first name without an answer on which the policy depends. */
  readonly unknown?: Step
}

/** Maximum number of TXT records kept per name. */
export const MAX_RECORDS = 10

/**
 * The domains of the walk: the name itself, then its parents down to the top-level domain; for 8 labels and more, its
 * last 7 labels come next, so there are at most 8 (RFC 9989 §4.10).
 */
export function walkDomains(domain: string): readonly string[] {
  const labels = labelsOf(canonicalName(domain))
  const parents = labels.length >= 8 ? labels.slice(-7) : labels.slice(1)
  return [labels.join('.'), ...parents.map((_, i) => parents.slice(i).join('.'))]
}

/**
 * Judges the answers at {@link walkDomains}, in that order: which records are kept, where the walk stops, which record
 * applies (RFC 9989 §4.10).
 */
export function judgeWalk(domain: Domain, answers: readonly WalkAnswer[]): Walk {
  const steps: Step[] = []
  const found: Found[] = []
  for (const [i, at] of walkDomains(domain).entries()) {
    const { step, record } = judgeStep(at, answers[i] ?? { kind: 'unknown', reason: walkProblem('not_asked') })
    steps.push(step)
    if (record) found.push(record)
    if (step.decision === 'boundary_psd_n' || step.decision === 'boundary_psd_y') break // §4.10 steps 2 and 6
  }
  const unanswered = steps.find((step) => step.decision === 'unanswered')
  const organizational = organizationalDomain(domain, found)
  // Any name without an answer may have the record with the fewest labels, or a psd tag that ends the walk earlier.
  const known = unanswered === undefined ? { organizationalDomain: organizational } : {}
  const own = found.find((record) => record.domain === domain)
  if (own) return { steps, applied: own, ...known } // §4.10.1: the author domain's own record needs no walk
  if (unanswered) return { steps, unknown: unanswered }
  const applied = found.find((record) => record.domain === organizational) ?? publicSuffixRecord(found)
  return { steps, ...known, ...(applied ? { applied } : {}) }
}

/** The organizational domain by the records of a walk, longest name first (RFC 9989 §4.10.2). */
export function organizationalDomain(start: string, found: readonly Found[]): string {
  for (const { domain, reading } of found) {
    if (reading.record.psd === 'n') return domain
    if (reading.record.psd === 'y' && domain !== start) return oneBelow(domain, start)
  }
  return found.at(-1)?.domain ?? start
}

const publicSuffixRecord = (found: readonly Found[]): Found | undefined =>
  found.find((record) => record.reading.record.psd === 'y')

/** The ancestor of `start`, or `start` itself, that is one label below `domain`. */
function oneBelow(domain: string, start: string): string {
  const labels = labelsOf(start)
  return labels.slice(-(labelsOf(domain).length + 1)).join('.')
}

function judgeStep(domain: string, answer: WalkAnswer): { readonly step: Step; readonly record?: Found } {
  const alias = answer.kind === 'unknown' ? undefined : answer.alias
  const base = { name: `_dmarc.${domain}`, domain, answer: answer.kind, ...(alias === undefined ? {} : { alias }) }
  if (answer.kind === 'unknown') {
    return { step: { ...base, reason: answer.reason, records: [], count: 0, others: 0, decision: 'unanswered' } }
  }
  const readings = answer.texts.map((text) => ({ text, parsed: parseDmarc(text) }))
  const records = readings.flatMap(({ text, parsed }) => (parsed.ok ? [{ domain, text, reading: parsed.value }] : []))
  const malformed = readings.filter(({ text, parsed }) => !parsed.ok && resemblesDmarc(text)).map(({ text }) => text)
  const shown = records.length > 0 ? records.map((record) => record.text) : malformed
  const step = {
    ...base,
    records: shown.slice(0, MAX_RECORDS),
    count: shown.length,
    others: answer.texts.length - records.length - malformed.length,
  }
  const only = records[0]
  if (only === undefined)
    return { step: { ...step, decision: malformed.length > 0 ? 'discarded_malformed' : 'no_record' } }
  if (records.length > 1) return { step: { ...step, decision: 'discarded_several' } }
  const psd = only.reading.record.psd
  return { step: { ...step, decision: psd === 'u' ? 'record' : `boundary_psd_${psd}` }, record: only }
}

/**
 * How a receiver of RFC 7489 reads the same records: by the public suffix list, with `pct`, without `np`, `psd` and
 * `t`.
 */
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
  // §6.6.3 step 6: without a valid "p", or with an invalid "sp", only a valid "rua" keeps the record, as p=none. RFC
  // 7489 does not know `np`.
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
