import { wholeList } from '../answers/answer.ts'
import { type PoolAnswer, type PoolRowAnswer, poolAnswer } from '../answers/pool.ts'
import { remembering } from '../checks/repeatable.ts'
import { poolDocument } from '../documents/pool.ts'
import { presentPoolRow } from '../mailbox/present.ts'
import { isNode, isProxy } from '../names/source.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'
import { defineOperation, ok } from './operation.ts'
import { checkSources } from './self-check.ts'

type Used = Pick<Deps, 'sourcePool' | 'verifier' | 'heloName' | 'peers'>

const example = {
  data: [
    {
      address: '192.0.2.1',
      configured: true,
      providers: [
        {
          provider: 'google',
          breaker: 'closed',
          per_minute: 61,
          successes: 1,
          refusals: 0,
          last_used_at: '2026-01-02T03:04:05.000Z',
          latency_ms: 26,
        },
      ],
      listings: [],
      ptr: ['mail.example.org'],
      forward_confirmed: true,
      helo: 'mail.example.org',
      helo_resolves: true,
      spf: 'pass',
      problems: [],
      fixes: [],
    },
  ],
  has_more: false,
  next_cursor: null,
}

const common = {
  path: '/v1/pool',
  params: {},
  answer: poolAnswer,
  document: poolDocument,
  example: { input: {}, output: example },
  deadlineMs: 10_000,
  uses: ['sourcePool', 'verifier', 'heloName', 'peers'],
} as const

/** The source addresses of verification: their state with each provider, on the blacklists, and in the DNS. */
export const pool = defineOperation({
  ...common,
  name: 'pool',
  method: 'GET',
  summary: 'Show the source addresses of verification',
  scope: 'read',
  run: async (ctx, deps) => ok(await poolStatus(ctx, deps)),
})

/** Reads the pool's files again and closes all circuit breakers. */
export const poolReload = defineOperation({
  ...common,
  name: 'pool-reload',
  method: 'POST',
  summary: 'Reload the source addresses and clear their pauses',
  scope: 'admin',
  run: async (ctx, deps) => {
    deps.sourcePool.reload()
    await deps.verifier.reloadPool()
    return ok(await poolStatus(ctx, deps))
  },
})

async function poolStatus(ctx: Ctx, deps: Used): Promise<PoolAnswer> {
  const { sourcePool, verifier } = deps
  const [checks, rows] = await Promise.all([
    checkSources(remembering(ctx), deps),
    verifier.pool(),
    sourcePool.refresh(ctx.signal),
  ])
  return wholeList(
    rows.map((row): PoolRowAnswer => {
      const shown = presentPoolRow(row)
      const checked = checks.find(({ source }) => source === row.address)
      if (!checked) return shown
      const { source, leavesFrom, ...check } = checked
      if (isNode(source)) return { ...shown, problems: check.problems }
      const listings = sourcePool.listings(source) ?? null
      return { ...shown, ...(isProxy(source) && { leaves_from: leavesFrom }), listings, ...check }
    }),
  )
}
