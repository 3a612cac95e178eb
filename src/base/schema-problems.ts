import { problemsOf, quoted, shown } from './problem.ts'

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
/** Whether a type of a schema has words. */
export const isType = (text: string): text is Type => Object.hasOwn(TYPES, text)

type Max = { max: number }
type Min = { min: number }

/** What is wrong with a value by its schema. */
export const schemaProblem = problemsOf('schema', {
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
  /** Any other fault, and what a schema says in a sentence of its own. */
  other: ({ reason }: { reason: string }) => shown(reason, 300),
})
