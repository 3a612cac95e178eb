import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { grade, gradeBecause, points, policyFile } from './finding.ts'
import { profileField } from './profile.ts'

const strings = z.array(z.string())

/** One value of a record set after a step. */
const planRecord = z.strictObject({
  action: z.enum(['add', 'replace', 'remove', 'keep']),
  name: z.string(),
  type: z.string(),
  ttl: z.int(),
  value: z.string().meta({ description: 'presentation format; a TXT is the text itself, without quotes' }),
  was: strings.meta({ description: 'published values that this one replaces' }),
  beside: strings.optional().meta({
    description: 'other values at the name and type, which stay: for tools that own a name and type as a whole',
  }),
  beside_unknown: z.string().optional().meta({ description: 'why the other values are not known' }),
})
export type PlanRecord = AnswerOf<typeof planRecord>

export const planStep = z.strictObject({
  title: z.string(),
  findings: strings.meta({ description: 'ids of the findings that the step resolves' }),
  records: z.array(planRecord).meta({ description: 'the state of each name and type after the step' }),
  by: z.enum(['dns', 'mail provider', 'address owner', 'web server', 'registrar', 'report receiver']).meta({
    description: 'who has to do it: `dns` is whoever publishes the records of this domain',
  }),
  why: z.string().meta({ description: 'what the step is for, in one line' }),
  before: strings.meta({ description: 'what must be known or done first' }),
  instructions: z.string().optional(),
  file: policyFile.optional(),
  wait: z.string().optional().meta({ description: 'what to wait for before this step' }),
  optional: z.literal(true).optional().meta({ description: 'not needed, and not counted in `end`' }),
  assumed: z.literal(true).optional().meta({
    description: 'it is not a DNS record of this domain: the score assumes that it is done',
  }),
  score: points.meta({ description: 'measured with this step and all before it' }),
  grade,
  grade_because: gradeBecause,
})
export type PlanStep = AnswerOf<typeof planStep>

const planEnd = z
  .strictObject({ score: points, grade, grade_because: gradeBecause })
  .meta({ description: 'after all steps that are not optional' })

/** The plan itself, in the answer of a check. */
export const planFields = {
  steps: z.array(planStep),
  end: planEnd,
  left: z.array(z.strictObject({ finding: z.string(), why: z.string() })).meta({
    description: 'findings that no step resolves, or the check that could not be made, and what can be done',
  }),
  choice: z
    .strictObject({
      question: z.string(),
      options: z.array(z.strictObject({ title: z.string(), steps: z.array(planStep), end: planEnd })),
    })
    .optional()
    .meta({ description: 'what the domain is for is not known: `steps` are those of the first option' }),
  organization: z
    .strictObject({ domain: z.string(), plan: z.string() })
    .optional()
    .meta({ description: 'the organization whose DMARC record governs the name, and the way to its plan' }),
}

/** The plan in the answer of a check. */
export const plannedCheck = z.strictObject({
  domain: z.string(),
  score: points,
  grade,
  plan: z.strictObject(planFields).optional(),
  observed_at: z.iso.datetime().optional(),
})

/** The answer of `/v1/plan`. */
export const planAnswer = z.strictObject({
  domain: z.string(),
  score: points,
  grade,
  ...planFields,
  expected: z.int().optional().meta({ description: 'records in `expect`' }),
  published: z.int().optional().meta({ description: 'those of them that are published' }),
  missing: z
    .array(
      z.strictObject({
        name: z.string(),
        type: z.string(),
        value: z.string(),
        reason: z.string().optional().meta({ description: 'why it is not known whether it is published' }),
      }),
    )
    .optional()
    .meta({ description: 'those of them that are not published, or not known to be' }),
  unicode_domain: z.string().optional(),
  setup: z
    .strictObject({ mailboxes: z.string().optional(), senders: strings, sources: strings })
    .optional()
    .meta({ description: 'the providers of a setup, and where their records are documented' }),
  ...profileField,
  observed_at: z.iso.datetime(),
})
export type PlanAnswer = AnswerOf<typeof planAnswer>
