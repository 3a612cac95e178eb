import type { BlacklistAnswer } from '../../answers/blacklist.ts'
import type { CheckAnswer } from '../../answers/check.ts'
import type { Status } from '../../answers/finding.ts'
import type { ReportAnswer } from '../../answers/report.ts'
import type { VerifyAnswer } from '../../answers/verify.ts'
import { isScoreKnown } from './changes.ts'
import { isFirm } from './results.ts'

/**
 * The last known state after another answer: unknown parts keep their last known value, so that the next answer is
 * compared with it, and a gap is not a change in either direction.
 */
export function rememberCheck<A extends CheckAnswer>(before: A, after: A): A {
  const mx = after.mx_status === 'unknown' ? before : after
  const wasOpen = (id: string): boolean => {
    const key = id.split('.')[0]!
    if (key === 'mx') return after.mx_status === 'unknown'
    const section: unknown = Reflect.get(after, key)
    return typeof section === 'object' && section !== null && Reflect.get(section, 'status') === 'unknown'
  }
  const findings = [
    ...after.findings.filter(({ id }) => !wasOpen(id)),
    ...before.findings.filter(({ id }) => wasOpen(id)),
  ]
  const score = isScoreKnown(after) ? {} : scoreOf(before)
  return {
    ...after,
    spf: known(before.spf, after.spf),
    ...(isDkimOpen(after) ? { dkim: before.dkim } : {}),
    dmarc: known(before.dmarc, after.dmarc),
    mx: mx === before ? before.mx : after.mx.map((host) => knownHost(before, host)),
    mx_status: mx.mx_status,
    ...(mx.mx_kind === undefined ? {} : { mx_kind: mx.mx_kind }),
    ptr: known(before.ptr, after.ptr),
    bimi: known(before.bimi, after.bimi),
    caa: known(before.caa, after.caa),
    dane: known(before.dane, after.dane),
    dnssec: known(before.dnssec, after.dnssec),
    mta_sts: known(before.mta_sts, after.mta_sts),
    ns: after.ns.status === 'unknown' ? before.ns : knownServers(before.ns, after.ns),
    soa: known(before.soa, after.soa),
    tls_rpt: known(before.tls_rpt, after.tls_rpt),
    ...(after.starttls?.status === 'unknown' && before.starttls ? { starttls: before.starttls } : {}),
    findings,
    ...score,
    status: isScoreKnown(after) || RANKS[after.status] < RANKS[before.status] ? after.status : before.status,
  }
}

/** A worse value is known, whatever else could not be determined; a better one is not. */
const RANKS: Readonly<Record<Status, number>> = { fail: 0, warn: 1, pass: 2, not_applicable: 2, unknown: 3 }

const scoreOf = ({ score, grade, complete, score_breakdown, score_min, score_max }: CheckAnswer) => ({
  ...{ score, grade, complete, score_breakdown },
  ...(score_min === undefined ? {} : { score_min }),
  ...(score_max === undefined ? {} : { score_max }),
})

/** The new section, unless it could not be determined. */
const known = <T extends { readonly status: Status }>(before: T, after: T): T =>
  after.status === 'unknown' ? before : after

const isDkimOpen = ({ dkim, findings }: CheckAnswer): boolean =>
  dkim.tried === 0 || findings.some(({ id }) => id === 'dkim.not_asked')

/** A host without an answer for addresses or names keeps its last known state. */
function knownHost(before: CheckAnswer, host: CheckAnswer['mx'][number]): CheckAnswer['mx'][number] {
  const old = before.mx.find((one) => one.host === host.host)
  if (!old) return host
  if (host.resolvable === null) return { ...host, addresses: old.addresses, resolvable: old.resolvable }
  const addresses = host.addresses.map((one) =>
    one.forward_confirmed === null ? (old.addresses.find(({ address }) => address === one.address) ?? one) : one,
  )
  return { ...host, addresses }
}

function knownServers(before: CheckAnswer['ns'], after: CheckAnswer['ns']): CheckAnswer['ns'] {
  const servers = after.servers.map((one) =>
    one.lame === null ? (before.servers.find(({ host }) => host === one.host) ?? one) : one,
  )
  return { ...after, servers }
}

const KNOWN: readonly string[] = ['listed', 'not_listed']

export function rememberLists<A extends Pick<BlacklistAnswer, 'results'>>(before: A, after: A): A {
  const was = new Map(before.results.map((entry) => [entry.zone, entry]))
  const results = after.results.map((entry) => (KNOWN.includes(entry.status) ? entry : (was.get(entry.zone) ?? entry)))
  return { ...after, results }
}

export function rememberReport(before: ReportAnswer, after: ReportAnswer): ReportAnswer {
  const blacklists = after.mx_status === 'unknown' ? before.blacklists : after.blacklists.map(knownLists(before))
  const { report_score, report_grade } = isScoreKnown(after) && !hidesListing(before, after) ? after : before
  return { ...rememberCheck(before, after), blacklists, report_score, report_grade }
}

const knownLists =
  (before: ReportAnswer) =>
  (one: ReportAnswer['blacklists'][number]): ReportAnswer['blacklists'][number] => {
    const old = before.blacklists.find(({ ip }) => ip === one.ip)
    return old ? rememberLists(old, one) : one
  }

/** Whether a list that contained an address gave no answer: the score of the report is then too high. */
const hidesListing = (before: ReportAnswer, after: ReportAnswer): boolean =>
  after.blacklists.some(({ ip, results }) => {
    const old = before.blacklists.find((one) => one.ip === ip)
    const listed = old?.results.filter(({ status }) => status === 'listed').map(({ zone }) => zone) ?? []
    return results.some(({ zone, status }) => listed.includes(zone) && !KNOWN.includes(status))
  })

export const rememberVerify = (before: VerifyAnswer, after: VerifyAnswer): VerifyAnswer =>
  isFirm(after) ? after : before
