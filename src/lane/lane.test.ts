import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'
import { WORK } from '../../test/lab/heavy-kinds.ts'
import { AppError } from '../base/errors.ts'
import type { Command } from './child.ts'
import { withoutTrace } from './digest.ts'
import { endedInputs } from './ended-inputs.ts'
import { type HeavyAsk, type HeavyKind, LaneError, type LaneReason } from './heavy.ts'
import { type Lane, openLane } from './lane.ts'
import { isForGood, readingError } from './problems.ts'
import { turnsOf } from './turns.ts'

const command = (entry = '../../test/lab/heavy-process.ts', env: Command['env'] = {}): Command => ({
  file: process.execPath,
  args: [new URL(entry, import.meta.url).pathname],
  env,
})
const warnings: unknown[] = []
const lanes: Lane[] = []
const opened = (settings: Partial<Parameters<typeof openLane>[0]> = {}): Lane => {
  const log = { warn: (event: string, fields?: object) => void warnings.push([event, fields]) }
  const lane = openLane({ command: command(), log, ...settings })
  lanes.push(lane)
  return lane
}
afterAll(() => Promise.all(lanes.map((lane) => lane.close())))
const CLOCK = { now: () => Date.now(), warn: (event: string) => void warnings.push(event) }
const NONE = new Uint8Array(0)
const ask = (parts: Partial<HeavyAsk> = {}): HeavyAsk => ({
  caller: 'key',
  signal: new AbortController().signal,
  ...parts,
})
/** The result of a job, or why it has none. */
const outcome = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error: unknown) => (error instanceof LaneError ? error.reason : error))

const { heavy, stats } = opened()
const did = <Input, Result>(kind: HeavyKind<Input, Result>, input: Input, octets = NONE): Promise<unknown> =>
  outcome(heavy(kind, octets, input, ask()))

it('gives the result of work on the octets, which stay as they are', async () => {
  const octets = new Uint8Array(3 * 1_048_576).fill(1)
  expect(await did(WORK.sum, { add: 0.5 }, octets)).toBe(octets.length + 0.5)
  expect(octets.length).toBe(3 * 1_048_576)
  expect(await did(WORK.sum, { add: 1 })).toBe(1)
})

it('gives the error of a reader with its class and its data', async () => {
  const error = await did(WORK.refuse, { line: 7 })
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({
    ...{ name: 'AppError', code: 'bad_report', message: 'records.0: line 7 cannot be read' },
    ...{ parameter: 'body', at: 'records.0', retryAfterSeconds: undefined, all: [] },
    problem: { id: 'lab.unreadable', values: { line: 7 }, text: 'line 7 cannot be read' },
  })
})

it.each([
  ['bug', 'fault'], // an error that is none of a reader
  ['unclonable', 'fault'],
  ['large', 'fault'], // more than the event loop of the asker should read at once
  ['exit', 'fault'],
  ['loose', 'fault'],
  ['loop', 'time'],
  ['expression', 'time'],
  ['native', 'time'],
  ['wait', 'time'], // by the clock, as it uses no processor
  ['objects', 'memory'],
  // These end a process whose worker thread has a heap limit: Node gives a thread 16 MiB beyond it, and one
  // allocation is larger.
  ['array', 'memory'],
  ['map', 'memory'],
  // Outside of the heap.
  ['text', 'memory'],
] as const)('%s ends its own job alone: %s', { timeout: 60_000 }, async (name, reason) => {
  const bad = outcome(heavy(WORK[name] as HeavyKind<undefined, unknown>, NONE, undefined, ask()))
  const next = did(WORK.sum, { add: 1 }) // waits behind it
  expect(await bad).toBe(reason)
  expect(await next).toBe(1)
})

it('keeps the process between jobs, and starts another one after an end', async () => {
  const [first, second] = [await did(WORK.pid, undefined), await did(WORK.pid, undefined)]
  expect(second).toBe(first)
  await did(WORK.exit, undefined)
  expect(await did(WORK.pid, undefined)).not.toBe(first)
})

