import type { PlanAnswer, PlanRecord } from '../../answers/plan.ts'
import {
  commentText,
  goneLines,
  headLines,
  isPlain,
  laterLines,
  partsOf,
  quotedString,
  stepLines,
  stringsOf,
} from './sets.ts'

/**
 * The plan as a zone file (RFC 1035 §5.1): what can be published now as records with full names, everything later as
 * comments.
 */
export function formatZone(plan: PlanAnswer): string {
  const lines = [
    ...headLines(plan),
    'Not a whole zone: add these lines to the zone, in place of those that they replace.',
  ].map(comment)
  for (const part of partsOf(plan)) {
    lines.push('', ...stepLines(part).map(comment), ...goneLines(part.now).map(comment))
    lines.push(...part.now.filter(({ action }) => action !== 'remove').map(zoneLine))
    lines.push(...laterLines(part, zoneLine).map(comment))
  }
  return `${lines.join('\n')}\n`
}

const comment = (line: string): string => `; ${line}`

function zoneLine(record: PlanRecord): string {
  const { name, ttl, type, value } = record
  if (!isPlain(record)) return comment(commentText(`left out: ${name} ${type} has a name with unusual characters`))
  return `${name}. ${ttl} IN ${type} ${
    type === 'TXT'
      ? stringsOf(value)
          .map((octets) => quotedString(octets))
          .join(' ')
      : value
  }`
}
