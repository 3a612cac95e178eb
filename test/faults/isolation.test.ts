import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { putOff } from '../../src/base/alone.ts'
import { sleep } from '../../src/base/deadline.ts'
import { AppError, ERRORS, type ErrorCode } from '../../src/base/errors.ts'
import { tester, testStates } from '../../src/dnsbl/tester.ts'
import { BUILT_IN_LISTS } from '../../src/dnsbl/zones.ts'
import type { Asked } from '../../src/jobs/engine/claims.ts'
import { type EngineSettings, startEngine } from '../../src/jobs/engine/engine.ts'
import { openUploads } from '../../src/jobs/intake/open-uploads.ts'
import { takeUpload } from '../../src/jobs/submit.ts'
import { type ImapSettings, lookOnce } from '../../src/mail-in/imap.ts'
import { sourcePool } from '../../src/mailbox/source/pool.ts'
import { type EngineParts, startMonitors } from '../../src/monitors/engine.ts'
import { ip } from '../../src/names/ip.ts'
import { importReports } from '../../src/reports/import.ts'
import { BOUNDS } from '../../src/reports/parse/containers.ts'
import { acceptedOf } from '../../src/store/postgres/accepted.ts'
import type { Database } from '../../src/store/postgres/connect.ts'
import { deliveriesOf } from '../../src/store/postgres/deliveries.ts'
import { digestsOf } from '../../src/store/postgres/digests.ts'
import { takeInOf } from '../../src/store/postgres/job-intake.ts'
import { jobRowsOf } from '../../src/store/postgres/job-rows.ts'
import { type JobRecord, jobsOf, OWN_TABLE_ROWS } from '../../src/store/postgres/jobs.ts'
import { mailConsentsOf } from '../../src/store/postgres/mail-consents.ts'
import { monitorsOf } from '../../src/store/postgres/monitors.ts'
import { portfolioOf } from '../../src/store/postgres/portfolio.ts'
import type { MailboxPlace } from '../../src/store/postgres/report-notes.ts'
import { webhooksOf } from '../../src/store/postgres/webhooks.ts'
import { labProxies, labSource } from '../lab/app.ts'
import { LOCAL_CERT } from '../lab/certificate.ts'
import { labDatabase } from '../lab/database.ts'
import { heavyHere } from '../lab/heavy.ts'
import { type LabImap, labImap } from '../lab/imap-server.ts'
import { labProblem } from '../lab/problem.ts'
import { aggregateReport } from '../lab/report-xml.ts'
import { UNBOUNDED } from '../lab/storage.ts'
import { labWorld } from '../lab/world.ts'
import { zipOf } from '../lab/zip.ts'

/**
 * A bad item does not stop its neighbours, and is not asked without pause: every loop over items with every kind of
 * fault, each at an item of its own beside good ones, for a day by a driven clock.
 */
const DAY_MS = 86_400_000
const thrown: Readonly<Record<string, unknown>> = {
  'a TypeError': new TypeError("Cannot read properties of undefined (reading 'length')"),
  'a RangeError': new RangeError('Invalid array length'),
  'a text': 'no error at all',
  'an object': { no: 'error' },
  nothing: undefined,
  ...Object.fromEntries(
    Object.keys(ERRORS).map((code) => [code, new AppError(code as ErrorCode, labProblem(`an error of code ${code}`))]),
  ),
}
const NEVER = 'a promise that never settles'
const FAULTS = [...Object.keys(thrown), NEVER]
/** Of the codes, some: the loops of monitors do not look at the others. */
const SOME = ['internal', 'too_much_stored', 'upstream_unavailable', 'overloaded', 'timeout']
const GOOD = ['good1', 'good2', 'good3']
/** The name of the item with a fault, as part of a host name. */
const bad = new Map(FAULTS.map((fault, i): [string, string] => [`bad${i}`, fault]))
const BAD = [...bad.keys()]
const BAD_OF_MONITORS = BAD.filter((name) => !(bad.get(name)! in ERRORS) || SOME.includes(bad.get(name)!))

