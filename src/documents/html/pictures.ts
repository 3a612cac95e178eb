import { counted } from '../../base/text.ts'
import {
  type Alignment,
  type Budget,
  type Grid,
  MAX_CHANGES,
  type MailMap,
  type MapAddress,
  type MapHost,
  type Mark,
  pointLine,
  type Stack,
  type Timeline,
  type TimePoint,
  type Tree,
  type TreeNode,
  withChange,
} from '../block.ts'
import { markOfCost } from '../words.ts'
import { badge, codeText, inlines, safe, timeTag } from './inline.ts'

/** A tree as nested lists, each node with its cost; the total also as a bar up to the limit. */
export const tree = ({ label, root, cost }: Tree): string =>
  `<div class="tree"><p class="label">${safe(label)}</p>${meter(root, cost)}<ul>${node(root, cost)}</ul></div>`

function node({ line, cost, seen, children = [], leftOut = 0 }: TreeNode, unit: Tree['cost']): string {
  const price =
    unit && cost !== undefined
      ? ` <span class="cost ${markOfCost(cost, unit.limit)}">${safe(counted(cost, unit.one, unit.many))}</span>`
      : ''
  const more = leftOut === 0 ? '' : `<li class="quiet">${leftOut} more</li>`
  const below = children.map((child) => node(child, unit)).join('')
  return `<li>${inlines(line)}${price}${seen === undefined ? '' : `<pre>${safe(seen)}</pre>`}${below + more === '' ? '' : `<ul>${below}${more}</ul>`}</li>`
}

/** Steps up to the limit, filled according to the cost; the figures are beside it. */
function meter({ cost }: TreeNode, unit: Tree['cost']): string {
  if (!unit || cost === undefined) return ''
  const mark = markOfCost(cost, unit.limit)
  const steps = [...Array(unit.limit).keys()].map(
    (i) => `<rect class="${i < cost ? 'fill' : 'track'}" x="${i * 10}" width="9" height="6" rx="1"/>`,
  )
  return `<p class="meter"><svg class="${mark}" viewBox="0 0 ${unit.limit * 10} 6" width="${unit.limit * 14}" height="8" aria-hidden="true" focusable="false">${steps.join('')}</svg> <span class="${mark}">${cost} of ${unit.limit} ${safe(unit.many)}</span></p>`
}

export const grid = ({ label, cells }: Grid): string =>
  `<div class="cells"><p class="label">${safe(label)}</p><ul>${cells
    .map(
      ({ name, mark, text }) =>
        `<li class="${mark}"><span class="name">${safe(name)}</span> ${badge('mark', mark, text)}</li>`,
    )
    .join('')}</ul></div>`

/** The way of the mail: a line for each host, and for each of its addresses where there is something to say. */
export const mailMap = ({ label, hosts }: MailMap): string =>
  `<div class="map"><p class="unseen">${safe(label)}</p><ol>${hosts.map(host).join('')}</ol></div>`

/** Length of a name from which the addresses of a host stand below it. */
const LONG_NAME = 36

const host = ({ preference, host: name, problem, calm, addresses }: MapHost): string =>
  `<li${name.length > LONG_NAME ? ' class="long"' : ''}><p>${preference === undefined ? '' : `<span class="preference"><span class="unseen">preference </span>${preference}</span> `}${codeText(name)}${problem === undefined ? '' : ` ${badge('mark', problem.mark, problem.text)}`}</p>${calm === undefined ? (addresses.length === 0 ? '' : `<ul>${addresses.map(address).join('')}</ul>`) : `<p>${badge('mark', calm.mark, calm.text)}</p>`}</li>`

const address = ({ address: ip, names, back, tls, place, lists }: MapAddress): string =>
  `<li>${codeText(ip)}${names.map((name) => ` <span aria-hidden="true">→</span><span class="unseen">name</span> ${codeText(name)}`).join('')} ${[back, tls, lists].map((one) => (one === undefined ? '' : badge('mark', one.mark, one.text))).join(' ')}${place === undefined ? '' : ` <span class="where">${inlines(place)}</span>`}</li>`

