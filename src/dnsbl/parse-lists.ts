import { z } from 'zod'
import { messageOf } from '../base/errors.ts'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import { problemOf } from '../base/schema-problems.ts'
import { parseDomain } from '../names/domain.ts'
import { listFileProblem, type NeverReason } from './problems.ts'
import { LIST_COUNT, type ListSet, parseCodePattern } from './zone-type.ts'

/** Maximum number of characters of an operator's file. */
const MAX_CHARACTERS = 256 * 1024

/**
 * Reads an operator's own set of lists: JSON of the same shape as the built-in one,
 * `{"version": "…", "lists": [29 rows]}`. Fields that most built-in rows share may be omitted. Refuses lists that are
 * dead, allow lists, and lists of domains.
 */
export function parseLists(text: string): Parsed<ListSet> {
  if (text.length > MAX_CHARACTERS) return problem(listFileProblem('too_large', { max: MAX_CHARACTERS / 1024 }))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return problem(listFileProblem('not_json', { reason: messageOf(error) }))
  }
  const checked = SET.safeParse(value)
  if (checked.success) return parsed(checked.data as ListSet)
  const issues = checked.error.issues
    .slice(0, 5)
    .map((issue) => `${placeOf(issue.path, value)}: ${problemOf(issue).text}`)
  const more = checked.error.issues.length - issues.length
  return problem(listFileProblem('faults', { faults: issues, more }))
}

/**
 * Zones that are not blacklists of addresses: dead (their answers mislead), listing everybody who is not registered,
 * allow lists, lists of domains.
 */
const NEVER: Readonly<Record<string, NeverReason>> = {
  'sorbs.net': 'dead',
  'manitu.net': 'dead',
  'wpbl.info': 'dead',
  'lashback.com': 'dead',
  'inps.de': 'dead',
  'lugh.ch': 'dead',
  'madavi.de': 'dead',
  'spamdown.org': 'dead',
  'anonmails.de': 'dead',
  'cyberlogic.net': 'dead',
  'spamcannibal.org': 'dead',
  'senderscore.com': 'everybody',
  'dnswl.org': 'allow',
  'swl.spamhaus.org': 'allow',
  'dwl.spamhaus.org': 'allow',
  'surbl.org': 'domains',
  'uribl.com': 'domains',
  'dbl.spamhaus.org': 'domains',
}

const neverReason = (zone: string): NeverReason | undefined =>
  Object.entries(NEVER).find(([never]) => zone === never || zone.endsWith(`.${never}`))?.[1]

const line = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\p{C}]*$/u, listFileProblem('control').text)

const zone = z.string().transform((text, ctx) => {
  const domain = parseDomain(text)
  const never = domain.ok ? neverReason(domain.value) : undefined
  const wrong = domain.ok ? never && listFileProblem('never', { zone: domain.value, why: never }) : domain.problem
  if (wrong) ctx.addIssue({ code: 'custom', message: wrong.text })
  return domain.ok ? domain.value : ''
})

const code = z.string().superRefine((text, ctx) => {
  const pattern = parseCodePattern(text)
  if (!pattern.ok) ctx.addIssue({ code: 'custom', message: pattern.problem.text })
})

const tier = z.enum(['A', 'B', 'C', 'D'])
const scope = z.enum(['ip', 'range', 'asn', 'policy'])
const codeRow = z.strictObject({
  code,
  meaning: line(200).min(1),
  tier: tier.optional(),
  scope: scope.optional(),
})
const USUAL_CODES = [{ code: '127.0.0.2', meaning: 'listed' }]

const row = z.strictObject({
  name: line(64).min(1),
  zone,
  zoneV6: zone.optional(),
  tier,
  ipv6: z.enum(['yes', 'no', 'unknown']).default('unknown'),
  scope: scope.default('ip'),
  codes: z.array(codeRow).min(1).max(64).default(USUAL_CODES),
  ignored: z.array(codeRow).max(64).default([]),
  strict: z.boolean().default(false),
  allowance: z
    .union(
      [
        z.strictObject({ perSecond: z.number().positive().max(100_000) }),
        z.strictObject({ perDay: z.number().min(2).max(1e9) }),
      ],
      listFileProblem('allowance').text,
    )
    .default({ perSecond: 50 }),
  testPoint: z
    .strictObject({ negative: z.boolean().default(true), answers: z.array(code).max(16).default([]) })
    .default({ negative: true, answers: [] }),
  delistUrl: line(300).regex(/^https:\/\/[a-z0-9.-]+(?:[/?#]\S*)?$/i, listFileProblem('https').text),
  keyForm: z
    .strictObject({
      key: z.enum(['dqs', 'spamrats']),
      zone: z.string().regex(/^\{key\}(?:\.[a-z0-9-]{1,63}){2,}$/, listFileProblem('key_zone').text),
    })
    .optional(),
  verified: z
    .string()
    .regex(/^(?:\d{4}-\d{2}-\d{2})?$/, listFileProblem('day').text)
    .default(''),
  notes: line(500).default(''),
})

const SET = z.strictObject({
  version: line(64).min(1),
  lists: z
    .array(row)
    .length(LIST_COUNT, listFileProblem('count', { count: LIST_COUNT }).text)
    .superRefine((rows, ctx) => {
      for (const field of ['name', 'zone'] as const) {
        const seen = new Set<string>()
        for (const [index, { [field]: value }] of rows.entries()) {
          if (seen.has(value))
            ctx.addIssue({
              code: 'custom',
              path: [index, field],
              message: listFileProblem('twice', { text: value }).text,
            })
          seen.add(value)
        }
      }
    }),
})

/** `row 3 (SpamCop) codes[0].code`, counted from 1. */
function placeOf(path: readonly PropertyKey[], value: unknown): string {
  const [first, index, ...rest] = path
  if (first !== 'lists' || typeof index !== 'number') return path.length === 0 ? 'the file' : path.map(String).join('.')
  const name = (value as { lists: { name?: unknown }[] }).lists[index]?.name
  const field = rest.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  const shown = typeof name === 'string' ? ` (${name.slice(0, 64)})` : ''
  return `row ${index + 1}${shown}${field === '' ? '' : ` ${field.replace(/^\./, '')}`}`
}
