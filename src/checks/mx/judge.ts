import type { MailHost } from '../../mailhosts/mailhosts.ts'
import { isWithin } from '../../names/domain.ts'
import type { Ip } from '../../names/ip.ts'
import { rangeOf } from '../../names/ip-range.ts'
import { registrableDomain } from '../../names/suffix.ts'
import { providerOfHost } from '../../providers/index.ts'
import { type DnsRecord, type Finding, notApplicable, type Outcome } from '../check.ts'
import { applies, type DomainContext } from '../context.ts'
import { mailHostProblem } from '../problems.ts'
import { allAddresses, type Delivery, deliveryOf, hostState, type MxFacts, notPublic, unanswered } from './lookup.ts'

/**
 * Judges where a domain's mail goes. `pass`: mail arrives; `warn`: it arrives in spite of faults, or mail that the
 * domain sends cannot be answered; `fail`: no host can be reached; `not_applicable`: the domain needs no mail host
 * (null MX, parked, a web name).
 */
export function judgeMx(facts: MxFacts, context: DomainContext): Outcome<MxFacts> {
  const { mail, domain } = facts
  if (!mail.exists) return { status: 'fail', facts, findings: [{ id: 'mx.no_domain', args: { domain } }] }
  if (context.reverse) return notApplicable(facts, context, [{ id: 'mx.reverse_zone', args: { domain } }])
  if (context.role === 'sends_only') return withoutReplies(facts)
  if (mail.kind === 'null') return notApplicable(facts, context, [{ id: 'mx.null', evidence: shown(facts) }])
  if (context.role === 'parked') return notApplicable(facts, context, [withoutNullMx(domain), ...aliasFindings(facts)])
  if (!applies('mx', context)) return notApplicable(facts, context)
  // Where the bounces of an alias go is the provider's business.
  if (context.role === 'return_path' && mail.kind !== 'explicit') return notApplicable(facts, context)
  const barrier = context.barriers.find(({ kind }) => kind === 'ipv6_only')
  const ipv6Only: Finding[] = barrier ? [{ id: 'mx.ipv6_only', args: { hosts: barrier.hosts } }] : []
  const about = [...aliasFindings(facts), ...ipv6Only]
  switch (mail.kind) {
    case 'none':
      return {
        status: 'fail',
        facts,
        findings: [{ id: 'mx.none', args: { domain }, fix: nullMx(domain) }, ...about],
      }
    case 'implicit': {
      const fix = { name: domain, rtype: 'MX', value: `0 ${domain}.` }
      const implicit: Finding = { id: 'mx.implicit', args: { domain }, fix }
      return concluded(facts, context, [implicit, ...about, ...hostFindings(facts, mail.hosts[0]!, { delivery: {} })])
    }
    case 'explicit':
      return concluded(
        facts,
        context,
        [...setFindings(facts, context), ...about, ...ofHosts(facts, context)].map(
          isUnused(context) ? declaring(domain) : (finding) => finding,
        ),
      )
    default: {
      const never: never = mail.kind
      throw new Error(never)
    }
  }
}

/** A domain that sends mail and accepts none: replies to its mail bounce (RFC 7505 §4.2). */
function withoutReplies(facts: MxFacts): Outcome<MxFacts> {
  const { domain, mail } = facts
  const declared = mail.kind === 'null'
  const evidence = declared ? { evidence: shown(facts) } : {}
  return { status: 'warn', facts, findings: [{ id: 'mx.no_replies', args: { domain, declared }, ...evidence }] }
}

/** A domain that neither sends nor accepts mail, and does not declare that it accepts none. */
const withoutNullMx = (domain: string): Finding => ({
  id: 'mx.null_missing',
  args: { domain },
  fix: nullMx(domain),
})

/** The domain declares that it sends no mail, and no mail can arrive. */
const isUnused = ({ sends, takes }: DomainContext): boolean => sends === false && takes === false

