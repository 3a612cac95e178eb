import { expect, it } from 'vitest'
import { linesOf, printable, withoutCommands } from './text.ts'

it.each([
  ['an escape sequence', 'a\u001b[31mb', 'a [31mb'],
  ['a line feed', 'a\nb', 'a b'],
  ['CSI in one character (C1)', 'a\u009b31mb', 'a 31mb'],
  ['a right-to-left override', 'a\u202egnp.exe', 'a gnp.exe'],
  ['an Arabic letter mark', 'a\u061cb', 'a b'],
  ['a zero-width space', 'pay\u200bpal', 'pay pal'],
  ['a byte order mark', '\ufeffv=spf1', ' v=spf1'],
  ['a soft hyphen', 'a\u00adb', 'a b'],
  ['a word joiner', 'a\u2060b', 'a b'],
  ['tag characters', 'a\u{e0041}\u{e007f}b', 'a  b'],
  ['a variation selector of plane 14', 'a\u{e0100}b', 'a b'],
  ['a lone surrogate', 'a\ud800b', 'a b'],
  ['a Hangul filler', 'a\u3164b', 'a b'],
  ['letters and signs', 'grün 漢字 – “ok” 😀', 'grün 漢字 – “ok” 😀'],
])('%s', (_, text, shown) => expect(printable(text)).toBe(shown))

it.each([
  [3, 'abc'],
  [4, 'abcd'],
  [5, 'abcd…'],
])('cuts at the length: %d letters', (length, shown) =>
  expect(printable('abcde'.slice(0, length) + (length > 4 ? 'f' : ''), 5)).toBe(shown),
)

it('leaves no half of a character at the cut', () => expect(printable('ab😀d', 4)).toBe('ab …'))

it.each([
  ['::error::x', ': :error::x'],
  ['  ::add-mask::x', '  : :add-mask::x'],
  [':::error::', ': ::error::'],
  ['::dead::beef::', '::dead::beef::'], // no command has a name of digits
  ['::1', '::1'],
  ['::ffff:192.0.2.1 is listed', '::ffff:192.0.2.1 is listed'],
  ['2001:db8::1', '2001:db8::1'],
  ['a ##[error]x', 'a # #[error]x'],
  ['##vso[task.setvariable]x', '# #vso[task.setvariable]x'],
  ['## [a]', '## [a]'],
])('the line %s is no command of a build server: %s', (line, shown) => expect(withoutCommands(line)).toBe(shown))

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
