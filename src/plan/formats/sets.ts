import type { PlanAnswer, PlanRecord, PlanStep } from '../../answers/plan.ts'
import { counted, printable } from '../../base/text.ts'
import { isWithin } from '../../names/domain.ts'

/** One step in a file: what can be published now, and what stands in comments only. */
export type Part = {
  readonly step: PlanStep
  readonly number: number
  /** Records of this domain to publish now; empty for a later, optional or foreign step. */
  readonly now: readonly PlanRecord[]
  /** Why the records of the step are comments, in a few words. */
  readonly because?: string
}

/** The steps for a file: now is everything that is a record of the domain, before the first step that has to wait. */
export function partsOf({ domain, steps }: PlanAnswer): readonly Part[] {
  const firstWait = steps.findIndex(({ wait }) => wait !== undefined)
  return steps.map((step, i) => {
    const number = i + 1
    if (step.optional) return { step, number, now: [], because: 'optional' }
    if (firstWait >= 0 && i >= firstWait)
      return { step, number, now: [], because: `later: ${step.wait ?? 'after the steps before it'}` }
    if (step.by === 'web server') return { step, number, now: [], because: 'after the file is published' }
    const own = step.records.filter(({ name }) => isWithin(name, domain))
    return own.length < step.records.length || own.length === 0
      ? { step, number, now: own, because: `for the ${step.by}` }
      : { step, number, now: own }
  })
}

/** The values of a name and type, with those that stay beside. */
export type RecordSet = {
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly values: readonly string[]
  /** Why the set cannot be written: its other values are not known. */
  readonly unknown?: string
}

/** The sets to publish now as wholes: for tools that own all values of a name and type. */
export function wholeSets(plan: PlanAnswer): readonly RecordSet[] {
  const sets = new Map<string, RecordSet>()
  for (const { name, type, ttl, value, action, beside = [], beside_unknown: unknown } of partsOf(plan).flatMap(
    ({ now }) => now,
  )) {
    const key = `${name} ${type}`
    const known = sets.get(key)?.values ?? beside
    const values = action === 'remove' ? known : [...known.filter((one) => one !== value), value]
    sets.set(key, { name, type, ttl, values, ...(unknown !== undefined && { unknown }) })
  }
  return [...sets.values()]
}

/** Names that every tool takes as they are written. */
const PLAIN_NAME = /^[A-Za-z0-9_*/.-]{1,254}$/

/**
 * Whether the names of a record can be written without escapes: other names are left out, so that a value never leaves
 * its place.
 */
export function isPlain({ name, type, value }: Pick<PlanRecord, 'name' | 'type' | 'value'>): boolean {
  if (!PLAIN_NAME.test(name)) return false
  if (type === 'MX') return /^\d{1,5} [A-Za-z0-9_*/.-]{1,254}$/.test(value)
  return type === 'TXT' || PLAIN_NAME.test(value) || /^[0-9A-Fa-f:.]{2,45}$/.test(value)
}

/** Text of a comment: one line, nothing that ends it. */
/** Maximum number of characters of a record in a comment: it is never cut in the middle of what is published. */
export const MAX_LINE = 4_096

export const commentText = (text: string): string => printable(text.replace(/\s+/g, ' '), 400).replace(/\*\//g, '* /')

const graded = (score: number, grade: string | null): string => (grade === null ? String(score) : `${grade} ${score}`)

/** The lines at the top of a file. */
export function headLines({ domain, score, grade, end, steps, observed_at }: PlanAnswer): readonly string[] {
  const needed = steps.filter(({ optional }) => !optional)
  return [
    `Plan for ${domain}, made ${observed_at.slice(0, 16).replace('T', ' ')} UTC: ${graded(score, grade)} now, ${graded(end.score, end.grade)} after ${counted(needed.length, 'step')}.`,
    'Only the records named here change; every other record of the domain stays.',
  ]
}

/** The lines above the records of a step. */
export function stepLines({ step, number, because }: Part): readonly string[] {
  const { title, score, grade, by, why, before, instructions, file } = step
  return [
    `Step ${number}: ${title} (${graded(score, grade)}${step.assumed ? ', once it is done' : ''})${because === undefined ? '' : ` – ${because}`}`,
    ...(by === 'dns' ? [] : [`By: ${by}.`]),
    ...(why === '' ? [] : [`Why: ${why}`]),
    ...before.map((one) => `Before: ${one}`),
    ...(instructions === undefined ? [] : [instructions]),
    ...(file
      ? [
          `File ${file.url}:`,
          ...file.text
            .trim()
            .split('\n')
            .map((line) => `  ${line}`),
        ]
      : []),
  ].map(commentText)
}

/** What has to go, for tools that only add. */
export const goneLines = (records: readonly PlanRecord[]): readonly string[] =>
  records.flatMap(({ action, name, type, was }) =>
    was.map((value) => commentText(`${action === 'remove' ? 'remove' : 'replaces'} ${name} ${type} ${value}`)),
  )

/** The records of a step that a file has in comments only: each as `write` has it, and what has to go. */
export const laterLines = ({ step, now }: Part, write: (record: PlanRecord) => string): readonly string[] =>
  step.records.flatMap((one) => {
    if (now.includes(one) || one.action === 'keep') return []
    return one.action === 'remove' ? goneLines([one]) : [write(one)]
  })

/** The name relative to the domain, `@` for itself; one that is not of the domain in full, with a final dot. */
export const relative = (name: string, domain: string): string =>
  name === domain ? '@' : isWithin(name, domain) ? name.slice(0, -(domain.length + 1)) : `${name}.`

/** The octets of a TXT in strings of at most 255. */
export function stringsOf(text: string): readonly Buffer[] {
  const octets = Buffer.from(text)
  const strings = Array.from({ length: Math.ceil(octets.length / 255) }, (_, i) =>
    octets.subarray(i * 255, i * 255 + 255),
  )
  return strings.length === 0 ? [Buffer.alloc(0)] : strings
}

/** One string of a TXT in quotes, as in a zone file (RFC 1035 §5.1); `base` is that of the escapes of octets. */
export const quotedString = (octets: Buffer, base: 8 | 10 = 10): string =>
  `"${[...octets]
    .map((octet) => {
      if (octet === 0x22 || octet === 0x5c) return `\\${String.fromCharCode(octet)}`
      return octet >= 0x20 && octet < 0x7f ? String.fromCharCode(octet) : `\\${octet.toString(base).padStart(3, '0')}`
    })
    .join('')}"`
