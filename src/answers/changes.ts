import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { storedEntry } from './stored.ts'

/** One thing that differs, in words. */
export const change = z
  .strictObject({
    id: z.string().meta({ description: 'kind of the change; stable' }),
    area: z.string(),
    effect: z.enum(['better', 'worse', 'neutral']),
    text: z.string(),
  })
  .meta({ id: 'Change' })
export type Change = AnswerOf<typeof change>

/** What differs between two stored answers. */
export const changesAnswer = z.strictObject({
  from: storedEntry,
  to: storedEntry,
  lines: z.array(z.string()).meta({ description: 'the changes for people, one line an area' }),
  changes: z.array(change),
  unknown: z
    .array(z.string())
    .meta({ description: 'what could not be determined in one of the two, and was not compared' }),
})
export type ChangesAnswer = AnswerOf<typeof changesAnswer>