it('has no environment of the service, and its own heap whatever the service has', async () => {
  const { env, heapLimit } = (await did(WORK.told, undefined)) as { env: object; heapLimit: number }
  expect(Object.keys(env)).toEqual(['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'NODE_OPTIONS'])
  expect(heapLimit).toBeLessThan(200 * 1_048_576)
})

it('hands batches on in order, and no faster than they are read', async () => {
  const OCTETS = 128 * 1_024
  let seen = 0
  let isReading = false
  const read = async (batch: Uint8Array): Promise<void> => {
    expect(isReading).toBe(false)
    isReading = true
    await new Promise((resolve) => setTimeout(resolve, 2))
    isReading = false
    expect([batch.length, batch[0], batch.at(-1)]).toEqual([OCTETS, seen % 256, seen % 256])
    seen++
  }
  expect(await heavy(WORK.rows, NONE, { batches: 60, octets: OCTETS }, ask({ onBatch: read }))).toBe(60)
  expect(seen).toBe(60)
})

it('ends the work whose reader fails, with the reason of the reader', async () => {
  const failed = new Error('no database')
  const onBatch = (): Promise<void> => Promise.reject(failed)
  expect(await outcome(heavy(WORK.rows, NONE, { batches: 1e9, octets: 1_000 }, ask({ onBatch })))).toBe(failed)
  expect(await did(WORK.sum, { add: 1 })).toBe(1)
})

it('ends work whose caller has gone, also while its reader waits', async () => {
  for (const [kind, onBatch] of [
    [WORK.loop, undefined],
    [WORK.rows, () => new Promise<void>(() => {})],
  ] as const) {
    const caller = new AbortController()
    const running = heavy(
      kind as typeof WORK.rows,
      NONE,
      { batches: 9, octets: 9 },
      {
        ...ask({ signal: caller.signal }),
        ...(onBatch && { onBatch }),
      },
    )
    setTimeout(() => caller.abort(new Error('gone')), 20)
    await expect(running).rejects.toThrow('gone')
  }
  expect(await did(WORK.sum, { add: 1 })).toBe(1)
})

it('takes work out of the queue whose caller has gone, and refuses more than fits', async () => {
  const { heavy, stats } = opened()
  const caller = new AbortController()
  const spin = (name: string, signal = caller.signal): Promise<unknown> =>
    outcome(heavy(WORK.spin, NONE, { ms: 300 }, ask({ caller: name, signal })))
  const running = spin('a', new AbortController().signal)
  const of = (name: string, count: number): Promise<unknown>[] => Array.from({ length: count }, () => spin(name))
  const waiting = ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((name) => of(name, 16)).concat(of('g', 4))
  expect(stats().waiting).toBe(100)
  expect(await spin('h')).toBe('full')
  void caller.abort('gone')
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['gone']))
  expect(stats().waiting).toBe(0)
  expect(await running).toBeUndefined()
  const many = Array.from({ length: 18 }, () => spin('a', new AbortController().signal))
  expect(await Promise.all(many.slice(17))).toEqual(['full']) // one runs, 16 wait
})

it('ends all of its work when it is closed, with a reason that lets others try again', async () => {
  const { heavy, close } = opened()
  const all = [1, 2, 3].map(() => outcome(heavy(WORK.loop, NONE, undefined, ask())))
  await close()
  expect(await Promise.all(all)).toEqual(['full', 'full', 'full'])
  expect(await outcome(heavy(WORK.pid, NONE, undefined, ask()))).toBe('full')
})

it('says what a process wrote that does not start', async () => {
  warnings.length = 0
  const { heavy } = opened({ command: command('./no-such-file.ts') })
  expect(await outcome(heavy(WORK.pid, NONE, undefined, ask()))).toBe('full')
  expect(JSON.stringify(warnings)).toContain('Cannot find module')
  const gone = opened({ command: { ...command(), file: '/no/such/program' } })
  expect(await outcome(gone.heavy(WORK.pid, NONE, undefined, ask()))).toBe('full')
})

it('ends the process that has nothing to do', async () => {
  const { heavy } = opened({ idleMs: 20 })
  const pid = await heavy(WORK.pid, NONE, undefined, ask())
  await expect.poll(() => isRunning(pid)).toBe(false)
  expect(await heavy(WORK.pid, NONE, undefined, ask())).not.toBe(pid)
})

