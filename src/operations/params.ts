import { z } from 'zod'
import type { ErrorCode } from '../base/errors.ts'
import { type Parsed, parsed, problem } from '../base/parsed.ts'
import type { Problem } from '../base/problem.ts'
import { printable } from '../base/text.ts'
import { formatDuration, parseDuration } from '../base/time.ts'
import { valueProblem } from '../base/value-problems.ts'
import { type Domain, parseDomain } from '../names/domain.ts'
import { type Ip, parseIp } from '../names/ip.ts'
import { NODE_ID } from '../names/source.ts'
import type { Group, Param, ParamFacts } from './param.ts'
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
      const result = parse(raw.trim())
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

export const domainParam = (description: string) =>
  textParam<Domain>('invalid_domain', parseDomain, { description, example: 'example.org' })

export const ipParam = (description: string) =>
  textParam<Ip>('invalid_ip', parseIp, { description, example: '192.0.2.1' })

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

/** Bounds of the `timeout` parameter. */
const TIMEOUT = { minMs: 1_000, maxMs: 300_000 } as const

/** The time limit of an operation; `fallbackMs` is its default deadline. */
export const timeoutParam = (description: string, fallbackMs: number) =>
  optional(durationParam(TIMEOUT, { description, group: 'limits', fallback: formatDuration(fallbackMs) }))

/** `true` enables, `false` or absent disables; anything else is refused. */
export const flagParam = (description: string, group: Group = 'question') =>
  ({
    kind: 'flag',
    description,
    group,
    required: false,
    choices: ['true', 'false'],
    fallback: 'false',
    schema: z
      .string()
      .default('false')
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
export const choiceParam = <const T extends string>(choices: readonly T[], fallback: T, about: AboutText) =>
  ({
    kind: 'choice',
    group: 'answer',
    required: false,
    choices,
    fallback,
    ...about,
    schema: z
      .string()
      .default(fallback)
      .transform((raw, ctx): T => {
        const text = raw.trim()
        const choice = choices.find((one) => one === text)
        if (choice !== undefined) return choice
        ctx.issues.push({ ...issueOf(valueProblem('choice', { text, known: choices })), input: raw })
        return z.NEVER
      }),
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

/** An object in a body. */
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
const SELECTOR = /^[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/

/** Reads a DKIM selector: one or more labels, at most 120 characters, in lower case (RFC 6376 §3.1). */
export function parseSelector(text: string): Parsed<string> {
  const selector = text.toLowerCase()
  return selector.length <= 120 && SELECTOR.test(selector)
    ? parsed(selector)
    : problem(paramProblem('selector', { text }))
}

/** Reads selectors separated by commas, at most 10, each once. */
export function parseSelectors(text: string): Parsed<readonly string[]> {
  const items = text.split(',').map((item) => item.trim())
  if (items.length > MAX_SELECTORS)
    return problem(paramProblem('selectors', { count: items.length, max: MAX_SELECTORS }))
  const read = items.map(parseSelector)
  const wrong = read.find((one) => !one.ok)
  if (wrong && !wrong.ok) return wrong
  return parsed([...new Set(read.flatMap((one) => (one.ok ? [one.value] : [])))])
}
