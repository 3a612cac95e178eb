import type { Severity, Status } from '../answers/finding.ts'

/**
 * A document as data: its content, independent of the renderers. Every text in it is plain; the renderers escape it.
 */

/**
 * Text in a line. `code` is external text or text to type; a link that is neither http nor https, nor `#part`, is
 * written as plain text.
 */
export type Inline =
  | string
  | { readonly code: string }
  | { readonly strong: string }
  /** `named`: the text names the target (an RFC section), so the URL is not written out where it cannot be followed. */
  | { readonly link: string; readonly text: string; readonly named?: true }
  | { readonly status: Status }
  /** A time in ISO 8601, shown in UTC; a page with scripts shows it in the reader's time zone. */
  | { readonly time: string }
  | { readonly severity: Severity }
  | Marked

/** The state at a glance; its text says the same in words. */
export type Marked = { readonly mark: Mark; readonly text: string }
/** `open`: not known. `busy`: in progress. */
export type Mark = 'good' | 'warn' | 'bad' | 'open' | 'busy' | 'none'

export type Line = readonly Inline[]

/** A record to publish; `value` is the presentation form of the data (TXT: the text, unquoted). */
export type RecordToPublish = {
  readonly name: string
  readonly rtype: string
  readonly value: string
  /** Published values that it replaces. */
  readonly replaces?: readonly string[]
}

/** A domain with its score. */
export type Verdict = {
  /** The domain, or the words for a what-if about it. */
  readonly subject: string
  /** The domain in its own script, where it has another form. */
  readonly unicode?: string
  readonly score: number
  /** The worst and the best case, if they differ. */
  readonly range?: readonly [least: number, most: number]
  /** Undefined: too little is known for one. */
  readonly grade?: string
  /** Something needs repair whatever the grade is: shown as a warning, never as good. */
  readonly isBroken?: true
  readonly words: string
  /** What matters for the verdict besides: who may send, what is not known. */
  readonly notes: readonly Line[]
  /** How the score adds up: folded on a page, at the end elsewhere. */
  readonly sum: readonly Block[]
}

/** Any other answer, as a sentence. */
export type Conclusion = {
  /** The subject: an address, a domain, a job. */
  readonly subject: string
  readonly mark: Mark
  /** One or two words for the mark; empty if there is no judgement. */
  readonly badge: string
  /** The answer as a sentence; empty if there is none. */
  readonly words: string
  readonly notes: readonly Line[]
}

export type Bar = {
  readonly label: string
  readonly href: string
  /** Undefined: it does not apply. */
  readonly kept?: number
  readonly worth: number
  readonly state: Marked
}

/** A node of a tree. `cost` counts the node and all below it, in the tree's unit. */
export type TreeNode = {
  readonly line: Line
  readonly cost?: number
  /** Text as received at this node. */
  readonly seen?: string
  readonly children?: readonly TreeNode[]
  /** Number of children that are not shown. */
  readonly leftOut?: number
}

export type Tree = {
  readonly label: string
  readonly root: TreeNode
  /** What the costs count, and the permitted maximum. */
  readonly cost?: { readonly one: string; readonly many: string; readonly limit: number }
}

/** An overview of many items of one kind. */
export type Grid = {
  readonly label: string
  readonly cells: readonly GridCell[]
}
export type GridCell = { readonly name: string; readonly mark: Mark; readonly text: string }

/**
 * The way of the mail: the domain, its hosts, their addresses, the PTR names of these and whether they resolve back,
 * and the blacklists.
 */
export type MailMap = { readonly label: string; readonly domain: string; readonly hosts: readonly MapHost[] }
export type MapHost = {
  /** Undefined: there is no MX record. */
  readonly preference?: number
  readonly host: string
  /** Why it has no address. */
  readonly problem?: Marked
  /** In place of its addresses, where there is nothing to say about any of them. */
  readonly calm?: Marked
  readonly addresses: readonly MapAddress[]
}
export type MapAddress = {
  readonly address: string
  readonly names: readonly string[]
  /** Whether the names resolve back to the address. */
  readonly back: Marked
  /** STARTTLS, where it was looked at. */
  readonly tls?: Marked
  readonly place?: Line
  readonly lists?: Marked
}

