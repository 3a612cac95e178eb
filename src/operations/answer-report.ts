import { z } from 'zod'
import { blacklistAnswer } from './answer-blacklist.ts'
import { checkAnswer } from './answers.ts'

const strings = z.array(z.string())

/** The answer of `/v1/report`. */
export const reportAnswer = checkAnswer.extend({
  blacklists: z.array(blacklistAnswer.extend({ mx_hosts: strings })),
  blacklist_summary: z.looseObject({
    addresses: z.int(),
    listed_addresses: z.int(),
    listings: z.int(),
    worst_tier: z.enum(['A', 'B', 'C', 'D']).nullable().optional(),
    tiers: z.record(z.string(), z.int()).optional(),
  }),
  pool: z
    .array(
      z.looseObject({
        address: z.string(),
        listed: z.boolean(),
        listings: z.array(z.looseObject({ blacklist: z.string() })),
        verdict: z.enum(['clean', 'listed', 'incomplete']),
      }),
    )
    .optional()
    .meta({ description: 'the source addresses of this service, where a pool is configured' }),
  is_role: z.boolean(),
  role: z.string(),
  suggestion: z.string(),
  report_score: z.int().min(0).max(100),
  report_grade: z.enum(['A+', 'A', 'B', 'C', 'D', 'F']).optional(),
})
