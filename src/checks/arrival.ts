import { hostError, type MailHosts } from '../mailhosts/mailhosts.ts'
import { familyOf } from '../names/ip.ts'
import type { LookupFailure } from './check.ts'
import type { Barrier, OpenBarrier, StarttlsFacts } from './context.ts'
import { type DaneFacts, refusedHosts } from './dane/index.ts'
import { refusalsOf, type StsFacts } from './mta-sts/index.ts'

type Facts = {
  readonly mail: MailHosts | undefined
  readonly sts: StsFacts | undefined
  readonly dane: DaneFacts | undefined
  readonly tls: StarttlsFacts | undefined
}

/** Which barriers may exist, or concern more hosts than is known, because an answer is missing. */
export function openBarriersOf({ mail, sts, dane, tls }: OpenFacts): readonly OpenBarrier[] {
  const silent = mail?.hosts.filter(hostError) ?? []
  const isUnreached = silent.some(({ addresses }) => addresses.length === 0)
  const policy = sts instanceof Error || sts === undefined ? undefined : sts.policy
  const isStsOpen =
    sts instanceof Error ||
    policy?.kind === 'unknown' ||
    (isUnreached && policy?.kind === 'read' && policy.policy.mode === 'enforce')
  const isDaneOpen = tls !== undefined && dane !== undefined && (dane instanceof Error || isOpenDane(dane))
  const isIpv4Open = silent.length > 0 && hasIpv6Only(mail)
  return [...(isStsOpen || isDaneOpen ? ['refusal' as const] : []), ...(isIpv4Open ? ['ipv6_only' as const] : [])]
}

type OpenFacts = Pick<Facts, 'mail' | 'tls'> & {
  readonly sts: StsFacts | LookupFailure | undefined
  readonly dane: DaneFacts | LookupFailure | undefined
}

/** Whether TLSA records that have no answer would be applied. */
const isOpenDane = ({ hosts, mxSecure }: DaneFacts): boolean =>
  mxSecure && hosts.some(({ error, hostSecure }) => (error && hostSecure !== false) || hostSecure === null)

const hasIpv6Only = (mail: MailHosts | undefined): boolean =>
  mail?.hosts.every(({ addresses }) => addresses.every((address) => familyOf(address) === 6)) === true

/**
 * Which senders cannot deliver, as far as it is known: MX, addresses, MTA-STS, DANE and STARTTLS are examined together.
 */
export function barriersOf({ mail, sts, dane, tls }: Facts): readonly Barrier[] {
  const reachable = mail?.hosts.filter(({ addresses }) => addresses.length > 0) ?? []
  const hosts = reachable.map(({ exchange }) => exchange)
  if (!mail || hosts.length === 0) return []
  // A host whose addresses have no answer may be one that they can deliver to.
  const isWhole = !mail.hosts.some((host) => host.addresses.length === 0 && hostError(host))
  const refusals = [...stsBarrier(sts, hosts, tls), ...daneBarrier(dane, hosts, tls)]
  return [...refusals.map((one) => ({ ...one, all: one.all && isWhole })), ...(isWhole ? ipv6Barrier(reachable) : [])]
}

function stsBarrier(sts: StsFacts | undefined, hosts: readonly string[], tls: StarttlsFacts | undefined): Barrier[] {
  if (sts?.policy?.kind !== 'read' || sts.policy.policy.mode !== 'enforce') return []
  const refusals = refusalsOf(sts.policy.policy, hosts, tls)
  const finding = refusals.some(({ fault }) => fault === 'not_named') ? 'mta_sts.uncovered_mx' : 'mta_sts.mx_tls'
  return barrier('mta_sts', finding, refusals, hosts)
}

function daneBarrier(dane: DaneFacts | undefined, hosts: readonly string[], tls: StarttlsFacts | undefined): Barrier[] {
  if (!dane || !tls) return []
  const refused = refusedHosts({ ...dane, tls }).filter(({ host }) => hosts.includes(host))
  return barrier('dane', refused[0]?.finding ?? '', refused, hosts)
}

/** RFC 3974 §2: senders without IPv6 need one host with an IPv4 address. */
function ipv6Barrier(reachable: MailHosts['hosts']): Barrier[] {
  const isOnly = reachable.every(
    ({ addresses, answers }) => answers.A !== 'unknown' && addresses.every((address) => familyOf(address) === 6),
  )
  const hosts = reachable.map(({ exchange }) => exchange)
  return isOnly ? [{ kind: 'ipv6_only', finding: 'mx.ipv6_only', hosts, all: true }] : []
}

const barrier = (
  kind: Barrier['kind'],
  finding: string,
  refused: readonly { readonly host: string }[],
  hosts: readonly string[],
): Barrier[] =>
  refused.length === 0
    ? []
    : [{ kind, finding, hosts: refused.map(({ host }) => host), all: refused.length === hosts.length }]
