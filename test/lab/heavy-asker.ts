import { openLane } from '../../src/lane/lane.ts'
import { WORK } from './heavy-kinds.ts'

/** A program whose heavy work does not end, and that writes the number of the process that does it. */
const command = { file: process.execPath, args: [`${import.meta.dirname}/heavy-process.ts`], env: {} }
const { heavy } = openLane({ command, log: { warn: () => {} } })
await heavy(WORK.held, new Uint8Array(0), undefined, {
  caller: 'key',
  signal: new AbortController().signal,
  onBatch: async (pid) => void process.stdout.write(`${Buffer.from(pid)}\n`),
})
