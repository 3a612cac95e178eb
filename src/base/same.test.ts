import { expect, it } from 'vitest'
import { isSame } from './same.ts'

it.each<[string, unknown, unknown, boolean]>([
  ['equal lists of objects', [{ a: 1, b: ['x'] }], [{ b: ['x'], a: 1 }], true],
  ['another part', [{ a: 1, b: ['x'] }], [{ a: 1, b: ['y'] }], false],
  ['a longer list', [1], [1, 2], false],
  ['a field more', { a: 1 }, { a: 1, b: 2 }, false],
  ['an absent field, and one without a value', { a: undefined }, { b: undefined }, false],
  ['a list and an object', [], {}, false],
  ['null and an object', null, {}, false],
  ['no number', Number.NaN, Number.NaN, true],
  ['equal errors', new Error('x'), new Error('x'), true],
  ['other errors', new Error('x'), new Error('y'), false],
  ['other errors in a list', [new Error('x')], [new Error('y')], false],
  ['equal sets', new Set([1]), new Set([1]), true],
  ['other sets', new Set([1]), new Set([2]), false],
  ['a set and an object', {}, new Set(), false],
])('%s', (_, a, b, same) => expect([isSame(a, b), isSame(b, a)]).toEqual([same, same]))
