import { expect, it } from 'vitest'
import { labDeps, labExecutor } from '../../test/lab/app.ts'
import { labReports } from '../../test/lab/reports.ts'
import { labWorld } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { watchReports } from './monitors.ts'

const asked: object[] = []
async function watched(over: Partial<typeof labReports> = {}) {
  const world = labWorld({}, { now: () => Date.UTC(2026, 10, 23, 12) })
  const reports = { ...labReports, ...over }
  const deps = labDeps(world, { reports: async () => reports })
  return watchReports(
    labExecutor(world, deps),
    domain('example.org'),
    { from: '2026-11-01' },
    AbortSignal.timeout(5_000),
  )
}

it('a monitor of reports sees days, senders and the last report of its domain', async () => {
  const seen = await watched({
    summary: async (ctx, period) => {
      asked.push(period)
      return labReports.summary(ctx, period)
    },
  })
  expect(asked).toEqual([expect.objectContaining({ domain: 'example.org', from: '2026-11-01' })])
  expect(seen).toMatchObject({
    ...{ domain: 'example.org', last_report_at: '2026-11-23T00:00:00.000Z' },
    days: [{ date: '2026-11-22', messages: 1_000, failing: 100 }],
  })
  expect(seen.senders.map(({ verdict, messages }) => [verdict, messages])).toEqual([
    ['authorized', 900],
    ['needs_setup', 100],
  ])
})

it('a period without reports has the last report before it: silence is told from a domain that never had one', async () => {
  const summary: typeof labReports.summary = async (ctx, period) => {
    const one = await labReports.summary(ctx, period)
    return { ...one, days: [], senders: [], about: { ...one.about, reports: 0, lastReceived: null } }
  }
  expect((await watched({ summary })).last_report_at).toBe('2026-11-23T00:00:00.000Z')
  expect((await watched({ summary, domains: async () => [] })).last_report_at).toBe(null)
})
