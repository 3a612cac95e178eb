import { z } from 'zod'
import { type AnswerOf, listOf } from './answer.ts'
import { fix } from './finding.ts'

const strings = z.array(z.string())

/** What a mail host sees of a source address; null: could not be determined. */
const selfCheckFields = {
  ptr: strings,
  forward_confirmed: z.boolean().nullable(),
  helo: z.string(),
  helo_resolves: z.boolean().nullable(),
  spf: z.string(),
  problems: strings,
  fixes: z.array(fix),
}
/** The exit address of a source, and who reported it. */
const leavesFrom = z.strictObject({
  address: z.string(),
  by: z.enum(['machine', 'mail_host', 'proxy', 'assumed']).meta({
    description:
      'machine: an address of this machine; mail_host: as reported by a mail host; proxy: as reported by the proxy; assumed: the address of the proxy',
  }),
})
export type SelfCheckAnswer = AnswerOf<z.ZodObject<typeof selfCheckFields>>

const ownListing = z.strictObject({ blacklist: z.string(), meaning: z.string() })

export const breakerState = z.enum(['closed', 'open', 'half_open'])

const providerRow = z.strictObject({
  provider: z.string(),
  breaker: breakerState,
  paused_reason: z.string().optional(),
  paused_until: z.iso.datetime().optional(),
  per_minute: z.number(),
  successes: z.int(),
  refusals: z.int(),
  last_refusal: z.strictObject({ reason: z.string(), message: z.string(), at: z.iso.datetime().optional() }).optional(),
  last_used_at: z.iso.datetime().optional(),
  latency_ms: z.number(),
})

/** One source address and its state with each provider. */
const poolRow = z.strictObject({
  address: z.string().meta({
    description:
      'an address, a proxy (socks5://host:port, without credentials) or a node (peer:<id>); empty: the address that the system chooses',
  }),
  leaves_from: leavesFrom.optional().meta({ description: 'outgoing address of a proxy' }),
  configured: z.boolean(),
  providers: z.array(providerRow),
  listings: z.array(ownListing).nullable().optional().meta({ description: 'null: not looked up yet' }),
  ...z.strictObject(selfCheckFields).partial().shape,
})
export type PoolRowAnswer = AnswerOf<typeof poolRow>

/** The answer of `/v1/pool`. */
export const poolAnswer = listOf(poolRow)
export type PoolAnswer = AnswerOf<typeof poolAnswer>

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
  repairs: strings,
  port_25: z
    .boolean()
    .nullable()
    .meta({ description: 'whether a mail server of a large provider was reached; null: not known' }),
  database: z
    .strictObject({
      kind: z.enum(['given', 'private']),
      ready: z.boolean().meta({ description: 'whether it can be used now' }),
      detail: z.string(),
    })
    .meta({ description: 'the database of reports, jobs and monitors' }),
  mail: z
    .strictObject({
      server: z.string(),
      from: z.string(),
      ready: z.boolean().meta({ description: 'whether it takes our connection and login' }),
      detail: z.string(),
      one_click: z.boolean().nullable().meta({
        description: 'whether a digest carries one-click unsubscription under a valid signature; null: not known',
      }),
    })
    .nullable()
    .meta({ description: 'the submission server of messages and digests; null: none is set' }),
})
export type DoctorAnswer = AnswerOf<typeof doctorAnswer>