/** Fails as the item of this name does; counts how often each was asked. */
function asking(): { readonly asked: Map<string, number>; readonly ask: (name: string) => Promise<void> } {
  const asked = new Map<string, number>()
  return {
    asked,
    ask: (name) => {
      asked.set(name, (asked.get(name) ?? 0) + 1)
      const fault = bad.get(name)
      if (fault === NEVER) return new Promise(() => {})
      return fault === undefined ? Promise.resolve() : Promise.reject(thrown[fault])
    },
  }
}
const nameOf = (text: string): string => /(?:bad|good)\d+/.exec(text)?.[0] ?? ''
const most = (asked: ReadonlyMap<string, number>): number => Math.max(...BAD.map((name) => asked.get(name) ?? 0))

type Line = { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }
function logged() {
  const lines: Line[] = []
  const note = (event: string, fields: object = {}): void => void lines.push({ event, fields: { ...fields } })
  return { lines, log: { debug: () => {}, info: () => {}, warn: note, error: note } }
}
async function until(holds: () => Promise<boolean> | boolean, ms = 15_000): Promise<void> {
  const limit = AbortSignal.timeout(ms)
  while (!(await holds())) await sleep(5, limit)
}

describe('monitors, messages and ended jobs', () => {
  const START_MS = Date.UTC(2026, 0, 2, 20)
  let nowMs = START_MS
  let database: Database
  let engine: ReturnType<typeof startMonitors>
  const { lines, log } = logged()
  const runs = asking()
  const posts = asking()
  const events = asking()
  const count = async (text: string, ...values: unknown[]): Promise<number> =>
    (await database.pool.query<{ n: number }>(`SELECT count(*)::int AS n ${text}`, values)).rows[0]!.n
  const delivered: string[] = []

  beforeAll(async () => {
    database = await labDatabase()
    const { db } = database
    const mail = { consents: mailConsentsOf(db), digests: digestsOf(db), accepted: acceptedOf(db) }
    const tables = { deliveries: deliveriesOf(db), webhooks: webhooksOf(db), ...mail }
    const monitors = monitorsOf(db)
    const at = new Date(nowMs)
    const hook = async (name: string): Promise<number> => {
      const row = { id: `wh_${name}`, owner: '', url: `https://${name}.example/`, secret: 'whsec_AAAA', created_at: at }
      return (await tables.webhooks.ensure(row, 1_000))!.webhook.number
    }
    // Of the broken ones a column cannot be read.
    for (const name of [...BAD_OF_MONITORS, ...GOOD, 'broken']) {
      const row = {
        id: `mon_${name}`,
        owner: '',
        name: '',
        target: name,
        domain: '',
        every_ms: DAY_MS,
        is_public: false,
      }
      const texts = { options: '{}', notify: name === 'broken' ? '{}' : '[]', conditions: '["changed"]', quiet: null }
      await monitors.add({ ...row, ...texts, kind: 'blacklist', enabled: true, created_at: at, next_run: at }, 1_000)
      const webhook = await hook(name)
      const message = { id: `msg_${name}`, webhook, monitor: null, type: 'x', body: '{}', createdAt: at }
      const channel = name === 'broken' ? '{"type":"pigeon"}' : '{"type":"webhook"}'
      await tables.deliveries.add(db, [{ ...message, channel }])
      const job = { id: `job_${name}`, kind: 'verify', name: '', owner: '', options: {}, expiresAt: at } as const
      await jobsOf(db).create(job)
      await jobsOf(db).move(job.id, ['receiving'], 'done')
      await tables.deliveries.setCallback(job.id, webhook)
    }
    const parts: EngineParts = {
      ...{ database, monitors, ...tables, now: () => nowMs, random: () => 0.5, log, storage: UNBOUNDED },
      ...{
        profiles: [],
        mailRules: { recipients: [], perDay: 1 },
        limits: { runMs: 300, messageMs: 300, eventMs: 300 },
      },
      sweeps: [...FAULTS.filter((fault) => fault !== NEVER), undefined].map((fault) => async () => {
        if (fault !== undefined) throw thrown[fault]
        return false
      }),
      runOnce: async (_kind, target) => {
        await runs.ask(nameOf(target))
        throw new AppError('timeout', labProblem('good ones have no answer either'))
      },
      jobEvent: async (id) => {
        if (id.endsWith('broken')) return { cannot: 1n }
        await events.ask(nameOf(id))
        return { id }
      },
      senders: {
        ...{ mail: undefined, publicUrl: undefined, from: undefined, log },
        post: async ({ url, body }) => {
          await posts.ask(nameOf(url))
          delivered.push(body === '{}' ? nameOf(url) : body)
          return { status: 204, retryAfter: '' }
        },
      },
    }
    engine = startMonitors(parts)
  })
  afterAll(() => engine.stop())

  const due = async (): Promise<number> => {
    const now = new Date(nowMs)
    const waiting = await count('FROM mailsonde.monitors WHERE least(next_run, message_due) <= $1', now)
    const pending = await count(`FROM mailsonde.deliveries WHERE state = 'pending' AND next_attempt <= $1`, now)
    return waiting + pending
  }

  it('neighbours are done at once, and each bad item is asked a few times in a day', async () => {
    const steps = [0, 6, 17, 48, 180, 600, 1_439]
    for (const [n, minutes] of steps.entries()) {
      nowMs = START_MS + minutes * 60_000
      engine.wake()
      await until(async () => (await due()) === 0, 30_000)
      if (n > 0) continue
      for (const name of GOOD) expect(runs.asked.get(name)).toBe(1)
      // A message of its own, and that of the job that ended.
      await until(() => delivered.filter((one) => GOOD.some((name) => one.includes(name))).length === 6)
      expect(await count('FROM mailsonde.jobs WHERE callback IS NOT NULL')).toBe(BAD_OF_MONITORS.length + 1)
    }
    expect(most(runs.asked)).toBeLessThanOrEqual(4)
    expect(most(posts.asked)).toBeLessThanOrEqual(8 + 8) // a message of its own, and that of its job
    expect(most(events.asked)).toBeLessThanOrEqual(5)
  }, 120_000)

  it('a run with a fault has the result unknown, and is told after three in a row', async () => {
    const failing = await count(
      `FROM mailsonde.monitors WHERE state = 'unknown' AND failures >= 3 AND next_run > $1`,
      new Date(nowMs),
    )
    expect(failing).toBe(BAD_OF_MONITORS.length + GOOD.length + 1)
    expect(
      await count(`FROM mailsonde.monitor_points WHERE reason LIKE '%TypeError%' OR reason LIKE '%undefined%'`),
    ).toBe(0)
    const [told] = await portfolioOf(database.db)
      .list({ facts: {} }, { sort: 'newest', limit: 1 })
      .then((all) => all.filter(({ id }) => id === 'mon_broken'))
    expect(told?.last).toMatchObject({
      status: 'unknown',
      reason: 'an internal error of this service; its log has the cause',
    })
  })

  it('an ended job whose event cannot be made is given up, and the database is not blamed', async () => {
    expect(await count('FROM mailsonde.jobs WHERE callback IS NOT NULL')).toBe(0)
    const ofBroken = lines.filter(({ fields }) => fields.job === 'job_broken')
    expect(ofBroken.map(({ fields }) => fields.again_in_ms)).toEqual([60_000, 300_000, 1_800_000, 7_200_000, null])
    expect(lines.filter(({ event }) => event.includes('database'))).toEqual([])
  })

  it('a clock that steps back by three days delays nothing', async () => {
    const waiting = async (): Promise<number> =>
      count(`FROM mailsonde.deliveries WHERE state = 'pending' AND created_at > $1`, new Date(nowMs))
    nowMs = START_MS - 3 * DAY_MS
    const before = { runs: runs.asked.get('bad0')!, posts: posts.asked.get('bad0')!, waiting: await waiting() }
    expect(before.waiting).toBeGreaterThan(0)
    engine.wake()
    await until(() => runs.asked.get('bad0')! > before.runs && posts.asked.get('bad0')! > before.posts)
    await until(async () => (await due()) === 0, 30_000)
    expect(await waiting()).toBe(before.waiting) // each was sent once more, and waits for its next time
    expect(runs.asked.get('bad0')).toBe(before.runs + 1)
    expect(posts.asked.get('bad0')).toBe(before.posts + 1)
  })

  it('a job whose webhook is set again by a repeated request is told once', async () => {
    const { rows } = await database.pool.query(`SELECT number FROM mailsonde.webhooks WHERE id = 'wh_good1'`)
    await deliveriesOf(database.db).setCallback('job_good1', Number(rows[0].number))
    engine.wake()
    await until(async () => (await count('FROM mailsonde.jobs WHERE callback IS NOT NULL')) === 0)
    expect(await count(`FROM mailsonde.deliveries WHERE body LIKE '%job_good1%'`)).toBe(1)
  })

  it('the log has each item with its cause', () => {
    for (const at of ['monitor', 'message', 'job'])
      expect(
        lines.some(({ fields }) => fields[at] !== undefined && fields.err instanceof TypeError),
        at,
      ).toBe(true)
  })
})

