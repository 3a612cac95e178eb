import { counted } from '../../base/text.ts'
import type { Grid, MailMap, MapAddress, MapHost, Timeline, Tree, TreeNode } from '../block.ts'
import { markOfCost } from '../signs.ts'
import { MAX_CHANGES, pointLine, withChange } from '../timeline.ts'
import { badge, codeText, inlines, safe } from './inline.ts'

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

/** The way of the mail, with one column per hop on a wide screen. */
export const mailMap = ({ label, domain, hosts }: MailMap): string =>
  `<div class="map"><p class="label">${safe(label)}</p><div class="hops"><p class="hop from">${codeText(domain)}</p><ol>${hosts.map(host).join('')}</ol></div></div>`

const host = ({ preference, host: name, problem, addresses }: MapHost): string =>
  `<li><p class="hop">${preference === undefined ? '' : `<span class="preference"><span class="unseen">preference </span>${preference}</span> `}${codeText(name)}${problem === undefined ? '' : ` ${badge('mark', problem.mark, problem.text)}`}</p>${addresses.length === 0 ? '' : `<ul>${addresses.map(address).join('')}</ul>`}</li>`

const address = ({ address: ip, names, back, place, lists }: MapAddress): string =>
  `<li><p class="hop">${codeText(ip)}${place === undefined ? '' : `<span class="place">${inlines(place)}</span>`}</p><p class="hop">${names.map((name) => `${codeText(name)} `).join('')}${badge('mark', back.mark, back.text)}</p>${lists === undefined ? '' : `<p class="hop">${badge('mark', lists.mark, lists.text)}</p>`}</li>`

/** Size of the drawing, in its own units. */
const [WIDTH, HEIGHT] = [600, 120]

/** A line over time with a dot at each change; screen readers get the list below it. */
export function timeline({ label, least, most, points }: Timeline): string {
  const changes = withChange(points)
  const x = (i: number): number => (points.length < 2 ? WIDTH / 2 : (i / (points.length - 1)) * WIDTH)
  const y = (value: number): number =>
    round(HEIGHT - (most === least ? 0.5 : Math.max(0, Math.min(1, (value - least) / (most - least)))) * HEIGHT)
  const stretches: string[][] = [[]]
  points.forEach(({ value }, i) => {
    if (value === null) stretches.push([])
    else stretches.at(-1)!.push(`${round(x(i))},${y(value)}`)
  })
  const lines = stretches.filter(({ length }) => length > 1).map((one) => `<polyline points="${one.join(' ')}"/>`)
  const dots = points.flatMap((point, i) =>
    point.value === null || !changes.includes(point)
      ? []
      : [`<circle class="${point.mark}" cx="${round(x(i))}" cy="${y(point.value)}" r="4"/>`],
  )
  const drawing =
    points.length === 0
      ? ''
      : `<svg viewBox="-6 -6 ${WIDTH + 12} ${HEIGHT + 12}" aria-hidden="true" focusable="false"><line x1="0" y1="${HEIGHT}" x2="${WIDTH}" y2="${HEIGHT}"/>${lines.join('')}${dots.join('')}</svg>`
  const shown = changes.slice(-MAX_CHANGES)
  const cut =
    shown.length < changes.length ? `<p class="quiet">The last ${MAX_CHANGES} of ${changes.length} changes:</p>` : ''
  return `<div class="timeline"><p class="label">${safe(label)}</p>${drawing}${cut}${shown.length === 0 ? '<p class="quiet">There is nothing yet.</p>' : `<ol>${shown.map((point) => `<li class="${point.mark}"><span>${inlines(pointLine(point))}</span></li>`).join('')}</ol>`}</div>`
}

export const round = (value: number): number => Number(value.toFixed(1))
