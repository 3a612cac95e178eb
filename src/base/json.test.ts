import { expect, it } from 'vitest'
import { formatJson, isJsonRecord, isNestedBeyond, isSame } from './json.ts'

it.each([
  ['a\u001b[31mb', '"a\\u001b[31mb"'],
  ['a\u009b31mb', '"a\\u009b31mb"'], // CSI in one character
  ['\u202egnp.exe', '"\\u202egnp.exe"'], // runs backwards
  ['\u061c\u200b\ufeff', '"\\u061c\\u200b\\ufeff"'],
  ['\u{e0041}', '"\\udb40\\udc41"'], // a tag character
  ['a\u007f\u2028', '"a\\u007f\\u2028"'],
  ['grün 漢', '"grün 漢"'],
  ['##[error]x ##vso[task]', '"#\\u0023[error]x #\\u0023vso[task]"'], // commands of build servers
])('%j is shown as %s and reads back', (value, shown) => {
  expect(formatJson(value)).toBe(shown)
  expect(JSON.parse(formatJson(value))).toBe(value)
})

it.each([
  [{}, true],
  [[], false],
  [null, false],
  ['{}', false],
])('%j is an object: %s', (value, is) => expect(isJsonRecord(value)).toBe(is))

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

it.each<[string, boolean]>([
  ['[[1]]', false],
  ['[[[1]]]', true],
  ['{"a":{"b":[]}}', true],
  ['[[1],[2],[3],{"a":1}]', false],
  ['["[[[[", "\\"[[[[", {"[[[":"\\\\"}]', false],
  ['["[[[[', false],
  [`${'['.repeat(100_000)}`, true],
])('%.20s is nested beyond two levels: %s', (text, expected) => expect(isNestedBeyond(text, 2)).toBe(expected))
