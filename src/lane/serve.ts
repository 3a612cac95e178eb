import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { setPriority } from 'node:os'
import { deserialize, serialize } from 'node:v8'
import { crossed } from './crossing.ts'
import { FRAME, framesOf, writeFrame } from './frames.ts'
import type { HeavyKind } from './heavy.ts'
import { startWatch } from './watch.ts'

/** The file descriptor of the socket to the process that asks. */
const ASKER = 3
/** So much below the process that asks, when both want a processor (`nice`). */
const PRIORITY = 5

/** A job without its octets, which are the next frame. */
export type Task = { readonly kind: string; readonly input: unknown; readonly cpuMs: number }

/** A kind of which only its own jobs know the input. */
export type AnyKind = HeavyKind<never, unknown>

/**
 * The process of the lane: does one job after the other until the process that asks is gone. A job that loses a
 * rejection, throws in a callback or exits ends it.
 */
export async function serveLane(kinds: readonly AnyKind[]): Promise<void> {
  yieldToOthers()
  const byName = new Map(kinds.map((kind) => [kind.name, kind]))
  const watch = startWatch(process.ppid)
  const socket = new Socket({ fd: ASKER, readable: true, writable: true })
  socket.on('error', () => process.exit(0)) // nobody is there to be told
  writeFrame(socket, FRAME.ready, Buffer.alloc(0))

  async function emit(batch: Uint8Array): Promise<void> {
    if (!writeFrame(socket, FRAME.batch, batch)) await once(socket, 'drain')
  }
  async function work({ kind, input, cpuMs }: Task, octets: Buffer<ArrayBuffer>): Promise<void> {
    watch.begin(cpuMs)
    try {
      const known = byName.get(kind)
      if (!known) throw new Error(`there is no work of the kind ${kind}`)
      const bytes = new Uint8Array(octets.buffer, octets.byteOffset, octets.length)
      const result = serialize(await known.work(bytes, input as never, { emit }))
      watch.end()
      writeFrame(socket, FRAME.done, result)
    } catch (error) {
      watch.end()
      writeFrame(socket, FRAME.failed, serialize(crossed(error)))
    } finally {
      octets.buffer.transfer(0) // free before the next ones come, not at the next collection
    }
  }
  let task: Task | undefined
  for await (const { type, body } of framesOf(socket, Number.POSITIVE_INFINITY)) {
    if (type === FRAME.run) task = deserialize(body) as Task
    else if (task) await work(task, body)
  }
  process.exit(0)
}

/**
 * Signals that the service handles by ending in order come to all processes of a terminal or unit; this one ends with
 * its socket. The service goes first: for the processor, and when the system has no memory left and must end a process.
 */
function yieldToOthers(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  try {
    setPriority(PRIORITY)
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // a system without it
  }
}