/** A limit as a bar, one segment for each unit, and a legend with the cost of each part. */
export function budget({ label, used, limit, one, many, parts }: Budget): string {
  const mark = markOfCost(used, limit)
  const ends = parts.map((_, i) => parts.slice(0, i + 1).reduce((sum, { cost }) => sum + cost, 0))
  const width = Math.max(limit, Math.min(used, 2 * limit))
  const units = [...Array(width).keys()].map((unit) => {
    const part = ends.findIndex((end) => unit < end)
    const look = unit >= used ? 'track' : unit >= limit ? 'over' : part % 2 === 1 ? 'fill odd' : 'fill'
    return `<rect class="${look}" x="${unit * 10}" width="9" height="10" rx="1"/>`
  })
  return `<div class="budget"><p class="label">${safe(label)}</p><p class="meter"><svg class="${mark}" viewBox="0 0 ${width * 10} 10" width="${width * 24}" height="16" preserveAspectRatio="none" aria-hidden="true" focusable="false">${units.join('')}</svg> <span class="${mark}">${used} of ${limit} ${safe(many)}</span></p>${parts.length === 0 ? '' : `<ul>${parts.map(({ name, cost }) => `<li>${codeText(name)} <span class="cost">${safe(counted(cost, one, many))}</span></li>`).join('')}</ul>`}</div>`
}

/** The visible domain, and beside it the domains that SPF and DKIM vouch for. */
export const alignment = ({ label, from, paths, result }: Alignment): string =>
  `<div class="alignment"><p class="label">${safe(label)}</p><div class="sides"><p class="hop from"><span class="quiet">From</span> ${codeText(from)}</p><ul>${paths
    .map(
      ({ name, domain, state }) =>
        `<li><p class="hop"><span class="quiet">${safe(name)}</span> ${codeText(domain)}</p>${badge('mark', state.mark, state.text)}</li>`,
    )
    .join('')}</ul></div><p>${badge('mark', result.mark, result.text)}</p></div>`

/** A list of so many changes is not folded. */
const UNFOLDED = 3

/** Size of a drawing, in its own units; it is stretched to the width of the page. */
const [WIDTH, HEIGHT] = [600, 120]

/**
 * A line over time with both axes; a time at which the value is unknown is a gap, marked at the bottom, and each change
 * is a pin. Screen readers get the list below it.
 */
export function timeline({ label, least, most, points }: Timeline): string {
  const changes = withChange(points)
  const shown = changes.slice(-MAX_CHANGES)
  const named =
    shown.length < changes.length
      ? `The last ${MAX_CHANGES} of ${changes.length} changes in words`
      : 'The same in words'
  const drawing = points.length === 0 ? '' : chart(points, { least, most, changes })
  return `<div class="timeline"><p class="label">${safe(label)}</p>${drawing}${shown.length === 0 ? '<p class="quiet">There is nothing yet.</p>' : `<details${shown.length > UNFOLDED ? '' : ' open=""'}><summary>${named}</summary><ol>${shown.map((point) => `<li class="${point.mark}"><span>${inlines(pointLine(point))}</span></li>`).join('')}</ol></details>`}</div>`
}

type Range = { readonly least: number; readonly most: number }

function chart(points: readonly TimePoint[], of: Range & { readonly changes: readonly TimePoint[] }): string {
  const { least, most, changes } = of
  const at = places(points, of)
  const pinned = new Set(changes.slice(1))
  const pins = points.flatMap((point, i) => {
    const [x, y] = at[i]!
    return point.value === null || !pinned.has(point)
      ? []
      : [
          `<line class="pin" x1="${x}" y1="${y}" x2="${x}" y2="${HEIGHT}"/><path class="dot ${point.mark}" d="M${x} ${y}h0"/>`,
        ]
  })
  const unknown = points.flatMap(({ value }, i) =>
    value === null ? [`<path class="dot open" d="M${at[i]![0]} ${HEIGHT}h0"/>`] : [],
  )
  const middle = (least + most) / 2
  const levels = [most, ...(Number.isInteger(middle) ? [middle] : []), least]
  const grid = levels.map((level) => {
    const y = heightOf(level, of)
    return `<line x1="0" y1="${y}" x2="${WIDTH}" y2="${y}"/>`
  })
  const [first, last] = [points[0]!, points.at(-1)!]
  const key =
    unknown.length === 0 ? '' : `<p class="quiet">${badge('mark', 'open', 'on the axis: not known at that time')}</p>`
  return `<div class="chart"><div class="levels" aria-hidden="true">${levels.map((level) => `<span>${level}</span>`).join('')}</div><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">${grid.join('')}${stretches(points, at)}${pins.join('')}${unknown.join('')}</svg><div class="times" aria-hidden="true">${timeTag(first.time)}${last === first ? '' : timeTag(last.time)}</div></div>${key}`
}

