import { z } from 'zod'
import type { ErrorCode } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { type Parsed, type Problem, parsed, problem } from '../base/problem.ts'
import { printable } from '../base/text.ts'
import { formatDuration, parseDuration } from '../base/time.ts'
import { valueProblem } from '../base/value-problems.ts'
import type { Domain } from '../names/domain.ts'
import type { Email } from '../names/email.ts'
import type { Ip } from '../names/ip.ts'
import { readAddress, readDomain, readIp, readSelector } from '../names/pasted.ts'
import { type Pasted, trimmed } from '../names/pasted-steps.ts'
import { NODE_ID } from '../names/source.ts'
import { paramProblem } from './problems.ts'

type AboutText = Pick<ParamFacts, 'description'> & Partial<Omit<ParamFacts, 'required'>>

/** The issue of a schema that `why` is; `code` is that of the error. */
export const issueOf = (why: Problem, code: ErrorCode = 'invalid_parameter') =>
  ({ code: 'custom', message: why.text, params: { code, problem: why } }) as const

/**
 * A text parameter, white space around it trimmed, that `parse` reads into its type; refused text gets the error
 * `code`.
 */
export const textParam = <T>(code: ErrorCode, parse: (text: string) => Parsed<T>, about: AboutText) =>
  ({
    kind: 'text',
    group: 'question',
    required: true,
    ...about,
    schema: z.string().transform((raw, ctx): T => {
      const result = parse(trimmed(raw))
      if (result.ok) return result.value
      ctx.issues.push({ ...issueOf(result.problem, code), input: raw })
      return z.NEVER
    }),
  }) as const satisfies Param

/** The same parameter, but optional. */
export const optional = <S extends z.ZodType>(param: Param<S>) =>
  ({ ...param, required: false, schema: param.schema.optional() }) as const satisfies Param

/** The same parameter, as a positional argument on the command line. */
export const positional = <P extends Param>(param: P): P => ({ ...param, positional: true })

/** The same parameter; if it is omitted, an empty text is read. */
export const orEmpty = <T>(param: Param<z.ZodPipe<z.ZodString, z.ZodTransform<T, string>>>) =>
  ({
    ...param,
    required: false,
    fallback: '',
    schema: z.string().default('').pipe(param.schema),
  }) as const satisfies Param

/** A text parameter whose value is read as people paste it (names/pasted.ts). */
export const pastedParam = <T>(code: ErrorCode, read: (text: string) => Parsed<Pasted<T>>, about: AboutText) => {
  const parse = (text: string): Parsed<T> => {
    const result = read(text)
    return result.ok ? parsed(result.value.value) : result
  }
  return { ...textParam<T>(code, parse, about), pasted: read } as const
}

/** A domain; the name of a DKIM key gives its selector, too. */
export const domainParam = (description: string) => {
  const param = pastedParam<Domain>('invalid_domain', domainOf, { description, example: 'example.org' })
  const gives = (text: string): { readonly selector: string } | undefined => {
    const read = readDomain(text)
    const selector = read.ok ? read.value.value.selector : undefined
    return selector === undefined ? undefined : { selector }
  }
  return { ...param, gives } as const
}
function domainOf(text: string): Parsed<Pasted<Domain>> {
  const read = readDomain(text)
  return read.ok ? parsed({ value: read.value.value.domain, taken: read.value.taken }) : read
}

export const ipParam = (description: string) =>
  pastedParam<Ip>('invalid_ip', readIp, { description, example: '192.0.2.1' })

export const emailParam = (description: string) =>
  pastedParam<Email>('invalid_parameter', readAddress, { description, example: 'joe@example.org' })

export const selectorParam = pastedParam<string>('invalid_parameter', readSelector, {
  description: 'selector: the s= tag of a signature, or the name of the key record',
  example: 'google',
})

/** A duration such as 30s or 1m30s; a value outside of `minMs` to `maxMs` is refused, not clamped. */
export const durationParam = (bounds: { readonly minMs: number; readonly maxMs: number }, about: AboutText) => {
  const [min, max] = [formatDuration(bounds.minMs), formatDuration(bounds.maxMs)]
  return textParam<number>(
    'invalid_duration',
    (text) => {
      const result = parseDuration(text)
      if (!result.ok || (result.value >= bounds.minMs && result.value <= bounds.maxMs)) return result
      return problem(valueProblem('outside', { text, min, max }))
    },
    { kind: 'duration', example: '30s', bounds: { min, max }, ...about },
  )
}

