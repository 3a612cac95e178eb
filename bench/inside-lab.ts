import { existsSync } from 'node:fs'
import { CA_FILE } from '../test/real/addresses.ts'
import { enterLab, untilEnded } from '../test/real/namespace.ts'
import { ensureMachine } from '../test/real/packages.ts'

/**
 * Whether this process is in the test network. If not, runs the same command in one and passes on its exit status. On a
 * machine that does not support the test network, prints the reason and exits with 0, because nothing was measured and
 * nothing failed.
 */
export async function insideLab(): Promise<boolean> {
  if (existsSync(CA_FILE)) return true
  const able = ensureMachine()
  if (able === 'ready') process.exitCode = await untilEnded(enterLab(process.argv))
  else console.log(`skipped: ${able.wanting}`)
  return false
}
