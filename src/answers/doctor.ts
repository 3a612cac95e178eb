import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { leavesFrom, ownListing, selfCheckFields } from './pool.ts'

const strings = z.array(z.string())

/** The answer of `/v1/doctor`. */
export const doctorAnswer = z.strictObject({
  fit: z.boolean(),
  resolver: z.strictObject({ answers: z.boolean(), reason: z.string().optional(), public: strings }),
  lists: z.strictObject({ total: z.int(), answering: z.int(), refusing: strings }),
  sources: z.array(
    z.strictObject({
      address: z.string(),
      leaves_from: leavesFrom.optional().meta({ description: 'outgoing address of a proxy' }),
      listings: z.array(ownListing).nullable().meta({ description: 'null: no blacklist answered' }),
      ...selfCheckFields,
    }),
  ),
  advice: strings,
})
export type DoctorAnswer = AnswerOf<typeof doctorAnswer>
