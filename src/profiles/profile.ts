/**
 * Whether a rule is met. `not_observable`: nothing outside of the sender shows it; such a rule is listed and never
 * counted.
 */
type RuleStatus = 'met' | 'not_met' | 'unknown' | 'not_applicable' | 'not_observable'

/** What a rule came to, and why in a sentence. */
export type Ruling = { readonly status: RuleStatus; readonly because: string; readonly finding?: string }

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
