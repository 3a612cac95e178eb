import { invalidAt } from '../../base/errors.ts'
import { parsed, problem } from '../../base/problem.ts'
import { dayOf } from '../../base/time.ts'
import { type Domain, isNamed, parseDomain } from '../../names/domain.ts'
import type { ReportService } from '../../reports/service.ts'
import type { Period } from '../../store/postgres/report-sums.ts'
import type { Call } from '../operation.ts'
import { choiceParam, domainParam, optional, positional, textParam } from '../params.ts'
import { reportsError, reportsParamProblem } from '../problems.ts'

const DAY_MS = 86_400_000
/** The period without `from`, and that of a check, days. */
export const DEFAULT_DAYS = 28
/** The longest period, days. */
const MAX_DAYS = 800

const dateParam = (description: string) =>
  optional(
    textParam<string>(
      'invalid_parameter',
      (text) => (isDate(text) ? parsed(text) : problem(reportsParamProblem('date', { text }))),
      { description, example: '2026-11-01' },
    ),
  )
/** Not before the year 1000: no calendar day has the year 0, and a period begins before its last day. */
const isDate = (text: string): boolean => {
  if (!/^[1-9]\d{3}-\d\d-\d\d$/.test(text)) return false
  const ms = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(ms) && dayOf(ms) === text
}

const domainOfReports = positional(domainParam('domain; the names below it are included'))

/** Parameters of every question about reports of several domains. */
export const daysParams = {
  from: dateParam('first day, UTC; default 27 days before the last one'),
  to: dateParam('last day, UTC; default today'),
  include: choiceParam(['authenticated', 'unauthenticated'], 'authenticated', {
    description: 'unauthenticated: with reports whose sender is not proven, which anybody can mail',
  }),
}
/** Parameters of every question about the reports of a domain. */
export const periodParams = { domain: domainOfReports, ...daysParams }

type DaysInput = {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly include: 'authenticated' | 'unauthenticated'
}

/** The period of a question. Throws AppError if the key is not made for the domain, or for days in the wrong order. */
export function periodOf(
  ctx: Pick<Call, 'caller' | 'now'>,
  input: DaysInput & { readonly domain: Domain },
): Period & { readonly domain: Domain } {
  refuseOthers(ctx, input.domain)
  return { domain: input.domain, ...daysOf(ctx, input) }
}

/** The days of a question. Throws AppError for days in the wrong order. */
export function daysOf({ now }: Pick<Call, 'now'>, input: DaysInput): Omit<Period, 'domain'> {
  const to = input.to ?? dayOf(now())
  const from = input.from ?? dayOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS)
  if (from > to) throw reportsError('period', { from, to }, { parameter: 'from' })
  if (Date.parse(to) - Date.parse(from) > MAX_DAYS * DAY_MS)
    throw reportsError('too_long', { max: MAX_DAYS }, { parameter: 'from' })
  return { from, to, includeUncounted: input.include === 'unauthenticated' }
}

/** A key that is made for domains sees these alone. */
export function refuseOthers({ caller }: Pick<Call, 'caller'>, domain: Domain): void {
  if (!seesDomain(caller, domain)) throw reportsError('other_domain', { domain }, { parameter: 'domain' })
}

/** Whether the caller may see the reports of a domain: its scope is checked by the gate, and its domains here. */
export const seesDomain = (caller: Call['caller'], domain: Domain): boolean =>
  caller?.domains === undefined || caller.domains.some((pattern) => isNamed(pattern, domain))

/** The number of stored reports about a domain: for pages that show them while they come in. */
export type StoredReports = (by: Pick<Call, 'caller'>, domain: string) => Promise<number>

/** It throws AppError for a text that is no domain, and if the key is not made for it. */
export const storedReports =
  ({ reports }: { readonly reports: () => Promise<Pick<ReportService, 'stored'>> }): StoredReports =>
  async (by, text) => {
    const domain = parseDomain(text)
    if (!domain.ok) throw invalidAt('invalid_domain', 'domain', domain.problem)
    refuseOthers(by, domain.value)
    return (await reports()).stored(domain.value)
  }