it('lives on when a terminal or unit tells all processes to end', async () => {
  const pid = (await did(WORK.pid, undefined)) as number
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal)
  expect([await did(WORK.sum, { add: 1 }), await did(WORK.pid, undefined)]).toEqual([1, pid])
})

it('ends with the process that asks, whatever it does', async () => {
  const asker = spawn(process.execPath, [new URL('../../test/lab/heavy-asker.ts', import.meta.url).pathname])
  const [pid] = await once(asker.stdout, 'data')
  expect(isRunning(Number(pid))).toBe(true)
  asker.kill('SIGKILL')
  await expect.poll(() => isRunning(Number(pid)), { timeout: 10_000 }).toBe(false)
})

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it('remembers what ended the process, for others too, and reads it no more', async () => {
  const folder = join(labFolder(), 'lane')
  const open = (): Lane => opened({ endedInputs: endedInputs(folder, CLOCK) })
  const { heavy } = open()
  const [bad, good] = [Buffer.from('From: a@a.example\n\nbad'), Buffer.from('good')]
  expect(await outcome(heavy(WORK.loop, bad, undefined, ask({ isMail: true })))).toBe('time')
  expect(await outcome(heavy(WORK.pid, good, undefined, ask({ isMail: true })))).toBeGreaterThan(0)
  expect(await outcome(heavy(WORK.refuse, good, { line: 1 }, ask({ isMail: true })))).toBeInstanceOf(AppError)
  const again = Buffer.from('Received: from x by y;\n Thu, 26 Nov 2026 01:15:00 +0000\nFrom: a@a.example\n\nbad')
  const next = open()
  expect(await outcome(next.heavy(WORK.loop, again, undefined, ask({ isMail: true })))).toBe('remembered')
  expect(await outcome(next.heavy(WORK.pid, bad, undefined, ask()))).toBeGreaterThan(0) // other work
  expect(next.stats().ended.remembered).toBe(1)
  expect(readdirSync(folder)).toHaveLength(1)
  expect(statSync(folder).mode & 0o077).toBe(0)
})

it('does not begin again what a process has not lived to end', async () => {
  const folder = join(labFolder(), 'lane')
  const ended = endedInputs(folder, { ...CLOCK, max: 20 })
  const file = (name: string, text: string, ageMs = 0): void => {
    writeFileSync(join(folder, name), text)
    utimesSync(join(folder, name), new Date(), new Date(CLOCK.now() - ageMs))
  }
  expect(await ended.mayBegin('a')).toBe(true)
  await ended.mark('a')
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe(`${process.pid}`)
  await ended.end('a')
  expect(readdirSync(folder)).toEqual([])
  const HOUR_MS = 3_600_000
  for (const [text, ageMs, may] of [
    ['time', 0, false],
    ['time', 23 * HOUR_MS, false],
    ['time', 25 * HOUR_MS, true],
    [`${process.pid}`, 1_000, false], // a container starts all of its processes under one number
    [`${process.ppid}`, 1_000, true], // another process, which is at it now
    [`${process.ppid}`, HOUR_MS, false], // another one of the same number
    ['4194305', 0, false], // more than the system counts to
    ['', 0, false],
  ] as const) {
    file('b', text, ageMs)
    expect([text, ageMs, await ended.mayBegin('b')]).toEqual([text, ageMs, may])
  }
  for (let n = 0; n < 21; n++) file(`old${n}`, 'time', HOUR_MS - n)
  await ended.end('c', 'memory')
  expect(readdirSync(folder)).toHaveLength(18)
  expect([await ended.mayBegin('c'), await ended.mayBegin('old0')]).toEqual([false, true])
})

it('marks mail on disk while it takes longer than good mail does', async () => {
  const folder = join(labFolder(), 'lane')
  const { heavy } = opened({ endedInputs: endedInputs(folder, CLOCK) })
  const marks = async (ask: HeavyAsk, kind: typeof WORK.held | typeof WORK.pid): Promise<number> => {
    const caller = new AbortController()
    const running = outcome(heavy(kind as typeof WORK.held, NONE, undefined, { ...ask, signal: caller.signal }))
    const done = await Promise.race([running, new Promise((resolve) => setTimeout(resolve, 1_500))])
    const count = existsSync(folder) ? readdirSync(folder).length : 0
    if (done === undefined) caller.abort('gone')
    await running
    return count
  }
  await heavy(WORK.pid, NONE, undefined, ask()) // has started
  expect(await marks(ask({ isMail: true }), WORK.pid)).toBe(0)
  expect(await marks(ask(), WORK.held)).toBe(0)
  expect(await marks(ask({ isMail: true }), WORK.held)).toBe(1)
  expect(readdirSync(folder)).toEqual([])
})

