import { z } from 'zod'
import { type Parsed, parsed, problem } from '../base/parsed.ts'
import { parseDomain } from '../names/domain.ts'
import { parseCodePattern } from './codes.ts'
import { LIST_COUNT, type ListSet } from './zone-type.ts'

/** Maximum number of characters of an operator's file. */
const MAX_CHARACTERS = 256 * 1024

/**
 * Reads an operator's own set of lists: JSON of the same shape as the built-in one, `{"version": "…", "lists": [29 rows]}`. Fields that most built-in rows
 * share may be omitted. Refuses lists that are dead, allow lists, and lists of domains.
 */
export function parseLists(text: string): Parsed<ListSet> {
  if (text.length > MAX_CHARACTERS) return problem(`the file is larger than ${MAX_CHARACTERS / 1024} KiB`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return problem(`the file is not JSON: ${(error as Error).message.slice(0, 200)}`)
  }
  const checked = SET.safeParse(value)
  if (checked.success) return parsed(checked.data as ListSet)
  const issues = checked.error.issues.slice(0, 5).map((issue) => `${placeOf(issue.path, value)}: ${issue.message}`)
  const more = checked.error.issues.length - issues.length
  return problem(`${issues.join('; ')}${more > 0 ? `; and ${more} more` : ''}`)
}

/** Zones that are not blacklists of addresses: dead (their answers mislead), listing everybody who is not registered, allow lists, lists of domains. */
const NEVER: Readonly<Record<string, string>> = {
  'sorbs.net': 'is dead',
  'manitu.net': 'is dead',
  'wpbl.info': 'is dead',
  'lashback.com': 'is dead',
  'inps.de': 'is dead',
  'lugh.ch': 'is dead',
  'madavi.de': 'is dead',
  'spamdown.org': 'is dead',
  'anonmails.de': 'is dead',
  'cyberlogic.net': 'is dead',
  'spamcannibal.org': 'is dead',
  'senderscore.com': 'lists every address that is not registered',
  'dnswl.org': 'is an allow list',
  'swl.spamhaus.org': 'is an allow list',
  'dwl.spamhaus.org': 'is an allow list',
  'surbl.org': 'lists domains, not addresses',
  'uribl.com': 'lists domains, not addresses',
  'dbl.spamhaus.org': 'lists domains, not addresses',
}

const neverReason = (zone: string): string | undefined =>
  Object.entries(NEVER).find(([never]) => zone === never || zone.endsWith(`.${never}`))?.[1]

const line = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\p{C}]*$/u, 'has control characters')

const zone = z.string().transform((text, ctx) => {
  const domain = parseDomain(text)
  const why = domain.ok ? neverReason(domain.value) : domain.problem
  if (why !== undefined) ctx.addIssue({ code: 'custom', message: domain.ok ? `${domain.value} ${why}` : why })
  return domain.ok ? domain.value : ''
})

const code = z.string().superRefine((text, ctx) => {
  const pattern = parseCodePattern(text)
  if (!pattern.ok) ctx.addIssue({ code: 'custom', message: pattern.problem })
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
      'give {"perSecond": n} or {"perDay": n}',
    )
    .default({ perSecond: 50 }),
  testPoint: z
    .strictObject({ negative: z.boolean().default(true), answers: z.array(code).max(16).default([]) })
    .default({ negative: true, answers: [] }),
  delistUrl: line(300).regex(/^https:\/\/[a-z0-9.-]+(?:[/?#]\S*)?$/i, 'is not an https address'),
  keyForm: z
    .strictObject({
      key: z.enum(['dqs', 'spamrats']),
      zone: z.string().regex(/^\{key\}(?:\.[a-z0-9-]{1,63}){2,}$/, 'write the zone with {key} as its first label'),
    })
    .optional(),
  verified: z
    .string()
    .regex(/^(?:\d{4}-\d{2}-\d{2})?$/, 'is not a day such as 2026-01-31')
    .default(''),
  notes: line(500).default(''),
})

const SET = z.strictObject({
  version: line(64).min(1),
  lists: z
    .array(row)
    .length(LIST_COUNT, `the file must have ${LIST_COUNT} lists: replace lists, do not remove any`)
    .superRefine((rows, ctx) => {
      for (const field of ['name', 'zone'] as const) {
        const seen = new Set<string>()
        for (const [index, { [field]: value }] of rows.entries()) {
          if (seen.has(value)) ctx.addIssue({ code: 'custom', path: [index, field], message: `${value} occurs twice` })
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
