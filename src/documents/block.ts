import type { Severity, Status } from '../answers/finding.ts'

/** A document as data: what is said, apart from how HTML and Markdown write it. Every text in it is plain; the writers make it harmless. */

/** Words in a line. `code` is text from outside or to be typed; a link that is neither http nor https, nor `#part`, is written as plain text. */
export type Inline =
  | string
  | { readonly code: string }
  | { readonly strong: string }
  | { readonly link: string; readonly text: string }
  | { readonly status: Status }
  | { readonly severity: Severity }
  | { readonly mark: Mark; readonly text: string }

/** What a cell says at a glance; its text says the same in words. */
export type Mark = 'good' | 'bad' | 'open' | 'none'

export type Line = readonly Inline[]

/** A record to publish; `value` as in {@link file://../../checks/check.ts}. */
export type RecordToPublish = { readonly name: string; readonly rtype: string; readonly value: string }

export type Verdict = {
  readonly domain: string
  /** The domain in its own script, where it has another form. */
  readonly unicode?: string
  readonly score: number
  /** Worst and best reading, where they differ. */
  readonly range?: readonly [least: number, most: number]
  /** Undefined: too little is known for one. */
  readonly grade?: string
  /** What the grade means. */
  readonly words: string
  /** What the score rests on: complete, or the range and why. */
  readonly notes: readonly Line[]
}

export type Bar = {
  readonly label: string
  readonly href: string
  /** Undefined: it does not apply. */
  readonly kept?: number
  readonly worth: number
  readonly status: Status
}

export type Block =
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
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
  | { readonly kind: 'table'; readonly table: Table }
  /** Text as it was seen, a block of its own. */
  | { readonly kind: 'seen'; readonly label: string; readonly text: string }
  | { readonly kind: 'publish'; readonly record: RecordToPublish }
  | { readonly kind: 'group'; readonly look: 'thing' | 'finding' | 'check'; readonly blocks: readonly Block[] }

export type Table = {
  readonly caption: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly Line[])[]
  /** The last row, as the sum. */
  readonly sum?: readonly Line[]
  /** Columns of numbers. */
  readonly numeric?: readonly number[]
}

export type Document = {
  readonly title: string
  readonly blocks: readonly Block[]
  readonly footer: readonly Line[]
}

export const heading = (level: 2 | 3 | 4, text: string, id?: string): Block => ({
  kind: 'heading',
  level,
  line: [text],
  ...(id === undefined ? {} : { id }),
})
export const text = (...line: Inline[]): Block => ({ kind: 'text', line })
export const quiet = (...line: Inline[]): Block => ({ kind: 'text', line, quiet: true })
export const code = (value: string): Inline => ({ code: value })
/** Texts with commas between them, each as code. */
export const codes = (values: readonly string[]): Line =>
  values.flatMap((value, i) => (i === 0 ? [code(value)] : [', ', code(value)]))
