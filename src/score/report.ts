import type { CheckAnswer } from '../answers/check.ts'
import type { GeoAnswer } from '../answers/peers.ts'
import type { PoolAddress, ReportAnswer } from '../answers/report.ts'
import type { Tier } from '../answers/weights.ts'
import type { Clocks } from '../base/time.ts'
import type { BlacklistAnswer } from '../dnsbl/blacklists.ts'
import { presentBlacklist, presentDomainBlacklist, summarize } from '../dnsbl/present.ts'
import type { Domain } from '../names/domain.ts'
import type { Ip } from '../names/ip.ts'
import { gradeOf, reportScore } from './score.ts'

/** One MX address with its known data. */
type ReportedAddress = {
  readonly ip: Ip
  /** The MX hosts that have it. */
  readonly hosts: readonly string[]
  readonly blacklists: BlacklistAnswer
  readonly geo: GeoAnswer
}

/**
 * The addresses of a report: those of the mail hosts, the number of omitted ones, the hosts whose addresses are not all
 * known, and those of the configured pool.
 */
export type ReportedAddresses = {
  readonly answers: readonly ReportedAddress[]
  readonly leftOut: number
  readonly unknownHosts: readonly string[]
  readonly pool?: readonly BlacklistAnswer[]
  readonly domain: { readonly name: Domain; readonly lists: BlacklistAnswer }
}

/**
 * The answer of `/v1/report`: the check's fields, then the blacklists of each MX address and their summary, then role
 * and suggestion. `score` stays the check's; `report_score` is reduced by the listings. Lists without an answer, and
 * addresses that could not be looked up, cost nothing but make the report incomplete.
 */
export function composeReport(
  checked: CheckAnswer,
  addresses: ReportedAddresses,
  about: { readonly role: string; readonly suggestion: string; readonly clocks: Clocks },
): ReportAnswer {
  const { answers, leftOut, unknownHosts, pool, domain } = addresses
  const summaries = answers.map(({ blacklists }) => summarize(blacklists))
  const tiersOf = ({ entries }: BlacklistAnswer): readonly Tier[] =>
    entries.flatMap(({ reading }) => (reading.status === 'listed' ? [reading.tier] : []))
  const listings = answers.flatMap(({ blacklists }) => tiersOf(blacklists))
  const onDomain = summarize(domain.lists)
  const countOf = (tier: Tier): number => listings.filter((one) => one === tier).length
  const isEveryAddressKnown = leftOut === 0 && unknownHosts.length === 0
  const answered =
    summaries.every((summary) => summary.answered === summary.total) &&
    isEveryAddressKnown &&
    onDomain.answered === onDomain.total
  const complete = checked.complete && answered
  const { score } = checked
  const reported = reportScore(score, [...listings, ...tiersOf(domain.lists)])
  return {
    ...checked,
    complete,
    ...(complete ? {} : { score_min: checked.score_min ?? score, score_max: checked.score_max ?? score }),
    blacklists: answers.map(({ hosts, blacklists, geo }) => ({
      ...presentBlacklist(blacklists, about.clocks),
      mx_hosts: hosts,
      geo,
    })),
    blacklist_summary: {
      addresses: answers.length,
      listed_addresses: summaries.filter((summary) => summary.verdict === 'listed').length,
      listings: listings.length,
      worst_tier: TIERS.find((tier) => listings.includes(tier)) ?? null,
      tiers: { A: countOf('A'), B: countOf('B'), C: countOf('C'), D: countOf('D') },
      unanswered: summaries.reduce((sum, summary) => sum + summary.total - summary.answered, 0),
      left_out: leftOut,
      ...(unknownHosts.length > 0 ? { unknown_hosts: unknownHosts } : {}),
    },
    is_role: about.role !== '',
    role: about.role,
    suggestion: about.suggestion,
    report_score: reported,
    report_grade: checked.grade === null ? null : gradeOf({ score: reported }, checked.findings),
    ...(pool ? { pool: pool.map(presentPoolAddress) } : {}),
    domain_blacklists: presentDomainBlacklist(domain.name, domain.lists, about.clocks),
  }
}

const TIERS = ['A', 'B', 'C', 'D'] as const

/** The listings of an address from which this service sends; they do not count for the domain. */
function presentPoolAddress(answer: BlacklistAnswer): PoolAddress {
  const { verdict, answered, total } = summarize(answer)
  const listings = answer.entries.filter(({ reading }) => reading.status === 'listed')
  return {
    address: answer.subject,
    listed: verdict === 'listed',
    listings: listings.map(({ list, reading }) => ({
      blacklist: list.name,
      tier: reading.tier,
      meaning: reading.meaning,
      delist_url: list.delistUrl,
    })),
    verdict,
    answered,
    total,
  }
}
