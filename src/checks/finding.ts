import { inEnglish, type Problem, type Say } from '../base/problem.ts'
import { printable } from '../base/text.ts'
import type { Args, DnsRecord, Finding, FindingArgs, FindingTable, Severity } from './check.ts'

/** Maximum number of characters of a record that is offered for publication; a longer one is not offered. */
const MAX_FIX = 2_048

/** {@link makeFinding} for the ids of one check's table. */
export type MakeFinding<Table extends FindingTable> = (
  id: keyof Table & string,
  args?: FindingArgs,
  more?: More,
) => Finding
type More = {
  readonly evidence?: string | undefined
  readonly fix?: DnsRecord | undefined
  readonly next?: DnsRecord | undefined
}

/** A finding; undefined values are omitted, and evidence is cut to 512 printable characters. */
export const makeFinding = (id: string, args: FindingArgs = {}, { evidence, fix, next }: More = {}): Finding => ({
  id,
  args,
  ...(evidence === undefined ? {} : { evidence: printable(evidence) }),
  ...(fix === undefined || fix.value.length > MAX_FIX ? {} : { fix, ...(next && { next }) }),
})

/** The arguments of a finding's text: `say` writes the sentence of each problem, by default in English. */
export const tellArgs = (args: FindingArgs = {}, say: Say = inEnglish): Args =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [name, told(value, say)]))

function told(value: FindingArgs[string], say: Say): Args[string] {
  if (isList(value)) return value.map((item) => (typeof item === 'string' ? item : say(item)))
  return typeof value === 'object' ? say(value) : value
}

const isList = (value: FindingArgs[string]): value is readonly (string | Problem)[] => Array.isArray(value)

/**
 * The severity of a finding: its own, or that of its row in the table; `info` for an id that is in no table, and for
 * what only the limit of our own queries has left open.
 */
export const severityOf = (table: FindingTable, finding: Finding): Severity =>
  isOurLimit(finding) ? 'info' : (finding.severity ?? table[finding.id]?.severity ?? 'info')

const isOurLimit = ({ args }: Finding): boolean => {
  for (const name in args) {
    const value = args[name]
    if (typeof value === 'object' && 'id' in value && value.id === 'dns.too_many_questions') return true
  }
  return false
}
