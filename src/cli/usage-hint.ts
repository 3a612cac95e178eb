import type { Problem } from '../base/problem.ts'
import { parseDomain } from '../names/domain.ts'
import { parseEmail } from '../names/email.ts'
import { parseIp } from '../names/ip.ts'
import type { ConfigFlag } from './flags.ts'
import { hint } from './problems.ts'

/** A hint after a usage error, for an option of another command or a target without a command. */
export function hintFor(
  { code, message }: { readonly code: string; readonly message: string },
  argv: readonly string[],
  { configFlags }: { readonly configFlags: readonly ConfigFlag[] },
): string | undefined {
  if (code === 'commander.unknownCommand') return hintForTarget(argv[0] ?? '')?.text
  if (code !== 'commander.unknownOption') return undefined
  // Only the option that was refused: others of the line may be known.
  const unknown = /unknown option '--([^'=]+)/.exec(message)?.[1]
  const elsewhere = configFlags.find(({ flag }) => flag === unknown)
  return elsewhere && hint('serve', { flag: elsewhere.flag }).text
}

/** A target was given without a command. */
function hintForTarget(text: string): Problem | undefined {
  if (parseIp(text).ok) return hint('blacklist', { text })
  if (text.includes('@') && parseEmail(text).ok) return hint('verify', { text })
  if (parseDomain(text).ok) return hint('check', { text })
  return undefined
}

/** The right command for a target of another kind: `check 192.0.2.1`. */
export function hintForOther(code: string, [command = '', ...words]: readonly string[]): string | undefined {
  if (!OF_TARGETS.includes(code) || !TAKES_TARGET.includes(command)) return undefined
  const hints = words.filter((word) => !word.startsWith('-')).map(hintForTarget)
  return hints.find((one) => one !== undefined && one.id !== `hint.${command}`)?.text
}
const OF_TARGETS: readonly string[] = ['invalid_domain', 'invalid_ip']
const TAKES_TARGET: readonly string[] = ['check', 'report', 'dkim', 'dmarc', 'blacklist', 'geo']
