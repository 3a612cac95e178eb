import { columns, counted } from '../../base/text.ts'
import {
  type Alignment,
  type Block,
  type Budget,
  type Grid,
  type MailMap,
  type MapAddress,
  type MapHost,
  type Milestone,
  type Path,
  pointLine,
  type Stack,
  type Timeline,
  type TimePoint,
  type Tree,
  type TreeNode,
  withChange,
} from '../block.ts'
import { markOfCost, markOfScore, SIGNS } from '../words.ts'
import { behind, type Look, padded, plain, type Row, rowWidth, span, spansOf, wrap } from './inline.ts'

/** Maximum number of indented levels of a tree; deeper ones have the same indent. */
const MAX_INDENT = 8

/** A tree by its branches, each node with its cost. */
export function treeRows({ label, root, cost }: Tree, width: number, look: Look): Row[] {
  return [...wrap([span(label, look, 'bold')], width), ...nodeRows(root, width, look, cost, 0)]
}

function nodeRows(node: TreeNode, width: number, look: Look, cost: Tree['cost'], depth: number): Row[] {
  const { line, seen, children = [], leftOut = 0 } = node
  const words =
    cost && node.cost !== undefined
      ? [
          plain('  '),
          span(
            depth === 0 ? `${node.cost} of ${cost.limit} ${cost.many}` : counted(node.cost, cost.one, cost.many),
            look,
            markOfCost(node.cost, cost.limit),
          ),
        ]
      : []
  const isFlat = depth >= MAX_INDENT || width < 16
  const hasBranch = !isFlat && (children.length > 0 || leftOut > 0)
  const room = hasBranch ? width - 2 : width
  const inside = isFlat ? width : width - 3
  const own = [
    ...wrap([...spansOf(line, look), ...words], room),
    ...(seen === undefined ? [] : wrap([span(seen, look, 'quiet')], room)),
  ]
  const below = [
    ...children.map((child) => nodeRows(child, inside, look, cost, depth + 1)),
    ...(leftOut === 0 ? [] : [wrap([span(`${leftOut} more`, look, 'quiet')], inside)]),
  ]
  if (isFlat) return [...own, ...below.flat()]
  return [
    ...(hasBranch ? behindBranch(own, look) : own),
    ...below.flatMap((rows, i) => branch(rows, i === below.length - 1, look)),
  ]
}

/** Rows after the first row of a node are indented past its branch. */
const behindBranch = (rows: readonly Row[], look: Look): Row[] =>
  rows.map((row, i) => (i === 0 ? row : [span('│ ', look, 'quiet'), ...row]))

const branch = (rows: readonly Row[], isLast: boolean, look: Look): Row[] =>
  behind(rows, span(isLast ? '└─ ' : '├─ ', look, 'quiet'), span(isLast ? '   ' : '│  ', look, 'quiet'))

/** Cells in as many columns as fit. */
export function gridRows({ label, cells }: Grid, width: number, look: Look): Row[] {
  const names = Math.max(0, ...cells.map(({ name }) => columns(span(name, look).text)))
  const shown = cells.map(
    ({ name, mark, text }): Row => [
      ...padded([span(`${SIGNS[mark]} `, look, mark), span(name, look)], names + 2),
      plain('  '),
      span(text, look, mark),
    ],
  )
  const wanted = Math.max(0, ...shown.map(rowWidth)) + 2
  const across = Math.max(1, Math.floor((width + 2) / wanted))
  const down = Math.ceil(cells.length / across)
  const rows = [...Array(down).keys()].flatMap((y): Row[] => {
    if (across === 1) return wrap(shown[y]!, width)
    return [shown.filter((_, i) => i % down === y).flatMap((cell) => padded(cell, wanted))]
  })
  return [...wrap([span(label, look, 'bold')], width), ...rows]
}

/** The way of the mail, as branches: host, then address and PTR name, and whether the name resolves back. */
export function mapRows({ label, domain, hosts }: MailMap, width: number, look: Look): Row[] {
  const root: TreeNode = { line: [{ code: domain }], children: hosts.map(hostNode) }
  return treeRows({ label, root }, width, look)
}

const hostNode = ({ preference, host, problem, calm, addresses }: MapHost): TreeNode => ({
  line: [
    ...(preference === undefined ? [] : [`${preference} `]),
    { code: host },
    ...[problem, calm].flatMap((one) => (one === undefined ? [] : [' ', one])),
  ],
  children: calm === undefined ? addresses.map(addressNode) : [],
})

const addressNode = ({ address, names, back, tls, place, lists }: MapAddress): TreeNode => ({
  line: [{ code: address }, ...(place === undefined ? [] : [' · ', ...place])],
  children: [
    { line: [...names.flatMap((name) => ['→ ', { code: name }, ' ']), back] },
    ...(tls === undefined ? [] : [{ line: [tls] }]),
    ...(lists === undefined ? [] : [{ line: [lists] }]),
  ],
})

