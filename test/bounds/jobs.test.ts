import { gzipSync } from 'node:zlib'
import { domainLookups } from '../../src/jobs/engine/lookups.ts'
import { readList } from '../../src/jobs/intake/intake.ts'
import { openUploads } from '../../src/jobs/intake/open-uploads.ts'
import { labJobRecord } from '../lab/jobs.ts'
import { isTaken, meter, testBounds, text, times } from './table.ts'

/** Bounds of bulk jobs without a database: what is read of a list, and what runs at the same time. */
async function* pieces(octets: Uint8Array): AsyncIterable<Uint8Array> {
  yield octets
}
async function rowsOf(list: string | Uint8Array, contentType: string): Promise<boolean> {
  const octets = typeof list === 'string' ? Buffer.from(list) : list
  const about = { kind: 'verify' as const, contentType, bounds: { maxUpload: 1 << 28 } }
  let isGood = true
  for await (const row of readList(pieces(octets), about)) isGood &&= row.ok
  return isGood
}
const isRead = (list: string | Uint8Array, contentType: string): Promise<boolean> =>
  isTaken(() => rowsOf(list, contentType))

/** An item of JSON of so many characters whose fields are short. */
function item(size: number): string {
  const fields = times(40, (i) => [`f${i}`, text(52_000)] as const)
  const whole = JSON.stringify({ email: 'a@b.example', ...Object.fromEntries(fields) })
  const some = Math.floor(size / 52_010)
  const json = JSON.stringify({ email: 'a@b.example', ...Object.fromEntries(fields.slice(0, some - 1)) })
  return whole.length < size ? whole.padEnd(size) : `${json.slice(0, -1)},"rest":"${text(size - json.length - 10)}"}`
}

/** A CSV record of so many characters whose cells are short. */
const record = (size: number): string => `${`${text(50_000)},`.repeat(20)}a@b.example,${text(size - 20 * 50_001 - 12)}`
/** A list whose header has names of so many octets in all. */
const header = (size: number): string => `email${`,${text(1_000)}`.repeat(65)},${text(size - 65_005)}`
/** An item whose own columns are so many objects inside each other, with the object of the columns. */
const nested = (depth: number): string => `{"email":"a@b.example","a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
function hasRoom(octets: number): boolean {
  const place = openUploads().enter('')
  place.hold(octets - 256 * 1024)
  return !place.isFull()
}

/** A gzip body that unpacks to exactly so many times its size; its name makes it as long as it has to be. */
function packed(ratio: number): Buffer {
  const size = 100 * 101 * 500
  const plain = gzipSync('a@b.example'.padEnd(size))
  const name = Buffer.from(`${text(size / ratio - plain.length - 1)}\0`)
  const head = plain.subarray(0, 10)
  head[3] = 0x08 // FNAME (RFC 1952 §2.3.1)
  return Buffer.concat([head, name, plain.subarray(10)])
}

const job = labJobRecord()
const provider = { id: 'x', concurrent: 1_000, perMinute: 1_000 }
const { signal } = new AbortController()

/** What runs at the same time, if jobs have so many domains each. */
async function atOnce(domains: readonly number[]): Promise<{ readonly lookups: number; readonly statements: number }> {
  const statement = meter()
  let [running, most] = [0, 0]
  let next = domains.map((_, number) => ({ ...job, number }))
  const leaseDomains = (number: number) => statement.run().then(() => times(domains[number]!, (i) => `d${i}.example`))
  const rows = { leaseDomains, setProviders: async () => true }
  const jobs = { nextToLookUp: async () => next, lookedUp: async () => true }
  const findProvider = async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 50)) // the jobs after it have their domains by then
    running--
    return provider
  }
  const hooks = { onFound: () => {}, onFault: () => {}, onDomainFault: () => {}, mayTry: () => true }
  const settings = { rows, jobs, findProvider, ...hooks, stopping: signal }
  const lookups = domainLookups(settings as unknown as Parameters<typeof domainLookups>[0])
  await lookups.begin()
  next = []
  await lookups.settled()
  return { lookups: most, statements: statement.most() }
}

testBounds([
  ['src/jobs/engine/lookups.ts MAX_LOOKUPS', 200, async (n) => (await atOnce([50, 50, 50, 49, n - 199])).lookups === n],
  ['src/jobs/intake/row.ts MAX_RECORD', 1024 * 1024, (n) => rowsOf(`${item(n)}\n`, 'application/x-ndjson')],
  ['src/jobs/intake/row.ts MAX_RECORD', 1024 * 1024, (n) => rowsOf(`{"items":[${item(n)}]}`, 'application/json')],
  ['src/jobs/intake/row.ts MAX_RECORD', 1024 * 1024, (n) => rowsOf(`${record(n)}\n`, 'text/csv')],
  ['src/jobs/intake/row.ts MAX_FIELD', 64 * 1024, (n) => rowsOf(`a@b.example,${text(n)}`, 'text/csv')],
  ['src/jobs/intake/row.ts MAX_FIELD', 64 * 1024, (n) => rowsOf(`a@b.example,"${'""'.repeat(n)}"`, 'text/csv')],
  ['src/jobs/intake/csv.ts MAX_HEADER', 64 * 1024, (n) => isRead(header(n), 'text/csv')],
  ['src/jobs/intake/lines.ts MAX_DEPTH', 64, (n) => rowsOf(nested(n), 'application/x-ndjson')],
  ['src/jobs/intake/open-uploads.ts MAX_HELD', 128 * 1024 * 1024, (n) => hasRoom(n)],
  ['src/jobs/intake/octets.ts MAX_RATIO', 100, (n) => isRead(packed(n), 'text/plain')],
])
