import { counted, printable, withoutCommands } from '../../base/text.ts'
import {
  type Alignment,
  type Attempts,
  type Bar,
  type Block,
  type Budget,
  type Conclusion,
  type Conversation,
  type Document,
  formOf,
  type Grid,
  type Inline,
  type Line,
  MAX_CHANGES,
  type MailMap,
  type MapAddress,
  type MapHost,
  type Marked,
  type Milestone,
  type Path,
  type PathStep,
  type PictureForms,
  type Progress,
  pointLine,
  type RecordToPublish,
  type Table,
  type Timeline,
  type Tree,
  type TreeNode,
  type Verdict,
  withChange,
} from '../block.ts'
import { inWords, isPart, ofHundred, SEVERITY_WORDS, SIGNS, STATUS_WORDS, safeLink, sumOf, wordsFor } from '../words.ts'

/**
 * A document as Markdown (CommonMark with GitHub's tables). Every text is escaped here: none of it can become markup, a
 * link or HTML.
 */
export const formatMarkdown = (document: Document): string =>
  `${[...document.blocks.flatMap(block), ...document.blocks.flatMap((one) => (one.kind === 'verdict' ? sumOf(one.verdict).flatMap(block) : [])), '---', ...document.footer.map(inlines)].join('\n\n').split('\n').map(withoutCommands).join('\n')}\n`

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

const verdict = ({ subject, unicode, words, notes, ...points }: Verdict): string[] => [
  `# ${escapeMarkdown(subject)}: ${points.grade === undefined ? 'no grade' : `grade ${escapeMarkdown(points.grade)}`}, ${ofHundred(points)}`,
  ...(unicode === undefined ? [] : [`In its own script: ${escapeMarkdown(unicode)}`]),
  escapeMarkdown(words),
  ...notes.map(inlines),
]

