import { z } from 'zod'
import { isJsonRecord, type Json } from '../base/json.ts'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import { profileProblem } from './problems.ts'

/**
 * Whether a rule is met. `not_observable`: nothing outside of the sender shows it; such a rule is listed and never
 * counted.
 */
type RuleStatus = 'met' | 'not_met' | 'unknown' | 'not_applicable' | 'not_observable'

/** What a rule came to, and why in a sentence. */
export type Ruling = { readonly status: RuleStatus; readonly because: string; readonly finding?: string }

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
  /** The pages of the rules, and the day on which they were read. */
  readonly source: string
  readonly rules: readonly Rule<F>[]
}

/** The rules of a profile with what they came to. */
export type Judged = Pick<Profile<never>, 'name' | 'version' | 'source'> & {
  readonly met: number
  readonly not_met: number
  readonly unknown: number
  readonly rules: readonly (Ruling & {
    readonly id: string
    readonly text: string
    readonly by: readonly string[]
    readonly reference: string
  })[]
}

/** Judges facts by a profile; pure. */
export function judgeProfile<F>({ name, version, source, rules }: Profile<F>, facts: F): Judged {
  const judged = rules.map(({ id, text, by, reference, judge }) => {
    const { status, because, finding } = judge(facts)
    return { id, text, by, status, because, ...(finding === undefined ? {} : { finding }), reference }
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
  }
}

/** Maximum length of the text of a profile. */
export const MAX_PROFILE = 65_536
/** Maximum number of rules of a profile. */
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
  .refine((one) => (one.findings === undefined) !== (one.field === undefined || one.in === undefined))
const shape = z.strictObject({
  name: text,
  version: text.default(''),
  source: z.string().max(500).default(''),
  rules: z.array(rule).min(1).max(MAX_RULES),
})
type OwnRule = z.infer<typeof rule>

/** An operator's own profile, which is judged by the answer alone. */
export function parseOwnProfile(json: string): Parsed<Profile<Json>> {
  if (json.length > MAX_PROFILE) return problem(profileProblem('too_long', { max: MAX_PROFILE }))
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return problem(profileProblem('no_json'))
  }
  const read = shape.safeParse(value)
  if (!read.success) return problem(profileProblem('invalid', { place: read.error.issues[0]?.path.join('.') ?? '' }))
  return parsed({ ...read.data, rules: read.data.rules.map(ruleOf) })
}

const ruleOf = (own: OwnRule): Rule<Json> => ({
  ...{ id: own.id, text: own.text, by: own.by, reference: own.reference },
  judge: (answer) => (own.findings ? byFindings(answer, own.findings) : byField(answer, own.field ?? '', own.in ?? [])),
})

/** Findings that say that something could not be told: a finding that is absent beside one of them proves nothing. */
const OPEN: readonly string[] = ['message.dkim_unknown', 'message.dmarc_unknown']

function byFindings(answer: Json, wanted: readonly string[]): Ruling {
  const found = at(answer, 'findings')
  const ids = Array.isArray(found) ? found.map((one) => String(at(one, 'id'))) : []
  const there = wanted.find((id) => ids.includes(id))
  if (there !== undefined) return { status: 'not_met', because: `the answer has the finding ${there}`, finding: there }
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