/** The line alone, small, for a row of a table. Its words are in the row. */
export function sparkLine(points: readonly TimePoint[], of: Range): string {
  const at = places(points, of)
  const last = points.findLastIndex(({ value }) => value !== null)
  const dot = last < 0 ? '' : `<path class="dot ${points[last]!.mark}" d="M${at[last]!.join(' ')}h0"/>`
  return `<svg class="spark" viewBox="0 -8 ${WIDTH} ${HEIGHT + 16}" preserveAspectRatio="none" aria-hidden="true" focusable="false">${stretches(points, at)}${dot}</svg>`
}

/** A bar for each run, with the words beside it. */
export const heartbeat = ({ marks, words }: { readonly marks: readonly Mark[]; readonly words: string }): string =>
  `<p class="beats"><svg viewBox="0 0 ${marks.length * 6} 20" width="${marks.length * 6}" height="20" aria-hidden="true" focusable="false">${marks.map((mark, i) => `<rect class="fill ${mark}" x="${i * 6}" width="4" height="20" rx="1"/>`).join('')}</svg> <span class="quiet">${safe(words)}</span></p>`

/** Known values that follow each other, as lines. */
function stretches(points: readonly TimePoint[], at: readonly (readonly [x: number, y: number])[]): string {
  const lines: string[][] = [[]]
  points.forEach(({ value }, i) => {
    if (value === null) lines.push([])
    else lines.at(-1)!.push(at[i]!.join(','))
  })
  return lines
    .filter(({ length }) => length > 1)
    .map((one) => `<polyline points="${one.join(' ')}"/>`)
    .join('')
}

/** Where each point is drawn: by its time from left to right, where the times can be read. */
function places(points: readonly TimePoint[], of: Range): readonly (readonly [x: number, y: number])[] {
  const times = points.map(({ time }) => Date.parse(time))
  const [from = 0, to = 0] = [times[0], times.at(-1)]
  const hasTimes = times.every((time) => Number.isFinite(time)) && to > from
  return points.map(({ value }, i) => {
    const share = hasTimes ? (times[i]! - from) / (to - from) : points.length < 2 ? 0.5 : i / (points.length - 1)
    return [round(Math.max(0, Math.min(1, share)) * WIDTH), heightOf(value ?? of.least, of)]
  })
}

const heightOf = (value: number, { least, most }: Range): number =>
  round(HEIGHT - (most === least ? 0.5 : Math.max(0, Math.min(1, (value - least) / (most - least)))) * HEIGHT)

export const round = (value: number): number => Number(value.toFixed(1))

/** Size of a drawing of bars, in its own units. */
const [BARS_WIDTH, BARS_HEIGHT] = [600, 160]

/**
 * Stacked bars with a legend; the numbers are in the table below it, which readers of the page without pictures get.
 */
export function stack({ label, parts, bars }: Stack): string {
  const highest = Math.max(1, ...bars.map(({ counts }) => counts.reduce((sum, count) => sum + count, 0)))
  const step = BARS_WIDTH / Math.max(1, bars.length)
  const width = Math.max(0.5, step * 0.8)
  const drawn = bars.map(({ counts }, i) => {
    let below = 0
    const pieces = counts.map((count, part) => {
      const height = (count / highest) * BARS_HEIGHT
      below += height
      return count === 0
        ? ''
        : `<rect class="part-${part} ${parts[part]?.mark ?? 'none'}" x="${round(i * step + (step - width) / 2)}" y="${round(BARS_HEIGHT - below)}" width="${round(width)}" height="${round(height)}"/>`
    })
    return pieces.join('')
  })
  const [first, last] = [bars[0]?.date ?? '', bars.at(-1)?.date ?? '']
  const legend = parts.map(
    ({ label: name, mark }, i) =>
      `<li class="${mark}"><svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" focusable="false"><rect class="part-${i}" width="10" height="10"/></svg> ${safe(name)}</li>`,
  )
  return `<div class="daybars"><p class="label">${safe(label)}, at most ${highest.toLocaleString('en-US')}</p><svg viewBox="0 0 ${BARS_WIDTH} ${BARS_HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false"><line x1="0" y1="${BARS_HEIGHT}" x2="${BARS_WIDTH}" y2="${BARS_HEIGHT}"/>${drawn.join('')}</svg><p class="ends"><span>${safe(first)}</span><span>${safe(last)}</span></p><ul class="legend">${legend.join('')}</ul></div>`
}
