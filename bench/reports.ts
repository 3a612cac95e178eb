import { fork } from 'node:child_process'
import {
  createReadStream,
  createWriteStream,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { createGzip } from 'node:zlib'
import { CompiledQuery, sql } from 'kysely'
import { domain } from '../src/names/domain.ts'
import { allOperations } from '../src/operations/registry.ts'
import type { ImportRequest } from '../src/reports/import.ts'
import { type ReportService, reportService } from '../src/reports/service.ts'
import { openSite } from '../src/start/pages.ts'
import { type Database, openDatabase } from '../src/store/postgres/connect.ts'
import { startEmbedded } from '../src/store/postgres/embedded.ts'
import { sumDays } from '../src/store/postgres/report-tables.ts'
import { labApp, labDeps, labExecutor } from '../test/lab/app.ts'
import { labDns } from '../test/lab/dns.ts'
import { heavyHere } from '../test/lab/heavy.ts'
import { aggregateReport } from '../test/lab/report-xml.ts'
import { UNBOUNDED } from '../test/lab/storage.ts'
import { labWorld } from '../test/lab/world.ts'
import { figures, flags, machine, median, residentMiB, table, V8_FLAGS } from './figures.ts'
import { benchFolder } from './jobs-service.ts'
import { startServing } from './serving.ts'

/**
 * Reports: rows from XML to the table and the memory of a large report, by a process of its own; senders, page and
 * policy over a year of summed rows; and what a service runs before its first report. `node bench/reports.ts [--rows
 * 1000000] [--write yes]`; a private PostgreSQL beside it.
 */
const NOW = Date.UTC(2026, 10, 23, 12)
const DOMAIN = domain('example.org')
const DAYS = 400
/** An input unpacks to 256 MiB at most. */
const MAX_IN_REPORT = 300_000
const log = { info: () => {}, warn: console.error, debug: () => {}, error: console.error }

async function main(): Promise<void> {
  const rows = Number(flags(process.argv.slice(2)).rows ?? 1_000_000)
  console.log(machine())
  const folder = benchFolder()
  const server = await startEmbedded({ dataDir: folder.path, user: 'nobody', log }, AbortSignal.timeout(90_000))
  const { user, password, host } = server.connection
  const url = `postgres://${user}:${password}@/postgres?host=${encodeURIComponent(host)}`
  try {
    const imports: Taken[] = []
    const inReport = Math.min(rows, MAX_IN_REPORT)
    for (const [n, { name, sources }] of [
      { name: 'each row another address', sources: inReport },
      { name: `${(5_000).toLocaleString('en')} addresses`, sources: 5_000 },
    ].entries()) {
      const file = join(folder.path, `report-${n}.xml.gz`)
      await writeReport(file, { rows: inReport, sources, id: String(n) })
      const taken = await imported({ url, file, name, rows: inReport })
      imports.push(taken)
      console.log(JSON.stringify(taken))
    }
    const database = await openDatabase({ url, dataDir: '', dbUser: 'nobody', log }, AbortSignal.timeout(30_000))
    const looks = await looked(database, rows)
    await database.close()
    const rest = await atRest(join(folder.path, 'rest'))
    const slowest = Math.min(...imports.map((one) => one.perCore))
    const most = Math.max(...imports.map((one) => one.memory))
    figures('reports', [
      `A report of ${inReport.toLocaleString('en')} rows is stored at ${round(slowest)} rows/s a core of the service (goal 20,000), with at most ${most.toFixed(0)} MiB more memory (goal 50). Senders over ${DAYS} days and ${rows.toLocaleString('en')} summed rows take ${looks.senders.ms.toFixed(0)} ms (goal 200), their page ${looks.page.ms.toFixed(0)} ms (goal 500), and the policy tried on 10,000 addresses ${looks.policy.ms.toFixed(0)} ms (goal 1,000).`,
      [
        '| report | unpacked MB | gzip MB | rows/s of wall-clock time | rows/s a core | more memory, MiB |',
        '|---|--:|--:|--:|--:|--:|',
        ...imports.map(
          (one) =>
            `| ${one.name} | ${one.megabytes.toFixed(0)} | ${one.packed.toFixed(1)} | ${round(one.perSecond)} | ${round(one.perCore)} | ${one.memory.toFixed(0)} |`,
        ),
      ].join('\n'),
      table(
        ['look', 'ms', 'processor time of the service, ms'],
        Object.entries(looks).map(([name, one]) => [name, ...[one.ms, one.cpu].map((value) => value.toFixed(0))]),
      ),
      `A service without reports has ${rest.children} processes of its own and ${rest.sockets} connections after its first pages. ${machine()}.`,
    ])
  } finally {
    await server.stop()
    folder.remove()
  }
}

const round = (value: number): string => Math.round(value).toLocaleString('en')

type Order = { readonly url: string; readonly file: string; readonly name: string; readonly rows: number }
type Taken = {
  readonly name: string
  readonly megabytes: number
  readonly packed: number
  readonly perSecond: number
  readonly perCore: number
  readonly memory: number
}

/** Imports by a process of its own. */
async function imported(order: Order): Promise<Taken> {
  const child = fork(import.meta.filename)
  child.send(order)
  const taken = await new Promise<Taken>((resolve, reject) => {
    child.once('message', (told) => resolve(told as Taken))
    child.once('exit', (code) => reject(new Error(`the import ended with ${code}`)))
  })
  child.send({ file: '' })
  return taken
}

async function importOne({ url, file, name, rows }: Order): Promise<void> {
  if (file === '') process.exit(0)
  for (const flag of V8_FLAGS) setFlagsFromString(flag)
  const database = await openDatabase({ url, dataDir: '', dbUser: 'nobody', log }, AbortSignal.timeout(30_000))
  const service = serviceOf(database)
  const signal = AbortSignal.timeout(600_000)
  const request: ImportRequest = { name: 'bench', way: 'file', accepts: () => 'taken', signal }
  // A first small report loads the modules.
  const small = aggregateReport({
    ...{ id: `first-${name}`, domain: DOMAIN, begin: NOW / 1_000 - 86_400 },
    rows: Array.from({ length: 5_000 }, (_, n) => ({ address: addressOf(n), count: 1 })),
  })
  await service.import(createOnce(Buffer.from(small)), request)
  writeFileSync('/proc/self/clear_refs', '5') // the peak begins anew
  const before = residentMiB(process.pid).now
  const cpuBefore = process.cpuUsage()
  const begun = performance.now()
  const { reports, refused } = await service.import(createReadStream(file), request)
  const seconds = (performance.now() - begun) / 1_000
  const { user, system } = process.cpuUsage(cpuBefore)
  if (reports.length !== 1) throw new Error(JSON.stringify(refused))
  const packed = statSync(file).size / 1e6
  process.send!({
    ...{ name, packed, megabytes: (rows * recordOf(0, rows).length) / 1e6, perSecond: rows / seconds },
    ...{ perCore: (rows * 1e6) / (user + system), memory: residentMiB(process.pid).highest - before },
  })
  await database.close()
}

async function* createOnce(octets: Buffer): AsyncGenerator<Buffer> {
  yield octets
}

const serviceOf = (database: Database): ReportService =>
  reportService({
    heavy: heavyHere,
    ...{ storage: UNBOUNDED, open: async () => database, networkOf: async () => undefined },
    ...{ listedOn: async () => undefined, keepMs: 500 * 86_400_000, maxOctets: 25 * 1_048_576 },
    envelopeOf: async () => ({ from: [], signatures: [], isTrusted: false }),
    ...{ now: () => NOW, monotonic: () => performance.now(), log },
  })

const addressOf = (n: number): string => `11.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`

/** A record as Google writes it. */
const recordOf = (n: number, sources: number): string => {
  const source = n % sources
  const [spf, dkim] = [source % 3 === 0 ? 'pass' : 'fail', source % 2 === 0 ? 'pass' : 'fail']
  return `  <record>
    <row>
      <source_ip>${addressOf(source)}</source_ip>
      <count>${1 + (n % 7)}</count>
      <policy_evaluated>
        <disposition>none</disposition>
        <dkim>${dkim}</dkim>
        <spf>${spf}</spf>
      </policy_evaluated>
    </row>
    <identifiers>
      <header_from>${DOMAIN}</header_from>
    </identifiers>
    <auth_results>
      <dkim>
        <domain>${DOMAIN}</domain>
        <result>${dkim}</result>
        <selector>s${source % 4}</selector>
      </dkim>
      <spf>
        <domain>bounces${source % 5}.${DOMAIN}</domain>
        <result>${spf}</result>
      </spf>
    </auth_results>
  </record>
`
}

async function writeReport(
  file: string,
  { rows, sources, id }: { readonly rows: number; readonly sources: number; readonly id: string },
): Promise<void> {
  const [head, tail] = aggregateReport({ id, domain: DOMAIN, begin: NOW / 1_000 - 86_400 }).split('</feedback>')
  async function* text(): AsyncIterable<string> {
    yield `${head}\n`
    for (let from = 0; from < rows; from += 1_000) {
      let piece = ''
      for (let n = from; n < Math.min(rows, from + 1_000); n++) piece += recordOf(n, sources)
      yield piece
    }
    yield `</feedback>${tail}`
  }
  await pipeline(text, createGzip({ level: 6 }), createWriteStream(file))
}

/**
 * Senders, page and policy of a domain with so many summed rows of 10,000 addresses over 400 days, medians of 5, ms.
 */
async function looked(database: Database, rows: number) {
  const other = domain('a.example')
  await fill(database, other, rows)
  const dns = labDns({
    [other]: { TXT: ['v=spf1 ip4:12.0.0.0/20 include:_spf.google.com -all'] },
    '_spf.google.com': { TXT: ['v=spf1 ip4:12.0.32.0/21 ~all'] },
    [`_dmarc.${other}`]: { TXT: ['v=DMARC1; p=none'] },
  })
  const service = serviceOf(database)
  const ctx = { resolve: dns.resolve, signal: AbortSignal.timeout(600_000) }
  const [from, to] = [new Date(NOW - (DAYS - 1) * 86_400_000), new Date(NOW)].map((one) =>
    one.toISOString().slice(0, 10),
  ) as [string, string]
  const period = { domain: other, from, to, includeUncounted: false }
  const found = await service.senders(ctx, period)
  const addresses = new Set(found.senders.flatMap((one) => [...one.addresses.keys()]))
  console.log(`${found.senders.length} senders of ${addresses.size} addresses`)
  const world = labWorld({
    [other]: { TXT: ['v=spf1 ip4:12.0.0.0/20 include:_spf.google.com -all'] },
    '_spf.google.com': { TXT: ['v=spf1 ip4:12.0.32.0/21 ~all'] },
    [`_dmarc.${other}`]: { TXT: ['v=DMARC1; p=none'] },
  })
  const deps = labDeps(world, { reports: async () => service })
  const site = openSite({
    operations: await allOperations(),
    execute: labExecutor(world, deps),
    world,
    version: '0.0.0',
  })
  const app = await labApp(world, { deps, site })
  const get = async (path: string): Promise<void> => {
    const answer = await app.inject({ url: path })
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  }
  const asked = `domain=${other}&from=${from}&to=${to}`
  const times = {
    senders: await timed(() => service.senders(ctx, period)),
    endpoint: await timed(() => get(`/v1/reports/senders?${asked}&today=false`)),
    page: await timed(() => get(`/reports/${other}?from=${from}&to=${to}`)),
    policy: await timed(() => get(`/v1/reports/policy?${asked}&policy=reject`)),
  }
  console.log(JSON.stringify(times))
  await app.close()
  return times
}

/** 10,000 sources, of which each was seen on so many days that there are so many rows. */
async function fill({ db }: Database, name: string, rows: number): Promise<void> {
  const sources = 10_000
  await sql`INSERT INTO mailsonde.report_names (name) VALUES (${name})`.execute(db)
  await sql`INSERT INTO mailsonde.report_reporters (name, is_known) VALUES ('bench', true)`.execute(db)
  await sql`
    INSERT INTO mailsonde.report_sources (digest, name, address, envelope_from, spf_domain, spf_result, spf_aligned, dkim_domain, dkim_selector, dkim_result, dkim_aligned, signers, disposition, reason)
    SELECT md5('bench ' || n)::uuid, (SELECT number FROM mailsonde.report_names WHERE name = ${name}), '12.0.0.0'::inet + n, ${name}, ${name},
      CASE WHEN n % 3 = 0 THEN 'pass' ELSE 'fail' END, n % 3 = 0, ${name}, 's' || n % 4, CASE WHEN n % 2 = 0 THEN 'pass' ELSE 'fail' END, n % 2 = 0,
      CASE WHEN n % 2 = 0 THEN ${name} || ':s' || n % 4 ELSE '' END, 'none', ''
    FROM generate_series(1, ${sources}::int) AS n`.execute(db)
  await sql`
    INSERT INTO mailsonde.report_rows (name, day, source, reporter, counts, passes, messages)
    SELECT s.name, ${new Date(NOW).toISOString().slice(0, 10)}::date - ((s.number * 7 + n * ${Math.max(1, Math.floor((DAYS * sources) / rows))}::int) % ${DAYS}::int), s.number,
      (SELECT number FROM mailsonde.report_reporters WHERE name = 'bench'), true, coalesce(s.spf_aligned, false) OR coalesce(s.dkim_aligned, false), 1 + s.number % 50
    FROM mailsonde.report_sources s, generate_series(0, ${Math.floor(rows / sources) - 1}::int) AS n
    WHERE s.name = (SELECT number FROM mailsonde.report_names WHERE name = ${name})
    ORDER BY 2, 3`.execute(db)
  const isMeant = 'name = (SELECT number FROM mailsonde.report_names WHERE name = $1)'
  await db.executeQuery(CompiledQuery.raw(sumDays(isMeant), [name]))
  for (const table of ['report_rows', 'report_days'])
    await sql`VACUUM ANALYZE ${sql.id('mailsonde', table)}`.execute(db)
  await sql`ANALYZE mailsonde.report_sources`.execute(db)
}

type Cost = { readonly ms: number; readonly cpu: number }

/** Median of wall-clock time and mean processor time of this process, of 5 runs after a first one, ms. */
async function timed(work: () => Promise<unknown>): Promise<Cost> {
  await work()
  const times: number[] = []
  const before = process.cpuUsage()
  for (let n = 0; n < 5; n++) {
    const begun = performance.now()
    await work()
    times.push(performance.now() - begun)
  }
  const { user, system } = process.cpuUsage(before)
  return { ms: median(times), cpu: (user + system) / 5_000 }
}

/** What a service without reports runs: processes of its own, and connections (its listener is none). */
async function atRest(dataDir: string) {
  const serving = await startServing(['src/main.js', 'serve', '--data-dir', dataDir, '--log-level', 'warn'])
  try {
    for (const path of ['/', '/v1/health', '/blacklists', '/reports'])
      await (await fetch(`${serving.url}${path}`)).text()
    const children = readFileSync(`/proc/${serving.pid}/task/${serving.pid}/children`, 'utf8').trim()
    const sockets = outward(serving.pid, new URL(serving.url).port)
    return { children: children === '' ? 0 : children.split(' ').length, sockets }
  } finally {
    await serving.stop()
  }
}

/** TCP connections of a process that its listener did not accept (proc(5): state 01 is ESTABLISHED). */
function outward(pid: number, listener: string): number {
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)))
  const port = `:${Number(listener).toString(16).toUpperCase().padStart(4, '0')}`
  return ['tcp', 'tcp6']
    .flatMap((name) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8').trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter((cells) => cells[3] === '01' && !cells[1]!.endsWith(port) && own.has(`socket:[${cells[9]}]`)).length
}

if (process.send) process.on('message', (order) => void importOne(order as Order))
else await main()
