import { describe, expect, it } from 'vitest'
import { maxAgeParam, wholeParam } from './params.ts'

const DAY_MS = 86_400_000
describe.each<
  [
    string,
    { readonly safeParse: (text: string) => { readonly success: boolean; readonly data?: unknown } },
    readonly (readonly [string, number | undefined])[],
  ]
>([
  [
    'the age of an answer',
    maxAgeParam.schema,
    [
      ['0', 0],
      ['90s', 90_000],
      ['24h', DAY_MS],
      ['86401s', undefined],
      ['1', undefined],
      ['-1s', undefined],
      ['', undefined],
    ],
  ],
  [
    'a whole number',
    wholeParam('items', { min: 1, max: 100 }).schema,
    [
      ['1', 1],
      ['100', 100],
      ['0', undefined],
      ['101', undefined],
      ['1.5', undefined],
      ['1e1', undefined],
      [' 7', 7],
      ['', undefined],
    ],
  ],
])('%s', (_, schema, rows) => {
  it.each(rows)('%j is read as %s', (text, value) => {
    const read = schema.safeParse(text)
    expect(read.success ? read.data : undefined).toBe(value)
  })
})
