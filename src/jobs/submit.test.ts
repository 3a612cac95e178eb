import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { sleep } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import { paced } from '../http/bodies.ts'
import type { IntakePart } from '../store/postgres/job-intake.ts'
import type { JobRecord } from '../store/postgres/jobs.ts'
import { MAX_OPEN, openUploads } from './intake/open-uploads.ts'
import { takeUpload } from './submit.ts'

const never = new AbortController().signal
const job: JobRecord = {
  ...{ number: 1, id: 'job_1', kind: 'verify', name: '', owner: '', state: 'receiving', options: {}, layout: null },
  ...{ created_at: new Date(0), touched_at: new Date(0), expires_at: new Date(0), finished_at: null },
  ...{ first_result_at: null, failure: null },
  ...{ received: 0, next_line: 1, rows: 0, duplicates: 0, bad_rows: 0 },
  ...{ own_table: false },
}
const late = () => new AppError('timeout', { id: 'x', values: {}, text: 'late' })
const inTime = (octets: AsyncIterable<Uint8Array>, ms: number) => paced(octets, { least: 1, ms }, late)
const LIST = { contentType: 'text/plain', bounds: { maxUpload: 1e9, maxRows: 1e9 } }

async function* pieces(...texts: readonly (string | Uint8Array)[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield typeof text === 'string' ? Buffer.from(text) : text
}

/** A database that keeps the parts, each after `ms`. */
function store(ms = 0) {
  const parts: IntakePart[] = []
  let completed = 0
  const takeIn = async (_job: number, part: IntakePart): Promise<void> => {
    if (ms > 0) await sleep(ms, never)
    parts.push(part)
  }
  const complete = async (): Promise<void> => void completed++
  return { parts, takeIn, complete, completed: () => completed }
}

it('writes nothing of a list after it was refused', async () => {
  const kept = store(20)
  const bomb = gzipSync(`${'x@a.example\n'.repeat(30_000)}${'x\n'.repeat(50_000_000)}`)
  const taken = takeUpload({ ...kept, place: openUploads().enter('') }, job, { ...LIST, octets: pieces(bomb) })
  await expect(taken).rejects.toMatchObject({ code: 'payload_too_large' })
  const written = kept.parts.length
  await sleep(50, never)
  expect(kept.parts).toHaveLength(written)
  expect(kept.parts.at(-1)!.received).toBeLessThan(1_500_000)
})

it('keeps what came before an upload stalls', async () => {
  const kept = store()
  const source = async function* (): AsyncIterable<Uint8Array> {
    yield Buffer.from('a@a.example\nb@a.example\nc@a.ex')
    await new Promise(() => {})
  }
  const taken = takeUpload({ ...kept, place: openUploads().enter('') }, job, { ...LIST, octets: inTime(source(), 20) })
  await expect(taken).rejects.toMatchObject({ code: 'timeout' })
  expect(kept.parts.map(({ received }) => received)).toEqual([2])
  expect(kept.completed()).toBe(0)
})

it('writes what it holds when memory is short, and waits for the others', async () => {
  const uploads = openUploads({ maxHeld: 2 * 1024 * 1024, patienceMs: 10_000 })
  const other = uploads.enter('other')
  other.hold(2 * 1024 * 1024)
  const kept = store()
  const taken = takeUpload({ ...kept, place: uploads.enter('') }, job, {
    ...LIST,
    octets: pieces('a@a.example\n'.repeat(6_000), 'b@a.example\n'.repeat(6_000), 'c@a.example\n'),
  })
  await sleep(30, never)
  expect(kept.parts).toEqual([]) // its first piece was not even read
  other.leave()
  await taken
  expect(kept.parts.at(-1)!.received).toBe(12_001)
  expect(kept.completed()).toBe(1)
})

it('gives up when memory stays short, and keeps the records so far', async () => {
  const uploads = openUploads({ maxHeld: 2 * 1024 * 1024, patienceMs: 20 })
  const other = uploads.enter('other')
  const kept = store()
  const source = async function* (): AsyncIterable<Uint8Array> {
    yield Buffer.from('a@a.example\n'.repeat(6_000))
    other.hold(2 * 1024 * 1024)
    yield Buffer.from('b@a.example\n'.repeat(6_000))
    yield Buffer.from('b@a.example\n'.repeat(6_000))
  }
  const taken = takeUpload({ ...kept, place: uploads.enter('') }, job, { ...LIST, octets: source() })
  await expect(taken).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 10 })
  expect(kept.parts.at(-1)!.received).toBeGreaterThan(5_000)
})

