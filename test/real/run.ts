import { join } from 'node:path'
import { enterLab, untilEnded } from './namespace.ts'
import { ensureMachine } from './packages.ts'

/**
 * `npm run test:real`: the tests of the real servers, in the test network. What follows on the command line goes to
 * vitest, except as the first argument `--ready`, which only installs what the machine lacks, and `--half 1` or
 * `--half 2`, which runs one half of the files.
 */
const [first, second, ...others] = process.argv.slice(2)
const half = first === '--half' ? second : undefined
const args = half === undefined ? process.argv.slice(2) : others
const machine = ensureMachine()
if (machine !== 'ready') {
  console.error(`\n*** THE TESTS ON REAL SERVERS DID NOT RUN ***\n${machine.wanting}\n`)
  // A developer without root may go on; a build may not.
  process.exitCode = process.env.CI === 'true' ? 1 : 0
  if (process.exitCode === 0) console.log('skipped')
} else if (first !== '--ready') {
  if (half !== undefined) process.env.REAL_HALF = half
  // Commands are started by the hundred: with compiled code a start takes half the time.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.cache/compiled')
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '-c', 'vitest.real.config.ts', ...args]
  process.exitCode = await untilEnded(enterLab([process.execPath, ...vitest]))
}
