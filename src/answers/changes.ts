import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { storedEntry } from './stored.ts'

/** One difference, as text. */
export const change = z
  .strictObject({
    id: z.string().meta({ description: 'kind of the change; stable' }),
    area: z.string(),
    effect: z.enum(['better', 'worse', 'neutral']),
    text: z.string(),
  })
  .meta({ id: 'Change' })
export type Change = AnswerOf<typeof change>

/** The differences between two stored answers. */
export const changesAnswer = z.strictObject({
  from: storedEntry,
  to: storedEntry,
  lines: z.array(z.string()).meta({ description: 'the changes as text, one line per area' }),
  changes: z.array(change),
  unknown: z
    .array(z.string())
    .meta({ description: 'areas that were not compared, because they are unknown in one of the answers' }),
})
export type ChangesAnswer = AnswerOf<typeof changesAnswer>