const TIMEOUT = { minMs: 1_000, maxMs: 300_000 } as const

/** The usual time limit of an operation. */
export const DEADLINE_MS = 20_000

/** The time limit of an operation; `fallbackMs` is its default deadline. */
export const timeoutParam = (description: string, fallbackMs = DEADLINE_MS) =>
  optional(durationParam(TIMEOUT, { description, group: 'limits', fallback: formatDuration(fallbackMs) }))

/** `true` enables, `false` disables; anything else is refused. `isOn`: absent means true. */
export const flagParam = (description: string, group: Group = 'question', isOn = false) =>
  ({
    kind: 'flag',
    description,
    group,
    required: false,
    choices: ['true', 'false'],
    fallback: isOn ? 'true' : 'false',
    schema: z
      .string()
      .default(isOn ? 'true' : 'false')
      .transform((raw, ctx): boolean => {
        const text = raw.trim()
        if (text === 'true' || text === 'false') return text === 'true'
        ctx.issues.push({ ...issueOf(valueProblem('boolean', { text })), input: raw })
        return z.NEVER
      }),
  }) as const satisfies Param

/** {@link flagParam} in a body: true or false in JSON, or as text. */
export const bodyFlagParam = (description: string, group: Group = 'question') => {
  const { choices, fallback, schema, ...flag } = flagParam(description, group)
  return { ...flag, schema: z.union([z.boolean(), schema]).default(false) } as const satisfies Param
}

/** {@link bodyFlagParam}, but optional; if omitted, the value stays unchanged. */
export const bodySwitchParam = (description: string, group: Group = 'question') =>
  ({
    kind: 'flag',
    description,
    group,
    required: false,
    schema: z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]).optional(),
  }) as const satisfies Param

/** Maximum age of a cached answer, ms: `0` requires a new one, otherwise a duration up to a day. */
export const maxAgeParam = optional(
  textParam<number>(
    'invalid_duration',
    (text) => {
      if (text === '0') return parsed(0)
      const result = parseDuration(text)
      if (!result.ok || result.value <= 86_400_000) return result
      return problem(valueProblem('above', { text, max: '24h' }))
    },
    {
      kind: 'duration',
      description: 'maximum age of cached answers; 0 ignores the cache',
      group: 'limits',
      bounds: { min: '0', max: '24h' },
      example: '10m',
    },
  ),
)

/** A `max_age` as text again. */
export const formatAge = (ms: number): string => (ms === 0 ? '0' : `${ms}ms`)

/** One of a fixed set of words. */
const choiceOf =
  <const T extends string>(choices: readonly T[]) =>
  (raw: string, ctx: z.RefinementCtx): T => {
    const text = raw.trim()
    const choice = choices.find((one) => one === text)
    if (choice !== undefined) return choice
    ctx.issues.push({ ...issueOf(valueProblem('choice', { text, known: choices })), input: raw })
    return z.NEVER
  }

export const choiceParam = <const T extends string>(choices: readonly T[], fallback: T, about: AboutText) =>
  ({
    kind: 'choice',
    group: 'answer',
    required: false,
    choices,
    fallback,
    ...about,
    schema: z.string().default(fallback).transform(choiceOf(choices)),
  }) as const satisfies Param

/** A choice without a default. */
export const openChoiceParam = <const T extends string>(choices: readonly T[], about: AboutText) =>
  ({
    kind: 'choice',
    group: 'answer',
    required: false,
    choices,
    ...about,
    schema: z.string().transform(choiceOf(choices)).optional(),
  }) as const satisfies Param

export const wholeParam = (description: string, bounds: { readonly min: number; readonly max: number }) =>
  textParam<number>(
    'invalid_parameter',
    (text) =>
      /^\d{1,10}$/.test(text) && Number(text) >= bounds.min && Number(text) <= bounds.max
        ? parsed(Number(text))
        : problem(valueProblem('whole', { text, ...bounds })),
    { kind: 'whole', description, bounds: { min: String(bounds.min), max: String(bounds.max) } },
  )

/** An optional list: an array in a body, separated by commas on the command line. `item` reads each item. */
export const listParam = <S extends z.ZodType>(item: S, max: number, about: AboutText) =>
  ({
    kind: 'list',
    group: 'question',
    required: false,
    bounds: { max: String(max) },
    unit: 'items',
    ...about,
    schema: z.array(item).max(max, paramProblem('items', { max }).text).optional(),
  }) as const satisfies Param

