import { type MailHosts, orderMailHosts } from '../../mailhosts/mailhosts.ts'
import type { Email } from '../../names/email.ts'
import { type Family, familyOf, type Ip } from '../../names/ip.ts'
import { registrableDomain } from '../../names/suffix.ts'
import type { Ctx } from '../../world.ts'
import { type Provider, providerOf } from '../provider/provider.ts'
import type { Identity } from '../source/helo.ts'
import type { Courtesy } from '../source/host-limits.ts'
import type { Reach } from '../source/port25.ts'
import type { Source, Sources } from '../source/sources.ts'
import type { CatchAllMemory } from './catch-all.ts'
import type { Conversed } from './dialogue.ts'
import type { Sessions } from './session-pool.ts'

/** The state that verifications share. */
export type Rooms = {
  readonly who: Identity
  readonly sources: Sources
  readonly courtesy: Courtesy
  readonly catchAll: CatchAllMemory
  readonly reach: Reach
  readonly sessions: Sessions
  readonly noCourtesy: boolean
}

/** What one verification asks of the network. */
export type Journey = {
  readonly email: Email
  readonly hosts: MailHosts
  readonly port: number
  /** Source addresses to ask from, tried in this order; undefined is the system's choice. */
  readonly from: readonly Source[]
  readonly deadlineMs: number
  /** Leave sessions open for a moment, for the next address of a list. */
  readonly reuse: boolean
}

/** One address of one host to try. */
export type Stop = { readonly host: string; readonly address: Ip; readonly provider: Provider | undefined }

/** The part of a journey that is made from one source address. */
export type Leg = {
  readonly ctx: Ctx
  readonly rooms: Rooms
  readonly journey: Journey
  readonly source: Source
  readonly stops: readonly Stop[]
  readonly heard: Conversed[]
  readonly lastSource: boolean
}

/** Every address of every host in MX order (RFC 5321 §5.1): by preference, equal ones shuffled; IPv4 first, where reverse names are commonly in order. */
export const stopsOf = (hosts: MailHosts, random: () => number): readonly Stop[] =>
  orderMailHosts(hosts.hosts, random).flatMap(({ exchange, addresses }) =>
    addresses.map((address) => ({ host: exchange, address, provider: providerOf(exchange) })),
  )

/** How the standing of a source address with the other side is kept: a provider's id, else the registrable domain of the host. */
export const keyOf = ({ host, provider }: Pick<Stop, 'host' | 'provider'>): string =>
  provider?.id ?? registrableDomain(host) ?? host

/** The families that the hosts have addresses of. */
export const familiesOf = (stops: readonly Stop[]): ReadonlySet<Family> =>
  new Set(stops.map(({ address }) => familyOf(address)))