describe('bulk jobs', () => {
  const { lines, log } = logged()
  const rows = asking()
  const domains = asking()
  const limits = (id: string) => ({ id, concurrent: 200, perMinute: Number.POSITIVE_INFINITY })
  let database: Database
  let engine: Awaited<ReturnType<typeof startEngine>>
  let stored: JobRecord
  let torn: JobRecord
  const UNSTORABLE: Readonly<Record<string, Asked>> = {
    'number@row.example': { result: 'accepted', reason: 'mailbox_exists', answer: { no: 1n as never } },
    'zero@row.example': { result: 'a\0b', reason: 'mailbox_exists', answer: {} },
  }

  async function submit(list: readonly string[]): Promise<JobRecord> {
    const expiresAt = new Date(Date.now() + 30 * DAY_MS)
    const job = { id: randomUUID(), kind: 'verify', name: '', owner: randomUUID(), options: {}, expiresAt } as const
    const made = await jobsOf(database.db).create(job)
    async function* octets() {
      yield Buffer.from(list.join('\n'))
    }
    const upload = { octets: octets(), contentType: 'text/plain', bounds: { maxUpload: 1e9, maxRows: 1e9 } }
    const place = openUploads().enter('')
    const { complete } = jobRowsOf(database.db)
    await takeUpload({ takeIn: takeInOf(database.pool), complete, place }, made, upload)
    return (await jobsOf(database.db).byId(job.id))!
  }
  const resultsOf = async (job: JobRecord) => jobRowsOf(database.db).results(job, { after: 0, limit: 10_000 })
  const stateOf = async ({ id }: JobRecord) => (await jobsOf(database.db).byId(id))?.state
  /** Time passes in the database. */
  async function pass(minutes: number): Promise<void> {
    const by = `interval '${minutes} minutes'`
    await database.pool.query(
      `UPDATE mailsonde.job_rows SET due = due - ${by}, first_asked_at = first_asked_at - ${by} WHERE fence % 2 = 0`,
    )
    await database.pool.query(
      `UPDATE mailsonde.job_providers SET next_due = next_due - ${by} WHERE next_due < 'infinity'`,
    )
  }

  beforeAll(async () => {
    database = await labDatabase()
    stored = await submit([
      ...[...BAD, ...GOOD].map((name) => `${name}@row.example`),
      ...[...BAD, ...GOOD].map((name) => `x@${name}.example`),
      ...Object.keys(UNSTORABLE),
    ])
    torn = await submit(Array.from({ length: OWN_TABLE_ROWS + 1 }, (_, n) => `n${n}@torn.example`))
    await database.pool.query(`ALTER TABLE mailsonde.job_rows_${torn.number} RENAME COLUMN input TO other`)
    const settings: EngineSettings = {
      ...{ now: Date.now, log, rowMs: 300, drainMs: 100, room: (_: string, claimed: number) => 200 - claimed },
      ask: async (_kind, input) => {
        const name = nameOf(input)
        const isOver = isOwnLimit(name) && (rows.asked.get(name) ?? 0) > 3
        if (input.endsWith('@row.example') && !isOver) await rows.ask(name)
        return UNSTORABLE[input] ?? { result: 'accepted', reason: 'mailbox_exists', answer: {} }
      },
      findProvider: async (_kind, domain) => {
        if (bad.get(nameOf(domain)) === NEVER)
          throw new Error('the lookup has a limit of 10 s, for which no test waits')
        await domains.ask(nameOf(domain))
        return limits(domain)
      },
    }
    engine = await startEngine(database, settings)
  }, 120_000)
  afterAll(() => engine.stop())

  it('neighbours have their results at once; every row has one at the end, and the job ends', async () => {
    const good = async (): Promise<number> =>
      (await resultsOf(stored)).filter(({ input, result }) => input.includes('good') && result === 'accepted').length
    await until(async () => (await good()) === 2 * GOOD.length)
    for (let minutes = 0; minutes < 72 * 60 && (await stateOf(stored)) !== 'done'; minutes += 40) {
      await pass(40)
      engine.wake()
      await sleep(700, AbortSignal.timeout(5_000)) // a plan, and the time limit of a row
    }
    expect(await stateOf(stored)).toBe('done')
    const results = await resultsOf(stored)
    expect(results).toHaveLength(2 * (FAULTS.length + GOOD.length) + 2)
    for (const { input, result } of results)
      if (input.startsWith('x@')) expect([input, result]).toEqual([input, 'accepted'])
    for (const { input, reason, answer } of results.filter((row) => row.input in UNSTORABLE))
      expect([input, reason, answer]).toEqual([
        input,
        'internal_error',
        { message: 'an internal error of this service; its log has the cause' },
      ])
  }, 120_000)

  it('a row with a fault is asked four times and then says so, without blaming the mailbox', async () => {
    const counts = new Map([...rows.asked].filter(([name]) => !isOwnLimit(name)))
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(4)
    for (const { input, result, reason } of await resultsOf(stored)) {
      const fault = bad.get(nameOf(input))
      if (fault === undefined || input.startsWith('x@')) continue
      if (fault in ERRORS && MAPPED.includes(fault)) continue
      expect([fault, result, reason]).toEqual([fault, 'unreachable', 'internal_error'])
    }
  })

  it('a domain is looked up once, and a job whose table is damaged is put off for longer each time', () => {
    expect(most(domains.asked)).toBe(1)
    const ofTorn = lines.filter(({ fields }) => fields.job === torn.id)
    expect(ofTorn.slice(0, 2).map(({ fields }) => fields.again_in_ms)).toEqual([1_000, 10_000])
    expect(ofTorn.length).toBeLessThanOrEqual(4)
  })

  it('the log has the row, the domain and the job with its cause, each once', () => {
    const rowLines = lines.filter(({ event }) => event === 'a row of a bulk job cannot be asked')
    expect(
      rowLines.some(({ fields }) => fields.job === stored.id && fields.err instanceof TypeError && fields.line === 1),
    ).toBe(true)
    expect(rowLines.length).toBeLessThanOrEqual(20)
    expect(lines.filter(({ event }) => event.includes('database'))).toEqual([])
  })
})

