import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import { linesOf } from '../../../test/lab/report-lines.ts'
import type { Database } from './connect.ts'
import { deliveriesOf } from './deliveries.ts'
import { jobsOf } from './jobs.ts'
import { monitorsOf } from './monitors.ts'
import type { ReportRow } from './report-rows.ts'
import { reportSumsOf } from './report-sums.ts'
import { type NewReport, reportIntake } from './reports.ts'
import { type StorageBounds, storageGuard } from './storage.ts'
import { storedAnswersOf } from './stored-answers.ts'
import { webhooksOf } from './webhooks.ts'

let database: Database
beforeAll(async () => {
  database = await labDatabase()
  const jobs = jobsOf(database.db)
  for (const [id, state] of [
    ['job_1', 'running'],
    ['job_2', 'done'],
  ] as const) {
    await jobs.create({ id, kind: 'verify', name: '', owner: 'me', options: {}, expiresAt: new Date(Date.now() + 1e9) })
    await sql`UPDATE mailsonde.jobs SET state = ${state}, received = 1000, octets = 50000 WHERE id = ${id}`.execute(
      database.db,
    )
  }
})

const labReportRow: ReportRow = {
  ...{ name: 'a.example', address: '192.0.2.1', envelope_from: '', spf_domain: '', spf_result: '', spf_aligned: null },
  ...{
    dkim_domain: '',
    dkim_selector: '',
    dkim_result: '',
    dkim_aligned: null,
    signers: '',
    disposition: '',
    reason: '',
  },
  messages: 1,
}
const labReport: Omit<NewReport, 'owner'> = {
  ...{ id: 'rep_1', kind: 'dmarc', domain: 'a.example', organization: '', reporter: 'r', isKnownReporter: true },
  ...{
    reportId: '1',
    beginMs: 0,
    endMs: 1,
    day: '2026-11-01',
    messages: 1_000,
    policy: {},
    digest: '',
    authenticated: null,
  },
  ...{ counts: true, receivedMs: 0 },
}

const MUCH: StorageBounds = {
  ...{ maxOpenRows: 1e9, maxKeyStorage: 1e12, maxStorage: 1e15, minFreeDisk: 1e6 },
  freeDisk: async () => 1e9,
}
const OF_KEY = 2 * 50_000 + 2_000 * 1_024

it.each<[why: string, bounds: Partial<StorageBounds>, owner: string, more: number, code: string | undefined]>([
  ['room enough', {}, 'me', 1_000, undefined],
  ['the open rows of the key', { maxOpenRows: 1_500 }, 'me', 501, 'too_many_rows'],
  ['the last of its open rows', { maxOpenRows: 1_500 }, 'me', 500, undefined],
  ['the storage of the key, in which ended jobs count', { maxKeyStorage: OF_KEY + 1_024 }, 'me', 2, 'too_much_stored'],
  ['the last of its storage', { maxKeyStorage: OF_KEY + 1_024 }, 'me', 1, undefined],
  ['another key', { maxOpenRows: 1_500, maxKeyStorage: OF_KEY }, 'other', 1_000, undefined],
  ['the storage of all', { maxStorage: 1_000_000 }, 'me', 1, 'storage_full'],
  ['the free disk', { freeDisk: async () => 999_999 }, 'me', 1, 'storage_full'],
  ['a database elsewhere', { freeDisk: async () => undefined }, 'me', 1, undefined],
])('%s', async (_, bounds, owner, more, code) => {
  const admitted = storageGuard(async () => database.db, { ...MUCH, ...bounds }).admitRows(owner, more)
  if (code === undefined) await admitted
  else await expect(admitted).rejects.toMatchObject({ code })
})

