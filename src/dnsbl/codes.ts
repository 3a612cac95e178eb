import { type Parsed, parsed, problem } from '../base/parsed.ts'
import { cidr, contains, parseCidr } from '../names/cidr.ts'
import type { Ip } from '../names/ip.ts'
import { listFileProblem } from './problems.ts'
import type { CodePattern, CodeRow } from './zone-type.ts'

/** Every answer of a list is in this network; any other address is not an answer of a list (RFC 5782 §2.1). */
export const ANSWERS = cidr('127.0.0.0/8')

const LAST_OCTETS = /^(127\.\d{1,3}\.\d{1,3})\.(\d{1,3})-(\d{1,3})$/

/** Reads the text of a {@link CodePattern}; refuses addresses outside 127.0.0.0/8. */
export function parseCodePattern(text: string): Parsed<CodePattern> {
  const range = LAST_OCTETS.exec(text)
  const [first, last] = range ? [Number(range[2]), Number(range[3])] : [0, 0]
  if (range && (first > last || last > 255)) return problem(listFileProblem('code_range', { text }))
  const network = parseCidr(range ? `${range[1]}.${range[2]}` : text)
  if (!network.ok || network.value.prefix < 8 || !contains(ANSWERS, network.value.base))
    return problem(listFileProblem('code', { text }))
  return parsed(text)
}

/** Whether an answer is one of a pattern's codes. */
export function hasCode(pattern: CodePattern, code: Ip): boolean {
  const range = LAST_OCTETS.exec(pattern)
  if (!range) return pattern.includes('/') ? contains(cidr(pattern), code) : pattern === code
  const dot = code.lastIndexOf('.')
  const last = Number(code.slice(dot + 1))
  return code.slice(0, dot) === range[1] && last >= Number(range[2]) && last <= Number(range[3])
}

/** The row of a table that describes `code`. */
export const rowOf = (rows: readonly CodeRow[], code: Ip): CodeRow | undefined =>
  rows.find((row) => hasCode(row.code, code))
