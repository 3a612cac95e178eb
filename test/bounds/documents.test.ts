import type { BlacklistAnswer } from '../../src/answers/blacklist.ts'
import type { SpfInclude } from '../../src/answers/checks.ts'
import type { PeersAnswer } from '../../src/answers/peers.ts'
import { blacklistBulkDocument } from '../../src/documents/blacklist.ts'
import { type Block, type Document, text as line, type Timeline, type TreeNode } from '../../src/documents/block.ts'
import { keyBlocks } from '../../src/documents/check/checks.ts'
import { hostBlocks } from '../../src/documents/check/hosts.ts'
import { spfBlocks } from '../../src/documents/check/spf.ts'
import * as html from '../../src/documents/html/pictures.ts'
import { jobResultsDocument } from '../../src/documents/jobs.ts'
import * as markdown from '../../src/documents/markdown/markdown.ts'
import { historyBlocks } from '../../src/documents/monitors.ts'
import { peersDocument } from '../../src/documents/peers.ts'
import { plainDocument } from '../../src/documents/plain.ts'
import { doctorDocument } from '../../src/documents/pool.ts'
import { shown } from '../../src/documents/terminal/inline.ts'
import { timelineRows, treeRows } from '../../src/documents/terminal/pictures.ts'
import { formatTerminal } from '../../src/documents/terminal/terminal.ts'
import { check } from '../../src/operations/check.ts'
import { doctor } from '../../src/operations/doctor.ts'
import { jobResults } from '../../src/operations/jobs/results.ts'
import { peers } from '../../src/operations/peers.ts'
import { exampleOf } from '../lab/answer.ts'
import { listedAddress } from '../lab/documents.ts'
import { testBounds, text, times } from './table.ts'

/** Bounds of what documents show. */
const look = { width: 200, colour: false, unicode: true }
const example = exampleOf(check)

const groupsOf = ({ blocks }: Document): number => blocks.filter(({ kind }) => kind === 'group').length
const toldListings = (n: number): number =>
  groupsOf(
    blacklistBulkDocument(
      { data: times(n, (): BlacklistAnswer => listedAddress), has_more: false, next_cursor: null },
      '0',
    ),
  )

function namesShown(n: number): number {
  const host = example.mx[0]!
  const address = { ...host.addresses[0]!, ptr: times(n, (i) => `p${i}.example`) }
  const [map] = hostBlocks({ ...example, mx: [{ ...host, addresses: [address] }] }).slice(-1)
  return map?.kind === 'map' ? map.map.hosts[0]!.addresses[0]!.names.length : 0
}

function keysShown(n: number): number {
  const key = example.dkim.keys[0]!
  return keyBlocks({ ...example.dkim, keys: times(n, () => key) }).filter(({ kind }) => kind === 'seen').length
}

/** How many levels of a chain of includes are in the tree. */
function includesShown(n: number): number {
  const leaf = { term: 'include:a', state: 'record', lookups: 1, void_lookups: 0, includes: [] } as const
  const chain = times(n - 1, () => 0).reduce((below: SpfInclude) => ({ ...leaf, includes: [below] }), leaf)
  const blocks = spfBlocks({ ...example.spf, lookups: n, includes: [chain] }, 'a.example')
  const depthOf = (node: TreeNode): number => 1 + Math.max(0, ...(node.children ?? []).map(depthOf))
  return Math.max(0, ...blocks.map((block) => (block.kind === 'tree' ? depthOf(block.tree.root) - 1 : 0)))
}

function columnsShown(n: number): number {
  const answer = exampleOf(jobResults)
  const row = { ...answer.data[0]!, input: 'x', columns: Object.fromEntries(times(n, (i) => [`c${i}`, i])) }
  const table = jobResultsDocument({ ...answer, data: [row] }, '0').blocks.find(({ kind }) => kind === 'table')
  const cell = table?.kind === 'table' ? table.table.rows[0]!.at(-1)! : []
  return cell.filter((one) => typeof one === 'object').length
}

function addressesShown(n: number): number {
  const answer: PeersAnswer = exampleOf(peers)
  const peer = { ...answer.peers[0]!, geo: [], addresses: times(n, (i) => `45.53.0.${i}`) }
  const blocks = peersDocument({ ...answer, peers: [peer], node: undefined }, '0').blocks
  const below = blocks.flatMap((block): readonly Block[] => (block.kind === 'group' ? block.blocks : []))
  return below.flatMap((block) => (block.kind === 'list' ? block.items : [])).length
}

