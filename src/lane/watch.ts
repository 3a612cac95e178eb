import { Worker } from 'node:worker_threads'

/** The signal by which the watch ends the process for its time; for its memory it is SIGKILL, as by the system. */
export const OUT_OF_TIME = 'SIGVTALRM'

/** How often the watch looks, ms. */
const EVERY_MS = 25

/**
 * Resident memory over that at the start, octets: the heap and as much outside of it. A heap limit does not count array
 * buffers and texts outside of the heap.
 */
const MEMORY = 256 * 1_048_576

/** It ends, too, when the process that asks is gone. As text: a thread of its own file would be one more entry. */
const WATCH = `
const { workerData } = require('node:worker_threads')
const { state, parent, memory, everyMs, outOfTime } = workerData
const most = process.memoryUsage.rss() + memory
const usedMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
for (;;) {
  Atomics.wait(state, 0, 0)
  const job = Atomics.load(state, 1)
  const endMs = usedMs() + Atomics.load(state, 0)
  while (Atomics.load(state, 1) === job && Atomics.load(state, 0) !== 0) {
    if (usedMs() > endMs) process.kill(process.pid, outOfTime)
    if (process.memoryUsage.rss() > most || process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
    Atomics.wait(state, 1, job, everyMs)
  }
}`

/**
 * Starts the thread that keeps the walls of processor time and memory of a job: the one that does the work may be in a
 * loop, in a regular expression or in a call of a native library. It sleeps while no job runs.
 */
export function startWatch(parent: number) {
  const state = new Int32Array(new SharedArrayBuffer(8)) // the limit of the running job, and its number
  const settings = { state, parent, memory: MEMORY, everyMs: EVERY_MS, outOfTime: OUT_OF_TIME }
  new Worker(WATCH, { eval: true, workerData: settings, env: {} }).unref()
  const set = (limitMs: number): void => {
    Atomics.add(state, 1, 1)
    Atomics.store(state, 0, limitMs)
    Atomics.notify(state, 0)
    Atomics.notify(state, 1)
  }
  return { begin: (cpuMs: number) => set(Math.max(1, Math.round(cpuMs))), end: () => set(0) }
}
