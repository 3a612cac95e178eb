import type { ReportsOfDomain } from '../../answers/reports.ts'
import { raced, within } from '../../base/deadline.ts'
import { AppError } from '../../base/errors.ts'
import { dayOf } from '../../base/time.ts'
import type { CheckInput } from '../../checks/check.ts'
import { type Domain, parseDomain } from '../../names/domain.ts'
import { registrableDomain } from '../../names/suffix.ts'
import { presentSummary } from '../../reports/present.ts'
import { seenMailOf } from '../../reports/seen.ts'
import type { ReportService, Summary } from '../../reports/service.ts'
import type { Period } from '../../store/postgres/report-sums.ts'
import type { Deps } from '../deps.ts'
import type { Call } from '../operation.ts'
import { DEFAULT_DAYS, seesDomain } from './shared.ts'

const DAY_MS = 86_400_000
/** Time limit for reading the reports, ms. */
const READ_MS = 5_000
/** Selectors that a check asks because of reports. */
const MAX_LEARNED = 10

/** What reports add to the answer about a domain. */
type Joined = {
  readonly input: Pick<CheckInput, 'learned' | 'seen'>
  readonly answer: () => Promise<ReportsOfDomain>
}

/**
 * The reports of a domain for a caller who may see them. Undefined where no reports come in, for other callers, for an
 * answer that is stored, and for the questions of other nodes, of jobs and of monitors: what comes from reports is
 * private. Never rejects: a database that does not answer is said in the answer.
 */
export async function joinedReports(
  ctx: Call,
  { reportsHere }: Pick<Deps, 'reportsHere'>,
  domain: Domain,
  asked: { readonly save?: boolean; readonly vantage?: unknown },
): Promise<Joined | undefined> {
  const { caller } = ctx
  if (!caller || caller.peer !== undefined || caller.maySeeReports === false || !seesDomain(caller, domain))
    return undefined
  if (asked.save || asked.vantage !== undefined) return undefined
  const to = dayOf(ctx.now())
  const from = dayOf(ctx.now() - (DEFAULT_DAYS - 1) * DAY_MS)
  const period = { domain, from, to, includeUncounted: false }
  const signal = within(READ_MS, ctx.signal)
  const none = (unknown?: string): ReportsOfDomain => ({
    ...{
      from,
      to,
      reports: 0,
      days: 0,
      messages: 0,
      passing: 0,
      forwarded: 0,
      failing: 0,
      senders: [],
      senders_total: 0,
    },
    ...(unknown === undefined ? { how_to_get: howToGet(domain, reportsHere.rua) } : { unknown }),
  })
  const found = await answered(async () => {
    const service = await reportsHere.find()
    return service && { service, selectors: await service.selectors(domain) }
  }, signal)
  if ('fault' in found) return { input: {}, answer: async () => none(found.fault) }
  if (!found.value) return reportsHere.rua === undefined ? undefined : { input: {}, answer: async () => none() }
  const { service, selectors } = found.value
  // Read beside the lookups of the check.
  const reading = answered(() => summaryOf(service, ctx, signal, period), signal)
  reading.catch(() => {}) // a fault of ours is told by who waits for it
  const learned = selectors.flatMap((one) => (one.domain === domain ? [one.selector] : [])).slice(0, MAX_LEARNED)
  return {
    input: {
      ...(learned.length > 0 && { learned }),
      seen: async () => {
        const one = await reading
        if ('fault' in one || one.value.about.reports === 0) return undefined
        const { senders, facts, days } = one.value
        return seenMailOf({ domain, from, to, days: days.length, senders, passesOf: facts.passesOf })
      },
    },
    answer: async () => {
      const one = await reading
      if ('fault' in one) return none(one.fault)
      if (one.value.about.reports === 0) return none()
      const { reports, days, messages, passing, forwarded, failing, senders, senders_total, left_out } = presentSummary(
        period,
        one.value,
      )
      const sums = { messages, passing, forwarded, failing }
      return { from, to, reports, days: days.length, ...sums, senders, senders_total, ...(left_out && { left_out }) }
    },
  }
}

const summaryOf = (
  service: ReportService,
  { resolve }: Call,
  signal: AbortSignal,
  period: Period & { readonly domain: Domain },
): Promise<Summary> => service.summary({ resolve, signal }, period)

/** The value, or why there is none within the time of the signal. */
async function answered<T>(
  read: () => Promise<T>,
  signal: AbortSignal,
): Promise<{ readonly value: T } | { readonly fault: string }> {
  try {
    return { value: await raced(signal, read()) }
  } catch (error) {
    if (error instanceof AppError) return { fault: error.message }
    if (signal.aborted) return { fault: 'the reports could not be read in time' }
    throw error
  }
}

/** How the reports about a domain come in here. */
function howToGet(domain: Domain, rua: string | undefined): NonNullable<ReportsOfDomain['how_to_get']> {
  if (rua === undefined) return { rua: null }
  const host = parseDomain(rua.slice(rua.lastIndexOf('@') + 1))
  const isOther = host.ok && organizational(host.value) !== organizational(domain)
  return {
    rua,
    ...(host.ok &&
      isOther && {
        authorization: { name: `${domain}._report._dmarc.${host.value}`, type: 'TXT', value: 'v=DMARC1' },
      }),
  }
}

const organizational = (name: Domain): string => registrableDomain(name) ?? name