it('begins without a folder that it can write', async () => {
  warnings.length = 0
  const file = join(labFolder(), 'file')
  writeFileSync(file, '')
  const ended = endedInputs(join(file, 'lane'), CLOCK)
  expect(await ended.mayBegin('a')).toBe(true)
  await ended.mark('a')
  await ended.end('a', 'time')
  expect(warnings).toEqual(['what ended heavy work cannot be remembered']) // once
})

it.each([
  ['Received: a\r\n b\r\nreturn-path: <>\r\nFrom: a\r\nReceived: c\r\n', 'From: a\r\nReceived: c\r\n'],
  ['From x y\nDelivered-To: a\nX-Original-To: b\nSubject: c\n', 'Subject: c\n'],
  ['ARC-Seal: a\n\tb\nAuthentication-Results: c\n\nFrom: d', '\nFrom: d'],
  ['Received-SPF: a\nReceivedX: b', 'ReceivedX: b'],
  ['Received : a\nSubject: b', 'Subject: b'],
  ['Received: a', ''],
  ['', ''],
  ['From: a\nFrom b\n', 'From: a\nFrom b\n'],
])('%j is named without trace fields', (text, rest) => {
  expect(Buffer.from(withoutTrace(Buffer.from(text))).toString()).toBe(rest)
})

it('gives callers a code and a sentence, and says what to try again', () => {
  const told = (reason: LaneReason): unknown[] => {
    const error = readingError(new LaneError(reason), 'bad_message') as AppError
    return [error.code, error.retryAfterSeconds, isForGood(new LaneError(reason))]
  }
  for (const reason of ['time', 'memory', 'fault', 'remembered'] as const)
    expect(told(reason)).toEqual(['bad_message', undefined, true])
  expect(told('full')).toEqual(['overloaded', 10, false])
  const other = new Error('other')
  expect([readingError(other, 'bad_report'), isForGood(other)]).toEqual([other, false])
})

it('counts what it did', async () => {
  const { done, ended, waiting } = stats()
  expect(done).toBeGreaterThan(15)
  expect(ended).toMatchObject({ time: 4, remembered: 0, full: 0 })
  expect(waiting).toBe(0)
})

it('gives turns by time used, so that cheap work of one does not wait for dear work of another', () => {
  const turns = turnsOf<string>({ jobs: 100, ofCaller: 16, octets: 1_000 })
  const order: string[] = []
  const take = (ms: (job: string) => number, count: number): void => {
    for (let n = 0; n < count; n++) {
      const job = turns.next()
      if (job === undefined) return
      order.push(job)
      turns.addTime(job.slice(0, 1), ms(job))
    }
  }
  const dear = (job: string): number => (job.startsWith('m') ? 1_000 : 2)
  for (const job of ['m1', 'm2', 'm3']) turns.add('m', job, 1)
  for (const job of ['k1', 'k2', 'k3', 'k4']) turns.add('k', job, 1)
  take(dear, 5)
  expect(order).toEqual(['m1', 'k1', 'k2', 'k3', 'k4'])
  // A new caller begins at the least of those that wait, and does not take all turns until it has used a second.
  turns.add('n', 'n1', 1)
  turns.add('k', 'k5', 1)
  take(dear, 4)
  expect(order.slice(5)).toEqual(['n1', 'k5', 'm2', 'm3'].sort((a, b) => order.indexOf(a) - order.indexOf(b)))
  expect(turns.next()).toBeUndefined()
})

it('bounds what waits by octets, but takes one input however large', () => {
  const turns = turnsOf<string>({ jobs: 100, ofCaller: 16, octets: 10 })
  expect([turns.add('a', '1', 50), turns.add('a', '2', 1)]).toEqual([true, false])
  turns.remove('1')
  expect([turns.add('a', '3', 6), turns.add('b', '4', 4), turns.add('c', '5', 1)]).toEqual([true, true, false])
})