/** Codes that are the result of a row, as before. */
const MAPPED: readonly string[] = [
  ...['invalid_domain', 'invalid_ip', 'invalid_parameter', 'timeout', 'forbidden', 'overloaded', 'rate_limited'],
]
/** Our own limit is asked again as soon as it permits; it is never the result of a row. */
const isOwnLimit = (name: string): boolean => ['overloaded', 'rate_limited'].includes(bad.get(name) ?? '')

describe('a mailbox of reports', () => {
  /** The database or the storage: the same would happen to the next message. */
  const OF_ALL = ['upstream_unavailable', 'storage_full', 'overloaded']
  const ALONE = BAD.filter((name) => !OF_ALL.includes(bad.get(name)!))
  const { lines, log } = logged()
  const mails = asking()
  let imap: LabImap
  let nowMs = Date.UTC(2026, 10, 23)
  let place: MailboxPlace | undefined
  beforeAll(async () => {
    imap = await labImap([...ALONE, ...GOOD].map((name) => `Subject: ${name}\r\n\r\n.\r\n`))
  })
  afterAll(() => imap.close())

  it('neighbours are read in the first look, and a bad message is given up within a day', async () => {
    const settings: ImapSettings = {
      ...{ url: imap.url, password: 'secret', maxOctets: 1_000_000, ca: [LOCAL_CERT], now: () => nowMs, log },
      messageMs: 100,
      deliver: async (message) => {
        await mails.ask(nameOf(String(message)))
        return 'report'
      },
      places: async () => ({
        mailboxPlace: async () => place,
        rememberPlace: async (_name, to) => void (place = to),
      }),
    }
    for (let n = 0; n < 60; n++) {
      if (n === 1) nowMs -= 2 * DAY_MS // the clock steps back
      await lookOnce(settings, AbortSignal.timeout(20_000))
      if (n === 0) expect(imap.moved.get('Processed')).toHaveLength(GOOD.length)
      nowMs += 30 * 60_000
    }
    expect(imap.moved.get('Unreadable')).toHaveLength(ALONE.length)
    expect(most(mails.asked)).toBeLessThanOrEqual(12)
    expect(lines.some(({ fields }) => fields.uid === 1 && String(fields.reason).includes('reading'))).toBe(true)
  }, 60_000)
})

