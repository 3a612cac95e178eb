import { expect, it } from 'vitest'
import { withoutCommandsIn } from './show.ts'

async function shown(contentType: string, ...pieces: readonly string[]): Promise<string> {
  async function* text(): AsyncGenerator<string> {
    yield* pieces
  }
  let all = ''
  for await (const piece of withoutCommandsIn({ contentType, text: text() })) all += piece
  return all
}
const CSV = 'text/csv; charset=utf-8'

it.each<[what: string, type: string, pieces: readonly string[], shown: string]>([
  ['a cell', CSV, ['::error::x,1\r\n'], ': :error::x,1\r\n'],
  ['a line within a cell', CSV, ['"a\n::error::x",1\r\n'], '"a\n: :error::x",1\r\n'],
  ['a line within a cell, ended by CR', CSV, ['"a\r::error::x",1\r\n'], '"a\r: :error::x",1\r\n'],
  [
    'a command in two pieces',
    CSV,
    ['a,1\r\n:', ':error::x,1\r\n##vs', 'o[task]x'],
    'a,1\r\n: :error::x,1\r\n# #vso[task]x',
  ],
  ['an address', CSV, ['::1,listed\r\n'], '::1,listed\r\n'],
  ['what is no command', CSV, ['a,b\r\n"c ""d""",e\r\n'], 'a,b\r\n"c ""d""",e\r\n'],
])('%s', async (_, type, pieces, text) => expect(await shown(type, ...pieces)).toBe(text))

it('NDJSON keeps its values', async () => {
  const row = { note: '##[error]x ##vso[task]y ::error::z' }
  const text = await shown('application/x-ndjson', `${JSON.stringify(row)}\n`)
  expect(text).not.toMatch(/##(?:vso)?\[/)
  expect(JSON.parse(text)).toEqual(row)
})

it('a line without an end is not held', async () => {
  const piece = 'x'.repeat(3_000_000)
  expect(await shown(CSV, piece, piece, piece)).toHaveLength(9_000_000)
})
