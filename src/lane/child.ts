import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'
import { appErrorOf, type CrossedError } from './crossing.ts'
import { FRAME, type Frame, framesOf, writeFrame } from './frames.ts'
import { LaneError, type LaneReason } from './heavy.ts'
import type { Task } from './serve.ts'
import { OUT_OF_TIME } from './watch.ts'

/** How the process of the lane is started: a program, its arguments, and its environment. */
export type Command = {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The process of the lane, as the process that asks sees it. */
export type Child = ReturnType<typeof startChild>
type OnBatch = (octets: Uint8Array) => Promise<void>

/**
 * The flags of its heap, MiB: old and young generation. They hold whatever flags this process has, and are no arguments,
 * which the executable would take for its own.
 */
const NODE_OPTIONS = '--max-old-space-size=128 --max-semi-space-size=8 --disable-warning=ExperimentalWarning'
/** What the C library has given back counts no more for the next job: without it up to 150 MiB do. */
const MALLOC = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' }
/** The largest result or batch, octets: it is read by the event loop of the process that asks. */
const MAX_FRAME = 32 * 1_048_576
const START_MS = 30_000
/** How long it may live without its socket, ms. */
const END_MS = 1_000
/** What is kept of the text that it writes while it starts, characters. */
const MAX_SAID = 2_000

/** Throws where the system has no room for another process. */
export function startChild({ file, args, env }: Command) {
  const child = spawn(file, args, {
    ...{ env: { ...MALLOC, NODE_OPTIONS, ...env }, cwd: '/', stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
  })
  let isAlive = true
  let killedFor: unknown
  let onEnd = (_reason: unknown): void => {}
  const ended = new Promise<unknown>((resolve) => {
    const end = (how: unknown, reason: LaneReason): void => {
      isAlive = false
      resolve(killedFor ?? new LaneError(reason, { cause: `${how}` }))
    }
    child.once('error', (error) => end(error.message, 'fault'))
    child.once('exit', (code, signal) => end(signal ?? code, reasonOf(signal)))
  })
  void ended.then((reason) => onEnd(reason))
  // Where no descriptor is free, spawn gives a process without its streams.
  if (!child.stdio) throw new Error('the process for heavy work does not start: no descriptor is free')
  const socket = child.stdio[3] as Socket
  const said = child.stderr as Socket
  const frames = framesOf(socket, MAX_FRAME)
  let text = ''
  socket.on('error', () => {}) // it has ended: the job hears of it
  said.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(0, MAX_SAID)))

  /** The next frame; throws the reason if the process ends before. */
  async function nextFrame(): Promise<Frame> {
    const frame = await frames.next().catch(() => undefined)
    if (frame?.value) return frame.value
    const alive = setTimeout(() => kill(new LaneError('fault')), END_MS) // it sent what is no frame, or closed the socket
    const reason = await ended
    clearTimeout(alive)
    throw reason
  }
  /** Ends it at once, whatever it does; the running job rejects with `reason`. */
  function kill(reason: unknown): void {
    killedFor ??= reason
    child.kill('SIGKILL')
  }
  async function start(): Promise<void> {
    const late = setTimeout(() => kill(new LaneError('time')), START_MS)
    try {
      await nextFrame()
    } catch (cause) {
      throw new Error(`the process for heavy work does not start: ${text || String(cause)}`, { cause })
    } finally {
      clearTimeout(late)
    }
  }
  /** Runs one job; call it when the one before has ended. Ends the process where the job does not end by itself. */
  async function run(task: Task, octets: Uint8Array, onBatch?: OnBatch): Promise<unknown> {
    const failed = Promise.withResolvers<never>()
    failed.promise.catch(() => {})
    onEnd = failed.reject
    writeFrame(socket, FRAME.run, serialize(task))
    writeFrame(socket, FRAME.octets, octets)
    for (;;) {
      const { type, body } = await nextFrame()
      if (type === FRAME.done) return deserialize(body)
      if (type === FRAME.failed) throw errorOf(deserialize(body) as CrossedError)
      await Promise.race([onBatch?.(body), failed.promise]).catch(async (error: unknown) => {
        kill(error)
        throw await ended
      })
    }
  }
  return {
    /** Resolves when it takes jobs; rejects with what it said if it does not come up. */
    ready: start(),
    isAlive: () => isAlive && killedFor === undefined,
    run,
    kill,
    /** Whether the end of this process waits for it. */
    hold: (isBusy: boolean): void => {
      for (const one of [child, socket, said]) isBusy ? one.ref() : one.unref()
    },
  }
}

/** Node ends itself by SIGABRT at the limit of its heap, the system and the watch by SIGKILL. */
function reasonOf(signal: NodeJS.Signals | null): LaneReason {
  if (signal === OUT_OF_TIME) return 'time'
  return signal === 'SIGABRT' || signal === 'SIGKILL' ? 'memory' : 'fault'
}

const errorOf = (error: CrossedError): Error =>
  error.kind === 'app'
    ? appErrorOf(error.error)
    : new LaneError('fault', { cause: [error.name, ...error.stack].join(' ') })
