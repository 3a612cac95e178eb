import type { z } from 'zod'
import type { Parsed } from '../base/parsed.ts'

/** What parameters belong together, in the order in which they are shown, with a heading for each. */
export const GROUPS = {
  question: 'Query',
  notify: 'Messages',
  answer: 'Output',
  source: 'Network',
  limits: 'Network',
  nodes: 'Network',
} as const
export type Group = keyof typeof GROUPS

/** What is said of a parameter: plain data, which the command line, OpenAPI, pages and clients read. */
export type ParamFacts = {
  /** How it is written. `list`: an array in a body, by comma on the command line; `object`: an object in a body, JSON on the command line. */
  readonly kind: 'text' | 'flag' | 'choice' | 'duration' | 'whole' | 'list' | 'object'
  readonly description: string
  /** What matters only where it is written in a URL. */
  readonly inUrl?: string
  readonly group: Group
  readonly required: boolean
  readonly example?: string
  /** The values that it may have. */
  readonly choices?: readonly string[]
  /** Least and most, as they are written. */
  readonly bounds?: { readonly min?: string; readonly max?: string }
  /** What is counted by the bounds, where the value is no bare number. */
  readonly unit?: 'items' | 'characters' | 'bytes'
  /** What stands in its place when it is left out, as it is written. */
  readonly fallback?: string
  /** The command line takes it by its place. */
  readonly positional?: true
  readonly flag?: Flag
}

/** How the command line takes a parameter that is not written there as in a URL. */
export type Flag = {
  readonly name: string
  readonly argument: string
  readonly description: string
} & (
  | { readonly kind: 'lines'; readonly read: (line: string) => Parsed<object> }
  | {
      readonly kind: 'file'
      readonly maxBytes: number
      /** The parameters that the text stands for; left out: it is the value. */
      readonly fields?: (text: string) => Parsed<Readonly<Record<string, unknown>>>
    }
)

/** A parameter: what is said of it, and the schema that reads it. */
export type Param<S extends z.ZodType = z.ZodType> = ParamFacts & { readonly schema: S }
export type Params = Readonly<Record<string, Param>>

/** The zod shape of parameters, and what they are read into. */
export type ShapeOf<P extends Params> = { -readonly [Name in keyof P]: P[Name]['schema'] }
export type InputOf<P extends Params> = z.output<z.ZodObject<ShapeOf<P>>>

/** The words about a parameter with its bounds and what stands in its place: `time for everything (1s to 5m; default 30s)`. */
export function describeParam({ description, bounds, unit, fallback, choices }: ParamFacts): string {
  const unitText = unit === undefined ? '' : ` ${unit}`
  const range =
    bounds?.min !== undefined && bounds.max !== undefined
      ? `${bounds.min} to ${bounds.max}${unitText}`
      : bounds?.max !== undefined
        ? `at most ${bounds.max}${unitText}`
        : undefined
  const notes = [
    ...(choices && choices.join() !== 'true,false' ? [choices.join(' | ')] : []),
    ...(range === undefined ? [] : [range]),
    ...(fallback === undefined || fallback === '' || fallback === 'false' ? [] : [`default ${fallback}`]),
  ]
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`
}
