import type { core } from 'zod'
import { type Problem, problemsOf, quoted, shown } from './problem.ts'

const TYPES = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
} as const
type Type = keyof typeof TYPES
const isType = (text: string): text is Type => Object.hasOwn(TYPES, text)

type Max = { max: number }
type Min = { min: number }

const schemaProblem = problemsOf('schema', {
  missing: () => 'the field is missing',
  type: ({ type }: { type: Type }) => `the value is not ${TYPES[type]}`,
  longer: ({ max }: Max) => `the text is longer than ${max} characters`,
  shorter: ({ min }: Min) => (min === 1 ? 'the text is empty' : `the text is shorter than ${min} characters`),
  more_items: ({ max }: Max) => `the list has more than ${max} items`,
  fewer_items: ({ min }: Min) => (min === 1 ? 'the list is empty' : `the list has fewer than ${min} items`),
  above: ({ max }: Max) => `the number is more than ${max}`,
  below: ({ min }: Min) => `the number is less than ${min}`,
  choice: ({ known }: { known: readonly string[] }) => `the value is not one of ${shown(known.join(', '), 400)}`,
  field: ({ name }: { name: string }) => `${quoted(name)} is not a known field`,
  forms: () => 'the value has none of the accepted forms',
  syntax: ({ reason }: { reason: string }) => `this is not JSON (${shown(reason, 120)})`,
  at: ({ field, why }: { field: string; why: Problem }, say) => `${shown(field, 80)}: ${shown(say(why), 300)}`,
  /** Any other fault, and what a schema says in a sentence of its own. */
  other: ({ reason }: { reason: string }) => shown(reason, 300),
})

/** Text that is no JSON, by the reason of the parser. */
export const syntaxProblem = (reason: string): Problem => schemaProblem('syntax', { reason })
/** What is wrong with a field of an object. */
export const fieldProblem = (field: string, why: Problem): Problem => schemaProblem('at', { field, why })

/**
 * The problem that an issue of a schema is. A message that a schema of ours gives begins in lower case; those of zod do
 * not, and are said in our words.
 */
export function problemOf(issue: core.$ZodIssue): Problem {
  const other = schemaProblem('other', { reason: issue.message })
  if (!/^[A-Z]/.test(issue.message)) return other
  switch (issue.code) {
    case 'invalid_type':
      // Issues do not carry the input; the message of zod tells what it was.
      if (issue.message.endsWith('received undefined')) return schemaProblem('missing')
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
      return 'options' in issue && Array.isArray(issue.options)
        ? schemaProblem('choice', { known: issue.options.map(String) })
        : schemaProblem('forms')
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
