import type { BlacklistAnswer } from '../../src/answers/blacklist.ts'
import { blacklistChanges, reportChanges } from '../../src/monitors/changes/changes.ts'
import { type EngineParts, startMonitors } from '../../src/monitors/engine.ts'
import { MAX_MONITORS } from '../../src/monitors/portfolio.ts'
import { monitorService, type OpenedMonitors } from '../../src/monitors/service.ts'
import { webhookService } from '../../src/monitors/webhooks.ts'
import { report } from '../../src/operations/report.ts'
import { exampleOf } from '../lab/answer.ts'
import { listedAddress } from '../lab/documents.ts'
import { labWebhooks } from '../lab/monitors.ts'
import { isTaken, testBounds, times } from './table.ts'

/**
 * Bounds of monitors: what is told of changes, and what one node and one key may have. The database is a fake that
 * counts.
 */
const reported = exampleOf(report)
const entry = listedAddress.results[0]!
const lists = (n: number, status: 'listed' | 'not_listed', blacklist = 'x'): BlacklistAnswer => ({
  ...listedAddress,
  results: times(n, (i) => ({ ...entry, zone: `z${i}.example`, blacklist, status, listed: status === 'listed' })),
})
const finding = { ...reported.findings[0]!, severity: 'high' as const }
const withFindings = (n: number) => ({
  ...reported,
  findings: times(n, (i) => ({ ...finding, id: `spf.f${i}`, title: `t${i}` })),
})

/** What an engine claims of `n` that are due, and how many ended jobs it takes up, in its first look. */
async function claimed(
  n: number,
): Promise<{ readonly runs: number; readonly messages: number; readonly jobs: number }> {
  const seen = { runs: 0, messages: 0, jobs: 0 }
  let isLooked = (): void => {}
  const looked = new Promise<void>((resolve) => (isLooked = resolve))
  const take = (limit: number): readonly object[] => times(Math.min(n, limit), () => ({ next_run: new Date(0) }))
  const count = (name: keyof typeof seen, limit: number) => {
    const rows = take(limit)
    seen[name] += rows.length
    return rows
  }
  const none = async (): Promise<void> => {}
  const parts = {
    monitors: {
      ...{ mendTimes: none, sweepPoints: none, release: none },
      claim: async (_at: Date, _lease: number, limit: number) => count('runs', limit),
    },
    deliveries: {
      ...{
        sweep: none,
        add: none,
        mendTimes: none,
        due: async () => ({ runs: true, messages: true, digests: true, ends: true, jobs: true }),
      },
      endedJob: async () => (seen.jobs < n ? count('jobs', 1)[0] : undefined),
      claim: async (_at: Date, _lease: number, limit: number) => {
        const rows = count('messages', limit)
        isLooked()
        return rows
      },
    },
    webhooks: {},
    database: { db: { transaction: () => ({ execute: (work: (tx: unknown) => unknown) => work({}) }) } },
    jobEvent: async () => undefined,
    consents: { sweep: none },
    accepted: { sweep: none, due: none },
    sweeps: [],
    now: () => 1,
    random: () => 0,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  } as unknown as EngineParts // the tables as far as a look needs them; rows that lack all else fail at once
  const engine = startMonitors(parts)
  await looked
  await engine.stop()
  return seen
}

const owner = { id: 'k', isAdmin: false }
const opened = (parts: object) => async () => parts as unknown as OpenedMonitors
/** The n-th monitor of a key: the table takes it where fewer are there than it is told. */
function isMonitorMade(n: number): Promise<boolean> {
  const add = async (row: object, most: number) => (n > most ? undefined : { ...row, number: n, state: null })
  const none = async () => new Map()
  const tables = { consents: { states: none }, accepted: { ofMonitors: none } }
  const mailRules = { recipients: [], perDay: 20 }
  const storage = { admit: async () => {} }
  const parts = { monitors: { add }, engine: { wake: () => {} }, tables, mailRules, storage }
  const input = { name: '', kind: 'check', target: 'a.example', domain: 'a.example', everyMs: 900_000 } as const
  const more = { options: {}, notify: [], when: ['changed'], quiet: null, isPublic: false } as const
  return monitorService({ opened: opened(parts), webhooks: labWebhooks, now: () => 0, profiles: [] })
    .create({ ...input, ...more } as never, owner) // what it presents of the row is another test's
    .then(
      () => true,
      (error: Error) => !error.message.includes(String(MAX_MONITORS)),
    )
}
const isWebhookMade = (n: number): Promise<boolean> =>
  isTaken(() => {
    const ensure = async (webhook: object, most: number) =>
      n > most ? undefined : { webhook: { ...webhook, number: n }, isNew: true }
    const parts = async () => ({ webhooks: { ensure }, deliveries: {}, wake: () => {} })
    return webhookService(parts as never, () => 0).ensure('https://a.example/', owner)
  })

testBounds([
  [
    'src/monitors/changes/changes.ts MAX_CHANGES',
    100,
    (n) =>
      blacklistChanges(lists(n, 'not_listed'), lists(n, 'listed')).length === n &&
      reportChanges(withFindings(0), withFindings(n)).length === n,
  ],
  ['src/monitors/engine.ts RUNS_AT_A_TIME', 16, async (n) => (await claimed(n)).runs === n],
  ['src/monitors/engine.ts MESSAGES_AT_A_TIME', 16, async (n) => (await claimed(n)).messages === n],
  ['src/monitors/service.ts MAX_MONITORS', 20_000, isMonitorMade],
  ['src/monitors/webhooks.ts MAX_WEBHOOKS', 1_000, isWebhookMade],
])
