import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

export const grade = z
  .enum(['A+', 'A', 'B', 'C', 'D', 'F'])
  .nullable()
  .meta({ description: 'null: not known, because more than half of the points could not be determined' })
export const points = z.int().min(0).max(100)

/** `unknown`: it could not be determined; never scored as a failure. */
export const status = z.enum(['pass', 'warn', 'fail', 'unknown', 'not_applicable'])

export const severity = z.enum(['critical', 'high', 'medium', 'low', 'info'])

/** Why something is unknown, or why `valid` is false. */
export const reason = z.string().optional().meta({ description: 'why the status is unknown, or why valid is false' })

/** A record to publish. `value` is the presentation form of the data (TXT: the text, unquoted). */
export const fix = z.strictObject({
  type: z.literal('dns'),
  action: z.enum(['add', 'replace', 'remove', 'keep']),
  name: z.string(),
  rtype: z.string(),
  value: z.string(),
  was: z.string().optional().meta({ description: 'the value that it replaces' }),
})

/** What keeps a grade below its points. */
export const gradeBecause = z
  .strictObject({ finding: z.string(), severity })
  .nullable()
  .meta({ description: 'the finding that keeps the grade below what the points earn; null: the points decide' })

/** A file for a web server: its URL and its lines. */
export const policyFile = z.strictObject({ url: z.string(), text: z.string() })

/** A finding that somebody accepted: who, why and until when. */
export const acceptance = z
  .strictObject({
    by: z.string(),
    reason: z.string(),
    until: z.iso.datetime().meta({ description: 'when the acceptance ends' }),
  })
  .meta({ id: 'Acceptance' })
export type Acceptance = AnswerOf<typeof acceptance>

/** One finding of a check, as docs/findings.md lists them. */
export const finding = z
  .strictObject({
    id: z.string(),
    severity,
    title: z.string(),
    detail: z.string(),
    evidence: z.string().optional(),
    repair: z.string().optional(),
    follows: z
      .string()
      .optional()
      .meta({ description: 'id of the finding from which this one follows: one cause, one alarm' }),
    steps: z
      .array(z.int())
      .optional()
      .meta({ description: 'the steps of the plan that resolve it, 1 is the first of `plan.steps`' }),
    fix: fix.optional().meta({ description: 'the record of its first step that mends this finding' }),
    file: policyFile.optional().meta({ description: 'the file to serve' }),
    next: fix.optional().meta({ description: 'the record of a later step at the same name and type' }),
    gain: z.int().optional().meta({ description: 'the score after its first step minus the one before it' }),
    reference: z.string(),
    accepted: acceptance
      .optional()
      .meta({ description: 'it is accepted: it makes nothing bad and sends no message; the score counts it' }),
  })
  .meta({ id: 'Finding' })

export type Status = AnswerOf<typeof status>
export type Severity = AnswerOf<typeof severity>
export type FindingAnswer = AnswerOf<typeof finding>
