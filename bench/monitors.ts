import { readdirSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type MonitorServices, monitorServices } from '../src/monitors/open.ts'
import { submission } from '../src/net/submit-mail.ts'
import example from '../src/operations/examples/report.json' with { type: 'json' }
import { type Database, openDatabase } from '../src/store/postgres/connect.ts'
import { UNBOUNDED } from '../test/lab/storage.ts'
import { cpuMs, flags, machine, median, report, sleep } from './figures.ts'
import { benchFolder } from './jobs-service.ts'
import { startSink } from './smtp-sink.ts'

/**
 * The cost of 10,000 daily monitors: at rest, when all are due at once, the history of one over a year, and a digest to
 * the owner of each through a submission server (smtp-sink); this process and its private PostgreSQL together. A recorded report (45 kB) is the immediate answer to each question;
 * bench/check.ts measures a real one. Options: --monitors 10000 --points 100 (of each, beside a year of one) --seconds
 * 30 (at rest)
 */
const options = flags(process.argv.slice(2))
const MONITORS = Number(options.monitors ?? 10_000)
const POINTS = Number(options.points ?? 100)
const REST_MS = Number(options.seconds ?? 30) * 1_000
const DAY_MS = 86_400_000

const log = { info: () => {}, warn: console.error, debug: () => {}, error: console.error }
const folder = benchFolder()
const database = await openDatabase(
  { url: undefined, dataDir: folder.path, dbUser: 'nobody', log },
  AbortSignal.timeout(90_000),
)
const sink = await startSink('127.0.0.1', 2_525)
const { send } = submission({ url: `smtp://${sink.address}:${sink.port}`, from: 'watch@watch.example' })
let ran = 0
let mailed = 0
let services: MonitorServices | undefined
try {
  console.log(machine())
  const began = performance.now()
  await fill(database)
  console.log(
    `${MONITORS} monitors and ${MONITORS * POINTS + 365} points were written in ${seconds(performance.now() - began)}`,
  )

  services = monitorServices({
    storage: UNBOUNDED,
    profiles: [],
    open: async () => database,
    runOnce: async () => {
      ran++
      return JSON.parse(JSON.stringify(example)) as unknown
    },
    senders: {
      log,
      post: async () => ({ status: 204, retryAfter: '' }),
      mail: async (...asked) => {
        await send(...asked)
        mailed++
      },
      publicUrl: 'https://watch.example',
      from: 'watch@watch.example',
    },
    mailRules: { recipients: ['a.example'], perDay: 20 },
    jobEvent: async () => undefined,
    sweeps: [],
    now: Date.now,
    random: Math.random,
    log,
  })
  await services.monitors.start()
  await sleep(3_000) // the first cleanup
  const rest = await costOf(() => sleep(REST_MS))
  console.log(
    `at rest: ${percent(rest.us + rest.postgres, rest.took)} of a core (this process ${percent(rest.us, rest.took)}, PostgreSQL ${percent(rest.postgres, rest.took)})`,
  )

  const times: number[] = []
  for (let round = 0; round < 200; round++) {
    const at = performance.now()
    const points = await services.monitors.history('mon_1', { limit: 5_000 }, { id: '', isAdmin: true })
    times.push(performance.now() - at)
    if (points.length !== 365) throw new Error(`${points.length} points`)
  }
  console.log(
    `history of a year (365 points): ${median(times).toFixed(1)} ms, at most ${Math.max(...times).toFixed(1)} ms, of 200`,
  )

  const loop = monitorEventLoopDelay({ resolution: 5 })
  loop.enable()
  await database.pool.query("UPDATE mailsonde.monitors SET next_run = now() - interval '1 minute'")
  const due = await costOf(async () => {
    while (ran < MONITORS) await sleep(50)
  })
  loop.disable()
  const each = (due.us + due.postgres) / MONITORS
  console.log(
    `${MONITORS} due at once: ${seconds(due.took)}, ${Math.round((MONITORS / due.took) * 1_000)} a second; ${each.toFixed(2)} ms of processor time a run (PostgreSQL ${(due.postgres / MONITORS).toFixed(2)} of it), which is ${percent(each * MONITORS, DAY_MS)} of a core for one a day each; the event loop late by ${(loop.percentile(99) / 1e6).toFixed(0)} ms (99 %), ${(loop.max / 1e6).toFixed(0)} ms at most`,
  )
  await database.pool.query(`
    INSERT INTO mailsonde.monitor_points (monitor, at, status, changes)
    SELECT number, now() - interval '1 hour 1 second', 'pass', '[{"id":"spf.all","area":"SPF","effect":"worse","text":"the record ends in ~all"}]' FROM mailsonde.monitors`)
  await database.pool.query(
    `UPDATE mailsonde.monitors SET enabled = false, contact = 'o' || number || '@a.example', changed_at = now() - interval '1 hour'`,
  )
  await database.pool.query(
    `INSERT INTO mailsonde.digests (owner, every, next_at, since) VALUES ('', 'week', now(), now() - interval '7 days')`,
  )
  const sessions = sink.sessions()
  const digests = await costOf(async () => {
    while (mailed < MONITORS) await sleep(50)
  })
  const ofDigest = (digests.us + digests.postgres) / MONITORS
  console.log(
    `${MONITORS} digests by SMTP: ${seconds(digests.took)}, ${Math.round((MONITORS / digests.took) * 1_000)} a second over ${sink.sessions() - sessions} connections that ended; ${ofDigest.toFixed(2)} ms of processor time each (PostgreSQL ${(digests.postgres / MONITORS).toFixed(2)} of it)`,
  )
  report('monitors', [
    {
      what: 'the history of a daily monitor over a year, 365 points',
      value: median(times),
      unit: 'ms',
      isLessBetter: true,
    },
    {
      what: '10,000 monitors at rest, of a core',
      value: ((rest.us + rest.postgres) / rest.took) * 100,
      unit: '%',
      isLessBetter: true,
    },
    { what: 'a run of a monitor, with its database, processor time', value: each, unit: 'ms', isLessBetter: true },
    { what: 'a digest, with its database and SMTP, processor time', value: ofDigest, unit: 'ms', isLessBetter: true },
  ])
} finally {
  await services?.stop()
  await database.close()
  await sink.stop()
  folder.remove()
}

