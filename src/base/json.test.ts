import { expect, it } from 'vitest'
import { formatJson, isJsonRecord } from './json.ts'

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
