import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { acceptance } from './finding.ts'

/** The rules of a profile with what they came to; `not_observable` and `not_applicable` are not counted. */
export const profileAnswer = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    source: z.string(),
    met: z.int(),
    not_met: z.int(),
    unknown: z.int(),
    rules: z.array(
      z.strictObject({
        id: z.string(),
        text: z.string(),
        by: z.array(z.string()).meta({ description: 'who has the rule' }),
        status: z.enum(['met', 'not_met', 'unknown', 'not_applicable', 'not_observable']),
        because: z.string(),
        finding: z.string().optional(),
        accepted: acceptance.optional().meta({ description: 'the finding is accepted: the rule decides nothing' }),
        reference: z.string(),
      }),
    ),
    seen: z.string().optional().meta({ description: 'the day on which the pages were read' }),
  })
  .meta({ id: 'Profile' })
export type ProfileAnswer = AnswerOf<typeof profileAnswer>

/** What a domain is by a profile. */
export const profileVerdict = z.enum(['met', 'not_met', 'unknown'])
export type ProfileVerdict = z.output<typeof profileVerdict>

/** The profile that a question asked for, in the answer about a domain. */
export const profileField = { profile: profileAnswer.optional() }
