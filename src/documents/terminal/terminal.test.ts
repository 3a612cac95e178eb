import { describe, expect, it } from 'vitest'
import { exampleOf } from '../../../test/lab/answer.ts'
import { labDocuments } from '../../../test/lab/documents.ts'
import type { CheckAnswer } from '../../answers/check.ts'
import { columns, splitAt } from '../../base/text.ts'
import { check } from '../../operations/check.ts'
import type { Block, Document } from '../block.ts'
import { checkDocument } from '../check/check-document.ts'
import { type Look, paint, plain, SHADES, wrap } from './inline.ts'
import { formatTerminal } from './terminal.ts'

const look = (width: number, more: Partial<Look> = {}): Look => ({ width, colour: false, unicode: true, ...more })
const documents = Object.entries(await labDocuments())

const example = exampleOf(check)
const longName = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.test`
const [finding] = example.findings
const many: CheckAnswer = {
  ...example,
  findings: [...Array(400).keys()].map((i) => ({ ...finding!, id: `spf.finding_${i}`, title: `Finding ${i}` })),
}
/** The answer with each text made longer or odd: every name, record and reply. */
const withText = (text: string): CheckAnswer => ({
  ...example,
  domain: text,
  unicode_domain: text,
  mx: example.mx.map((host) => ({
    ...host,
    host: text,
    addresses: host.addresses.map((one) => ({ ...one, ptr: [text, text] })),
  })),
  findings: example.findings.map((one) => ({ ...one, title: text, detail: text, evidence: text })),
})
const odd: readonly (readonly [string, Document])[] = [
  ['400 findings', checkDocument(many, '0')],
  ['names of 253 octets', checkDocument(withText(longName), '0')],
  ['wide characters', checkDocument(withText('邮件服务器'.repeat(30)), '0')],
  ['combining characters', checkDocument(withText('e\u0301a\u0308\u0323'.repeat(90)), '0')],
  ['right-to-left text', checkDocument(withText('דואר אלקטרוני '.repeat(20)), '0')],
  ['pictographs', checkDocument(withText('👩‍👩‍👧‍👦🇩🇪'.repeat(40)), '0')],
  ['spaces', checkDocument(withText('a    b'.repeat(40)), '0')],
]

/** The values that stand whole on their line. */
const valuesOf = (blocks: readonly Block[]): readonly string[] =>
  blocks.flatMap((block) =>
    block.kind === 'publish'
      ? [block.record.value]
      : block.kind === 'group'
        ? valuesOf(block.blocks)
        : block.kind === 'path'
          ? block.path.steps.flatMap((step) => valuesOf(step.blocks))
          : [],
  )

describe.each([20, 40, 80, 200, 400])('in %i columns', (width) => {
  it.each([...documents, ...odd])('%s is not wider, and each record stands alone', (_, document) => {
    const values = new Set(valuesOf(document.blocks))
    const lines = formatTerminal(document, look(width)).split('\n')
    expect(lines.filter((line) => columns(line) > width && !values.has(line))).toEqual([])
    for (const value of values) expect(lines).toContain(value)
  })
})

it('is never narrower than 20 columns', () =>
  expect(formatTerminal(documents[0]![1], look(1))).toBe(formatTerminal(documents[0]![1], look(20))))

it('says the verdict first, then what to do, then the evidence', () => {
  const seen = formatTerminal(checkDocument(example, '0'), look(80))
  const at = ['neglected.test  grade F, 43 of 100', 'The path to', 'All checks', 'How the score adds up'].map((one) =>
    seen.indexOf(one),
  )
  expect(at[0]).toBe(0)
  expect(at).toEqual(at.toSorted((a, b) => a - b))
})

it.each<[text: string, width: number, rows: readonly string[]]>([
  ['', 5, ['']],
  ['a b', 5, ['a b']],
  ['ab cd ef', 5, ['ab cd', 'ef']],
  ['abcdefgh', 5, ['abcde', 'fgh']],
  ['ab abcdefgh', 5, ['ab', 'abcde', 'fgh']],
  ['a  b', 5, ['a  b']],
  ['abcd    efgh', 5, ['abcd', 'efgh']],
  ['邮件服务器', 5, ['邮件', '服务', '器']],
  ['a邮邮', 4, ['a邮', '邮']],
  ['e\u0301e\u0301e\u0301', 2, ['e\u0301e\u0301', 'e\u0301']],
  ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3, ['👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦']],
])('%j in %i columns', (text, width, rows) =>
  expect(wrap([plain(text)], width).map((row) => paint(row, look(width)))).toEqual(rows),
)

it('words of several styles stay together', () =>
  expect(wrap([plain('see '), plain('name', 'code'), plain(', then')], 8).map((row) => paint(row, look(8)))).toEqual([
    'see',
    'name,',
    'then',
  ]))

it.each<[text: string, width: number]>([
  ['', 0],
  ['abc', 3],
  ['邮件', 4],
  ['e\u0301', 1],
  ['👩‍👩‍👧‍👦', 2],
  ['🇩🇪', 2],
  ['דואר', 4],
  ['한국', 4],
  ['ｆｕｌｌ', 8],
])('%j takes %i columns', (text, width) => expect(columns(text)).toBe(width))

it.each<[text: string, width: number, parts: readonly [string, string]]>([
  ['abc', 2, ['ab', 'c']],
  ['abc', 0, ['a', 'bc']],
  ['邮件', 3, ['邮', '件']],
  ['邮件', 1, ['邮', '件']],
])('%j is split at %i', (text, width, parts) => expect(splitAt(text, width)).toEqual(parts))

it('colours are set back after each span, and only where there are colours', () => {
  const row = [plain('a', 'bad'), plain('b'), plain('c', 'bad')]
  expect(paint(row, look(80, { colour: true }))).toBe('\u001b[31ma\u001b[0mb\u001b[31mc\u001b[0m')
  expect(paint(row, look(80))).toBe('abc')
})

it.each<[word: string, width: number, rows: readonly string[]]>([
  ['bl.spameatingmonkey.net', 22, ['bl.spameatingmonkey.', 'net']],
  ['job_AAAAAAAA', 8, ['job_AAAA', 'AAAA']],
  ['a.bcdefghij', 8, ['a.bcdefg', 'hij']], // a dot in the first half
  ['hostkarma.junkemailfilter.com', 21, ['hostkarma.', 'junkemailfilter.com']],
])('%s in %i columns is broken as %j', (word, width, rows) =>
  expect(wrap([plain(word)], width).map((row) => paint(row, look(80)))).toEqual(rows),
)

const table = (rows: readonly (readonly string[])[]): Document => ({
  title: '',
  blocks: [
    {
      kind: 'table',
      table: { caption: 'Lists', head: ['List', 'Zone', 'IPv6'], rows: rows.map((row) => row.map((one) => [one])) },
    },
  ],
  footer: [],
})

it('columns that want little are whole before a wide one is', () => {
  const seen = formatTerminal(table([['UCEPROTECT Level 1', 'backscatter.example '.repeat(4), 'not known']]), look(50))
  expect(seen.split('\n')[3]).toMatch(/^UCEPROTECT Level 1 {2}.* {2}not known$/)
})

it('a table that fits with one column between its cells has no cell that is folded', () => {
  const document = table([['wh_mTTafA0RzkLvay-JLIBAwQ', 'https://45.53.1.1/mailsonde', '2026-11-22 12:45 UTC']])
  expect(formatTerminal(document, look(74)).split('\n')).toHaveLength(4)
  expect(formatTerminal(document, look(73)).split('\n').length).toBeGreaterThan(4)
})

it.each<[what: string, document: Document]>([
  ['a cell', table([['a', 'a word '.repeat(40), 'b']])],
  ['a fact', { title: '', blocks: [{ kind: 'facts', rows: [['Reason', ['a word '.repeat(40)]]] }], footer: [] }],
  [
    'a verdict',
    {
      title: '',
      blocks: [
        {
          kind: 'conclusion',
          conclusion: { subject: 'a', mark: 'good', badge: 'b', words: 'a word '.repeat(40), notes: [] },
        },
      ],
      footer: [],
    },
  ],
])('%s of prose is at most 100 columns wide on a wide terminal', (_what, document) => {
  const words = formatTerminal(document, look(200)).match(/(?:a word ?)+/g) ?? []
  expect(Math.max(...words.map((one) => one.length))).toBeLessThanOrEqual(100)
  expect(words.length).toBeLessThanOrEqual(4)
})

it('a long word of a fact is whole where there is room', () => {
  const word = 'x'.repeat(150)
  const document: Document = { title: '', blocks: [{ kind: 'facts', rows: [['Record', [word]]] }], footer: [] }
  expect(formatTerminal(document, look(200))).toContain(word)
})

it('says how many of the points the bars show', () => {
  const points = [...Array(90).keys()].map((i) => ({
    time: `${i}`,
    value: i > 4 ? 1 : 0,
    mark: 'good' as const,
    text: '',
  }))
  const document: Document = {
    title: '',
    blocks: [{ kind: 'timeline', timeline: { label: 'Score', least: 0, most: 1, points } }],
    footer: [],
  }
  expect(formatTerminal(document, look(80))).toContain('\nThe last 80 of 90; all changes:\n')
  expect(formatTerminal(document, look(90))).not.toContain('The last')
})

it('a sign stays with its words where a bar has no room for them', () => {
  const bar = {
    label: 'DMARC',
    kept: 13,
    worth: 30,
    state: { mark: 'warn', text: 'Could be better' },
    href: '#dmarc',
  } as const
  const document: Document = { title: '', blocks: [{ kind: 'bars', bars: [bar] }], footer: [] }
  expect(formatTerminal(document, look(20))).toBe('DMARC  13 / 30\n  ! Could be better')
  expect(formatTerminal(document, look(34))).toBe('DMARC  13 / 30  ! Could be better')
})

/** Luminance of one of the 256 colours of xterm (WCAG 2.2): a cube of six levels for each of red, green and blue. */
function luminance(shade: number): number {
  const levels = [0, 95, 135, 175, 215, 255]
  const digits = [Math.floor((shade - 16) / 36), Math.floor((shade - 16) / 6) % 6, (shade - 16) % 6]
  const [red, green, blue] = digits.map((digit) => ((levels[digit]! / 255 + 0.055) / 1.055) ** 2.4)
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

it.each(Object.entries(SHADES))('%s can be read on white and on black', (style, shade) => {
  expect(1.05 / (luminance(shade) + 0.05)).toBeGreaterThan(3.8)
  expect((luminance(shade) + 0.05) / 0.05).toBeGreaterThan(3.8)
  const [row, colours] = [[plain('a', style as keyof typeof SHADES)], look(80, { colour: true, has256: true })]
  expect(paint(row, colours)).toBe(`\u001b[38;5;${shade}ma\u001b[0m`)
})
