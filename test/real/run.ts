import { enterLab, untilEnded } from './namespace.ts'
import { ensureMachine } from './packages.ts'

/** `npm run test:real`: the tests of the real servers, in the mini internet. What follows on the command line goes to vitest. */
const machine = ensureMachine()
if (machine === 'ready') {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '-c', 'vitest.real.config.ts', ...process.argv.slice(2)]
  process.exitCode = await untilEnded(enterLab([process.execPath, ...vitest]))
} else {
  console.error(`\n*** THE TESTS ON REAL SERVERS DID NOT RUN ***\n${machine.wanting}\n`)
  // A developer without root may go on; a build may not.
  process.exitCode = process.env.CI === 'true' ? 1 : 0
  if (process.exitCode === 0) console.log('skipped')
}