/** A finding about hosts that no mail reaches, with the null MX of a domain that needs none. */
const declaring =
  (domain: string) =>
  (finding: Finding): Finding =>
    finding.id === 'mx.none_resolvable' || finding.id === 'mx.not_public'
      ? { ...finding, args: { ...finding.args, unused: true }, fix: nullMx(domain) }
      : finding

/** RFC 7505 §3 */
const nullMx = (domain: string): DnsRecord => ({ name: domain, rtype: 'MX', value: '0 .' })

/** The findings about each host; that one has no address follows from what is said of all. */
function ofHosts(facts: MxFacts, { tls }: DomainContext): Finding[] {
  const { hosts } = facts.mail
  const delivery = deliveryOf(hosts, tls)
  return hosts
    .flatMap((host) => hostFindings(facts, host, { delivery, tls }))
    .map((one) =>
      delivery.none === 'mx.none_resolvable' && one.id === 'mx.unresolvable' ? { ...one, follows: delivery.none } : one,
    )
}

/** Faults with which mail still arrives as long as one host is reachable. */
const HARMLESS = new Set([
  'mx.single_address',
  'mx.single_host',
  'mx.duplicate',
  'mx.family_unknown',
  'mx.no_ipv6',
  'mx.verification_left',
  'mx.two_providers',
])

function concluded(
  facts: MxFacts,
  { openBarriers, tls }: DomainContext,
  findings: readonly Finding[],
): Outcome<MxFacts> {
  const { hosts } = facts.mail
  const reachable = hosts.some((host) => hostState(host, tls) === 'works')
  const open = hosts.find((host) => hostState(host) === 'unknown')
  const weighty = findings.filter(({ id }) => !HARMLESS.has(id))
  // A host without an answer is not a fault of the domain: without other faults it leaves the status open.
  if (open && (!reachable || (weighty.length > 0 && weighty.every(({ id }) => id === 'mx.host_unknown'))))
    return { status: 'unknown', reason: unanswered(open) ?? mailHostProblem('unanswered'), facts, findings }
  if (!reachable) return { status: 'fail', facts, findings }
  const silent = openBarriers.includes('ipv6_only') && weighty.length === 0 ? hosts.find(unanswered) : undefined
  if (silent) return { status: 'unknown', reason: unanswered(silent)!, facts, findings }
  return { status: weighty.length === 0 ? 'pass' : 'warn', facts, findings }
}

/**
 * The apex of the zone has SOA and NS records, beside which no CNAME may exist (RFC 1034 §3.6.2). An alias below it is
 * common.
 */
function aliasFindings({ domain, mail }: MxFacts): Finding[] {
  const target = mail.cname.at(-1)
  if (target === undefined || registrableDomain(domain) !== domain) return []
  return [{ id: 'mx.domain_alias', args: { domain, target }, evidence: `${domain} CNAME ${target}` }]
}

/** The findings about all records together. */
function setFindings(facts: MxFacts, { role, tls }: DomainContext): Finding[] {
  const { mail } = facts
  const findings: Finding[] = []
  if (deliveryOf(mail.hosts, tls).none === 'mx.none_resolvable') {
    const providers = [...new Set(mail.verification.map(({ provider }) => provider))]
    const args = { count: mail.hosts.length, ...(providers.length > 0 && { providers }) }
    findings.push({ id: 'mx.none_resolvable', args, evidence: shown(facts) })
  } else findings.push(...leftOver(facts))
  if (mail.nullBesideOthers) {
    const works = mail.hosts.some((host) => hostState(host, tls) === 'works')
    findings.push({ id: 'mx.null_beside_others', evidence: shown(facts), ...(works && withoutHosts(facts, [''])) })
  }
  for (const host of mail.duplicates) findings.push({ id: 'mx.duplicate', args: { host }, evidence: shown(facts) })
  if (mail.truncated > 0)
    findings.push({ id: 'mx.too_many', args: { count: mail.hosts.length + mail.truncated, seen: mail.hosts.length } })
  const taking = mail.hosts.filter((host) => hostState(host, tls) !== 'web_proxy')
  return [
    ...findings,
    ...providersOf(facts),
    ...(role === 'return_path' ? [] : redundancy(taking)),
    ...withoutIpv6(mail.hosts),
  ]
}