describe('what a key stores beside its jobs counts too, and no more once it is removed', () => {
  const text = randomBytes(50_000).toString('hex') // nothing compresses it below 50,000 octets
  const tables = { stored: () => storedAnswersOf(database.db), monitors: () => monitorsOf(database.db) }
  const at = new Date()
  const expires = new Date(Date.now() + 1e9)
  const answer = {
    kind: 'check',
    subject: '',
    domain: null,
    email: null,
    ip: null,
    status: 'pass',
    score: null,
  } as const
  const monitor = {
    ...{
      name: '',
      kind: 'check',
      target: 'a.example',
      domain: 'a.example',
      every_ms: 1e9,
      options: '{}',
      notify: '[]',
    },
    ...{ conditions: '[]', quiet: null, is_public: false, enabled: true, created_at: at, next_run: at },
  }
  const message = { channel: '{"type": "webhook"}', type: 'x', body: text, createdAt: at }
  const webhook = async (owner: string) => {
    const row = { id: `wh_${owner}`, owner, url: `https://${owner}.example/`, secret: '', created_at: at }
    return (await webhooksOf(database.db).ensure(row, 9))!.webhook.number
  }
  const watched = async (owner: string) => (await tables.monitors().add({ ...monitor, owner, id: `mon_${owner}` }, 9))!

  it.each<[what: string, owner: string, store: () => Promise<unknown>, remove: () => Promise<unknown>]>([
    [
      'a stored answer',
      'answers',
      () =>
        tables
          .stored()
          .add({ ...answer, id: 'r1', owner: 'answers', answer: text, saved_at: at, expires_at: expires }, 9),
      () => tables.stored().remove('r1'),
    ],
    [
      'the last known answer of a monitor, and its history',
      'monitors',
      async () => {
        const row = await watched('monitors')
        const point = { at, status: 'pass', score: null, listed: null, reason: null, changes: JSON.stringify([text]) }
        const run = { point, isKept: true, nextRun: at, everyMs: 1e9, messageDue: null, state: 'ok', failures: 0 }
        await database.db.transaction().execute((tx) =>
          tables.monitors().write(tx, row, {
            ...run,
            last: 'null',
            known: text,
            facts: JSON.stringify({ findings: [text] }),
            notifier: '{}',
          }),
        )
      },
      async () => {
        await tables.monitors().sweepPoints(expires)
        await sql`UPDATE mailsonde.monitors SET known = NULL WHERE id = 'mon_monitors'`.execute(database.db)
      },
    ],
    [
      'a message of a monitor',
      'messages',
      async () => {
        const { number } = await watched('messages')
        await deliveriesOf(database.db).add(database.db, [
          { ...message, id: 'msg_1', monitor: number, webhook: await webhook('messages') },
        ])
      },
      () => webhooksOf(database.db).remove('wh_messages'),
    ],
    [
      'a message about a job',
      'callbacks',
      async () =>
        deliveriesOf(database.db).add(database.db, [
          { ...message, id: 'msg_2', monitor: null, webhook: await webhook('callbacks') },
        ]),
      () => deliveriesOf(database.db).sweep(expires),
    ],
    [
      'a report',
      'reports',
      async () => {
        const intake = reportIntake(database.pool, 'dmarc')
        const selectors = Array.from({ length: 500 }, (_, i) => `s${i}`.padEnd(200, 'x'))
        for (const lines of linesOf(selectors.map((dkim_selector) => ({ ...labReportRow, dkim_selector }))))
          await intake.add(lines)
        await intake.commit({ ...labReport, owner: 'reports' })
      },
      () => reportSumsOf(database.db).forget('a.example'),
    ],
  ])('%s', async (_, owner, store, remove) => {
    const room = (maxKeyStorage: number) => storageGuard(async () => database.db, { ...MUCH, maxKeyStorage })
    const isFull = async (max: number): Promise<boolean> =>
      room(max)
        .admit(owner, 0)
        .then(
          () => false,
          () => true,
        )
    expect(await isFull(3_000)).toBe(false)
    await store()
    expect([await isFull(50_000), await isFull(500_000)]).toEqual([true, false])
    await expect(room(50_000).admitRun(owner)).rejects.toMatchObject({ code: 'too_much_stored' })
    await remove()
    expect(await isFull(3_000)).toBe(false)
  })
  it.each([
    ['room enough', {}, [true, true]],
    ['a full disk', { freeDisk: async () => 1 }, [false, false]],
    ['a full database', { maxStorage: 1 }, [false, false]],
    ['a quarter of the database, of which senders that nobody knows have a quarter', { ofMail: 3.9 }, [true, true]],
    ['… of these', { ofMail: 3.9, ofStrangers: 1.1 }, [true, false]],
    ['… of all', { ofMail: 4.1 }, [false, true]],
  ])('mail has no key, and a share of its own: %s', async (_, bounds, expected) => {
    const {
      ofMail = 0,
      ofStrangers = 0,
      ...rest
    }: Partial<StorageBounds> & { ofMail?: number; ofStrangers?: number } = bounds
    const octets = 2 ** 50 // of a database that is as large as those of all tests are not
    const rows = [
      ['of_mail', true, ofMail - ofStrangers],
      ['of_strangers', false, ofStrangers],
    ] as const
    for (const [id, counts, share] of rows)
      await sql`
        INSERT INTO mailsonde.reports (id, kind, domain, organization, reporter, report_id, begins, ends, day, messages, policy, digest, counts, octets, received_at)
        VALUES (${id}, 'dmarc', 'share.example', '', 1, ${id}, now(), now(), '2026-11-01', 1, '{}', '', ${counts}, ${Math.round((share * octets) / 16)}, now())`.execute(
        database.db,
      )
    const guard = storageGuard(async () => database.db, { ...MUCH, maxStorage: octets, maxKeyStorage: 0, ...rest })
    const admitted = await Promise.all(
      [true, false].map((isKnown) =>
        guard.admitMail(isKnown).then(
          () => true,
          () => false,
        ),
      ),
    )
    await sql`DELETE FROM mailsonde.reports WHERE domain = 'share.example'`.execute(database.db)
    expect(admitted).toEqual(expected)
  })
})
