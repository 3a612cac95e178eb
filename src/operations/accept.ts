import { z } from 'zod'
import type { Acceptance } from '../answers/finding.ts'
import type { AppError } from '../base/errors.ts'
import { readJsonText } from '../base/json-text.ts'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import { dayOf } from '../base/time.ts'
import { nearest } from '../base/value-problems.ts'
import { type Domain, parseDomain } from '../names/domain.ts'
import { ownerOf } from '../names/owner.ts'
import { type Acceptances, FINDING_IDS, severityOfFinding } from '../score/accepted.ts'
import type { Deps } from './deps.ts'
import type { Call } from './operation.ts'
import { optional, textParam } from './params.ts'
import { acceptedInputError, acceptedProblem } from './problems.ts'

/** Longest time for which a finding is accepted, years: a critical one, and any other. */
const MAX_YEARS = { critical: 1, other: 5 } as const
export const MAX_REASON = 1_000
/** Maximum size of a file of accepted findings, characters. */
export const MAX_ACCEPT_FILE = 262_144
/** Maximum number of acceptances in a file. */
const MAX_ITEMS = 2_000

/** The end of an acceptance: a time, or the end of a day (UTC). Undefined for other text. */
export function parseUntil(text: string): Date | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) {
    const ms = Date.parse(`${text}T23:59:59.999Z`)
    return Number.isNaN(ms) || dayOf(ms) !== text ? undefined : new Date(ms)
  }
  const time = z.iso.datetime({ offset: true }).safeParse(text)
  return time.success ? new Date(text) : undefined
}

/**
 * The end of an acceptance, by default the latest one; an error for a critical finding without an end within a year, and
 * for any other that is later than five years.
 */
export function endOf(
  finding: string,
  until: Date | undefined,
  nowMs: number,
  line?: number,
): { readonly end: Date } | { readonly error: AppError } {
  const isCritical = severityOfFinding(finding) === 'critical'
  const now = new Date(nowMs)
  const year = now.getUTCFullYear() + (isCritical ? MAX_YEARS.critical : MAX_YEARS.other)
  const latest = new Date(Date.UTC(year, now.getUTCMonth(), now.getUTCDate() + 1) - 1)
  if (until === undefined ? isCritical : until > latest) {
    const values = { finding, line, day: dayOf(latest.getTime()) }
    return { error: acceptedInputError(isCritical ? 'until' : 'too_long', values, { parameter: 'until' }) }
  }
  return { end: until ?? latest }
}

type FileItem = {
  readonly line: number
  readonly finding: string
  readonly domain: Domain
  readonly reason: string
  readonly by: string
  readonly until: Date | undefined
}

const line = (max: number) => z.string().min(1).max(max)
const items = z
  .array(
    z.strictObject({
      finding: line(100),
      domain: line(255),
      reason: line(MAX_REASON),
      until: line(40).optional(),
      by: line(200).default('file'),
    }),
  )
  .max(MAX_ITEMS)

/** A file of accepted findings: a JSON list. A problem names the line, and what was expected there. */
export function parseAccepted(text: string): Parsed<readonly FileItem[]> {
  if (text.length > MAX_ACCEPT_FILE) return problem(acceptedProblem('file_size', { max: MAX_ACCEPT_FILE }))
  const read = readJsonText(text, items)
  if (!read.ok) return problem(acceptedProblem('file', { line: read.line, why: read.problem, expected: EXPECTED }))
  const all: FileItem[] = []
  for (const [i, { finding, domain: name, until: end, ...item }] of read.value.entries()) {
    const wrong = (field: string, why: ReturnType<typeof acceptedProblem>) =>
      problem(acceptedProblem('file', { line: read.lineOf([i, field]), why, expected: EXPECTED }))
    const domain = parseDomain(name)
    if (!domain.ok)
      return problem(
        acceptedProblem('file', { line: read.lineOf([i, 'domain']), why: domain.problem, expected: EXPECTED }),
      )
    if (severityOfFinding(finding) === undefined)
      return wrong('finding', acceptedProblem('finding', { text: finding, meant: nearest(finding, FINDING_IDS) }))
    const until = end === undefined ? undefined : parseUntil(end)
    if (end !== undefined && until === undefined) return wrong('until', acceptedProblem('until', { text: end }))
    all.push({ line: read.lineOf([i]), finding, domain: domain.value, until, ...item })
  }
  return parsed(all)
}
const EXPECTED = '[{"finding", "domain", "reason", "until"}]'

/** Accepted findings that come with the question. */
export const acceptParam = optional(
  textParam<readonly FileItem[]>('invalid_parameter', parseAccepted, {
    description: 'accepted findings, as a JSON list or a file of it',
    example:
      '[{"finding": "dmarc.policy_quarantine", "domain": "example.org", "reason": "until the move", "until": "2026-06-30"}]',
  }),
)

/**
 * What is accepted of a domain: by the key of the caller, and with the question, which counts where both do. Throws
 * AppError for a file whose ends are too far.
 */
export async function acceptancesFor(
  ctx: Call,
  { acceptedHere }: Pick<Deps, 'acceptedHere'>,
  domain: string,
  given: readonly FileItem[] = [],
): Promise<Acceptances> {
  const own = new Map<string, Acceptance>()
  for (const { line: at, finding, domain: name, reason, by, until } of given) {
    const end = endOf(finding, until, ctx.now(), at)
    if ('error' in end) throw end.error
    if (name === domain && end.end.getTime() > ctx.now()) own.set(finding, { by, reason, until: end.end.toISOString() })
  }
  const stored = ctx.caller && ctx.caller.peer === undefined ? await acceptedHere(ownerOf(ctx), domain) : []
  return new Map([...stored, ...own])
}
