import { expect, it } from 'vitest'
import { didYouMean, nearest } from './value-problems.ts'

const WORDS = ['check', 'verify', 'blacklist', 'blacklists', 'report', '--format', '--selector', 'spf', 'dkim']
it.each<[typed: string, word: string | undefined]>([
  ['chekc', 'check'], // two neighbours swapped
  ['CHECK', 'check'],
  ['verifi', 'verify'],
  ['blacklits', 'blacklist'],
  ['--fromat', '--format'],
  ['--slector', '--selector'],
  ['sfp', 'spf'],
  ['', undefined],
  ['xyz', undefined], // three edits from spf, and nothing alike
  ['certificate', undefined],
  ['check'.repeat(1_000), undefined],
])('%s: %s', (typed, word) => expect(nearest(typed, WORDS)).toBe(word))

it('says it in words, or says nothing', () => {
  expect(didYouMean(nearest('jsno', ['json', 'table']))).toBe(' (did you mean json?)')
  expect(didYouMean(nearest('q', ['json', 'table']))).toBe('')
})