const barRow = ({ label, kept, worth, state }: Bar): string[] => [
  escapeMarkdown(label),
  kept === undefined ? '–' : `${Number(kept.toFixed(1))} of ${worth}`,
  escapeMarkdown(state.text),
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

/** The forms of pictures in Markdown: lists, and code. Each returns parts that are separated by an empty line. */

const caption = (label: string): string => `**${escapeMarkdown(label)}**`
const SIDES = { client: 'C', server: 'S', note: '#' } as const
/** Maximum number of indented levels; some readers treat deeper ones as code blocks. */
const MAX_INDENT = 8

const conclusion = ({ subject, mark, badge, words, notes }: Conclusion): string[] => [
  `# ${escapeMarkdown(subject)}${badge === '' ? '' : `: ${marked({ mark, text: badge })}`}`,
  ...(words === '' ? [] : [escapeMarkdown(words)]),
  ...notes.map(inlines),
]

export const tree = ({ label, root, cost }: Tree): string[] => [caption(label), nodeLines(root, cost, 0).join('\n')]

function nodeLines(
  { line, cost, seen, children = [], leftOut = 0 }: TreeNode,
  unit: Tree['cost'],
  depth: number,
): string[] {
  const indent = '  '.repeat(Math.min(depth, MAX_INDENT))
  const price =
    unit && cost !== undefined
      ? ` (${depth === 0 ? `${cost} of ${unit.limit} ${unit.many}` : counted(cost, unit.one, unit.many)})`
      : ''
  return [
    `${indent}- ${inlines(line)}${escapeMarkdown(price)}${seen === undefined ? '' : `: ${inlineCode(seen)}`}`,
    ...children.flatMap((child) => nodeLines(child, unit, depth + 1)),
    ...(leftOut === 0 ? [] : [`${indent}  - ${leftOut} more`]),
  ]
}

const grid = ({ label, cells }: Grid): string[] => [
  caption(label),
  cells.map(({ name, mark, text }) => `- ${SIGNS[mark]} ${escapeMarkdown(name)}: ${escapeMarkdown(text)}`).join('\n'),
]

const mailMap = ({ label, domain, hosts }: MailMap): string[] => [
  caption(label),
  [`- ${inlineCode(domain)}`, ...hosts.flatMap(hostLines)].join('\n'),
]

const hostLines = ({ preference, host, problem, calm, addresses }: MapHost): string[] => [
  `  - ${preference === undefined ? '' : `${preference} `}${inlineCode(host)}${[problem, calm].map((one) => (one === undefined ? '' : ` ${marked(one)}`)).join('')}`,
  ...(calm === undefined ? addresses.map(addressLine) : []),
]

const addressLine = ({ address, names, back, tls, place, lists }: MapAddress): string =>
  `    - ${inlineCode(address)}${place === undefined ? '' : ` · ${inlines(place)}`} → ${names.map((name) => `${inlineCode(name)} `).join('')}${marked(back)}${tls === undefined ? '' : ` · ${marked(tls)}`}${lists === undefined ? '' : ` · ${marked(lists)}`}`

const path = ({ label, start, steps }: Path): string[] => {
  const way = [start, ...steps.filter(({ stage }) => stage !== 'optional')].map(milestone).join(' → ')
  if (steps.every(({ blocks }) => blocks.length === 0))
    return [`${caption(label)}: ${way}`, steps.map((step, i) => `${i + 1}. ${stepTitle(step)}`).join('\n')]
  return [
    `## ${escapeMarkdown(label)}: ${way}`,
    ...steps.flatMap((step, i) => [
      `### Step ${i + 1}: ${stepTitle(step)}`,
      ...(step.why === '' ? [] : [escapeMarkdown(step.why)]),
      ...step.blocks.flatMap(block),
    ]),
  ]
}

const stepTitle = ({ title, note, ...to }: PathStep): string =>
  `${escapeMarkdown(title)} → ${milestone(to)}${note === '' ? '' : ` (${escapeMarkdown(note)})`}`

const budget = ({ label, used, limit, one, many, parts }: Budget): string[] => [
  `${caption(label)}: ${used} of ${limit} ${escapeMarkdown(many)}`,
  ...(parts.length === 0
    ? []
    : [parts.map(({ name, cost }) => `- ${inlineCode(name)}: ${escapeMarkdown(counted(cost, one, many))}`).join('\n')]),
]

const alignment = ({ label, from, paths, result }: Alignment): string[] => [
  `${caption(label)}: From ${inlineCode(from)}`,
  paths
    .map(({ name, domain, state }) => `- ${escapeMarkdown(name)} ${inlineCode(domain)}: ${marked(state)}`)
    .join('\n'),
  marked(result),
]

const milestone = ({ score, grade }: Milestone): string =>
  escapeMarkdown(grade === undefined ? String(score) : `${grade} ${score}`)

export function timeline({ label, points }: Timeline): string[] {
  const changes = withChange(points)
  const shown = changes.slice(-MAX_CHANGES)
  return [
    caption(label),
    ...(shown.length < changes.length ? [`The last ${MAX_CHANGES} of ${changes.length} changes:`] : []),
    ...(shown.length === 0
      ? ['There is nothing yet.']
      : [shown.map((point) => `- ${SIGNS[point.mark]} ${inlines(pointLine(point))}`).join('\n')]),
  ]
}

const progress = ({ label, done, total, parts }: Progress): string[] => [
  `${caption(label)}: ${done} of ${total} (${total === 0 ? 100 : Math.floor((done / total) * 100)}%)`,
  ...(parts.length === 0
    ? []
    : [parts.map(({ label: part, count, mark }) => `- ${marked({ mark, text: part })}: ${count}`).join('\n')]),
]

const conversation = ({ label, lines }: Conversation): string[] => [
  caption(label),
  ...(lines.length === 0 ? [] : [fence(...lines.map(({ from, text }) => `${SIDES[from]}: ${text}`))]),
]

const attempts = ({ label, attempts: all }: Attempts): string[] => [
  caption(label),
  all
    .map(({ from, to, outcome, reply, notes }, i) =>
      [
        `${i + 1}. ${inlineCode(from)} → ${inlines(to)}: ${marked(outcome)}`,
        ...(reply === undefined ? [] : [`   - ${inlineCode(reply)}`]),
        ...notes.map((note) => `   - ${inlines(note)}`),
      ].join('\n'),
    )
    .join('\n'),
]

/** Maximum number of characters written of one text. */
const MAX_TEXT = 8_192

/**
 * Text that stays plain in Markdown: no emphasis, link, HTML, entity, table cell, list, heading or link from a bare
 * URL.
 */
export const escapeMarkdown = (text: string): string =>
  printable(text, MAX_TEXT)
    .replace(/[\\`*_{}[\]<>#|~&$@]/g, '\\$&')
    .replace(/:(?=\/\/)/g, '\\:')
    .replace(/\b(www|mailto|xmpp)([.:])/gi, '$1\\$2')
    .replace(/^(\s{0,8}\d{1,9})([.)])/, '$1\\$2')
    .replace(/^(\s{0,8})([-+=])/, '$1\\$2')

/** Text as code within a line. Without a pipe, which would end a table cell even within code. */
export function inlineCode(text: string): string {
  const clean = printable(text, MAX_TEXT)
  if (clean.trim() === '') return '(empty)'
  const ticks = '`'.repeat(longestRun(clean) + 1)
  const pad = clean.startsWith('`') || clean.endsWith('`') || ticks.length > 1 ? ' ' : ''
  return `${ticks}${pad}${clean}${pad}${ticks}`
}

/** Lines as a block of code, fenced by more backticks than they contain. */
export function fence(...lines: readonly string[]): string {
  const clean = lines.map((line) => printable(line, MAX_TEXT)).join('\n')
  const ticks = '`'.repeat(Math.max(3, longestRun(clean) + 1))
  return `${ticks}\n${clean}\n${ticks}`
}

function longestRun(text: string): number {
  let longest = 0
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length)
  return longest
}

const inlines = (line: Line): string => line.map(inline).join('')

const marked = ({ mark, text }: Marked): string => `${SIGNS[mark]} ${escapeMarkdown(text)}`

function inline(one: Inline): string {
  if (typeof one === 'string') return escapeMarkdown(one)
  if ('code' in one) return inlineCode(one.code)
  if ('strong' in one) return `**${escapeMarkdown(one.strong.trim())}**${one.strong.endsWith(' ') ? ' ' : ''}`
  if ('link' in one) return link(one.link, one.text)
  if ('status' in one) return `(${STATUS_WORDS[one.status]})`
  if ('time' in one) return escapeMarkdown(inWords(one.time))
  if ('severity' in one) return wordsFor(SEVERITY_WORDS, one.severity) ?? escapeMarkdown(one.severity)
  return marked(one)
}

/** Parts of the document have no link target in Markdown: their name is enough. */
function link(href: string, text: string): string {
  const url = isPart(href) ? undefined : safeLink(href)
  if (url === undefined) return escapeMarkdown(text)
  const target = url.replace(/[<>()|\\`\s]/g, (character) => encodeURIComponent(character).replace(/[()]/g, hex))
  return `[${escapeMarkdown(text)}](${target})`
}

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16)}`

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
