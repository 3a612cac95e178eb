import type { DmarcFields, Destination as ShownDestination } from '../../answers/checks.ts'
import type { DmarcAnswer } from '../../answers/questions.ts'
import { printable } from '../../base/text.ts'
import { defineCheck, type Outcome } from '../check.ts'
import type { DmarcFacts } from './facts.ts'
import { findings } from './findings.ts'
import { isHarmless } from './harmless.ts'
import { judgeDmarc } from './judge.ts'
import { lookupDmarc } from './lookup.ts'
import type { Destination } from './reports.ts'

export { aligned, type DmarcFacts, type PublishedPolicy, publishedPolicyOf } from './facts.ts'
export { weakens } from './harmless.ts'
export { judgeDmarc } from './judge.ts'
export { lookupDmarc, lookupPolicy } from './lookup.ts'
export { type DmarcRecord, formatDmarc, lowered, type Policy, shareOf, weaker } from './parse.ts'
export { reportUriProblem } from './problems.ts'
export { authorizationName, judgeAuthorization } from './reports.ts'
export { MAX_URIS, mendedUris, parseReportUris, type ReportUri } from './uri.ts'

/** DMARC: the policy that applies to a domain, found by the tree walk, and the receivers of its reports. */
export const dmarc = defineCheck<DmarcFacts, DmarcFields>({
  table: findings,
  lookup: lookupDmarc,
  judge: judgeDmarc,
  isHarmless,
  present: presentDmarc,
})

/** Maximum number of characters shown of a record. */
const MAX_TEXT = 2_048

/** The `dmarc` object of the API, without `status` and `reason`. Without a record the texts are empty. */
export function presentDmarc(outcome: Outcome<DmarcFacts>): DmarcFields {
  const applied = outcome.facts?.applied
  const record = applied?.reading.record
  return {
    valid: applied?.effective !== undefined,
    record: applied ? printable(applied.text, MAX_TEXT) : discardedRecord(outcome.facts),
    policy: applied?.policy ?? '',
    domain: applied?.domain,
    inherited: applied?.inherited ?? false,
    subdomain_policy: applied?.policies?.sp ?? '',
    np: applied?.policies?.np ?? '',
    effective_policy: applied?.effective ?? '',
    testing: record?.testing ?? false,
    psd: record?.psd ?? '',
    pct: pctOf(record?.removed.pct),
    rua: outcome.facts?.rua.map(presentDestination) ?? [],
    ruf: outcome.facts?.ruf.map(presentDestination) ?? [],
  }
}

type Lookup = Omit<DmarcAnswer, 'domain' | 'status' | 'reason' | 'findings'> & { readonly domain?: string | undefined }

/**
 * The answer of `/v1/dmarc` without `status`, `reason` and `findings`: the `dmarc` object with the steps of the walk
 * and the older reading.
 */
export function presentDmarcLookup(outcome: Outcome<DmarcFacts>): Lookup {
  const { domain: foundAt, ...fields } = presentDmarc(outcome)
  const { facts } = outcome
  const legacy = facts?.legacy
  return {
    domain: facts?.domain,
    ...fields,
    found_at: foundAt ?? '',
    organizational_domain: facts?.walk.organizationalDomain ?? '',
    exists: facts?.exists ?? null,
    steps: (facts?.walk.steps ?? []).map((step) => ({
      name: step.name,
      answer: step.answer,
      reason: step.reason?.text,
      records: step.records.map((text) => printable(text, MAX_TEXT)),
      record_count: step.count,
      decision: step.decision,
    })),
    legacy: legacy && {
      found_at: legacy.foundAt ?? '',
      organizational_domain: legacy.organizationalDomain,
      policy: legacy.policy ?? '',
      pct: legacy.pct,
    },
  }
}

/** A faulty record is shown nevertheless: the first of those that were discarded at the domain itself. */
function discardedRecord(facts: DmarcFacts | undefined): string | undefined {
  const text = facts?.walk.steps[0]?.records[0]
  return text === undefined ? undefined : printable(text, MAX_TEXT)
}

const pctOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : undefined

/**
 * `authorized` is null if no other organization has to authorize it, or if there was no answer; false for an unusable
 * address.
 */
function presentDestination(uri: Destination): ShownDestination {
  const authorized = { internal: null, unknown: null, authorized: true, unauthorized: false, invalid: false } as const
  return { uri: printable(uri.uri, 512), authorized: authorized[uri.authorization], reason: uri.reason?.text }
}
