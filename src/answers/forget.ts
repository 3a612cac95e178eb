import { z } from 'zod'

const count = z.int().min(0)

/** What was removed of a mailbox or a domain, by place. */
export const forgetAnswer = z.strictObject({
  subject: z.string(),
  total: count.meta({ description: 'total number of removed entries' }),
  places: z.record(z.string(), count).meta({ description: 'removed entries by place; results are part of rows' }),
  out_of_reach: z
    .array(z.string())
    .meta({ description: 'where copies may be that this service cannot erase, in words' }),
  not_reached: z
    .array(z.string())
    .optional()
    .meta({ description: 'nodes that did not confirm; their cached data expires within a day' }),
})
