import { counted } from '../../base/text.ts'
import type {
  Alignment,
  Attempts,
  Budget,
  Conclusion,
  Conversation,
  Grid,
  MailMap,
  MapAddress,
  MapHost,
  Milestone,
  Path,
  Progress,
  Timeline,
  Tree,
  TreeNode,
} from '../block.ts'
import { SIGNS } from '../signs.ts'
import { MAX_CHANGES, pointLine, withChange } from '../timeline.ts'
import { inlines, marked } from './inline.ts'
import { escapeMarkdown, fence, inlineCode } from './markdown-text.ts'

/** The forms of pictures in Markdown: lists, and code. Each returns parts that are separated by an empty line. */

const caption = (label: string): string => `**${escapeMarkdown(label)}**`
const SIDES = { client: 'C', server: 'S', note: '#' } as const
/** Maximum number of indented levels; some readers treat deeper ones as code blocks. */
const MAX_INDENT = 8

export const conclusion = ({ subject, mark, badge, words, notes }: Conclusion): string[] => [
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

export const grid = ({ label, cells }: Grid): string[] => [
  caption(label),
  cells.map(({ name, mark, text }) => `- ${SIGNS[mark]} ${escapeMarkdown(name)}: ${escapeMarkdown(text)}`).join('\n'),
]

export const mailMap = ({ label, domain, hosts }: MailMap): string[] => [
  caption(label),
  [`- ${inlineCode(domain)}`, ...hosts.flatMap(hostLines)].join('\n'),
]

const hostLines = ({ preference, host, problem, addresses }: MapHost): string[] => [
  `  - ${preference === undefined ? '' : `${preference} `}${inlineCode(host)}${problem === undefined ? '' : ` ${marked(problem)}`}`,
  ...addresses.map(addressLine),
]

const addressLine = ({ address, names, back, tls, place, lists }: MapAddress): string =>
  `    - ${inlineCode(address)}${place === undefined ? '' : ` · ${inlines(place)}`} → ${names.map((name) => `${inlineCode(name)} `).join('')}${marked(back)}${tls === undefined ? '' : ` · ${marked(tls)}`}${lists === undefined ? '' : ` · ${marked(lists)}`}`

export const path = ({ label, start, steps }: Path): string[] => [
  `${caption(label)}: ${[start, ...steps.filter(({ note }) => note !== 'optional')].map(milestone).join(' → ')}`,
  steps
    .map((step, i) => {
      const note = step.note === '' ? '' : ` (${escapeMarkdown(step.note)})`
      return `${i + 1}. ${milestone(step)}: ${escapeMarkdown(step.title)}${note}`
    })
    .join('\n'),
]

export const budget = ({ label, used, limit, one, many, parts }: Budget): string[] => [
  `${caption(label)}: ${used} of ${limit} ${escapeMarkdown(many)}`,
  ...(parts.length === 0
    ? []
    : [parts.map(({ name, cost }) => `- ${inlineCode(name)}: ${escapeMarkdown(counted(cost, one, many))}`).join('\n')]),
]

export const alignment = ({ label, from, paths, result }: Alignment): string[] => [
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

export const progress = ({ label, done, total, parts }: Progress): string[] => [
  `${caption(label)}: ${done} of ${total} (${total === 0 ? 100 : Math.floor((done / total) * 100)}%)`,
  ...(parts.length === 0
    ? []
    : [parts.map(({ label: part, count, mark }) => `- ${marked({ mark, text: part })}: ${count}`).join('\n')]),
]

export const conversation = ({ label, lines }: Conversation): string[] => [
  caption(label),
  ...(lines.length === 0 ? [] : [fence(...lines.map(({ from, text }) => `${SIDES[from]}: ${text}`))]),
]

export const attempts = ({ label, attempts: all }: Attempts): string[] => [
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
