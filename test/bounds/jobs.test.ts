import { gzipSync } from 'node:zlib'
import type { Asked } from '../../src/jobs/engine/ask.ts'
import { workChunk } from '../../src/jobs/engine/chunk.ts'
import { findProviders } from '../../src/jobs/engine/plan.ts'
import { retryOf } from '../../src/jobs/engine/retry.ts'
import { answerList } from '../../src/jobs/file/list-file.ts'
import { readList } from '../../src/jobs/intake/intake.ts'
import { badRow } from '../../src/jobs/intake/row.ts'
import { type Measures, presentJob } from '../../src/jobs/progress.ts'
import type { ClaimedRow } from '../../src/store/postgres/job-rows.ts'
import { labJobRecord } from '../lab/jobs.ts'
import { labProblem } from '../lab/problem.ts'
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

/** A gzip body that unpacks to exactly so many times its size; its name makes it as long as it has to be. */
function packed(ratio: number): Buffer {
  const size = 100 * 101 * 500
  const plain = gzipSync('a@b.example'.padEnd(size))
  const name = Buffer.from(`${text(size / ratio - plain.length - 1)}\0`)
  const head = plain.subarray(0, 10)
  head[3] = 0x08 // FNAME (RFC 1952 §2.3.1)
  return Buffer.concat([head, name, plain.subarray(10)])
}

const answered: Asked = { result: 'accepted', reason: 'mailbox_exists', answer: {} }
const job = labJobRecord()
const provider = { id: 'x', concurrent: 1_000, perMinute: 1_000 }
const { signal } = new AbortController()

async function rowsAtOnce(n: number): Promise<number> {
  const { run, most } = meter()
  const claimed = times(
    n,
    (line): ClaimedRow => ({ line, input: 'a@b.example', attempts: 0, fence: '1', firstAskedAt: null }),
  )
  const rows = { claim: async () => claimed, isClaimed: async () => true } as unknown as Parameters<
    typeof workChunk
  >[0]['rows']
  const writers = { open: () => ({ answer: () => {}, retry: () => {}, close: async () => {} }) }
  const work = { rows, writers, turn: async () => undefined, now: () => 0, ask: async () => run().then(() => answered) }
  await workChunk(work, job, 'chunk', provider, { signal, stopping: signal, needs: () => {} })
  return most()
}

async function lookupsAtOnce(n: number): Promise<number> {
  const { run, most } = meter()
  const rows = { leaseDomains: async () => times(n, (i) => `d${i}.example`), setProviders: async () => {} }
  const planning = { rows, findProvider: async () => run().then(() => provider) }
  await findProviders(planning as unknown as Parameters<typeof findProviders>[0], job, signal)
  return most()
}

async function listRowsAtOnce(n: number): Promise<number> {
  const { run, most } = meter()
  const octets = Buffer.from(times(n, (i) => `u${i}@b.example\n`).join(''))
  const list = { kind: 'verify', open: () => pieces(octets), contentType: 'text/plain', maxUpload: 1e6 } as const
  const answers = { has: () => false, at: async () => ({}), append: async () => {} }
  const work = { ask: async () => run().then(() => answered), answers, now: () => 0, tell: () => {} }
  await answerList({ ...list, options: {}, giveUpMs: 0 }, work, signal)
  return most()
}

function providersShown(n: number): number {
  const providers = times(n, (i) => ({ provider: `p${i}`, rows: 1, done: 0, recent: 0 }))
  const sums: Measures['sums'] = { words: [], providers, providerCount: n, known: n, recent: 0 }
  return presentJob(job, { sums, waiting: new Map(), perMinute: () => 1, nowMs: 0 }).providers.length
}
const wait = (retryAfterMs: number) =>
  retryOf({ result: 'deferred', reason: 'greylisted', retryAfterMs }, { attempts: 0, firstAskedAtMs: 0 }, 0, 1e12)

testBounds([
  ['src/jobs/engine/workers.ts ROWS_AT_A_TIME', 10, async (n) => (await rowsAtOnce(n)) === n],
  ['src/jobs/engine/plan.ts LOOKUPS_AT_A_TIME', 50, async (n) => (await lookupsAtOnce(n)) === n],
  ['src/jobs/engine/retry.ts LONGEST_MS', 6 * 3_600_000, (n) => wait(n)?.waitMs === n],
  ['src/jobs/file/list-file.ts AT_A_TIME', 50, async (n) => (await listRowsAtOnce(n)) === n],
  ['src/jobs/intake/csv.ts MAX_RECORD', 16 * 1024 * 1024, (n) => isRead(`email\n${text(n)}`, 'text/csv')],
  [
    'src/jobs/intake/json-items.ts MAX_ITEM',
    2 * 1024 * 1024,
    (n) => isRead(`{"items":["${text(n - 2)}"]}`, 'application/json'),
  ],
  ['src/jobs/intake/lines.ts MAX_LINE', 1024 * 1024, (n) => rowsOf(`${item(n)}\n`, 'application/x-ndjson')],
  ['src/jobs/intake/octets.ts MAX_RATIO', 100, (n) => isRead(packed(n), 'text/plain')],
  ['src/jobs/intake/row.ts KEPT_TEXT', 1_024, (n) => badRow(1, labProblem(''), text(n)).text.length === n],
  ['src/jobs/progress.ts MAX_PROVIDERS', 100, (n) => providersShown(n) === n],
])
