import { z } from 'zod'
import { formatDuration, parseDuration } from '../base/duration.ts'
import type { ErrorCode } from '../base/errors.ts'
import type { Parsed } from '../base/parsed.ts'
import { printable } from '../base/text.ts'
import { type Domain, parseDomain } from '../names/domain.ts'
import { type Ip, parseIp } from '../names/ip.ts'

/** Parameters as the faces hand them in: text, white space around it trimmed, read into its branded type or refused with a stable code. */

/** A text parameter that `parse` reads; what it refuses becomes `code`. */
export function textParam<T>(
  code: ErrorCode,
  parse: (text: string) => Parsed<T>,
  about: { description: string; example?: string },
) {
  return z
    .string()
    .meta({ description: about.description, ...(about.example === undefined ? {} : { examples: [about.example] }) })
    .transform((raw, ctx): T => {
      const result = parse(raw.trim())
      if (result.ok) return result.value
      ctx.issues.push({ code: 'custom', message: result.problem, input: raw, params: { code } })
      return z.NEVER
    })
}

/** Bounds of the `timeout` parameter. */
export const TIMEOUT = { minMs: 1_000, maxMs: 300_000 } as const

export const domainParam = (description: string) =>
  textParam<Domain>('invalid_domain', parseDomain, { description, example: 'example.org' })

export const ipParam = (description: string) =>
  textParam<Ip>('invalid_ip', parseIp, { description, example: '192.0.2.1' })

/** A duration such as 30s or 1m30s; outside of `minMs` to `maxMs` it is refused, not clamped. */
export const durationParam = (description: string, bounds: { readonly minMs: number; readonly maxMs: number }) =>
  textParam<number>(
    'invalid_duration',
    (text) => {
      const result = parseDuration(text)
      if (!result.ok || (result.value >= bounds.minMs && result.value <= bounds.maxMs)) return result
      return {
        ok: false,
        problem: `${text} is outside of ${formatDuration(bounds.minMs)} to ${formatDuration(bounds.maxMs)}`,
      }
    },
    { description, example: '30s' },
  )

/** `true` enables, `false` or absent disables; anything else is refused. */
export const flagParam = (description: string) =>
  z
    .string()
    .meta({ description, enum: ['true', 'false'] })
    .default('false')
    .transform((raw, ctx): boolean => {
      const text = raw.trim()
      if (text === 'true' || text === 'false') return text === 'true'
      ctx.issues.push({
        code: 'custom',
        message: `${JSON.stringify(text.slice(0, 40))} is neither true nor false`,
        input: raw,
        params: { code: 'invalid_parameter' },
      })
      return z.NEVER
    })

/** How old a remembered answer may be, ms: `0` asks anew, else a duration up to a day. */
export const maxAgeParam = textParam<number>(
  'invalid_duration',
  (text) => {
    if (text === '0') return { ok: true, value: 0 }
    const result = parseDuration(text)
    if (!result.ok || result.value <= 86_400_000) return result
    return { ok: false, problem: `${text} is more than 24h` }
  },
  { description: 'how old a remembered answer may be; 0 asks anew', example: '10m' },
)

/** A `max_age` as text again. */
export const formatAge = (ms: number): string => (ms === 0 ? '0' : `${ms}ms`)

export const choiceParam = <const T extends readonly [string, ...string[]]>(
  choices: T,
  fallback: T[number],
  description: string,
) =>
  textParam<T[number]>(
    'invalid_parameter',
    (text) =>
      (choices as readonly string[]).includes(text)
        ? { ok: true, value: text }
        : { ok: false, problem: `${JSON.stringify(text.slice(0, 40))} is not one of ${choices.join(', ')}` },
    { description: `${description} (${choices.join(' | ')})`, example: fallback },
  ).default(fallback as never)

export const wholeParam = (description: string, bounds: { readonly min: number; readonly max: number }) =>
  textParam<number>(
    'invalid_parameter',
    (text) =>
      /^\d{1,10}$/.test(text) && Number(text) >= bounds.min && Number(text) <= bounds.max
        ? { ok: true, value: Number(text) }
        : {
            ok: false,
            problem: `${JSON.stringify(text.slice(0, 40))} is not a whole number from ${bounds.min} to ${bounds.max}`,
          },
    { description },
  )

/** A list of texts: an array in a body, by comma on the command line. Each is read by `item`. */
export const listParam = <T extends z.ZodType>(item: T, max: number, description: string) =>
  z.array(item).max(max, `more than ${max} are not taken`).optional().meta({ description, list: true })

/** A line of text without control characters. */
export const lineParam = (description: string, max: number) =>
  textParam<string>(
    'invalid_parameter',
    (text) =>
      text.length <= max && text === printable(text, max)
        ? { ok: true, value: text }
        : { ok: false, problem: `the text is longer than ${max} characters, or has control characters in it` },
    { description },
  )
