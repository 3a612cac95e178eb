import type { PlanAnswer } from '../../answers/plan.ts'
import { printable } from '../../base/text.ts'
import { text } from './dnscontrol.ts'
import {
  commentText,
  headLines,
  isPlain,
  laterLines,
  MAX_LINE,
  partsOf,
  type RecordSet,
  relative,
  stepLines,
  wholeSets,
} from './sets.ts'

/**
 * The plan for octoDNS: a fragment in YAML. octoDNS owns a name and type as a whole, so each set has its other values
 * too.
 */
export function formatOctodns(plan: PlanAnswer): string {
  const { domain } = plan
  const lines = [
    'Not a whole zone: merge these sets into the file of the zone. octoDNS deletes what a zone file does not name.',
    ...headLines(plan),
    'Each set has its other values as they were published when the plan was made.',
  ].map(comment)
  for (const part of partsOf(plan))
    lines.push(
      ...stepLines(part).map(comment),
      ...laterLines(part, ({ name, type, value }) => printable(` ${name} ${type} ${value}`, MAX_LINE)).map(
        (line) => `# ${line}`,
      ),
    )
  const names = Map.groupBy(wholeSets(plan), ({ name }) => name)
  lines.push('---')
  for (const [name, sets] of names) {
    const written = sets.filter(isWritable)
    lines.push(...sets.filter((set) => !written.includes(set)).map((set) => comment(leftOut(set))))
    if (written.length === 0) continue
    lines.push(`${text(relative(name, domain).replace(/^@$/, ''))}:`)
    for (const set of written) lines.push(...linesOf(set))
  }
  if (names.size === 0) lines.push('{}')
  return `${lines.join('\n')}\n`
}

const comment = (line: string): string => `# ${commentText(line)}`

const isWritable = ({ name, type, values, unknown }: RecordSet): boolean =>
  unknown === undefined && values.length > 0 && values.every((value) => isPlain({ name, type, value }))

/** Why a set is not in a file. */
export const leftOut = ({ name, type, unknown, values }: RecordSet): string =>
  `left out: ${name} ${type} ${
    unknown !== undefined
      ? `– its other values are not known: ${unknown}`
      : values.length === 0
        ? 'is to be removed: delete the set'
        : 'has a name with unusual characters'
  }`

function linesOf({ type, ttl, values }: RecordSet): readonly string[] {
  const rows = values.map((value) => {
    if (type !== 'MX') return `      - ${text(type === 'TXT' ? value.replaceAll(';', '\\;') : value)}`
    const [preference = '0', exchange = '.'] = value.split(' ')
    return `      - preference: ${Number(preference)}\n        exchange: ${text(exchange)}`
  })
  if (type === 'CNAME') return [`  - type: CNAME`, `    ttl: ${ttl}`, `    value: ${text(values[0]!)}`]
  return [`  - type: ${type}`, `    ttl: ${ttl}`, '    values:', ...rows]
}
