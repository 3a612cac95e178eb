import { z } from 'zod'
import { readyAnswer } from '../answers/ready.ts'
import { within } from '../base/deadline.ts'
import type { JsonObject } from '../base/json.ts'
import type { Deps } from './deps.ts'
import { type Call, defineOperation, withStatus } from './operation.ts'

/** Time that each dependency has, ms. */
const PROBE_MS = 3_000

/** Whether the service can do its work: one entry for each thing it needs. 503 when one of them is missing. */
export const ready = defineOperation({
  name: 'ready',
  method: 'GET',
  path: '/v1/ready',
  summary: 'Whether the service can do its work, with one entry for each thing it needs',
  scope: undefined,
  input: z.object({}),
  output: readyAnswer,
  statuses: { 503: 'Something it needs is missing' },
  example: {
    input: {},
    output: {
      status: 'ready',
      dependencies: [
        { name: 'resolver', status: 'ok', duration_ms: 2 },
        { name: 'store', status: 'ok', duration_ms: 0 },
      ],
    },
  },
  deadlineMs: PROBE_MS + 1_000,
  run: async (ctx, deps) => {
    const dependencies = await Promise.all(Object.entries(deps.probes).map(([name, probe]) => entry(ctx, name, probe)))
    const isReady = dependencies.every(({ status }) => status === 'ok')
    const answer = { status: isReady ? 'ready' : 'not_ready', dependencies }
    return isReady ? answer : withStatus(answer, 503)
  },
  verdict: ({ status }) => (status === 'ready' ? 'good' : 'bad'),
})

async function entry(ctx: Call, name: string, probe: Deps['probes']['resolver']): Promise<JsonObject> {
  const begun = ctx.now()
  const reason = await probe(within(PROBE_MS, ctx.signal))
  const failed = reason === undefined ? { status: 'ok' } : { status: 'failed', reason: reason.slice(0, 300) }
  return { name, ...failed, duration_ms: Math.max(0, Math.round(ctx.now() - begun)) }
}
