import { existsSync } from 'node:fs'
import { CA_FILE } from '../test/real/addresses.ts'
import { enterLab, untilEnded } from '../test/real/namespace.ts'
import { ensureMachine, ensurePackages } from '../test/real/packages.ts'

/**
 * Whether this process is in the test network. If not, runs the same command in one and passes on its exit status. On a
 * machine that does not support the test network, prints the reason and exits with 0, because nothing was measured and
 * nothing failed. The programs to compare with are installed before: `packages` of Debian, and what `install` brings.
 */
export async function insideLab(packages: readonly string[] = [], install?: () => void): Promise<boolean> {
  if (existsSync(CA_FILE)) return true
  const able = ensureMachine()
  if (able === 'ready') {
    ensurePackages(packages)
    install?.()
    process.exitCode = await untilEnded(enterLab(process.argv))
  } else console.log(`skipped: ${able.wanting}`)
  return false
}
