import { columns } from '../../base/text.ts'
import {
  type Attempts,
  type Bar,
  type Block,
  type Conclusion,
  type Conversation,
  type Document,
  formOf,
  type Group,
  type Line,
  type PictureForms,
  type Progress,
  type RecordToPublish,
  type Verdict,
} from '../block.ts'
import { markOfScore, ofHundred, SIGNS, sumOf } from '../words.ts'
import {
  behind,
  LEAST_WIDTH,
  type Look,
  MAX_PROSE,
  markSpan,
  padded,
  paint,
  plain,
  type Row,
  rightAligned,
  rowWidth,
  type Style,
  shown,
  span,
  spansOf,
  wrap,
} from './inline.ts'
import {
  alignmentRows,
  barRow,
  budgetRows,
  gridRows,
  mapRows,
  pathRows,
  stackRows,
  timelineRows,
  treeRows,
} from './pictures.ts'
import { factRows, tableRows } from './table.ts'

export type { Look } from './inline.ts'

/**
 * A document for a terminal, without a final line break. No line is wider than `look.width`, except the values of
 * records to publish: each is alone on one line, so that the terminal breaks it and it can be copied whole. Every text
 * is cleaned here: none of it can control the terminal.
 */
export function formatTerminal(document: Document, look: Look): string {
  const bounded = { ...look, width: Math.max(LEAST_WIDTH, look.width) }
  const footer = document.footer.flatMap((line) => wrap(spansOf(line, bounded, 'quiet'), bounded.width))
  const sums = document.blocks.flatMap((one) => (one.kind === 'verdict' ? sumOf(one.verdict) : []))
  const rows = [...blocksRows([...document.blocks, ...sums], bounded.width, bounded), [], ...footer]
  return spaced(rows)
    .map((row) => paint(row, bounded))
    .join('\n')
}

/** At most one empty row between two others, and none at the ends. */
function spaced(rows: readonly Row[]): readonly Row[] {
  const isEmpty = (row: Row | undefined): boolean => row === undefined || rowWidth(row) === 0
  const kept = rows.filter((row, i) => !isEmpty(row) || !isEmpty(rows[i - 1]))
  const [start, end] = [kept.findIndex((row) => !isEmpty(row)), kept.findLastIndex((row) => !isEmpty(row))]
  return kept.slice(Math.max(0, start), end + 1)
}

const blocksRows = (blocks: readonly Block[], width: number, look: Look): Row[] =>
  blocks.flatMap((block) => blockRows(block, width, look))

/** Blocks that are separated from their neighbours. */
const apart = (rows: readonly Row[]): Row[] => (rows.length === 0 ? [] : [[], ...rows, []])

function blockRows(block: Block, width: number, look: Look): Row[] {
  switch (block.kind) {
    case 'verdict':
      return verdictRows(block.verdict, width, look)
    case 'conclusion':
      return conclusionRows(block.conclusion, width, look)
    case 'bars':
      return apart(barRows(block.bars, width, look))
    case 'heading':
      return headingRows(block.level, block.line, width, look)
    case 'text':
      return sentence(spansOf(block.line, look, block.quiet ? 'quiet' : 'plain'), width)
    case 'list':
      return block.items.flatMap((item) => behind(sentence(spansOf(item, look), width - 2), span('• ', look, 'quiet')))
    case 'facts':
      return factRows(block.rows, width, look)
    case 'table':
      return apart(tableRows(block.table, width, look))
    case 'seen':
      return seenRows(block.label, block.text, width, look)
    case 'publish':
      return publishRows(block.record, width, look)
    case 'group':
      return groupRows(block, width, look)
    default:
      return apart(formOf(block, picturesOf(width, look)))
  }
}

const sentence = (row: Row, width: number): Row[] => wrap(row, Math.min(width, MAX_PROSE))

const picturesOf = (width: number, look: Look): PictureForms<Row[]> => ({
  tree: (one) => treeRows(one, width, look),
  grid: (one) => gridRows(one, width, look),
  map: (one) => mapRows(one, width, look),
  path: (one) =>
    pathRows(one, width, look, (blocks, room) =>
      blocks.length === 0 ? [] : [...indented(blocksRows(blocks, room - 2, look)), []],
    ),
  budget: (one) => budgetRows(one, width, look),
  alignment: (one) => alignmentRows(one, width, look),
  timeline: (one) => timelineRows(one, width, look),
  stack: (one) => stackRows(one, width, look),
  progress: (one) => progressRows(one, width, look),
  conversation: (one) => conversationRows(one, width, look),
  attempts: (one) => attemptRows(one, width, look),
})

function scoreSpans(verdict: Verdict, look: Look): Row {
  const { score, grade, isBroken } = verdict
  const style: Style = grade === undefined ? 'open' : markOfScore(score, isBroken)
  return [span(grade === undefined ? 'no grade' : `grade ${grade}`, look, style), span(`, ${ofHundred(verdict)}`, look)]
}

const verdictRows = (verdict: Verdict, width: number, look: Look): Row[] => [
  ...wrap([span(verdict.subject, look, 'bold'), plain('  '), ...scoreSpans(verdict, look)], width),
  ...(verdict.unicode === undefined ? [] : wrap([span(`In its own script: ${verdict.unicode}`, look, 'quiet')], width)),
  ...sentence([span(verdict.words, look)], width),
  ...verdict.notes.flatMap((note) => sentence(spansOf(note, look, 'quiet'), width)),
]