it('records that never end hold no more than the bound of all uploads', async () => {
  const uploads = openUploads({ maxHeld: 8 * 1024 * 1024, patienceMs: 20 })
  const readOne = async (): Promise<void> => {
    const source = async function* (): AsyncIterable<Uint8Array> {
      for (let i = 0; i < 16; i++) yield Buffer.alloc(64 * 1024, 'y')
      await new Promise(() => {})
    }
    const place = uploads.enter('')
    try {
      await takeUpload({ ...store(), place }, job, { ...LIST, octets: inTime(source(), 200) })
    } finally {
      place.leave()
    }
  }
  const ends = Array.from({ length: 16 }, readOne)
  const codes = await Promise.all(ends.map((end) => end.catch((error: AppError) => error.code)))
  expect(new Set(codes)).toEqual(new Set(['overloaded', 'timeout']))
})

it.each<[string, number, (n: number) => string]>([
  ['one owner', MAX_OPEN.owner, (_: number) => 'a'],
  ['all owners', MAX_OPEN.all, (n: number) => `owner ${n >> 3}`],
])('%s may have %d open uploads', (_, max, ownerOf) => {
  const uploads = openUploads()
  const places = Array.from({ length: max }, (_, n) => uploads.enter(ownerOf(n)))
  expect(() => uploads.enter(ownerOf(max))).toThrow(expect.objectContaining({ code: 'too_many_uploads' }))
  places[0]!.leave()
  places[0]!.leave()
  uploads.enter(ownerOf(max))
  expect(() => uploads.enter(ownerOf(max))).toThrow(expect.objectContaining({ code: 'too_many_uploads' }))
})

it('a list that another run continued is not refused as a whole', async () => {
  const kept = store()
  const takeIn = async (): Promise<void> => {
    throw new AppError('wrong_offset', { id: 'x', values: {}, text: 'another upload continued this one' })
  }
  const taken = takeUpload({ ...kept, takeIn, place: openUploads().enter('') }, job, { ...LIST, octets: pieces('a\n') })
  await expect(taken).rejects.toMatchObject({ code: 'wrong_offset' })
})

it.each<[string, number, object, number]>([
  ['a list of too many records is refused as a whole', 100, { code: 'payload_too_large' }, 0],
  ['a list at the bound is taken', 1_000, {}, 1_000],
])('%s', async (_, maxRows, refused, received) => {
  const kept = store()
  const upload = { ...LIST, bounds: { maxUpload: 1e9, maxRows }, octets: pieces('a@a.example\n'.repeat(1_000)) }
  const taken = takeUpload({ ...kept, place: openUploads().enter('') }, job, upload)
  if ('code' in refused) await expect(taken).rejects.toMatchObject(refused)
  else await taken
  expect(kept.parts.at(-1)?.received ?? 0).toBe(received)
})

it('an upload ends where no more may be stored, and what was stored stays', async () => {
  const kept = store()
  let left = 15_000
  const admit = async (records: number): Promise<void> => {
    left -= records
    if (left < 0) throw new AppError('storage_full', { id: 'x', values: {}, text: 'full' })
  }
  const upload = { ...LIST, octets: pieces('a@a.example\n'.repeat(30_000)) }
  const taken = takeUpload({ ...kept, admit, place: openUploads().enter('') }, job, upload)
  await expect(taken).rejects.toMatchObject({ code: 'storage_full' })
  expect(kept.parts.map(({ received }) => received)).toEqual([10_000])
})

it('tells how many rows were taken otherwise than they stand, over all parts', async () => {
  const kept = store()
  const list = 'a@a.example\nAnn <ann@a.example>\n<joe@a.example>\n<eve@a.example>\n'
  await takeUpload({ ...kept, place: openUploads().enter('') }, job, { ...LIST, octets: pieces(list) })
  expect(kept.parts.at(-1)?.layout).toMatchObject({ taken: { brackets: 2, name: 1 } })
})