/** MX records that only prove something to a provider, beside hosts that take mail. */
function leftOver(facts: MxFacts): Finding[] {
  const [record, ...others] = facts.mail.verification
  if (!record) return []
  const hosts = [record, ...others].map(({ exchange }) => exchange)
  return [
    {
      id: 'mx.verification_left',
      args: { hosts, provider: record.provider },
      evidence: shown(facts),
      ...withoutHosts(facts, hosts),
    },
  ]
}

/** The MX records without those of some hosts; none if no other is left. */
function withoutHosts({ domain, mail }: MxFacts, hosts: readonly string[]): Pick<Finding, 'fix'> {
  const kept = mail.records.filter(({ exchange }) => !hosts.includes(exchange))
  const [first, ...more] = kept.map(({ preference, exchange }) => `${preference} ${exchange}.`)
  return first === undefined ? {} : { fix: { name: domain, rtype: 'MX', value: first, beside: more } }
}

/** Mailbox providers whose hosts are beside each other. */
function providersOf({ mail }: MxFacts): Finding[] {
  const found = mail.hosts.flatMap(({ exchange }) => {
    const provider = providerOfHost(exchange)
    return provider?.kind === 'mailbox' ? [{ exchange, provider }] : []
  })
  const byOperator = Map.groupBy(found, ({ provider }) => provider.operator ?? provider.id)
  if (byOperator.size < 2) return []
  const providers = [...byOperator.values()].map(
    ([first, ...rest]) => `${first!.provider.name} (${[first!, ...rest].map(({ exchange }) => exchange).join(', ')})`,
  )
  return [{ id: 'mx.two_providers', args: { providers } }]
}

/** IPv6 is not required; its absence is reported if all hosts were queried. The hosts of a provider are not judged. */
function withoutIpv6(hosts: readonly MailHost[]): Finding[] {
  const named = hosts.filter(({ addresses }) => addresses.length > 0)
  const isKnown =
    named.every(({ answers }) => answers.AAAA === 'nodata' || answers.AAAA === 'nxdomain') &&
    hosts.every(({ answers }) => answers.AAAA !== 'unknown')
  if (named.length === 0 || !isKnown || named.every(({ exchange }) => providerOfHost(exchange))) return []
  return [{ id: 'mx.no_ipv6', args: { hosts: named.map(({ exchange }) => exchange) } }]
}

function redundancy(hosts: readonly MailHost[]): Finding[] {
  const addresses = allAddresses(hosts)
  const [first] = hosts
  if (!first || hosts.some(unanswered) || addresses.length === 0) return []
  // The redundancy behind a provider's address is not judged.
  if (hosts.every(({ exchange }) => providerOfHost(exchange))) return []
  if (addresses.length === 1) return [{ id: 'mx.single_address', args: { address: addresses[0]! } }]
  return hosts.length === 1 ? [{ id: 'mx.single_host', args: { host: first.exchange, addresses } }] : []
}

const shown = ({ mail }: MxFacts): string =>
  mail.records
    .slice(0, 10)
    .map(({ preference, exchange }) => `${preference} ${exchange}.`)
    .join(', ')

type Among = { readonly delivery: Partial<Delivery>; readonly tls?: DomainContext['tls'] }