/**
 * The monitors, each after its first run and with its own time in the day that begins an hour from now; the first has
 * points for a year.
 */
async function fill({ pool }: Database): Promise<void> {
  await pool.query(
    `INSERT INTO mailsonde.monitors (id, owner, name, kind, target, domain, every_ms, options, notify, conditions, is_public, enabled, created_at, next_run, ran_at, state, last, known)
     SELECT 'mon_' || n, '', '', 'report', 'example.org', 'example.org', ${DAY_MS}, '{}', '[]', '["changed","listed"]', false, true, now(),
       now() + interval '1 hour' + n * interval '8.64 s', now(), 'ok', NULL, $2 FROM generate_series(1, $1::int) AS n`,
    [MONITORS, JSON.stringify(example)],
  )
  const points = `INSERT INTO mailsonde.monitor_points (monitor, at, status, score, listed) SELECT m.number, now() - n * interval '1 day', 'pass', 90, 0`
  await pool.query(`${points} FROM mailsonde.monitors m, generate_series(1, $1::int) AS n WHERE id <> 'mon_1'`, [
    POINTS,
  ])
  await pool.query(`${points} FROM mailsonde.monitors m, generate_series(1, 365) AS n WHERE id = 'mon_1'`)
  await pool.query('VACUUM ANALYZE mailsonde.monitors')
  await pool.query('VACUUM ANALYZE mailsonde.monitor_points')
}

/** Processor time of some work here and in PostgreSQL, and its duration, ms. */
async function costOf(work: () => Promise<unknown>): Promise<{ us: number; postgres: number; took: number }> {
  const [us, postgres, began] = [cpuMs(process.pid), postgresMs(), performance.now()]
  await work()
  return { us: cpuMs(process.pid) - us, postgres: postgresMs() - postgres, took: performance.now() - began }
}

/** Processor time of the private server, ms: the postmaster with its ended children, and the running children. */
function postgresMs(): number {
  const master = Number(readFileSync(`${folder.path}/postgres/cluster/postmaster.pid`, 'utf8').split('\n')[0])
  const children = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === master)
  const ended = readFileSync(`/proc/${master}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return [master, ...children.map(Number)].reduce(
    (sum, pid) => sum + cpuMs(pid),
    (Number(ended[13]) + Number(ended[14])) * 10,
  )
}
function parentOf(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1])
  } catch {
    return 0
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
function percent(part: number, whole: number): string {
  return `${((part / whole) * 100).toFixed(2)} %`
}
