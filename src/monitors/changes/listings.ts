import type { BlacklistAnswer } from '../../answers/blacklist.ts'
import type { ReportAnswer } from '../../answers/report.ts'
import { better, type Row, type Said, worse } from './row.ts'

type Lists = Pick<BlacklistAnswer, 'ip' | 'results'>

/** The lists of domains about the domain of a report, in the form of those about an address. */
const ofDomain = ({ domain_blacklists: lists }: ReportAnswer): readonly Lists[] =>
  lists ? [{ ip: lists.domain, results: lists.results }] : []

/** `SpamCop (Spam source)`: a list with the first meaning of its listing, if that adds information. */
export const listingName = ({ blacklist, meaning }: Lists['results'][number]): string =>
  meaning[0] === undefined || meaning[0] === 'listed' ? blacklist : `${blacklist} (${meaning[0]})`

/** New and removed listings between two answers about one address; a list without an answer is not compared. */
function listings(before: Lists, after: Lists, wanted: 'new' | 'gone'): readonly Said[] {
  const was = new Map(before.results.map((entry) => [entry.zone, entry.status]))
  return after.results.flatMap((entry): readonly Said[] => {
    const old = was.get(entry.zone)
    if (old === 'not_listed' && entry.status === 'listed' && wanted === 'new')
      return [worse(`${after.ip} is now on ${listingName(entry)}`)]
    if (old === 'listed' && entry.status === 'not_listed' && wanted === 'gone')
      return [better(`${after.ip} is no longer on ${entry.blacklist}`)]
    return []
  })
}

export const BLACKLIST_ROWS: readonly Row<BlacklistAnswer>[] = [
  { id: 'blacklist.listed', area: 'Blacklists', compare: (before, after) => listings(before, after, 'new') },
  { id: 'blacklist.delisted', area: 'Blacklists', compare: (before, after) => listings(before, after, 'gone') },
]

const perAddress =
  (wanted: 'new' | 'gone') =>
  (before: ReportAnswer, after: ReportAnswer): readonly Said[] => {
    const was = new Map([...before.blacklists, ...ofDomain(before)].map((one) => [one.ip, one]))
    return [...after.blacklists, ...ofDomain(after)].flatMap((one) => {
      const old = was.get(one.ip)
      return old ? listings(old, one, wanted) : []
    })
  }

export const REPORT_ROWS: readonly Row<ReportAnswer>[] = [
  { id: 'blacklist.listed', area: 'Blacklists', compare: perAddress('new') },
  { id: 'blacklist.delisted', area: 'Blacklists', compare: perAddress('gone') },
  {
    id: 'blacklist.new_address',
    area: 'Blacklists',
    compare: (before, after) => {
      const was = new Set(before.blacklists.map(({ ip }) => ip))
      // For such a host it is not known whether the address is new.
      const open = new Set(before.blacklist_summary.unknown_hosts)
      return after.blacklists
        .filter(({ ip, listed, mx_hosts }) => !was.has(ip) && listed > 0 && !mx_hosts.some((host) => open.has(host)))
        .map(({ ip, results }) =>
          worse(
            `${ip}, a new address of a mail host, is on ${results
              .filter(({ listed }) => listed)
              .map(({ blacklist }) => blacklist)
              .join(', ')}`,
          ),
        )
    },
  },
]
