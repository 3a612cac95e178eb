import type { MailHost } from '../../mailhosts/mailhosts.ts'
import type { Ip } from '../../names/ip.ts'
import { rangeOf } from '../../names/ip-range.ts'
import { registrableDomain } from '../../names/suffix.ts'
import { providerOfHost } from '../../providers/index.ts'
import { type DnsRecord, type Finding, notApplicable, type Outcome } from '../check.ts'
import { applies, type DomainContext } from '../context.ts'
import { mailHostProblem } from '../problems.ts'
import { allAddresses, type MxFacts, notPublic, resolvable, unanswered } from './lookup.ts'

/**
 * Judges where a domain's mail goes. `pass`: mail arrives; `warn`: it arrives in spite of faults, or mail that the
 * domain sends cannot be answered; `fail`: no host can be reached; `not_applicable`: the domain needs no mail host
 * (null MX, parked, a web name).
 */
export function judgeMx(facts: MxFacts, context: DomainContext): Outcome<MxFacts> {
  const { mail, domain } = facts
  if (!mail.exists) return { status: 'fail', facts, findings: [{ id: 'mx.no_domain', args: { domain } }] }
  if (context.role === 'sends_only') return withoutReplies(facts)
  if (mail.kind === 'null') return notApplicable(facts, context, [{ id: 'mx.null', evidence: shown(facts) }])
  if (context.role === 'parked') return notApplicable(facts, context, [withoutNullMx(domain)])
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
      return concluded(facts, context, [implicit, ...about, ...hostFindings(facts, mail.hosts[0]!)])
    }
    case 'explicit':
      return concluded(
        facts,
        context,
        [...setFindings(facts, context.role === 'return_path'), ...about, ...ofHosts(facts)].map(
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
function ofHosts(facts: MxFacts): Finding[] {
  const { hosts } = facts.mail
  const isNone = hosts.every((host) => resolvable(host) === 'no')
  return hosts
    .flatMap((host) => hostFindings(facts, host))
    .map((one) => (isNone && one.id === 'mx.unresolvable' ? { ...one, follows: 'mx.none_resolvable' } : one))
}

/** Faults with which mail still arrives as long as one host is reachable. */
const HARMLESS = new Set(['mx.single_address', 'mx.single_host', 'mx.duplicate', 'mx.family_unknown', 'mx.no_ipv6'])

function concluded(facts: MxFacts, { openBarriers }: DomainContext, findings: readonly Finding[]): Outcome<MxFacts> {
  const { hosts } = facts.mail
  const reachable = hosts.some((host) => host.addresses.length > notPublic(host).length)
  const open = hosts.find((host) => resolvable(host) === 'unknown')
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
function setFindings(facts: MxFacts, isReturnPath: boolean): Finding[] {
  const { mail } = facts
  const findings: Finding[] = []
  if (mail.hosts.every((host) => resolvable(host) === 'no'))
    findings.push({ id: 'mx.none_resolvable', args: { count: mail.hosts.length }, evidence: shown(facts) })
  if (mail.nullBesideOthers) findings.push({ id: 'mx.null_beside_others', evidence: shown(facts) })
  for (const host of mail.duplicates) findings.push({ id: 'mx.duplicate', args: { host }, evidence: shown(facts) })
  if (mail.truncated > 0)
    findings.push({ id: 'mx.too_many', args: { count: mail.hosts.length + mail.truncated, seen: mail.hosts.length } })
  return [...findings, ...(isReturnPath ? [] : redundancy(mail.hosts)), ...withoutIpv6(mail.hosts)]
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
  const host = hosts[0]!.exchange
  if (hosts.some(unanswered) || addresses.length === 0) return []
  // The redundancy behind a provider's address is not judged.
  if (hosts.every(({ exchange }) => providerOfHost(exchange))) return []
  if (addresses.length === 1) return [{ id: 'mx.single_address', args: { address: addresses[0]! } }]
  return hosts.length === 1 ? [{ id: 'mx.single_host', args: { host, addresses } }] : []
}

const shown = ({ mail }: MxFacts): string =>
  mail.records
    .slice(0, 10)
    .map(({ preference, exchange }) => `${preference} ${exchange}.`)
    .join(', ')

/** The findings about one host. */
export function hostFindings(facts: MxFacts, host: MailHost): Finding[] {
  const { exchange } = host
  const findings: Finding[] = []
  const evidence = `${facts.domain} MX ${host.preference} ${exchange}`
  if (host.literal !== undefined) findings.push({ id: 'mx.ip_literal', args: { host: exchange }, evidence })
  else if (resolvable(host) === 'no') findings.push(withoutAddress(facts, host, evidence))
  else if (resolvable(host) === 'unknown')
    findings.push({ id: 'mx.host_unknown', args: { host: exchange, reason: unanswered(host) ?? '' } })
  else if (unanswered(host))
    findings.push({ id: 'mx.family_unknown', args: { host: exchange, reason: unanswered(host)! } })
  if (exchange.includes('_')) findings.push({ id: 'mx.underscore', args: { host: exchange }, evidence })
  if (host.cname.length > 0 && facts.mail.kind === 'explicit') findings.push(alias(facts, host))
  const hidden = notPublic(host)
  if (hidden.length > 0)
    findings.push({ id: 'mx.not_public', args: { host: exchange, addresses: hidden.map(withRange) }, evidence })
  if (host.addressesLeftOut > 0)
    findings.push({ id: 'mx.too_many_addresses', args: { host: exchange, left: host.addressesLeftOut } })
  return findings
}

function withoutAddress(facts: MxFacts, host: MailHost, evidence: string): Finding {
  const { exchange } = host
  const meant = withoutDomain(facts.domain, exchange)
  if (meant !== undefined)
    return {
      id: 'mx.missing_dot',
      args: { host: exchange, meant, domain: facts.domain },
      evidence,
      ...alone(facts, host, meant),
    }
  const free = facts.unregistered.find((name) => exchange === name || exchange.endsWith(`.${name}`))
  const exists = host.answers.A !== 'nxdomain' || host.answers.AAAA !== 'nxdomain'
  return { id: 'mx.unresolvable', args: { host: exchange, exists, ...(free === undefined ? {} : { free }) }, evidence }
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
