import type { Problem } from '../../base/problem.ts'
import { hostError, type MailHost, type MailHosts } from '../../mailhosts/mailhosts.ts'
import { type Domain, labelsOf } from '../../names/domain.ts'
import type { Ip } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import { isTopLevelDomain, registrableDomain } from '../../names/suffix.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { type CheckInput, mailHostsOf } from '../check.ts'
import type { StarttlsFacts } from '../context.ts'
import { mayExist } from '../one-record.ts'

/** Maximum number of registrable domains that are queried for hosts that do not exist. */
const MAX_ASKED = 5

export type MxFacts = {
  readonly domain: Domain
  readonly mail: MailHosts
  /** Registrable domains of MX hosts that do not exist: whoever registers one gets the mail. At most 5. */
  readonly unregistered: readonly string[]
}

type Asker = Pick<Ctx, 'resolve' | 'signal'>

/**
 * The mail hosts of `domain` with their addresses: at most 41 queries in two rounds, and 5 more in a third if hosts do
 * not exist. Rejects with DnsError if MX has no answer.
 */
export async function lookupMx(ctx: Asker, domain: Domain, input: CheckInput = {}): Promise<MxFacts> {
  const mail = await mailHostsOf(ctx, domain, input)
  const own = registrableDomain(domain)
  const missing = mail.hosts.filter(isMissing).map(({ exchange }) => registrableDomain(exchange))
  const others = [...new Set(missing.flatMap((name) => (name === undefined || name === own ? [] : [name])))]
  const asked = others.filter(canBeRegistered).slice(0, MAX_ASKED)
  const unregistered = await Promise.all(asked.map((name) => isUnregistered(ctx, name)))
  return { domain, mail, unregistered: asked.filter((_, i) => unregistered[i]) }
}

/** Below an existing top-level domain: nobody can register a name such as `mail.local`. */
const canBeRegistered = (name: string): boolean => isTopLevelDomain(labelsOf(name).at(-1) ?? '')

const isMissing = ({ answers, literal }: MailHost): boolean =>
  literal === undefined && answers.A === 'nxdomain' && answers.AAAA === 'nxdomain'

/** NXDOMAIN for a registrable domain: nobody owns it. A query without an answer shows nothing. */
async function isUnregistered(ctx: Asker, name: string): Promise<boolean> {
  const answer = await settled(ctx.resolve(name, 'SOA', ctx.signal))
  return !(answer instanceof DnsError) && !mayExist(answer)
}

/** What a mail host does; `unknown`: no address is known, and the lookup of a family has no answer. */
export type HostState = 'works' | 'unknown' | 'no_address' | 'literal' | 'web_proxy' | 'not_public'

/**
 * Determines {@link HostState}. A literal is not a name (RFC 5321 §5.1). A host behind a web proxy works if it was seen
 * to answer.
 */
export function hostState(host: MailHost, tls?: StarttlsFacts): HostState {
  if (host.literal !== undefined) return 'literal'
  if (host.addresses.length === 0) return hostError(host) ? 'unknown' : 'no_address'
  const hasAnswered = (): boolean =>
    tls?.hosts.some((one) => one.host === host.exchange && one.offered !== null) === true
  if (host.proxy !== undefined && !hasAnswered()) return 'web_proxy'
  return host.addresses.some(isPublic) ? 'works' : 'not_public'
}

/** What MX hosts that take no mail cost a domain. */
export type Delivery = {
  /** No host takes mail: the finding that says why. */
  readonly none?: 'mx.none_resolvable' | 'mx.ip_literal' | 'mx.web_proxy'
  /** Some are literals or behind a web proxy: whether all hosts of the best preference are; null: not known. */
  readonly best?: { readonly finding: 'mx.ip_literal' | 'mx.web_proxy'; readonly all: boolean | null }
  /** Hosts without an address that senders meet. */
  readonly unresolvable: readonly MailHost[]
  /** Hosts without an answer that senders meet, and those without an address that they may meet. */
  readonly open: number
}

/** Which of the hosts of an explicit MX senders meet without being able to deliver. */
export function deliveryOf(hosts: readonly MailHost[], tls?: StarttlsFacts): Delivery {
  const states = hosts.map((host) => ({ host, state: hostState(host, tls) }))
  const isBehind = (wanted: HostState, { preference }: MailHost): boolean =>
    states.some(({ host, state }) => state === wanted && host.preference < preference)
  const met = states.filter(({ host }) => !isBehind('works', host))
  const dead = met.filter(({ state }) => state === 'no_address')
  const sure = dead.filter(({ host }) => !isBehind('unknown', host)).map(({ host }) => host)
  const open = met.filter(({ state }) => state === 'unknown').length + dead.length - sure.length
  const fault = FAULTS.find(([state]) => states.some((one) => one.state === state))
  const isNone = states.every(({ state }) => state === 'no_address' || state === 'literal' || state === 'web_proxy')
  if (isNone) {
    const isLiteral = fault?.[0] === 'literal' && states.some(({ state }) => state === 'no_address')
    return { none: fault && !isLiteral ? fault[1] : 'mx.none_resolvable', unresolvable: sure, open }
  }
  if (!fault) return { unresolvable: sure, open }
  const best = states.filter(({ host }) => host.preference === hosts[0]?.preference)
  const others = best.filter(({ state }) => state !== 'literal' && state !== 'web_proxy')
  const all =
    others.length === 0
      ? true
      : others.every(({ state }) => state === 'unknown') && others.length < best.length
        ? null
        : false
  return { best: { finding: fault[1], all }, unresolvable: sure, open }
}

/**
 * The finding about MX hosts none of which takes mail from the internet; undefined if one may, and if that is not
 * known.
 */
export function deadMailHosts({
  mail,
  tls,
}: {
  readonly mail?: MailHosts
  readonly tls?: StarttlsFacts
}): string | undefined {
  if (mail?.kind !== 'explicit') return undefined
  const states = mail.hosts.map((host) => hostState(host, tls))
  if (states.some((state) => state === 'works' || state === 'unknown')) return undefined
  return deliveryOf(mail.hosts, tls).none ?? 'mx.not_public'
}

const FAULTS = [
  ['web_proxy', 'mx.web_proxy'],
  ['literal', 'mx.ip_literal'],
] as const

/** Whether a host has addresses; `unknown`: none is known and the lookup of a family has no answer. */
export const resolvable = (host: MailHost): 'yes' | 'no' | 'unknown' => {
  const state = hostState(host)
  return state === 'unknown' ? state : state === 'no_address' || state === 'literal' ? 'no' : 'yes'
}

/** The addresses that are not reachable from the internet, including that of a literal. */
export const notPublic = (host: MailHost): Ip[] =>
  (host.literal === undefined ? host.addresses : [host.literal]).filter((address) => !isPublic(address))

/** All addresses of the hosts, without repeats. */
export const allAddresses = (hosts: readonly MailHost[]): Ip[] => [...new Set(hosts.flatMap((host) => host.addresses))]

/** Why the lookup of an address family of the host has no answer, if so. */
export const unanswered = (host: MailHost): Problem | undefined => hostError(host)?.problem
