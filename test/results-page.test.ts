import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Figure, lastRuns, results } from '../bench/history.ts'

const page = (figure: Partial<Figure>): string =>
  results([
    {
      ...{ bench: 'b', day: '2026-11-23', machine: 'm', command: 'c' },
      figures: [{ what: 'it', value: 8, unit: 'ms', ...figure }],
    },
  ])

it.each<[why: string, figure: Partial<Figure>, row: string, isLost: boolean]>([
  ['more is better', { goal: 9 }, '| it | 8 ms | 9: **missed** |', true],
  ['more is better', { goal: 8 }, '| it | 8 ms | 8: reached |', false],
  ['less is better', { goal: 7, isLessBetter: true }, '| it | 8 ms | 7: **missed** |', true],
  ['no goal', {}, '| it | 8 ms |  |', false],
  ['theirs is more', { beside: { who: 'x', value: 16 } }, '| it | 8 ms | x | 16 ms | **0.50** |  |', true],
  ['theirs takes longer', { beside: { who: 'x', value: 16 }, isLessBetter: true }, '| 2.00 |  |', false],
  ['a goal below theirs', { beside: { who: 'x', value: 16 }, goal: 0.4 }, '| **0.50** | 0.4: reached |', true],
  ['a goal beyond theirs', { beside: { who: 'x', value: 4 }, goal: 3 }, '| **2.00** | 3: **missed** |', true],
])('%s: %j', (_, figure, row, isLost) => {
  const text = page(figure)
  expect(text).toContain(row)
  expect(text).toContain(isLost ? '. it: ' : 'Nowhere.')
})

it('the page shows the last run of each benchmark', () => {
  const text = readFileSync(new URL('../contributing/benchmarks.md', import.meta.url), 'utf8')
  expect(text).toContain(results(lastRuns()))
})
