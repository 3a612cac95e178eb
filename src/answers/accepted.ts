import { z } from 'zod'
import { type AnswerOf, listOf } from './answer.ts'
import { acceptance, severity } from './finding.ts'

/** An accepted finding, as it is stored. */
export const acceptedAnswer = z
  .strictObject({
    id: z.string(),
    finding: z.string(),
    severity,
    domain: z.string().nullable(),
    label: z.string().nullable().meta({ description: 'accepted for the monitors of the key that have this label' }),
    ...acceptance.shape,
    state: z.enum(['active', 'ended']).meta({ description: 'ended: the finding counts again' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Accepted' })
export type AcceptedAnswer = AnswerOf<typeof acceptedAnswer>
export const acceptedListAnswer = listOf(acceptedAnswer)
