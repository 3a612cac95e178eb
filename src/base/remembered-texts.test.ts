import { expect, it } from 'vitest'
import { rememberedTexts } from './remembered-texts.ts'

// Bound: src/base/remembered-texts.ts MOST, MOST_CHARACTERS
it.each<[string, readonly string[], number]>([
  ['a text is read once', ['a', 'a', 'b', 'a'], 2],
  ['100 texts are kept', [...Array.from({ length: 100 }, (_, i) => String(i)), '0'], 100],
  ['one more, and all are forgotten', [...Array.from({ length: 101 }, (_, i) => String(i)), '0'], 102],
  ['1,000 characters are kept', ['x'.repeat(1_000), 'x'.repeat(1_000)], 1],
  ['1,001 are not', ['x'.repeat(1_001), 'x'.repeat(1_001)], 2],
])('%s', (_, texts, reads) => {
  let count = 0
  const read = rememberedTexts((text) => [text, count++] as const)
  for (const text of texts) expect(read(text)[0]).toBe(text)
  expect(count).toBe(reads)
})
