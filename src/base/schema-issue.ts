import type { core } from 'zod'
import type { Problem } from './problem.ts'
import { isType, schemaProblem } from './schema-problems.ts'

/**
 * The problem that an issue of a schema is. A message that a schema of ours gives begins in lower case; those of zod do
 * not, and are said in our words.
 */
export function problemOf(issue: core.$ZodIssue): Problem {
  const other = schemaProblem('other', { reason: issue.message })
  if (!/^[A-Z]/.test(issue.message)) return other
  switch (issue.code) {
    case 'invalid_type':
      return isType(issue.expected) ? schemaProblem('type', { type: issue.expected }) : other
    case 'too_big':
      return tooBig(issue.origin, Number(issue.maximum))
    case 'too_small':
      return tooSmall(issue.origin, Number(issue.minimum))
    case 'invalid_value':
      return schemaProblem('choice', { known: issue.values.map(String) })
    case 'unrecognized_keys':
      return schemaProblem('field', { name: issue.keys[0] ?? '' })
    case 'invalid_union':
      return schemaProblem('forms')
    default:
      return other
  }
}

function tooBig(origin: string, max: number): Problem {
  if (origin === 'string') return schemaProblem('longer', { max })
  return origin === 'array' ? schemaProblem('more_items', { max }) : schemaProblem('above', { max })
}

function tooSmall(origin: string, min: number): Problem {
  if (origin === 'string') return schemaProblem('shorter', { min })
  return origin === 'array' ? schemaProblem('fewer_items', { min }) : schemaProblem('below', { min })
}
