import type { BlacklistAnswer } from '../../src/answers/blacklist.ts'
import type { MonitorEvent } from '../../src/answers/webhooks.ts'
import { blacklistChanges, reportChanges } from '../../src/monitors/changes/changes.ts'
import { record } from '../../src/monitors/changes/row.ts'
import { type EngineParts, startMonitors } from '../../src/monitors/engine.ts'
import {
  afterRun,
  FAILING_AFTER,
  NEW_STATE,
  type NotifyState,
  type Observation,
} from '../../src/monitors/notify/machine.ts'
import { eventOf, mailOf } from '../../src/monitors/notify/templates.ts'
import { MAX_MONITORS } from '../../src/monitors/portfolio.ts'
import { monitorService, type OpenedMonitors } from '../../src/monitors/service.ts'
import { webhookService } from '../../src/monitors/webhooks.ts'
import { report } from '../../src/operations/report.ts'
import { exampleOf } from '../lab/answer.ts'
import { listedAddress } from '../lab/documents.ts'
import { labWebhooks } from '../lab/monitors.ts'
import { isTaken, meter, testBounds, text, times } from './table.ts'

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

const about = { id: 'mon_x', name: '', kind: 'check', target: 'a.example', state: 'ok' } as const
const message = { type: 'monitor.changed', changes: [], count: 1, isCondition: false } as const
const isTitle = (n: number): boolean =>
  eventOf(about, { ...message, lines: [text(n)] }, null, 0).data.title.includes(text(n))

const wanted = { changed: true, worse: false, listed: false, scoreBelow: undefined }
/** The state after a run in quiet hours that saw `n` changes; after two such runs, where `runs` says so. */
function held(n: number): NotifyState['held'] {
  const changes = times(n, (i) => ({ id: 'x', area: `A${i}`, effect: 'neutral' as const, text: `t${i}` }))
  const seen: Observation = { facts: undefined, changes, open: [], isBaseline: false }
  return afterRun(NEW_STATE, seen, wanted, 0, 1_000_000).state.held
}
function failingLine(n: number): string {
  const words = `could not be checked ${FAILING_AFTER} times in a row: `
  const seen: Observation = { facts: undefined, changes: [], open: [text(n - words.length)], isBaseline: false }
  const runs = times(FAILING_AFTER, (i) => i)
  return runs.reduce((state, i) => afterRun(state, seen, wanted, i, undefined).state, NEW_STATE).topics.failing!.line
}

const mail = (lines: readonly string[]): string => {
  const event: MonitorEvent = eventOf(about, { ...message, lines }, null, 0)
  return mailOf(event, 'joe@a.example', { publicUrl: undefined }).text
}

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
      ...{ sweep: none, add: none, mendTimes: none, hasWork: async () => true },
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
  const tables = { consents: { states: async () => new Map() } }
  const mailRules = { recipients: [], perDay: 20 }
  const storage = { admit: async () => {} }
  const parts = { monitors: { add }, engine: { wake: () => {} }, tables, mailRules, storage }
  const input = { name: '', kind: 'check', target: 'a.example', domain: 'a.example', everyMs: 900_000 } as const
  const more = { options: {}, notify: [], when: ['changed'], quiet: null, isPublic: false } as const
  return monitorService(opened(parts), labWebhooks, () => 0)
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

async function testsAtOnce(n: number): Promise<number> {
  const { run, most } = meter()
  const notify = times(n, (i) => ({ type: 'slack', url: `https://hooks.slack.com/${i}` }))
  const row = { id: 'mon_x', owner: 'k', name: '', kind: 'check', target: 'a.example', notify, unsubscribed: [] }
  const senders = { post: async () => run().then(() => ({ status: 200 })), mail: undefined, publicUrl: undefined }
  const consents = { take: async () => undefined, states: async () => new Map() }
  const mailRules = { recipients: [], perDay: 20 }
  const parts = {
    monitors: { byId: async () => row },
    tables: { consents, deliveries: { addSent: async () => 1, attempted: async () => {} } },
    engine: { wake: () => {} },
    mailRules,
    senders,
  }
  await monitorService(opened(parts), labWebhooks, () => 0).test('mon_x', owner, new AbortController().signal)
  return most()
}

testBounds([
  [
    'src/monitors/changes/changes.ts MAX_CHANGES',
    100,
    (n) =>
      blacklistChanges(lists(n, 'not_listed'), lists(n, 'listed')).length === n &&
      reportChanges(withFindings(0), withFindings(n)).length === n,
  ],
  [
    'src/monitors/changes/changes.ts MAX_TEXT',
    600,
    (n) => {
      const said = (name: number): string =>
        blacklistChanges(lists(1, 'not_listed'), lists(1, 'listed', text(name)))[0]!.text
      return said(n - said(1).length + 1).length === n
    },
  ],
  ['src/monitors/changes/row.ts MAX_RECORD', 200, (n) => record(text(n)) === text(n)],
  ['src/monitors/engine.ts RUNS_AT_A_TIME', 8, async (n) => (await claimed(n)).runs === n],
  ['src/monitors/engine.ts MESSAGES_AT_A_TIME', 16, async (n) => (await claimed(n)).messages === n],
  ['src/monitors/engine.ts JOBS_AT_A_TIME', 20, async (n) => (await claimed(n)).jobs === n],
  ['src/monitors/notify/templates.ts MAX_TITLE', 90, isTitle],
  ['src/monitors/notify/machine.ts MAX_HELD', 50, (n) => held(n)?.changes.length === n],
  ['src/monitors/notify/machine.ts MAX_TEXTS', 60, (n) => held(n)?.texts.length === n],
  ['src/monitors/notify/machine.ts MAX_LINE', 600, (n) => failingLine(n).length === n],
  ['src/monitors/notify/templates.ts MAX_LINE', 600, (n) => mail([text(n), 'y']).includes(text(n))],
  [
    'src/monitors/notify/templates.ts MAX_LINES',
    40,
    (n) => mail(times(n, (i) => `line${i}.`)).includes(`line${n - 1}.`),
  ],
  ['src/monitors/service.ts MAX_MONITORS', 20_000, isMonitorMade],
  ['src/monitors/service.ts TESTS_AT_A_TIME', 4, async (n) => (await testsAtOnce(n)) === n],
  ['src/monitors/webhooks.ts MAX_WEBHOOKS', 1_000, isWebhookMade],
])
