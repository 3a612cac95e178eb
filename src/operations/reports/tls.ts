import type { CheckAnswer } from '../../answers/check.ts'
import { type ReportsTlsAnswer, reportsTlsAnswer } from '../../answers/reports.ts'
import { printable } from '../../base/text.ts'
import { reportsTlsDocument } from '../../documents/reports.ts'
import { parseDomain } from '../../names/domain.ts'
import type { TlsSum } from '../../store/postgres/report-sums.ts'
import { checkDomain } from '../check.ts'
import { defineOperation, ok } from '../operation.ts'
import { tlsExample } from './examples.ts'
import { periodOf, periodParams } from './shared.ts'

type Policy = ReportsTlsAnswer['policies'][number]
type Now = Policy['mail_hosts'][number]['now']

/** Policy domains whose hosts are looked at now. */
const MAX_CHECKED = 5
/** Mail hosts of a policy that are shown, those with most failures first. */
const MAX_HOSTS = 50

/** TLS reports beside what is seen at the mail hosts now. */
export const reportsTls = defineOperation({
  name: 'reports tls',
  method: 'GET',
  path: '/v1/reports/tls',
  summary: 'Show TLS reports beside what the mail hosts offer now',
  scope: 'reports',
  params: periodParams,
  answer: reportsTlsAnswer,
  document: reportsTlsDocument,
  example: { input: { domain: 'example.org' }, output: tlsExample },
  deadlineMs: 30_000,
  uses: ['reports', 'heloName', 'smtpPort'],
  run: async (ctx, deps, input) => {
    const period = periodOf(ctx, input)
    const sums = await (await deps.reports()).tls(period)
    const failing = [...new Set(sums.filter(({ failure }) => failure !== null).map(({ domain }) => domain))]
    const now = new Map<string, CheckAnswer>()
    for (const name of failing.slice(0, MAX_CHECKED)) {
      const domain = parseDomain(name)
      if (domain.ok) now.set(name, await checkDomain(ctx, deps, domain.value, { selectors: [], starttls: true }))
    }
    const { domain, from, to } = period
    return ok({ domain, from, to, policies: policiesOf(sums, (name, host) => nowAt(now.get(name), host)) })
  },
})

function policiesOf(sums: readonly TlsSum[], now: (domain: string, host: string | null) => Now): Policy[] {
  const groups = Map.groupBy(sums, ({ domain, type }) => `${domain} ${type}`)
  return [...groups.values()].map((members) => {
    const { domain, type } = members[0]!
    const totals = members.filter(({ failure }) => failure === null)
    return {
      ...{ type, domain, successful: sumOf(totals, 'successful'), failed: sumOf(totals, 'failed') },
      mail_hosts: hostsOf(members.filter(({ failure }) => failure !== null)).map(({ host, failures }) => ({
        ...{ host, failed: sumOf(failures, 'failed') },
        failures: failures.map((one) => ({
          type: printable(one.failure ?? '', 100),
          sessions: one.failed,
          reporters: [...one.reporters],
        })),
        now: now(domain, host),
      })),
    }
  })
}

function hostsOf(
  failures: readonly TlsSum[],
): { readonly host: string | null; readonly failures: readonly TlsSum[] }[] {
  return [...Map.groupBy(failures, ({ host }) => host)]
    .map(([host, all]) => ({ host, failures: all }))
    .sort((a, b) => (sumOf(b.failures, 'failed') ?? 0) - (sumOf(a.failures, 'failed') ?? 0))
    .slice(0, MAX_HOSTS)
}

/** The sum of the numbers that are given; null if none is. */
const sumOf = (all: readonly TlsSum[], of: 'successful' | 'failed'): number | null =>
  all.every((one) => one[of] === null) ? null : all.reduce((sum, one) => sum + (one[of] ?? 0), 0)

const NOT_ASKED: Now[keyof Now] = { status: 'unknown', detail: 'not looked at' }

/** What the check of the domain says now about one mail host. */
function nowAt(answer: CheckAnswer | undefined, host: string | null): Now {
  if (!answer || host === null)
    return { starttls: NOT_ASKED, certificate: NOT_ASKED, mta_sts: NOT_ASKED, dane: NOT_ASKED }
  const tls = answer.starttls?.hosts.filter((one) => one.host === host) ?? []
  const offered = tls.map((one) => one.offered)
  const certificate = tls.map((one) =>
    one.trusted === null || one.name_matches === null ? null : one.trusted && one.name_matches,
  )
  const { mta_sts, dane } = answer
  const covered = mta_sts.policy && !(mta_sts.uncovered_mx ?? []).includes(host)
  const own = dane.hosts.find((one) => one.host === host)
  return {
    starttls: { status: statusOf(offered), ...(tls.length === 0 && { detail: 'no mail host of the domain now' }) },
    certificate: { status: statusOf(certificate), ...detailOf(tls[0]?.expires_at, 'expires ') },
    mta_sts: mta_sts.policy
      ? {
          status: covered ? 'pass' : 'fail',
          detail: `mode ${mta_sts.policy.mode}${covered ? '' : ', the policy does not name it'}`,
        }
      : { status: mta_sts.status },
    dane: own
      ? {
          status:
            own.records.length === 0
              ? 'not_applicable'
              : own.records.some(({ matches }) => matches === true)
                ? 'pass'
                : own.records.every(({ matches }) => matches === false)
                  ? 'fail'
                  : 'unknown',
        }
      : { status: dane.status },
  }
}

const detailOf = (text: string | null | undefined, before: string): { readonly detail?: string } =>
  text === null || text === undefined ? {} : { detail: `${before}${text}` }

const statusOf = (all: readonly (boolean | null)[]): string =>
  all.length === 0 || all.includes(null)
    ? all.includes(false)
      ? 'fail'
      : 'unknown'
    : all.every((one) => one)
      ? 'pass'
      : 'fail'