describe('the reports of a file', () => {
  const CODELESS = Object.entries(thrown).filter(([, error]) => !(error instanceof AppError))

  it.each(CODELESS)('judging one with %s refuses it and stores its neighbours', async (_, error) => {
    const stored: string[] = []
    const faults: string[] = []
    const settings: Parameters<typeof importReports>[0] = {
      ...{
        heavy: heavyHere,
        newId: randomUUID,
        now: () => Date.UTC(2026, 10, 22),
        keepMs: 30 * DAY_MS,
        bounds: BOUNDS,
      },
      ...{ admitMail: async () => {}, onFault: (how) => faults.push(how) },
      intake: async () => ({
        add: async () => {},
        commit: async ({ id, domain, messages }) => {
          stored.push(domain)
          return { id, duplicate: false, differs: false, counts: true, messages, foreignRows: 0 }
        },
        abort: async () => {},
      }),
      envelopeOf: () => Promise.reject(new Error('a file has no envelope')),
    }
    const names = ['good1', 'bad1', 'good2']
    const octets = zipOf(
      names.map((name) => [
        `${name}.xml`,
        Buffer.from(
          aggregateReport({ domain: `${name}.example`, id: name, rows: [{ address: '192.0.2.1', count: 1 }] }),
        ),
      ]),
    )
    const { refused } = await importReports(settings, octets, {
      ...{ name: 'reports.zip', way: 'file', owner: '', signal: AbortSignal.timeout(10_000) },
      accepts: (domain) => {
        if (domain === 'bad1.example') throw error
        return 'taken'
      },
    })
    expect(stored).toEqual(['good1.example', 'good2.example'])
    expect(refused.map(({ name, code, problem }) => [name, code, problem.id])).toEqual([
      ['bad1.xml', 'bad_report', 'heavy.fault'],
    ])
    expect(faults).toHaveLength(1)
  })
})