function hostFindings(facts: MxFacts, host: MailHost, { delivery, tls }: Among): Finding[] {
  const { exchange } = host
  const findings: Finding[] = []
  const evidence = `${facts.domain} MX ${host.preference} ${exchange}`
  const severity = delivery.none ? 'high' : delivery.best?.all === false ? 'low' : 'medium'
  switch (hostState(host, tls)) {
    case 'literal':
      findings.push({ id: 'mx.ip_literal', args: { host: exchange }, evidence, severity })
      break
    case 'web_proxy': {
      const address = host.addresses[0]!
      if (facts.mail.kind !== 'explicit') break // a website, which is told as such
      findings.push({ id: 'mx.web_proxy', args: { host: exchange, proxy: host.proxy!, address }, evidence, severity })
      break
    }
    case 'no_address':
      findings.push(...withoutAddress(facts, host, evidence, delivery))
      break
    case 'unknown':
      findings.push({ id: 'mx.host_unknown', args: { host: exchange, reason: unanswered(host) ?? '' } })
      break
    default:
      if (unanswered(host))
        findings.push({ id: 'mx.family_unknown', args: { host: exchange, reason: unanswered(host)! } })
  }
  // A name that Cloudflare makes itself for a host behind its proxy leads to the host.
  if (exchange.includes('_') && !exchange.startsWith('_dc-mx.'))
    findings.push({ id: 'mx.underscore', args: { host: exchange }, evidence })
  if (host.cname.length > 0 && facts.mail.kind === 'explicit') findings.push(alias(facts, host))
  const hidden = host.literal === undefined ? notPublic(host) : [] // a literal is no address of a host
  if (hidden.length > 0)
    findings.push({ id: 'mx.not_public', args: { host: exchange, addresses: hidden.map(withRange) }, evidence })
  if (host.addressesLeftOut > 0)
    findings.push({ id: 'mx.too_many_addresses', args: { host: exchange, left: host.addressesLeftOut } })
  return findings
}

/** A host without an address; behind one that works it harms nobody, unless anybody can register its name. */
function withoutAddress(
  facts: MxFacts,
  host: MailHost,
  evidence: string,
  { unresolvable = [], none }: Partial<Delivery>,
): Finding[] {
  const { exchange } = host
  if (facts.mail.verification.some((one) => one.exchange === exchange)) return []
  const isMet = unresolvable.includes(host)
  const severity = isMet ? { severity: 'high' as const } : {}
  const meant = withoutDomain(facts.domain, exchange)
  if (meant !== undefined)
    return [
      {
        id: 'mx.missing_dot',
        args: { host: exchange, meant, domain: facts.domain },
        evidence,
        ...severity,
        ...alone(facts, host, meant),
      },
    ]
  const free = facts.unregistered.find((name) => exchange === name || exchange.endsWith(`.${name}`))
  // One cause is one finding: a host that senders meet today is told as one without an address, with the same severity
  // and the same words about who may get the mail.
  // Whether a host of its own is to get an address, or to go, only the owner knows.
  const isLeft = free !== undefined || (!isMet && !isWithin(exchange, facts.domain))
  const rest = isLeft && none === undefined ? withoutHosts(facts, [exchange]) : {}
  if (free !== undefined && !isMet) return [{ id: 'mx.takeover', args: { host: exchange, free }, evidence, ...rest }]
  const exists = host.answers.A !== 'nxdomain' || host.answers.AAAA !== 'nxdomain'
  const args = { host: exchange, exists, isMet, ...(free !== undefined && { free }) }
  return [{ id: 'mx.unresolvable', args, evidence, ...severity, ...rest }]
}

/**
 * The host that was meant if the name server appended the zone's name: a name in the zone, or a known provider's host,
 * followed by the domain.
 */
function withoutDomain(domain: string, exchange: string): string | undefined {
  if (!exchange.endsWith(`.${domain}`)) return undefined
  const meant = exchange.slice(0, -domain.length - 1)
  return meant === domain || meant.endsWith(`.${domain}`) || providerOfHost(meant) ? meant : undefined
}

function alias(facts: MxFacts, host: MailHost): Finding {
  const target = host.cname.at(-1)!
  const evidence = `${host.exchange} CNAME ${target}`
  return { id: 'mx.cname', args: { host: host.exchange, target }, evidence, ...alone(facts, host, target) }
}

/** A record in place of the host's; only if it can replace the whole set. */
const alone = (facts: MxFacts, { preference }: MailHost, target: string): Pick<Finding, 'fix'> =>
  facts.mail.records.length > 1 ? {} : { fix: { name: facts.domain, rtype: 'MX', value: `${preference} ${target}.` } }

const withRange = (address: Ip): string => `${address} (${rangeOf(address).replace('_', ' ')})`
