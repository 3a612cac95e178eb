import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterEach, expect, it, vi } from 'vitest'
import { labDatabase, labDatabaseUrl } from '../../../test/lab/database.ts'
import { leases } from '../../mailbox/source/leases.ts'
import { takeInOf } from '../../store/postgres/job-intake.ts'
import { jobRowsOf } from '../../store/postgres/job-rows.ts'
import { jobsOf } from '../../store/postgres/jobs.ts'
import { takeLeases } from '../../store/postgres/provider-leases.ts'
import { openUploads } from '../intake/open-uploads.ts'
import { takeUpload } from '../submit.ts'
import { startEngine } from './engine.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/**
 * Counts what is asked of databases; returns a function that resolves once nothing is, and nobody asks more without a
 * timer.
 */
function watchDatabases(): () => Promise<void> {
  let open = 0
  const watch = (of: object, name: string): void => {
    const real = (of as Record<string, (...asked: unknown[]) => unknown>)[name]!
    vi.spyOn(of as Record<string, (...asked: unknown[]) => unknown>, name).mockImplementation(function (
      this: unknown,
      ...asked
    ) {
      const answer = real.apply(this, asked)
      const end = (): void => void open--
      if (answer instanceof Promise && ++open) answer.then(end, end)
      return answer
    })
  }
  watch(pg.Client.prototype, 'query')
  watch(pg.Pool.prototype, 'connect')
  return async () => {
    for (let idle = 0; idle < 20; idle = open === 0 ? idle + 1 : 0) await new Promise(setImmediate)
  }
}

it('between the end of an intake and its first result, a job waits at most 50 ms for timers', async () => {
  const url = await labDatabaseUrl()
  const [database, node] = [await labDatabase(url), await labDatabase(url)]
  const settled = watchDatabases()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const now = (): number => performance.now()
  const shared = leases(now, { lease: (wants) => takeLeases(database.db, 'node', wants), nodes: async () => 1 })
  const limits = { connections: 20, perMinute: 120 }
  const engine = await startEngine(node, {
    ask: async (_kind, input, _options, signal, begin) => {
      const release = await shared.connect('host', { ...limits, perMinute: Number.POSITIVE_INFINITY }, signal)
      expect(await shared.recipient('a.example', limits, signal, 1_000)).toBeUndefined()
      await begin?.()
      release()
      return { result: 'accepted', reason: 'mailbox_exists', answer: { email: input } }
    },
    findProvider: async (_kind, domain) => ({ id: domain, concurrent: 20, perMinute: 120 }),
    room: (id, claimed) => shared.room(id, limits, claimed),
    onRoom: shared.onRoom,
    now: Date.now,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    drainMs: 100,
  })
  const turn = async (): Promise<void> => {
    vi.advanceTimersToNextTimer()
    await settled()
  }
  await settled()
  for (const restedMs = now() + 5_000; now() < restedMs; ) await turn()
  // Not at the moment of a plan at rest, which would be the first of the two that follow news at once.
  vi.advanceTimersByTime(1_000)
  await settled()

  const expiresAt = new Date(Date.now() + 86_400_000)
  const job = await jobsOf(database.db).create({
    ...{ id: randomUUID(), kind: 'verify', name: '', owner: '', options: {}, expiresAt },
  })
  async function* octets() {
    yield Buffer.from('a@a.example')
  }
  const upload = { octets: octets(), contentType: 'text/plain', bounds: { maxUpload: 1e9, maxRows: 1e9 } }
  const parts = { takeIn: takeInOf(database.pool), complete: jobRowsOf(database.db).complete }
  await takeUpload({ ...parts, place: openUploads().enter('') }, job, upload)
  const begunMs = now()
  engine.wake()
  await settled()
  const hasResult = async () => (await jobsOf(database.db).byId(job.id))?.first_result_at !== null
  while (!(await hasResult()) && now() < begunMs + 10_000) await turn()
  const waitedMs = now() - begunMs
  let isStopped = false
  const stopping = engine.stop().then(() => (isStopped = true))
  while (!isStopped) await turn()
  await stopping
  expect(waitedMs).toBeLessThanOrEqual(50)
}, 30_000)