describe('the pool of sources, and the tests of lists', () => {
  const SETTLED = BAD.filter((name) => bad.get(name) !== NEVER)

  it('the listings of every other address are known, and each is asked once in 15 minutes', async () => {
    for (const name of SETTLED) {
      const { asked, ask } = asking()
      let nowMs = 0
      const addresses = [ip('45.53.1.1'), ip('45.53.1.2'), ip('45.53.1.3')]
      const pool = sourcePool({
        ...{ now: () => nowMs, read: () => addresses.map(labSource), ownAddresses: () => [], proxies: labProxies() },
        lookup: async (address) => {
          await ask(address === addresses[1] ? name : `good ${address}`)
          return [{ blacklist: 'a list', meaning: 'spam', status: 'listed' }]
        },
      })
      for (; nowMs < DAY_MS; nowMs += 60_000) await pool.refresh(AbortSignal.timeout(5_000)).catch(() => {})
      expect(addresses.map((one) => pool.listings(one)?.length)).toEqual([1, undefined, 1])
      expect([...asked.values()]).toEqual([96, 96, 96])
    }
  })

  it('every other list is tested, and each once an hour', async () => {
    const lists = BUILT_IN_LISTS.slice(0, 3)
    for (const name of SETTLED) {
      const { asked, ask } = asking()
      let nowMs = DAY_MS
      const tests = tester({ states: testStates(), keys: {}, deadlineMs: 5_000 })
      const { lines, log } = logged()
      const world = labWorld({}, { now: () => nowMs })
      const resolve: typeof world.resolve = async (host, ...rest) => {
        const at = lists.findIndex(({ zone }) => host.endsWith(`.${zone}`))
        await ask(at === 1 ? name : `good ${at}`)
        return world.resolve(host, ...rest)
      }
      const { signal } = new AbortController()
      for (; nowMs < 2 * DAY_MS; nowMs += 60_000) {
        const due = lists.filter((list) => tests.isDue(list, 4, nowMs))
        tests.start({ ...world, log, resolve }, due, 4, signal)
        if (due.length > 0) await tests.settled()
      }
      expect(tests.isDue(lists[0]!, 4, nowMs - 60_000)).toBe(false)
      expect(asked.get(name)).toBeLessThanOrEqual(24 * 3)
      expect(lines.filter(({ event }) => event === 'dnsbl.test_failed').length).toBeLessThanOrEqual(24)
    }
  }, 60_000)
})

