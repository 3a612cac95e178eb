import { type Dependency, healthAnswer, type ReadyAnswer, readyAnswer } from '../answers/service.ts'
import { raced, within } from '../base/deadline.ts'
import { healthDocument, readyDocument } from '../documents/service.ts'
import type { JobQueue } from '../jobs/service.ts'
import type { Probe } from './deps.ts'
import { type Call, defineOperation, ok, type Reply } from './operation.ts'

/** Whether the server answers. Always exactly `{"status":"ok"}`, whatever the request contains. */
export const health = defineOperation({
  name: 'health',
  method: 'GET',
  path: '/v1/health',
  summary: 'Show whether the service is running',
  scope: undefined,
  params: {},
  answer: healthAnswer,
  document: healthDocument,
  example: { input: {}, output: { status: 'ok' } },
  uses: [],
  deadlineMs: 1_000,
  run: async () => OK,
})

const OK = ok({ status: 'ok' } as const)

/** Time limit for each dependency, ms. */
const PROBE_MS = 3_000

/** Whether the service can do its work: one entry for each dependency. 503 if one of them fails. */
export const ready = defineOperation({
  name: 'ready',
  method: 'GET',
  path: '/v1/ready',
  summary: 'Show whether the service and its dependencies work',
  scope: undefined,
  params: {},
  answer: readyAnswer,
  document: readyDocument,
  statuses: { 503: 'A dependency is not available' },
  example: {
    input: {},
    output: {
      status: 'ready',
      dependencies: [
        { name: 'resolver', status: 'ok', duration_ms: 2 },
        { name: 'store', status: 'ok', duration_ms: 0 },
        { name: 'queue', status: 'ok', duration_ms: 1 },
      ],
    },
  },
  deadlineMs: PROBE_MS + 1_000,
  uses: ['probes', 'jobs'],
  run: async (ctx, { probes, jobs }): Promise<Reply<ReadyAnswer>> => {
    const asked = raced(within(PROBE_MS, ctx.signal), jobs.queue()).catch(() => undefined)
    const dependencies = await Promise.all([
      probed(ctx, 'resolver', probes.resolver),
      probed(ctx, 'store', probes.store),
      probed(ctx, 'queue', probes.queue),
    ])
    const queue = await asked
    const isReady = dependencies.every(({ status }) => status === 'ok')
    const answer = {
      status: isReady ? 'ready' : 'not_ready',
      dependencies,
      ...(queue && { queue: shown(queue) }),
    } as const
    return { status: isReady ? 200 : 503, answer }
  },
  verdict: ({ status }) => (status === 'ready' ? 'good' : 'bad'),
})

const shown = (queue: JobQueue): NonNullable<ReadyAnswer['queue']> => ({
  open_rows: queue.openRows,
  due_rows: queue.dueRows,
  due_for_ms: Math.round(queue.dueSeconds * 1_000),
  waiting_providers: queue.waiting,
  claimed_rows: queue.claimed,
  held_connections: queue.connections,
})

async function probed(ctx: Call, name: Dependency['name'], probe: Probe): Promise<Dependency> {
  const begunMs = ctx.monotonic()
  const reason = await probe(within(PROBE_MS, ctx.signal))
  const duration_ms = Math.max(0, Math.round(ctx.monotonic() - begunMs))
  return reason === undefined
    ? { name, status: 'ok', duration_ms }
    : { name, status: 'failed', reason: reason.slice(0, 300), duration_ms }
}