/** The way to a better score: all milestones in a line, then each step. `inside`: the rows of its blocks. */
export function pathRows(
  { label, start, steps }: Path,
  width: number,
  look: Look,
  inside: (blocks: readonly Block[], width: number) => readonly Row[],
): Row[] {
  const arrow = span(look.unicode ? ' → ' : ' -> ', look, 'quiet')
  const way = [start, ...steps.filter(({ stage }) => stage !== 'optional')]
  return [
    ...wrap([span(label, look, 'bold')], width),
    ...wrap(
      way.flatMap((one, i) => [...(i === 0 ? [] : [arrow]), milestone(one, look)]),
      width,
    ),
    ...steps.flatMap((step, i) => [
      ...behind(
        wrap(
          [
            ...padded([milestone(step, look)], 7),
            span(step.title, look),
            ...(step.note === '' ? [] : [span(` · ${step.note}`, look, 'quiet')]),
          ],
          width - 4,
        ),
        span(`${i + 1}.`.padEnd(4), look, 'quiet'),
        plain('    '),
      ),
      ...(step.why === '' ? [] : behind(wrap([span(step.why, look, 'quiet')], width - 4), plain('    '))),
      ...inside(step.blocks, width),
    ]),
  ]
}

/** A limit as a bar, then the cost of each part. */
export function budgetRows({ label, used, limit, one, many, parts }: Budget, width: number, look: Look): Row[] {
  const mark = markOfCost(used, limit)
  const bar = barRow(Math.min(1, used / limit), Math.min(limit * 2, width), mark, look)
  return [
    ...wrap(
      [span(label, look, 'bold'), plain('  '), ...bar, plain('  '), span(`${used} of ${limit} ${many}`, look, mark)],
      width,
    ),
    ...parts.flatMap(({ name, cost }) =>
      behind(wrap([span(name, look), span(`  ${counted(cost, one, many)}`, look, 'quiet')], width - 2), plain('  ')),
    ),
  ]
}

/** The visible domain, and the domains that SPF and DKIM vouch for. */
export const alignmentRows = ({ label, from, paths, result }: Alignment, width: number, look: Look): Row[] => [
  ...wrap([span(label, look, 'bold')], width),
  ...wrap([span('From  ', look, 'quiet'), span(from, look)], width),
  ...paths.flatMap(({ name, domain, state }) =>
    wrap(
      [span(`${name}  `.padStart(6), look, 'quiet'), span(domain, look), plain('  '), ...spansOf([state], look)],
      width,
    ),
  ),
  ...wrap(spansOf([result], look), width),
]

const milestone = ({ score, grade }: Milestone, look: Look): Row[number] =>
  span(
    grade === undefined ? String(score) : `${grade} ${score}`,
    look,
    grade === undefined ? 'open' : markOfScore(score),
  )

/** Maximum number of changes shown as text. */
const MAX_CHANGES = 12
const STEPS = '▁▂▃▄▅▆▇█'

/** A line of bars, one per point as far as they fit, then the changes. */
export function timelineRows(timeline: Timeline, width: number, look: Look): Row[] {
  const { label, points } = timeline
  const last = points.slice(-Math.max(1, width))
  const bars = last.map((point) => plain(stepOf(point, timeline, look), point.mark))
  const changes = withChange(points)
  return [
    ...wrap([span(label, look, 'bold')], width),
    ...(bars.length === 0 ? wrap([span('There is nothing yet.', look, 'quiet')], width) : [bars]),
    ...(last.length < points.length
      ? wrap([span(`The last ${last.length} of ${points.length}; all changes:`, look, 'quiet')], width)
      : []),
    ...(changes.length <= MAX_CHANGES
      ? []
      : wrap([span(`The last ${MAX_CHANGES} of ${changes.length} changes:`, look, 'quiet')], width)),
    ...changes
      .slice(-MAX_CHANGES)
      .flatMap((point) =>
        behind(wrap(spansOf(pointLine(point), look), width - 2), span(`${SIGNS[point.mark]} `, look, point.mark)),
      ),
  ]
}

function stepOf({ value }: TimePoint, { least, most }: Timeline, { unicode }: Look): string {
  if (value === null) return '?'
  const share = most === least ? 1 : Math.max(0, Math.min(1, (value - least) / (most - least)))
  return unicode ? STEPS[Math.round(share * (STEPS.length - 1))]! : String(Math.round(share * 9))
}

/** A bar of this many columns, filled to a share. */
export const barRow = (share: number, width: number, style: Row[number]['style'], look: Look): Row => {
  const filled = Math.round(Math.max(0, Math.min(1, share)) * width)
  return [span('█'.repeat(filled), look, style), span('░'.repeat(width - filled), look, 'quiet')]
}

/** Signs of the parts of a bar, from the left. */
const PARTS = ['\u2588', '\u2592', '\u2591'] as const
const PLAIN_PARTS = ['#', '+', '!'] as const

/** Stacked bars that lie, one day a line, newest last; the numbers are in the table that follows. */
export function stackRows({ label, parts, bars }: Stack, width: number, look: Look): Row[] {
  const last = bars.slice(-28)
  const highest = Math.max(1, ...last.map(({ counts }) => counts.reduce((sum, count) => sum + count, 0)))
  const room = Math.max(1, width - 12)
  const signs = look.unicode ? PARTS : PLAIN_PARTS
  const legend = parts.map((part, i) => `${signs[i] ?? '.'} ${part.label}`).join('  ')
  return [
    ...wrap([span(`${label} (${legend})`, look, 'bold')], width),
    ...(width < 24
      ? []
      : last.map(({ date, counts }) => [
          span(`${date}  `, look),
          ...counts.map((count, i) =>
            plain((signs[i] ?? '.').repeat(Math.round((count / highest) * room)), parts[i]?.mark ?? 'none'),
          ),
        ])),
  ]
}