describe('putOff', () => {
  const DELAYS = [60_000, 600_000, 3_600_000]
  /** When an item that always fails is tried in a day in which somebody looks every second. */
  function day(step: (nowMs: number) => number): readonly (number | undefined)[] {
    let nowMs = 0
    const later = putOff<string>(DELAYS, () => nowMs)
    const waits: (number | undefined)[] = []
    for (let at = 0; at < DAY_MS && !waits.includes(undefined); at += 1_000) {
      nowMs = step(at)
      if (later.isDue('x')) waits.push(later.failed('x'))
      expect(later.isDue('another')).toBe(true)
      expect(later.waiting()).toEqual(waits.at(-1) === undefined ? [] : ['x'])
    }
    return waits
  }
  it.each<[string, (nowMs: number) => number]>([
    ['a steady clock', (at) => at],
    ['a clock that steps ahead by an hour', (at) => (at > 100_000 ? at + 3_600_000 : at)],
  ])('grows the delays and gives up: %s', (_, step) => expect(day(step)).toEqual([...DELAYS, undefined]))

  it('a clock that stepped back delays nothing', () => {
    let nowMs = DAY_MS
    const later = putOff<string>(DELAYS, () => nowMs)
    later.failed('x')
    nowMs = 0
    expect([later.isDue('x'), later.waiting()]).toEqual([true, []])
  })

  it('begins anew after an item did well, or was given up', () => {
    const later = putOff<string>(DELAYS, () => 0)
    const waits = [later.failed('x'), later.failed('x')]
    later.ended('x')
    for (let n = 0; n < 5; n++) waits.push(later.failed('x'))
    expect(waits).toEqual([60_000, 600_000, ...DELAYS, undefined, 60_000])
  })

  it('remembers 1,000 items', () => {
    const later = putOff<number>(DELAYS, () => 0)
    for (let n = 0; n < 1_001; n++) later.failed(n)
    expect(later.waiting()).toHaveLength(1_000)
  })
})
