import type { DkimFields, DkimKey } from '../../answers/checks.ts'
import type { DkimAnswer } from '../../answers/questions.ts'
import { printable } from '../../base/text.ts'
import { defineCheck, type Outcome } from '../check.ts'
import type { DkimFacts, FoundKey } from './facts.ts'
import { findings } from './findings.ts'
import { keepsKeys } from './fixes.ts'
import { judgeDkim, type SelectorFacts } from './judge.ts'
import { lookupDkim } from './lookup.ts'
import { keyRecordProblem } from './problems.ts'

export { type DkimFacts, type FoundKey, hasUsableKey, isEverySelectors } from './facts.ts'
export { judgeDkim, judgeSelector, maySignAbove, type SelectorFacts } from './judge.ts'
export { readKey } from './key.ts'
export { lookupSelector } from './lookup.ts'
export { parseKeyRecord, resemblesKey } from './parse.ts'
export { keyProblem } from './problems.ts'
export { generalSelectors } from './selectors.ts'

/** DKIM: the keys that a domain has published, as far as their selectors can be found. */
export const dkim = defineCheck<DkimFacts, DkimFields>({
  table: findings,
  lookup: lookupDkim,
  judge: judgeDkim,
  isHarmless: keepsKeys,
  present: presentDkim,
})

/** The `dkim` object of the API: the first usable key stands for the whole. */
export function presentDkim({ facts }: Outcome<DkimFacts>): DkimFields {
  const usable = facts?.keys.find(({ key }) => key.state === 'usable')
  return {
    valid: usable !== undefined,
    selector: usable?.selector,
    domain: usable ? facts?.domain : undefined,
    keys: facts?.keys.map((key) => ({ ...presentKey(key), domain: facts.domain })) ?? [],
    tried: facts?.tried ?? 0,
    wildcard: facts?.wildcard ?? false,
    discovery: facts?.discovery ?? 'unknown',
    signers: facts?.providers.map(({ name }) => name) ?? [],
    ...(facts?.learned && { learned: facts.learned.map((selector) => printable(selector, 64)) }),
  }
}

/** One key as it appears in `keys`, and in the answer of `/v1/dkim`. */
function presentKey({ selector, name, key, records, cname, notes }: FoundKey): DkimKey {
  const type = key.state === 'revoked' ? undefined : key.type
  return {
    selector,
    name,
    record: printable(records[0] ?? '', 4_096),
    records: records.map((text) => printable(text, 4_096)),
    usable: key.state === 'usable',
    key_type: type ?? '',
    key_bits: key.state === 'revoked' ? null : (key.bits ?? null),
    revoked: key.state === 'revoked',
    testing: key.state === 'usable' && key.testing,
    problem: key.state === 'broken' ? printable(key.problem.text) : undefined,
    services: notes.services.map((service) => printable(service, 64)),
    hashes: notes.hashes.map((hash) => printable(hash, 64)),
    cname: cname.map((target) => printable(target, 255)),
  }
}

/** The fields of `GET /v1/dkim`; those of the key are always present. */
export function presentSelector({ facts }: Outcome<SelectorFacts>): KeyAnswer {
  const { selector: _, name: __, usable, ...key } = presentKey(facts?.key ?? NO_KEY)
  return {
    valid: usable === true,
    ...key,
    record: facts?.key ? key.record : undefined,
    problem: facts ? key.problem : undefined, // a query without an answer may hide a key
    cname: facts?.answer.cname.map((target) => printable(target, 255)) ?? [],
  }
}

/** The answer without the fields that every check has and without the query itself. */
type KeyAnswer = Omit<DkimAnswer, 'domain' | 'selector' | 'name' | 'status' | 'reason' | 'findings'>

const NO_KEY: FoundKey = {
  selector: '',
  name: '',
  records: [],
  others: 0,
  key: { state: 'broken', problem: keyRecordProblem('none') },
  notes: { services: [], hashes: [] },
  cname: [],
}