/** The way to a better score: where the domain stands, and each step with what it takes and what it brings. */
export type Path = { readonly label: string; readonly start: Milestone; readonly steps: readonly PathStep[] }
export type Milestone = {
  readonly score: number
  /** Undefined: not known. */
  readonly grade?: string
}
export type PathStep = Milestone & {
  /** Its place in the document: `step-1`. */
  readonly id: string
  readonly title: string
  /** `later`: it has to wait. `optional`: it is not needed. */
  readonly stage: 'now' | 'later' | 'optional'
  /** Who does it, that it is later or optional. */
  readonly note: string
  /** What it is for, or what it waits for. */
  readonly why: string
  /** Its records and what must be known or done first; none where only the way is shown. */
  readonly blocks: readonly Block[]
}

/** A limit as a bar with a segment for each part: the DNS lookups of an SPF record. */
export type Budget = {
  readonly label: string
  readonly used: number
  readonly limit: number
  readonly one: string
  readonly many: string
  readonly parts: readonly { readonly name: string; readonly cost: number }[]
}

/** How DMARC aligns: the domain that readers see, and the domains that SPF and DKIM vouch for (RFC 9989 §4.4). */
export type Alignment = {
  readonly label: string
  readonly from: string
  readonly paths: readonly { readonly name: string; readonly domain: string; readonly state: Marked }[]
  readonly result: Marked
}

/** A number over time; null: unknown at that time. */
export type Timeline = {
  readonly label: string
  readonly least: number
  readonly most: number
  /** Oldest first. */
  readonly points: readonly TimePoint[]
}
export type TimePoint = {
  /** ISO 8601. */
  readonly time: string
  readonly value: number | null
  readonly mark: Mark
  readonly text: string
}

/** Stacked bars, one for each day; the table of the numbers follows it in the document. */
export type Stack = {
  readonly label: string
  /** From the bottom up. */
  readonly parts: readonly { readonly label: string; readonly mark: Mark }[]
  /** Oldest first; days without a bar are left out by whoever makes it. */
  readonly bars: readonly { readonly date: string; readonly counts: readonly number[] }[]
}

export type Progress = {
  readonly label: string
  readonly done: number
  readonly total: number
  /** Completed work, by outcome. */
  readonly parts: readonly { readonly label: string; readonly count: number; readonly mark: Mark }[]
}

export type Conversation = {
  readonly label: string
  readonly lines: readonly { readonly from: 'client' | 'server' | 'note'; readonly text: string }[]
}

/** Attempts in their order; the last one decided. */
export type Attempts = { readonly label: string; readonly attempts: readonly Attempt[] }
export type Attempt = {
  readonly from: string
  readonly to: Line
  readonly outcome: Marked
  /** The reply as received. */
  readonly reply?: string
  readonly notes: readonly Line[]
}

type TableBlock = { readonly kind: 'table'; readonly table: Table }

export type Block =
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
  | { readonly kind: 'conclusion'; readonly conclusion: Conclusion }
  | { readonly kind: 'bars'; readonly bars: readonly Bar[] }
  | {
      readonly kind: 'heading'
      readonly level: 2 | 3 | 4
      readonly id?: string
      readonly line: Line
    }
  | { readonly kind: 'text'; readonly line: Line; readonly quiet?: true }
  | { readonly kind: 'list'; readonly items: readonly Line[] }
  | { readonly kind: 'facts'; readonly rows: readonly (readonly [label: string, line: Line])[] }
  | TableBlock
  /** Text as received, as a block of its own; several texts are one line each. */
  | { readonly kind: 'seen'; readonly label: string; readonly text: string | readonly string[] }
  | { readonly kind: 'publish'; readonly record: RecordToPublish }
  | Picture
  | Group

/** Blocks that belong together. The first is a heading, whose id names the part. */
export type Group = {
  readonly kind: 'group'
  /** `row`: a page shows its heading alone until it is opened. */
  readonly look: 'finding' | 'check' | 'row'
  readonly open?: true
  readonly blocks: readonly Block[]
}

export type Table = {
  readonly caption: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly Line[])[]
  /** The last row is the total. */
  readonly sum?: readonly Line[]
  readonly numeric?: readonly number[]
  /** On a phone a row is a line or two: its first cell and the next ones side by side, the last one below. */
  readonly isBrief?: true
}

export type Document = {
  readonly title: string
  readonly blocks: readonly Block[]
  readonly footer: readonly Line[]
}

export const heading = (level: 2 | 3 | 4, line: string | Line, id?: string): Block => ({
  ...{ kind: 'heading', level, line: typeof line === 'string' ? [line] : line },
  ...(id === undefined ? {} : { id }),
})
export const text = (...line: Inline[]): Block => ({ kind: 'text', line })
export const quiet = (...line: Inline[]): Block => ({ kind: 'text', line, quiet: true })
/** Text as received, under a label; several texts are one line each. */
export const seen = (label: string, text: string | readonly string[]): Block => ({ kind: 'seen', label, text })
export const code = (value: string): Inline => ({ code: value })
/** Texts separated by commas, each as code. */
export const codes = (values: readonly string[]): Line =>
  values.flatMap((value, i) => (i === 0 ? [code(value)] : [', ', code(value)]))

