import { existsSync } from 'node:fs'
import { CA_FILE } from '../test/real/addresses.ts'
import { enterLab, untilEnded } from '../test/real/namespace.ts'
import { ensureMachine } from '../test/real/packages.ts'

/**
 * Whether this process stands in the test network. Where it does not, the same command is run in one, and its exit status passed on; on a machine that
 * cannot have one it is said why, with exit status 0: nothing was measured and nothing is wrong.
 */
export async function insideLab(): Promise<boolean> {
  if (existsSync(CA_FILE)) return true
  const able = ensureMachine()
  if (able === 'ready') process.exitCode = await untilEnded(enterLab(process.argv))
  else console.log(`skipped: ${able.wanting}`)
  return false
}