export const objectParam = <S extends z.ZodType>(schema: S, about: AboutText) =>
  ({ kind: 'object', group: 'question', required: true, ...about, schema }) as const satisfies Param

/** A line of text without control characters. */
export const lineParam = (description: string, max: number) =>
  textParam<string>(
    'invalid_parameter',
    (text) =>
      text.length <= max && text === printable(text, max) ? parsed(text) : problem(valueProblem('line', { max })),
    { description, bounds: { max: String(max) }, unit: 'characters' },
  )

/** Other nodes that get the same question: `all`, or the id of one (vantage.ts). */
export const vantageParam = textParam<string>(
  'invalid_parameter',
  (text) => (NODE_ID.test(text) ? parsed(text) : problem(valueProblem('node_or_word', { text, word: 'all' }))),
  {
    description: 'also query other nodes: all, or the id of one',
    example: 'all',
    group: 'nodes',
  },
)

/** Maximum number of selectors that a caller may give. */
export const MAX_SELECTORS = 10

/** Reads selectors separated by commas, at most 10, each once. */
export function readSelectors(text: string): Parsed<Pasted<readonly string[]>> {
  const items = text.split(',')
  if (items.length > MAX_SELECTORS)
    return problem(paramProblem('selectors', { count: items.length, max: MAX_SELECTORS }))
  const read = items.map(readSelector)
  const wrong = read.find((one) => !one.ok)
  if (wrong && !wrong.ok) return wrong
  const good = read.flatMap((one) => (one.ok ? [one.value] : []))
  return parsed({ value: [...new Set(good.map(({ value }) => value))], taken: good.flatMap(({ taken }) => taken) })
}

export const selectorsParam = optional(
  pastedParam<readonly string[]>('invalid_parameter', readSelectors, {
    description: 'DKIM selectors to query first: a,b',
    bounds: { max: String(MAX_SELECTORS) },
    unit: 'items',
    example: 'google,s1',
  }),
)

/** Maximum number of characters of a cursor. */
const MAX_CURSOR = 512

/**
 * The page after another one: its `next_cursor`. `schema` reads its content; a cursor that was not issued here is
 * refused.
 */
export const cursorParam = <S extends z.ZodType>(schema: S) =>
  optional(
    textParam<z.output<S>>('invalid_parameter', (text) => readCursor(schema, text), {
      description: 'next_cursor of the previous page',
      group: 'answer',
    }),
  )

/** Maximum number of items of a page. */
export const limitParam = (bounds: { readonly max: number; readonly fallback: number }) => {
  const param = wholeParam('items per page', { min: 1, max: bounds.max })
  const schema = param.schema.default(bounds.fallback)
  return { ...param, required: false, group: 'answer', fallback: String(bounds.fallback), schema } as const
}

/** Where a list continues, as an opaque text of at least 8 characters. */
export const formatCursor = (after: Json): string => Buffer.from(JSON.stringify({ after })).toString('base64url')

const cursor = z.strictObject({ after: z.unknown() })

/** The place that a cursor names, read by `schema`. */
export function readCursor<S extends z.ZodType>(schema: S, text: string): Parsed<z.output<S>> {
  const refused = problem(paramProblem('cursor'))
  if (text.length > MAX_CURSOR) return refused
  try {
    const { after } = cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    const read = schema.safeParse(after)
    return read.success ? parsed(read.data) : refused
  } catch {
    return refused // no JSON, or another
  }
}

/**
 * One page of `rows`, which has one row more than `limit` if there are more. `place` is where the list continues after
 * a row: one of its fields, or what a function makes of it.
 */
export function pageOf<Row, Item = Row>(
  rows: readonly Row[],
  limit: number,
  place: keyof Row | ((last: Row) => Json),
  present?: (row: Row) => Item,
): { readonly data: readonly Item[]; readonly has_more: boolean; readonly next_cursor: string | null } {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const placeOf = (row: Row): Json => (typeof place === 'function' ? place(row) : (row[place] as Json))
  return {
    data: present ? shown.map(present) : (shown as readonly unknown[] as readonly Item[]),
    has_more: rows.length > limit && last !== undefined,
    next_cursor: rows.length > limit && last !== undefined ? formatCursor(placeOf(last)) : null,
  }
}

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
type ParamFacts = {
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
  /** Reads it as people paste it, for the field `asked` of the answer. */
  readonly pasted?: (text: string) => Parsed<Pasted<unknown>>
  /** Other parameters that its text names, which count where they are not given. */
  readonly gives?: (text: string) => Readonly<Record<string, string>> | undefined
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
