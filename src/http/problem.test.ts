import { expect, it } from 'vitest'
import { asAppError } from './problem.ts'

it.each<[string, unknown, string, string]>([
  [
    'a refusal of the library keeps its words',
    { statusCode: 415, message: 'x/y is not read' },
    'unsupported_media_type',
    'x/y is not read',
  ],
  ['one without words has those of its code', { statusCode: 429 }, 'rate_limited', 'too many requests'],
  ['a status that is none of ours', { statusCode: 418, message: 'a teapot' }, 'internal', 'unexpected error'],
  ['a fault', new TypeError('x is undefined'), 'internal', 'unexpected error'],
])('%s', (_, error, code, words) => {
  const known = asAppError(error)
  expect([known.code, known.message.toLowerCase()]).toEqual([code, expect.stringContaining(words)])
})
