import { printable, withoutCommands } from '../../base/text.ts'
import {
  type Bar,
  type Block,
  type Document,
  formOf,
  type PictureForms,
  type RecordToPublish,
  type Table,
  type Verdict,
} from '../block.ts'
import { STATUS_WORDS } from '../words.ts'
import { inlines } from './inline.ts'
import { escapeMarkdown, fence, inlineCode } from './markdown-text.ts'
import {
  alignment,
  attempts,
  budget,
  conclusion,
  conversation,
  grid,
  mailMap,
  path,
  progress,
  timeline,
  tree,
} from './pictures.ts'

/** A document as Markdown (CommonMark with GitHub's tables). Every text is escaped here: none of it can become markup, a link or HTML. */
export const formatMarkdown = (document: Document): string =>
  `${[...document.blocks.flatMap(block), '---', ...document.footer.map(inlines)].join('\n\n').split('\n').map(withoutCommands).join('\n')}\n`

/** Parts are separated by an empty line. */
function block(one: Block): string[] {
  switch (one.kind) {
    case 'verdict':
      return verdict(one.verdict)
    case 'bars':
      return [tableOf(['Check', 'Points', 'Status'], one.bars.map(barRow))]
    case 'heading':
      return [`${'#'.repeat(one.level)} ${inlines(one.line).trim()}`]
    case 'text':
      return one.line.length === 0 ? [] : [inlines(one.line)]
    case 'list':
      return [one.items.map((item) => `- ${inlines(item)}`).join('\n')]
    case 'facts':
      return [one.rows.map(([label, line]) => `- ${escapeMarkdown(label)}: ${inlines(line)}`).join('\n')]
    case 'table':
      return table(one.table)
    case 'seen':
      return [`${escapeMarkdown(one.label)}:`, fence(...[one.text].flat())]
    case 'publish':
      return publish(one.record)
    case 'group':
      return one.blocks.flatMap(block)
    case 'conclusion':
      return conclusion(one.conclusion)
    default:
      return formOf(one, PICTURES)
  }
}

const PICTURES: PictureForms<string[]> = {
  tree,
  grid,
  map: mailMap,
  path,
  budget,
  alignment,
  timeline,
  stack: () => [],
  progress,
  conversation,
  attempts,
}

const verdict = ({ subject, unicode, score, range, grade, words, notes }: Verdict): string[] => [
  `# ${escapeMarkdown(subject)}: ${grade === undefined ? 'no grade' : `grade ${escapeMarkdown(grade)}`}, ${score} of 100${range ? ` (${range.join('–')})` : ''}`,
  ...(unicode === undefined ? [] : [`In its own script: ${escapeMarkdown(unicode)}`]),
  escapeMarkdown(words),
  ...notes.map(inlines),
]

const barRow = ({ label, kept, worth, status }: Bar): string[] => [
  escapeMarkdown(label),
  kept === undefined ? '–' : `${Number(kept.toFixed(1))} of ${worth}`,
  STATUS_WORDS[status],
]

const table = ({ caption, head, rows, sum }: Table): string[] => [
  `**${escapeMarkdown(caption)}**`,
  tableOf(
    head.map((text) => escapeMarkdown(text)),
    [...rows, ...(sum ? [sum] : [])].map((row) => row.map((line) => inlines(line))),
  ),
]

/** A cell ends at a pipe even within code (GitHub's tables). */
const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cellText).join(' | ')} |`).join('\n')

const cellText = (text: string): string =>
  text.replace(/(\\*)\|/g, (_, slashes: string) => `${slashes.length % 2 === 1 ? slashes : `${slashes}\\`}|`)

const publish = ({ name, rtype, value, replaces = [] }: RecordToPublish): string[] => [
  `Record to publish at ${inlineCode(name)}, type ${escapeMarkdown(printable(rtype))}:`,
  fence(value),
  ...(replaces.length === 0 ? [] : ['In place of:', fence(...replaces)]),
]
