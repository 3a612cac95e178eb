import { expect, it } from 'vitest'
import { linesOf } from './lines.ts'

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text)
}

async function all(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const read: string[] = []
  for await (const line of lines) read.push(line)
  return read
}

it.each<[chunks: readonly string[], lines: readonly string[]]>([
  [[], []],
  [['a.example'], ['a.example']], // no newline at the end
  [['a\nb\n'], ['a', 'b']],
  [['a\r\n b \r\n'], ['a', 'b']],
  [
    ['a.ex', 'ample\nb', '.example\n'],
    ['a.example', 'b.example'],
  ],
  [['\n\n# a list\n  # of domains\na\n'], ['a']],
  [
    ['x'.repeat(30), 'x'.repeat(30), '\nb'],
    ['x'.repeat(11), 'b'],
  ], // longer than 10
])('%j: %j', async (given, lines) => expect(await all(linesOf(chunks(...given), 10))).toEqual(lines))

it('reads a character that was cut between two chunks', async () => {
  const octets = new TextEncoder().encode('ä.example')
  async function* halves(): AsyncGenerator<Uint8Array> {
    yield octets.slice(0, 1)
    yield octets.slice(1)
  }
  expect(await all(linesOf(halves(), 100))).toEqual(['ä.example'])
})
