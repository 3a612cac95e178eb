import type { MailHosts } from '../mailhosts/mailhosts.ts'
import { familyOf } from '../names/ip.ts'
import type { Barrier } from './context.ts'
import { type DaneFacts, refusedHosts } from './dane/index.ts'
import { refusalsOf, type StsFacts } from './mta-sts/index.ts'
import type { StarttlsFacts } from './tls-host.ts'

type Facts = {
  readonly mail: MailHosts | undefined
  readonly sts: StsFacts | undefined
  readonly dane: DaneFacts | undefined
  readonly tls: StarttlsFacts | undefined
}

/** Which senders cannot deliver, as far as it is known: MX, addresses, MTA-STS, DANE and STARTTLS are examined together. */
export function barriersOf({ mail, sts, dane, tls }: Facts): readonly Barrier[] {
  const reachable = mail?.hosts.filter(({ addresses }) => addresses.length > 0) ?? []
  const hosts = reachable.map(({ exchange }) => exchange)
  if (!mail || hosts.length === 0) return []
  return [...stsBarrier(sts, hosts, tls), ...daneBarrier(dane, hosts, tls), ...ipv6Barrier(reachable)]
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
