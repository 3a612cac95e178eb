import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { reason, status } from './finding.ts'

/** One include of an SPF record with its cost; `includes` are its own. */
const spfInclude = z
  .strictObject({
    term: z.string(),
    domain: z.string().optional(),
    state: z.string(),
    reason: z.string().optional(),
    lookups: z.int(),
    void_lookups: z.int(),
    all: z.string().optional(),
    record: z.string().optional(),
    get includes() {
      return z.array(spfInclude)
    },
    includes_left_out: z.int().optional(),
  })
  .meta({ id: 'SpfInclude' })

/**
 * Who passes: public addresses of IPv4 and networks of 64 bits of IPv6, in total and by each term of the domain's own
 * record.
 */
export const spfPassing = z
  .strictObject({
    ipv4: z.number(),
    ipv6_prefixes: z.number(),
    by: z.array(
      z.strictObject({
        term: z.string(),
        ipv4: z.number().optional(),
        ipv6_prefixes: z.number().optional(),
        note: z.string().optional(),
      }),
    ),
    by_left_out: z.int().optional(),
    complete: z.boolean(),
  })
  .meta({ id: 'SpfPassing' })

export const spf = z
  .strictObject({
    valid: z.boolean(),
    record: z.string().optional(),
    status,
    reason,
    records: z.array(z.string()),
    lookups: z.int().optional(),
    void_lookups: z.int().optional(),
    all: z.string().optional(),
    includes: z.array(spfInclude),
    includes_left_out: z.int().optional(),
    records_left_out: z.int().optional(),
    passing: spfPassing.optional(),
  })
  .meta({ id: 'Spf' })

export type SpfInclude = AnswerOf<typeof spfInclude>
