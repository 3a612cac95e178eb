import { printable } from '../../base/text.ts'
import type { Bar, Block, Document, Inline, Line, Mark, RecordToPublish, Table, Verdict } from '../block.ts'
import { isPart, safeLink } from '../links.ts'
import { SEVERITY_WORDS, STATUS_WORDS, wordsFor } from '../words.ts'
import { escapeMarkdown, fence, inlineCode } from './markdown-text.ts'

/** A document as Markdown (CommonMark with GitHub's tables). Every text is escaped here: none of it can become markup, a link or HTML. */
export const formatMarkdown = (document: Document): string =>
  `${[...document.blocks.flatMap(block), '---', ...document.footer.map(inlines)].join('\n\n')}\n`

/** Each part stands apart by an empty line. */
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
      return [`${escapeMarkdown(one.label)}:`, fence(one.text)]
    case 'publish':
      return publish(one.record)
    case 'group':
      return one.blocks.flatMap(block)
    default: {
      const never: never = one
      throw new Error(String(never))
    }
  }
}

const SIGNS: Readonly<Record<Mark, string>> = { good: '✓', bad: '✕', open: '?', none: '–' }

const inlines = (line: Line): string => line.map(inline).join('')

function inline(one: Inline): string {
  if (typeof one === 'string') return escapeMarkdown(one)
  if ('code' in one) return inlineCode(one.code)
  if ('strong' in one) return `**${escapeMarkdown(one.strong.trim())}**${one.strong.endsWith(' ') ? ' ' : ''}`
  if ('link' in one) return link(one.link, one.text)
  if ('status' in one) return `(${STATUS_WORDS[one.status]})`
  if ('severity' in one) return wordsFor(SEVERITY_WORDS, one.severity) ?? escapeMarkdown(one.severity)
  return `${SIGNS[one.mark]} ${escapeMarkdown(one.text)}`
}

/** Parts of the document have no address in Markdown: their name is enough. */
function link(href: string, text: string): string {
  const url = isPart(href) ? undefined : safeLink(href)
  if (url === undefined) return escapeMarkdown(text)
  const target = url.replace(/[<>()|\\`\s]/g, (character) => encodeURIComponent(character).replace(/[()]/g, hex))
  return `[${escapeMarkdown(text)}](${target})`
}

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16)}`

const verdict = ({ domain, unicode, score, range, grade, words, notes }: Verdict): string[] => [
  `# ${escapeMarkdown(domain)}: ${grade === undefined ? 'no grade' : `grade ${escapeMarkdown(grade)}`}, ${score} of 100${range ? ` (${range.join('–')})` : ''}`,
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

const publish = ({ name, rtype, value }: RecordToPublish): string[] => [
  `Record to publish at ${inlineCode(name)}, type ${escapeMarkdown(printable(rtype))}:`,
  fence(value),
]
