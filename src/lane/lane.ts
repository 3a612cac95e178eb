import { type Child, type Command, startChild } from './child.ts'
import { digestOf } from './digest.ts'
import type { EndedInputs } from './ended-inputs.ts'
import { cpuLimitMs, type Heavy, type HeavyAsk, LaneError, type LaneReason } from './heavy.ts'
import type { AnyKind } from './serve.ts'
import { turnsOf } from './turns.ts'

type LaneSettings = {
  readonly command: Command
  readonly log: { readonly warn: (event: string, fields?: Record<string, unknown>) => void }
  /** Inputs that ended the process; without it all are read. */
  readonly endedInputs?: EndedInputs
  /** How long the process is kept without work, ms. */
  readonly idleMs?: number
}

export type LaneStats = {
  readonly done: number
  /** Jobs without a result, by reason. */
  readonly ended: Readonly<Record<LaneReason, number>>
  readonly waiting: number
}

export type Lane = ReturnType<typeof openLane>

/** Jobs that wait in all, and of one caller. */
const MAX_WAITING = 100
const MAX_OF_CALLER = 16
/** Input that waits, octets; one input alone may be larger. */
const MAX_OCTETS = 64 * 1_048_576
/** The wall time of a job: so many times its processor time, and at most so much, ms. */
const WALL = 10
const MAX_WALL_MS = 120_000
/** How long the process is kept without work, ms. */
const IDLE_MS = 30_000
/**
 * Mail that takes longer is marked on disk until it is done, ms: if this process ends now, that mail may be why. Marked
 * from its begin on, three of four good mails that a `kill -9` interrupted were refused afterwards; good mail takes a
 * few milliseconds, and none ends this process that fast.
 */
const SUSPECT_MS = 100

const NONE_ENDED: EndedInputs = { mayBegin: async () => true, mark: async () => {}, end: async () => {} }

/**
 * Opens the lane: one process beside this one, which is started at the first job, and again after it was ended. It does
 * one job at a time, whose callers take turns by the time that they have used. A job ends the process when it uses more
 * processor time, memory or wall time than it may; nothing else is affected, and all of its memory goes back. Without
 * work the process is ended after half a minute. It has no environment, and gets the octets and the input of a job only.
 */
export function openLane({ command, log, endedInputs = NONE_ENDED, idleMs = IDLE_MS }: LaneSettings) {
  const turns = turnsOf<() => Promise<void>>({ jobs: MAX_WAITING, ofCaller: MAX_OF_CALLER, octets: MAX_OCTETS })
  const ended: Record<LaneReason, number> = { time: 0, memory: 0, fault: 0, remembered: 0, full: 0 }
  const closed = new AbortController()
  let working: Promise<void> = Promise.resolve()
  let done = 0
  let child: Child | undefined
  let idle: NodeJS.Timeout | undefined
  let isWorking = false

  /** The process, started if there is none. */
  async function startedChild(): Promise<Child> {
    if (closed.signal.aborted) throw new LaneError('full')
    try {
      if (!child?.isAlive()) child = startChild(command)
      child.hold(true)
      await child.ready
      return child
    } catch (error) {
      log.warn('heavy work cannot be done', { reason: (error as Error).message })
      throw new LaneError('full', { cause: error })
    }
  }

  /** Runs a job whose turn it is. */
  async function run(kind: AnyKind, octets: Uint8Array, input: unknown, ask: HeavyAsk): Promise<unknown> {
    const isMail = ask.isMail === true
    const name = `${kind.name}-${await digestOf(octets, isMail)}`
    if (!(await endedInputs.mayBegin(name))) throw new LaneError('remembered')
    let reason: LaneReason | undefined
    let marked: Promise<void> | undefined
    let suspect: NodeJS.Timeout | undefined
    let fromMs: number | undefined
    try {
      const own = await startedChild()
      if (isMail) suspect = setTimeout(() => (marked = endedInputs.mark(name)), SUSPECT_MS)
      ask.signal.throwIfAborted()
      fromMs = performance.now()
      return await withinWalls(own, { kind, octets, input }, ask, closed.signal)
    } catch (error) {
      // What ended the process; the error of a reader did not.
      if (error instanceof LaneError && error.reason !== 'full' && !child?.isAlive()) reason = error.reason
      throw error
    } finally {
      if (fromMs !== undefined) turns.addTime(ask.caller, performance.now() - fromMs)
      clearTimeout(suspect)
      await marked
      if (marked || reason !== undefined) await endedInputs.end(name, reason)
    }
  }

  async function work(): Promise<void> {
    isWorking = true
    clearTimeout(idle)
    for (let job = turns.next(); job; job = turns.next()) await job()
    isWorking = false
    child?.hold(false)
    idle = setTimeout(() => child?.kill(new LaneError('full')), idleMs).unref()
  }

  function counted(error: unknown, { name }: { readonly name: string }, caller: string): void {
    if (!(error instanceof LaneError)) return
    ended[error.reason]++
    if (error.reason !== 'full' && error.reason !== 'remembered')
      log.warn('heavy work was ended', { kind: name, caller, reason: error.reason, how: error.cause })
  }

  const heavy: Heavy = async (kind, octets, input, ask) => {
    const { caller, signal } = ask
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof kind.work>>>()
    const job = async (): Promise<void> => {
      signal.removeEventListener('abort', leave)
      try {
        resolve((await run(kind, octets, input, ask)) as Awaited<ReturnType<typeof kind.work>>)
        done++
      } catch (error) {
        counted(error, kind, caller)
        reject(error)
      }
    }
    function leave(): void {
      turns.remove(job)
      reject(signal.reason)
    }
    if (closed.signal.aborted || !turns.add(caller, job, octets.length)) {
      ended.full++
      throw new LaneError('full')
    }
    signal.addEventListener('abort', leave, { once: true })
    if (!isWorking) working = work()
    return promise
  }

  return {
    heavy,
    stats: () => ({ done, ended: { ...ended }, waiting: turns.size() }),
    close: async (): Promise<void> => {
      closed.abort()
      clearTimeout(idle)
      child?.kill(new LaneError('full'))
      await working
    },
  }
}

/** Does a job within its walls. `closed`: the lane is closed. */
async function withinWalls(
  child: Child,
  { kind, octets, input }: { readonly kind: AnyKind; readonly octets: Uint8Array; readonly input: unknown },
  { signal, onBatch }: HeavyAsk,
  closed: AbortSignal,
): Promise<unknown> {
  const cpuMs = kind.cpuMs?.(octets.length) ?? cpuLimitMs(octets.length)
  let isReading = false
  const stop = (): void => child.kill(signal.reason)
  const shut = (): void => child.kill(new LaneError('full'))
  // Where rows wait for their reader the work is not to blame.
  const late = (): void => child.kill(new LaneError(isReading ? 'full' : 'time'))
  const wall = setTimeout(late, Math.min(cpuMs * WALL, MAX_WALL_MS))
  signal.addEventListener('abort', stop, { once: true })
  closed.addEventListener('abort', shut, { once: true })
  try {
    return await child.run({ kind: kind.name, input, cpuMs }, octets, async (batch) => {
      isReading = true
      await onBatch?.(batch)
      isReading = false
    })
  } finally {
    clearTimeout(wall)
    signal.removeEventListener('abort', stop)
    closed.removeEventListener('abort', shut)
  }
}
