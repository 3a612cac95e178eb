import type { LabDomain } from '../world.ts'
import { dkimShown, domainOf, type Shown } from './shown.ts'
import { dmarcShown } from './shown-dmarc.ts'
import { mxShown, ptrShown } from './shown-mx.ts'
import { spfShown } from './shown-spf.ts'
import { dnsDomain } from './zone.ts'

/** Each finding of the scored checks with the domain that shows it. */
export const SHOWN: readonly Shown[] = [...spfShown, ...dkimShown, ...dmarcShown, ...mxShown, ...ptrShown]

/** Findings that no domain here shows, and why. They are shown on fake DNS beside their check. */
export const NOT_SHOWN: Readonly<Record<string, string>> = {
  'dkim.next_key': 'an alias of a provider that is not in the test network',
  'mx.domain_alias': 'name servers load no zone with a CNAME at its own name',
  'mx.no_ipv6': 'a note that a domain which is cared for may have, too',
  'mx.family_unknown': 'one type of a name fails while another answers: real resolvers fail for the whole name',
  'dkim.key_without_sender': 'the archetypes show it, on real servers too',
  'dkim.mailbox_key_missing': 'the archetypes show it, on real servers too',
  'dkim.parent_key': 'the archetypes show it, on real servers too',
  'mx.takeover': 'the archetypes show it, on real servers too',
  'mx.two_providers': 'the archetypes show it, on real servers too',
  'mx.verification_left': 'the archetypes show it, on real servers too',
  'mx.web_proxy': 'the archetypes show it, on real servers too',
  'spf.host_bits': 'the archetypes show it, on real servers too',
  'spf.no_domain': 'a domain that does not exist has one finding in a check: that of MX',
  'spf.provider_missing': 'mail hosts of a provider, none of which is in the test network',
  'spf.too_wide': 'twenty records of eight thousand characters each',
}

/** The domains of the rows that have a zone of their own. */
export const findingDomains: readonly LabDomain[] = SHOWN.flatMap((row) =>
  row.zone ? [dnsDomain(domainOf(row.id), `shows ${row.id}`, 'unsigned', row.zone)] : [],
)

/** The names of the addresses in these domains. */
export const findingPointers: readonly (readonly [address: string, name: string])[] = SHOWN.flatMap(
  ({ pointers = [] }) => pointers,
)

/** Reverse zones that are delegated to a server that does not know them: SERVFAIL. */
export const LAME_POINTERS: Readonly<Record<string, readonly string[]>> = {
  '53.45.in-addr.arpa': ['15.53.45.in-addr.arpa. NS ns2.disagree.test.'],
}