/** A number with its thousands apart. */
export const grouped = (value: number): string => value.toLocaleString('en-US')

/** What a document is made of: blocks, in any depth; what is undefined, null or false is left out. */
export type Parts = Block | undefined | null | false | readonly Parts[]
export const blocksOf = (parts: Parts): readonly Block[] => {
  if (!parts) return []
  return 'kind' in parts ? [parts] : parts.flatMap(blocksOf)
}

/** What stands beside a label or in a cell of a table. */
export type Cell = Inline | Line | number
const isLine = (cell: Cell): cell is Line => Array.isArray(cell)
const lineOf = (cell: Cell): Line => (isLine(cell) ? cell : [typeof cell === 'number' ? grouped(cell) : cell])

/** The answer in a sentence. `badge` is a word or two for the mark. */
export const conclude = (
  subject: string,
  mark: Mark,
  badge: string,
  words: string,
  notes: readonly Line[] = [],
): Block => ({ kind: 'conclusion', conclusion: { subject, mark, badge, words, notes } })

export type Fact = readonly [label: string, cell: Cell] | undefined | null | false
/** Labels with their values; nothing without any. */
export function facts(...all: readonly Fact[]): Block | undefined {
  const rows = all.flatMap((fact): (readonly [string, Line])[] => (fact ? [[fact[0], lineOf(fact[1])]] : []))
  return rows.length > 0 ? { kind: 'facts', rows } : undefined
}

/** A column of a table: its head, and what it shows of an item. */
export type Column<Item> = readonly [head: string, cell: (item: Item) => Cell, align?: 'number']
/** Items as a table; nothing without any. */
export function table<Item>(
  caption: string,
  items: readonly Item[],
  ...columns: readonly Column<Item>[]
): TableBlock | undefined {
  if (items.length === 0) return undefined
  return {
    kind: 'table',
    table: {
      caption,
      head: columns.map(([head]) => head),
      rows: items.map((item) => columns.map(([, cell]) => lineOf(cell(item)))),
      numeric: columns.flatMap(([, , align], i) => (align === 'number' ? [i] : [])),
    },
  }
}

/** Lines as a list; nothing without any. */
export const bullets = (items: readonly Cell[]): Block | undefined =>
  items.length > 0 ? { kind: 'list', items: items.map(lineOf) } : undefined

export const group = (look: Group['look'], ...parts: readonly Parts[]): Group => ({
  kind: 'group',
  look,
  blocks: blocksOf(parts),
})

/** The blocks that are pictures, each with a form in every renderer: what they show, by their kind. */
type Pictures = {
  readonly tree: Tree
  readonly grid: Grid
  readonly map: MailMap
  readonly path: Path
  readonly budget: Budget
  readonly alignment: Alignment
  readonly timeline: Timeline
  readonly stack: Stack
  readonly progress: Progress
  readonly conversation: Conversation
  readonly attempts: Attempts
}
/** A picture has its data under the name of its kind. */
type Picture = {
  [Kind in keyof Pictures]: { readonly kind: Kind } & { readonly [_ in Kind]: Pictures[Kind] }
}[keyof Pictures]

/** The output of a renderer for each kind of picture. */
export type PictureForms<R> = { readonly [Kind in keyof Pictures]: (picture: Pictures[Kind]) => R }

export function formOf<R>(picture: Picture, forms: PictureForms<R>): R {
  const form = forms[picture.kind] as (data: unknown) => R // that of its own kind
  return form((picture as Readonly<Record<string, unknown>>)[picture.kind])
}

/** Maximum number of changes that a page or Markdown shows as text; the terminal shows fewer. */
export const MAX_CHANGES = 20

/** The points at which something changed, the first one among them. */
export const withChange = (points: readonly TimePoint[]): readonly TimePoint[] =>
  points.filter((point, i) => {
    const before = points[i - 1]
    return (
      before === undefined || before.text !== point.text || before.value !== point.value || before.mark !== point.mark
    )
  })

export const pointLine = ({ time, value, text }: TimePoint): Line => [
  { time },
  ': ',
  ...(value === null ? [] : [{ strong: String(Number(value.toFixed(1))) }, text === '' ? '' : ', ']),
  text,
]
