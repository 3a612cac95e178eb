import { LEAF_SERVERS, SOURCE_NAMES } from './addresses.ts'
import { dnsDomains } from './dns/domains.ts'
import { findingDomains, findingPointers } from './dns/findings.ts'
import { hardeningDomains } from './dns/hardening-findings.ts'
import { hostileDomains } from './dns/hostile.ts'
import { messageDomains, messagePointers } from './dns/messages.ts'
import { wholeDomains } from './dns/whole-domains.ts'
import { policyDomains } from './https/hosts.ts'
import { mailDomains } from './smtp/domains.ts'
import { mailServers } from './smtp/other-listeners.ts'
import { scriptedListeners } from './smtp/scripts.ts'

/** How a domain's name servers answer. */
export type NameService =
  | 'unsigned'
  | 'signed'
  /** Signed, and the DS record of the parent is of another key. */
  | 'bogus'
  /** Signed, and the signatures ended years ago. */
  | 'expired'
  /** Signed, and the signatures end in three days. */
  | 'expiring'
  /** Signed, with NSEC3 of 10 iterations and a salt. */
  | 'nsec3'
  /** Signed, without a DS record in the parent: insecure (RFC 4035 §5.2). */
  | 'island'
  | 'servfail'
  /** Its servers do not know it and answer REFUSED. */
  | 'lame'
  /** Nothing answers. */
  | 'dead'
  | 'drop'
  /** TC over UDP, the whole answer over TCP. */
  | 'truncate'
  /** No answers over TCP. */
  | 'no_tcp'
  /** 400 ms late, over UDP. */
  | 'delay'
  | 'formerr'
  /** Every second answer is lost. */
  | 'loss'
  /** SERVFAIL to questions for MX, answers to all others. */
  | 'servfail_mx'
  /** Two servers with different records. */
  | 'disagree'

/** What a mail host says about one mailbox, and what the product must make of it (verification.md). */
export type Mailbox = {
  readonly local: string
  /** The reply's code; 0: no reply comes. */
  readonly code: number
  readonly result: string
  readonly reason: string
}

/** One domain of the test network: what it shows, its zone, and what must be seen. */
export type LabDomain = {
  readonly name: string
  readonly shows: string
  readonly service: NameService
  /** Zone lines relative to the name (RFC 1035 §5.1); SOA and NS are written for them. */
  readonly zone: readonly string[]
  /** Zone lines of the third server, where it disagrees; NS as all servers of the domain have them. */
  readonly otherZone?: readonly string[]
  /** NS lines of the zone, where they are others than those of the delegation, with addresses of hosts in the zone. */
  readonly apex?: readonly string[]
  /** NS lines of the parent, with glue, where they are others than usual. */
  readonly parent?: readonly string[]
  /** The SOA record's data, where it is not the usual one. */
  readonly soa?: string
  readonly mailboxes: readonly Mailbox[]
}

/** All domains under `test`. What is not here does not exist. */
export const DOMAINS: readonly LabDomain[] = [
  ...mailDomains,
  ...dnsDomains,
  ...wholeDomains,
  ...policyDomains,
  ...hardeningDomains,
  ...findingDomains,
  ...messageDomains,
  ...hostileDomains,
]

/** The domain of that name. Throws when the lab has none. */
export function labDomain(name: string): LabDomain {
  const found = DOMAINS.find((domain) => domain.name === name)
  if (!found) throw new Error(`the lab has no domain ${name}`)
  return found
}

/** PTR records: each address that has one, with its names. */
export const POINTERS: readonly (readonly [address: string, name: string])[] = [
  ...Object.entries(SOURCE_NAMES),
  ...LEAF_SERVERS.map((address, n) => [address, `ns${n + 1}.lab.test`] as const),
  ...mailServers.flatMap((row) =>
    [row.address, row.address6 ?? []].flat().map((ip) => [ip, `mx.${row.domain}`] as const),
  ),
  ...scriptedListeners.map((row) => [row.address, `mx.${row.domain}`] as const),
  ['45.53.8.2', '45-53-8-2.dyn.neglected.test'],
  ...findingPointers,
  ...messagePointers,
]