const conclusionRows = ({ subject, mark, badge, words, notes }: Conclusion, width: number, look: Look): Row[] => [
  ...wrap(
    [span(subject, look, 'bold'), ...(badge === '' ? [] : [plain('  '), markSpan({ mark, text: badge }, look)])],
    width,
  ),
  ...sentence([span(words, look)], width),
  ...notes.flatMap((note) => sentence(spansOf(note, look, 'quiet'), width)),
]

function headingRows(level: 2 | 3 | 4, line: Line, width: number, look: Look): Row[] {
  const rows = wrap(spansOf(line, look, 'bold'), width)
  if (level !== 2) return [[], ...rows]
  const longest = Math.max(...rows.map(rowWidth))
  return [[], ...rows, [span('─'.repeat(longest), look, 'quiet')]]
}

/** Text as received: after a bar, so that its end is visible too. */
const seenRows = (label: string, text: string | readonly string[], width: number, look: Look): Row[] => {
  const bar = span('│ ', look, 'quiet')
  const rows = [text].flat().flatMap((line) => wrap([span(line, look)], width - 2))
  return [...wrap([span(`${label}:`, look, 'quiet')], width), ...behind(rows, bar, bar)]
}

/** The value alone on its line, from the first column on. */
const publishRows = ({ name, rtype, value, replaces = [] }: RecordToPublish, width: number, look: Look): Row[] => [
  ...wrap([span(`Publish this ${rtype} record at `, look, 'bold'), span(name, look), span(':', look)], width),
  [],
  [plain(shown(value, look), 'record')],
  ...replaces.flatMap((one) => wrap([span(`in place of ${one}`, look, 'quiet')], width)),
  [],
]

function groupRows({ blocks }: Group, width: number, look: Look): Row[] {
  const [first, ...rest] = blocks
  if (first === undefined) return []
  const inside = blocksRows(rest, width - 2, look)
  return [...blockRows(first, width, look), ...indented(inside), []]
}

/** Records to publish start at the first column. */
const indented = (rows: readonly Row[]): Row[] =>
  rows.map((row) => (rowWidth(row) === 0 || row[0]?.style === 'record' ? row : [plain('  '), ...row]))

/** The progress of work, as a bar with its figures, then each outcome. */
function progressRows({ label, done, total, parts }: Progress, width: number, look: Look): Row[] {
  const share = total === 0 ? 1 : done / total
  const words = `${done} of ${total} (${Math.floor(share * 100)}%)`
  const room = Math.min(40, width - columns(words) - 2)
  const bar = room < 5 ? [] : [...barRow(share, room, 'good', look), plain('  ')]
  const name = Math.max(0, ...parts.map((part) => columns(part.label))) + 4
  const count = Math.max(0, ...parts.map((part) => String(part.count).length))
  return [
    ...wrap([span(label, look, 'bold')], width),
    ...wrap([...bar, span(words, look)], width),
    ...parts.flatMap(({ label: part, count: number, mark }) => {
      const head = padded([span(`${SIGNS[mark]} ${part}`, look, mark)], name)
      if (name + count > width) return wrap([...head, span(String(number), look)], width)
      return [[...head, ...rightAligned([span(String(number), look)], count)]]
    }),
  ]
}

/** The sides in the notation of RFC 5321. */
const SIDES = { client: 'C:', server: 'S:', note: ' #' } as const

/** Both sides of an SMTP session, each line with its side. */
function conversationRows({ label, lines }: Conversation, width: number, look: Look): Row[] {
  return [
    ...wrap([span(label, look, 'bold')], width),
    ...lines.flatMap(({ from, text }) => {
      const side = span(`${SIDES[from]} `, look, 'quiet')
      const style = from === 'note' ? 'quiet' : from === 'client' ? 'bold' : 'plain'
      return behind(wrap([span(text, look, style)], Math.max(8, width - columns(side.text))), side)
    }),
  ]
}

/** Attempts in their order. */
function attemptRows({ label, attempts }: Attempts, width: number, look: Look): Row[] {
  return [
    ...wrap([span(label, look, 'bold')], width),
    ...attempts.flatMap(({ from, to, outcome, reply, notes }, i) => {
      const number = span(`${i + 1}. `, look, 'quiet')
      const inside = Math.max(8, width - columns(number.text))
      const rows = [
        ...wrap([span(from, look), span(' → ', look, 'quiet'), ...spansOf(to, look)], inside),
        ...wrap([markSpan(outcome, look)], inside),
        ...(reply === undefined
          ? []
          : behind(wrap([span(reply, look)], inside - 2), span('│ ', look, 'quiet'), span('│ ', look, 'quiet'))),
        ...notes.flatMap((note) => wrap(spansOf(note, look, 'quiet'), inside)),
      ]
      return behind(rows, number)
    }),
  ]
}

/** The parts of a score, one a line. */
function barRows(bars: readonly Bar[], width: number, look: Look): Row[] {
  const name = Math.max(0, ...bars.map(({ label }) => columns(label))) + 2
  const figures = bars.map(({ kept, worth }) => (kept === undefined ? '–' : `${Number(kept.toFixed(1))} / ${worth}`))
  const figure = Math.max(0, ...figures.map((one) => columns(one)))
  return bars.flatMap(({ label, kept, worth, state }, i) => {
    const words = markSpan(state, look)
    const room = Math.min(20, width - name - figure - 4 - columns(words.text))
    const bar = room < 5 ? [] : [...barRow((kept ?? 0) / worth, room, state.mark, look), plain('  ')]
    const row = [...padded([span(label, look)], name), ...bar, ...rightAligned([span(figures[i]!, look)], figure)]
    if (rowWidth(row) + 2 + columns(words.text) <= width) return [[...row, plain('  '), words]]
    return [...wrap(row, width), ...wrap([plain('  '), words], width)] // a sign stays with its words
  })
}
