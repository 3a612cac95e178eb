import { DEAD_HOST, REFUSING_HOST } from '../addresses.ts'
import { mailDomain, wellKept } from '../dns/zone.ts'
import type { LabDomain } from '../world.ts'
import type { Listener } from './listeners.ts'
import { mailServers } from './other-listeners.ts'
import { scriptedListeners } from './scripts.ts'

/** The host of a first MX that is of no use. */
const FIRST_MX: Readonly<Record<string, string>> = {
  'deadfirst.test': DEAD_HOST,
  'refusedfirst.test': REFUSING_HOST,
  'busyfirst.test': '45.53.7.15',
}

/** One domain a behaviour: those of Postfix, those of the scripts, and the ways a domain says that it takes no mail. */
export const mailDomains: readonly LabDomain[] = [
  ...mailServers.map(domainOf),
  ...scriptedListeners.map((row) => mailDomain(row.domain, row.shows, [row.address], row.mailboxes)),
  {
    ...mailDomain(
      'nullmx.test',
      'null MX beside an address (RFC 7505)',
      [],
      [{ local: 'user', code: 0, result: 'rejected', reason: 'null_mx' }],
    ),
    zone: ['@ MX 0 .', '@ A 45.53.5.1', ...wellKept('nullmx.test')],
  },
  mailDomain(
    'deadhost.test',
    'its mail host never answers',
    [DEAD_HOST],
    [{ local: 'user', code: 0, result: 'unreachable', reason: 'connect_timeout' }],
  ),
  mailDomain(
    'refusedhost.test',
    'its mail host refuses connections',
    [REFUSING_HOST],
    [{ local: 'user', code: 0, result: 'unreachable', reason: 'connect_refused' }],
  ),
]

function domainOf(row: Listener): LabDomain {
  const addresses = row.domain === 'six.test' ? [row.address6!] : [row.address, row.address6 ?? []].flat()
  const domain = mailDomain(row.domain, row.shows, addresses, row.mailboxes, row.signed ? 'signed' : 'unsigned')
  if (row.domain === 'implicit.test') {
    return { ...domain, zone: [`@ A ${row.address}`, `mx A ${row.address}`, ...wellKept(row.domain)] }
  }
  const first = FIRST_MX[row.domain]
  if (first === undefined) return domain
  const hosts = ['@ MX 10 first', `first A ${first}`, '@ MX 20 mx', `mx A ${row.address}`]
  return { ...domain, zone: [...hosts, ...wellKept(row.domain)] }
}
