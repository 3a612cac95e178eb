import { z } from 'zod'
import { type Acceptance, acceptance } from '../answers/finding.ts'
import type { ProfileVerdict } from '../answers/profile.ts'
import { isJsonRecord, type Json } from '../base/json.ts'
import { readJsonText } from '../base/json-text.ts'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import { profileProblem } from './problems.ts'

/**
 * Whether a rule is met. `not_observable`: nothing outside of the sender shows it; such a rule is listed and never
 * counted.
 */
type RuleStatus = 'met' | 'not_met' | 'unknown' | 'not_applicable' | 'not_observable'

/** What a rule came to, and why in a sentence. */
export type Ruling = {
  readonly status: RuleStatus
  readonly because: string
  readonly finding?: string
  /** It is not met by findings that are accepted: it decides nothing. */
  readonly accepted?: Acceptance
}

export const met = (because: string): Ruling => ({ status: 'met', because })
export const notMet = (because: string, finding?: string): Ruling => ({
  status: 'not_met',
  because,
  ...(finding === undefined ? {} : { finding }),
})
export const unknown = (because: string): Ruling => ({ status: 'unknown', because })
export const notObservable = (because: string): Ruling => ({ status: 'not_observable', because })

/** One rule of a profile over facts of the type `F`. */
export type Rule<F> = {
  readonly id: string
  readonly text: string
  /** Who has the rule, such as `Google`. */
  readonly by: readonly string[]
  /** The pages that the rule was taken from. */
  readonly reference: string
  readonly judge: (facts: F) => Ruling
}

/** A named, versioned set of rules. */
export type Profile<F> = {
  readonly name: string
  /** Changes with every change of a rule. */
  readonly version: string
  /** The pages of the rules. */
  readonly source: string
  /** The day on which they were read; '' for an own profile without one. */
  readonly seen: string
  readonly rules: readonly Rule<F>[]
}

/** The rules of a profile with what they came to. */
export type Judged = Pick<Profile<never>, 'name' | 'version' | 'source'> & {
  readonly met: number
  readonly not_met: number
  readonly unknown: number
  readonly seen?: string
  readonly rules: readonly (Ruling & {
    readonly id: string
    readonly text: string
    readonly by: readonly string[]
    readonly reference: string
  })[]
}

/** Judges facts by a profile; pure. */
export function judgeProfile<F>({ name, version, source, seen, rules }: Profile<F>, facts: F): Judged {
  const judged = rules.map(({ id, text, by, reference, judge }) => {
    const { status, because, finding, accepted } = judge(facts)
    const fault = { ...(finding !== undefined && { finding }), ...(accepted && { accepted }) }
    return { id, text, by, status, because, ...fault, reference }
  })
  const count = (status: RuleStatus): number => judged.filter((rule) => rule.status === status).length
  return {
    name,
    version,
    source,
    met: count('met'),
    not_met: count('not_met'),
    unknown: count('unknown'),
    rules: judged,
    ...(seen !== '' && { seen }),
  }
}

/** What a domain is by a profile: one rule that is not met decides, then one that is unknown. */
export const verdictOf = ({ not_met: unmet, unknown: open }: Pick<Judged, 'not_met' | 'unknown'>): ProfileVerdict =>
  unmet > 0 ? 'not_met' : open > 0 ? 'unknown' : 'met'

/** Maximum length of the text of a profile. */
const MAX_PROFILE = 65_536
const MAX_RULES = 200

const text = z.string().min(1).max(500)
const rule = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9_.-]{1,80}$/),
    text,
    reference: z.string().max(500).default(''),
    by: z.array(text).max(10).default([]),
    /** Not met if the answer has one of these findings. */
    findings: z.array(z.string().max(100)).min(1).max(50).optional(),
    /** Met if the field has one of these values; the path is that of the JSON: `dmarc.policy`. */
    field: z.string().max(200).optional(),
    in: z
      .array(z.union([z.string().max(200), z.number(), z.boolean()]))
      .min(1)
      .max(50)
      .optional(),
  })
  .refine((one) => (one.findings === undefined) !== (one.field === undefined || one.in === undefined), {
    message: 'a rule has either findings, or field and in',
  })
const shape = z.strictObject({
  name: text,
  version: text.default(''),
  source: z.string().max(500).default(''),
  seen: z.iso.date().or(z.literal('')).default(''),
  rules: z.array(rule).min(1).max(MAX_RULES),
})
type OwnRule = z.infer<typeof rule>

/** An operator's own profile, which is judged by the answer alone. */
export function parseOwnProfile(json: string): Parsed<Profile<Json>> {
  if (json.length > MAX_PROFILE) return problem(profileProblem('too_long', { max: MAX_PROFILE }))
  const read = readJsonText(json, shape)
  if (!read.ok) return problem(profileProblem('file', { line: read.line, why: read.problem }))
  return parsed({ ...read.value, rules: read.value.rules.map(ruleOf) })
}

const ruleOf = (own: OwnRule): Rule<Json> => ({
  ...{ id: own.id, text: own.text, by: own.by, reference: own.reference },
  judge: (answer) => (own.findings ? byFindings(answer, own.findings) : byField(answer, own.field ?? '', own.in ?? [])),
})

/** Findings that say that something could not be told: a finding that is absent beside one of them proves nothing. */
const OPEN: readonly string[] = ['message.dkim_unknown', 'message.dmarc_unknown']

function byFindings(answer: Json, wanted: readonly string[]): Ruling {
  const found = at(answer, 'findings')
  const all = Array.isArray(found) ? found : []
  const ids = all.map((one) => String(at(one, 'id')))
  const faults = all.filter((one) => wanted.includes(String(at(one, 'id'))))
  const fault = faults.find((one) => at(one, 'accepted') === undefined) ?? faults[0]
  if (fault !== undefined) {
    const id = String(at(fault, 'id'))
    const accepted = acceptance.safeParse(at(fault, 'accepted')).data
    return { ...notMet(`the answer has the finding ${id}`, id), ...(accepted && { accepted }) }
  }
  const section = wanted.map((id) => id.split('.')[0] ?? '').find((name) => isUnknown(answer, name))
  if (section !== undefined) return unknown(`${section} could not be determined`)
  const open = ids.find((id) => OPEN.includes(id))
  return open === undefined
    ? { status: 'met', because: 'the answer has none of its findings' }
    : { status: 'unknown', because: `not everything could be told (${open})` }
}

/** The check of a finding has no answer; the state of the mail hosts stands beside their list. */
const isUnknown = (answer: Json, check: string): boolean =>
  at(at(answer, check), 'status') === 'unknown' || at(answer, `${check}_status`) === 'unknown'

/** Words of an answer for what is not known. */
const UNKNOWN: readonly Json[] = ['unknown', 'temperror', null]

function byField(answer: Json, path: string, values: readonly Json[]): Ruling {
  const value = path.split('.').reduce<Json | undefined>(at, answer)
  if (value !== undefined && values.includes(value)) return { status: 'met', because: `${path} is ${String(value)}` }
  if (value === undefined || UNKNOWN.includes(value)) return { status: 'unknown', because: `${path} is not known` }
  const shown = typeof value === 'object' ? 'not one value' : String(value).slice(0, 200)
  return { status: 'not_met', because: `${path} is ${shown}` }
}

const at = (value: Json | undefined, key: string): Json | undefined =>
  Array.isArray(value) ? value[Number(key)] : isJsonRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