/** How many of `n` sources are named with the problem that all of them have. */
function sourcesNamed(n: number): number {
  const answer = exampleOf(doctor)
  const source = { ...answer.sources[0]!, problems: ['it has no PTR name'] }
  const sources = times(n, (i) => ({ ...source, address: `192.0.2.${i}` }))
  const [list] = doctorDocument({ ...answer, repairs: [], sources }, '0').blocks.filter(({ kind }) => kind === 'list')
  return list?.kind === 'list' ? list.items[0]!.filter((one) => typeof one === 'object').length : 0
}

function rowsShown(n: number): number {
  const { blocks } = plainDocument('x', { rows: times(n, (i) => ({ i })) }, '0')
  return blocks.flatMap((block) => (block.kind === 'table' ? block.table.rows : [])).length
}

const points = (n: number): Timeline['points'] =>
  times(n, (i) => ({ time: `2026-01-01T00:00:${i}`, value: i, mark: 'good', text: `point${i}.` }))
const timeline = (n: number): Timeline => ({ label: '', least: 0, most: n, points: points(n) })
const changesIn = (shown: string): number => shown.match(/point\d+\./g)?.length ?? 0
const inTerminal = (n: number): string =>
  timelineRows(timeline(n), 80, look)
    .flat()
    .map((span) => span.text)
    .join('')

function statusesShown(n: number): number {
  const all = times(n, (i) => ({ time: '2026-01-01T00:00:00.000Z', status: `s${i}`, score: null, listed: null }))
  const [list] = historyBlocks(all as unknown as Parameters<typeof historyBlocks>[0]) // statuses that do not repeat
  return list?.kind === 'list' ? list.items.length : 0
}

const chain = (n: number): TreeNode =>
  times(n, () => 0).reduce((below: TreeNode) => ({ line: ['x'], children: [below] }), { line: ['x'] })
/** Whether the last of `n` levels below the root stands further to the right than the one above. */
function isIndented(lines: readonly string[]): boolean {
  const [above, last] = lines.slice(-2).map((one) => one.indexOf('x'))
  return last! > above!
}
const terminalTree = (n: number): string[] =>
  treeRows({ label: '', root: chain(n) }, 80, look).map((row) => row.map((span) => span.text).join(''))
const markdownTree = (n: number): string[] => markdown.tree({ label: '', root: chain(n) })[1]!.split('\n')

const widest = (n: number): boolean =>
  formatTerminal({ title: '', blocks: [line(text(n - 2), ' ', 'y')], footer: [] }, look).includes(`${text(n - 2)} y`)

testBounds([
  ['src/documents/blacklist.ts MAX_TOLD', 20, (n) => toldListings(n) === n],
  ['src/documents/check/hosts.ts MAX_NAMES', 5, (n) => namesShown(n) === n],
  ['src/documents/check/checks.ts MAX_KEYS', 20, (n) => keysShown(n) === n],
  ['src/documents/check/spf.ts MAX_DEPTH', 12, (n) => includesShown(n) === n],
  ['src/documents/pool.ts MAX_NAMED', 5, (n) => sourcesNamed(n) === n],
  ['src/documents/jobs.ts MAX_COLUMNS', 8, (n) => columnsShown(n) === n],
  ['src/documents/markdown/markdown.ts MAX_INDENT', 8, (n) => isIndented(markdownTree(n))],
  ['src/documents/monitors.ts MAX_LINES', 50, (n) => statusesShown(n) === n],
  ['src/documents/peers.ts MAX_ADDRESSES', 16, (n) => addressesShown(n) === n],
  ['src/documents/plain.ts MAX_ROWS', 50, (n) => rowsShown(n) === n],
  ['src/documents/terminal/inline.ts MAX_TEXT', 8_192, (n) => shown(text(n), look) === text(n)],
  ['src/documents/terminal/pictures.ts MAX_INDENT', 8, (n) => isIndented(terminalTree(n))],
  ['src/documents/terminal/pictures.ts MAX_CHANGES', 12, (n) => changesIn(inTerminal(n)) === n],
  ['src/documents/terminal/inline.ts MAX_PROSE', 100, widest],
  [
    'src/documents/block.ts MAX_CHANGES',
    20,
    (n) =>
      changesIn(html.timeline(timeline(n)).replace(/<svg.*<\/svg>/s, '')) === n &&
      changesIn(markdown.timeline(timeline(n)).join()) === n,
  ],
])
