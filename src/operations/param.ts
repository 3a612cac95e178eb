import type { z } from 'zod'
import type { Parsed } from '../base/parsed.ts'

/** The groups of parameters, in the order in which they are shown, with a heading for each. */
export const GROUPS = {
  question: 'Query',
  notify: 'Messages',
  answer: 'Output',
  source: 'Network',
  limits: 'Network',
  nodes: 'Network',
} as const
export type Group = keyof typeof GROUPS

/** The description of a parameter: plain data, which the command line, OpenAPI, pages and clients read. */
export type ParamFacts = {
  /**
   * Its notation. `list`: an array in a body, separated by commas on the command line; `object`: an object in a body,
   * JSON on the command line.
   */
  readonly kind: 'text' | 'flag' | 'choice' | 'duration' | 'whole' | 'list' | 'object'
  readonly description: string
  /** Text that applies only to a URL. */
  readonly inUrl?: string
  readonly group: Group
  readonly required: boolean
  readonly example?: string
  /** Its possible values. */
  readonly choices?: readonly string[]
  /** Minimum and maximum, as they are written. */
  readonly bounds?: { readonly min?: string; readonly max?: string }
  /** What the bounds count, if the value is not a bare number. */
  readonly unit?: 'items' | 'characters' | 'bytes'
  /** The default, as it is written. */
  readonly fallback?: string
  /** The command line takes it as a positional argument. */
  readonly positional?: true
  readonly flag?: Flag
}

/** How the command line takes a parameter that is written differently than in a URL. */
export type Flag = {
  readonly name: string
  readonly argument: string
  readonly description: string
} & (
  | { readonly kind: 'lines'; readonly read: (line: string) => Parsed<object> }
  | {
      readonly kind: 'file'
      readonly maxBytes: number
      /** The parameters that follow from the text; by default the text is the value. */
      readonly fields?: (text: string) => Parsed<Readonly<Record<string, unknown>>>
    }
  /** The text is the value; `isList`: its parts between commas are. */
  | { readonly kind: 'text'; readonly isList?: true }
)

/** A parameter: its description, and the schema that reads it. */
export type Param<S extends z.ZodType = z.ZodType> = ParamFacts & { readonly schema: S }
export type Params = Readonly<Record<string, Param>>

/** The zod shape of parameters, and the type of their values. */
export type ShapeOf<P extends Params> = { -readonly [Name in keyof P]: P[Name]['schema'] }
export type InputOf<P extends Params> = z.output<z.ZodObject<ShapeOf<P>>>

/** The description of a parameter with its bounds and default: `time for everything (1s to 5m; default 30s)`. */
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
