import { z } from 'zod'
import { presentPool } from '../mailbox/present.ts'
import { defineOperation } from './operation.ts'

/** The source addresses of verification and how they stand. */
export const pool = defineOperation({
  name: 'pool',
  method: 'GET',
  path: '/v1/pool',
  summary: 'The source addresses of verification and how they stand with each provider',
  scope: 'read',
  input: z.object({}),
  output: z.looseObject({
    data: z.array(
      z.looseObject({
        address: z.string(),
        configured: z.boolean(),
        providers: z.array(z.looseObject({ provider: z.string() })),
      }),
    ),
  }),
  example: {
    input: {},
    output: { data: [{ address: '192.0.2.1', configured: true, providers: [] }], has_more: false, next_cursor: null },
  },
  deadlineMs: 10_000,
  run: async (_ctx, { verifier }) => presentPool(await verifier.pool()),
})
