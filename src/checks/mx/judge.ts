import type { MailHost } from '../../mailhosts/mailhosts.ts'
import { providerOfHost } from '../../mailhosts/providers/index.ts'
import type { Ip } from '../../names/ip.ts'
import { rangeOf } from '../../names/ip-range.ts'
import type { DnsRecord, Finding, Outcome } from '../check.ts'
import { applies, type DomainContext } from '../context.ts'
import { notApplicable } from '../not-applicable.ts'
import { allAddresses, notPublic, resolvable, unanswered } from './hosts.ts'
import type { MxFacts } from './lookup.ts'

/**
 * Judges where a domain's mail goes. `pass`: mail arrives; `warn`: it arrives in spite of faults, or mail that the domain sends cannot be answered; `fail`: no host can be reached;
 * `not_applicable`: the domain needs no mail host (null MX, parked, a name for the web).
 */
export function judgeMx(facts: MxFacts, context: DomainContext): Outcome<MxFacts> {
  const { mail, domain } = facts
  if (!mail.exists) return { status: 'fail', facts, findings: [{ id: 'mx.no_domain', args: { domain } }] }
  if (context.role === 'sends_only') return withoutReplies(facts)
  if (mail.kind === 'null') return notApplicable(facts, context, [{ id: 'mx.null', evidence: shown(facts) }])
  if (context.role === 'parked') return notApplicable(facts, context, [withoutNullMx(domain)])
  if (!applies('mx', context)) return notApplicable(facts, context)
  switch (mail.kind) {
    case 'none':
      return { status: 'fail', facts, findings: [{ id: 'mx.none', args: { domain }, fix: nullMx(domain) }] }
    case 'implicit': {
      const fix = { name: domain, rtype: 'MX', value: `0 ${domain}.` }
      const implicit: Finding = { id: 'mx.implicit', args: { domain }, fix }
      return concluded(facts, [implicit, ...hostFindings(facts, mail.hosts[0]!)])
    }
    case 'explicit':
      return concluded(facts, [...setFindings(facts), ...mail.hosts.flatMap((host) => hostFindings(facts, host))])
    default: {
      const never: never = mail.kind
      throw new Error(never)
    }
  }
}

/** A domain that sends mail and takes none: whoever answers it gets the answer back (RFC 7505 §4.2). */
function withoutReplies(facts: MxFacts): Outcome<MxFacts> {
  const { domain, mail } = facts
  const declared = mail.kind === 'null'
  const evidence = declared ? { evidence: shown(facts) } : {}
  return { status: 'warn', facts, findings: [{ id: 'mx.no_replies', args: { domain, declared }, ...evidence }] }
}

/** A domain that neither sends nor takes mail, and does not declare the latter. */
const withoutNullMx = (domain: string): Finding => ({
  id: 'mx.null_missing',
  args: { domain },
  fix: nullMx(domain),
})

/** RFC 7505 §3 */
const nullMx = (domain: string): DnsRecord => ({ name: domain, rtype: 'MX', value: '0 .' })

/** Faults that leave the mail arriving as long as one host is reachable. */
const HARMLESS = new Set(['mx.single_address', 'mx.single_host', 'mx.duplicate', 'mx.family_unknown'])

function concluded(facts: MxFacts, findings: readonly Finding[]): Outcome<MxFacts> {
  const { hosts } = facts.mail
  const reachable = hosts.some((host) => host.addresses.length > notPublic(host).length)
  const open = hosts.find((host) => resolvable(host) === 'unknown')
  if (!reachable && open)
    return { status: 'unknown', reason: unanswered(open) ?? 'a mail host could not be asked about', facts, findings }
  if (!reachable) return { status: 'fail', facts, findings }
  return { status: findings.every(({ id }) => HARMLESS.has(id)) ? 'pass' : 'warn', facts, findings }
}

/** What is to say of the records together. */
function setFindings(facts: MxFacts): Finding[] {
  const { mail } = facts
  const findings: Finding[] = []
  if (mail.hosts.every((host) => resolvable(host) === 'no'))
    findings.push({ id: 'mx.none_resolvable', args: { count: mail.hosts.length }, evidence: shown(facts) })
  if (mail.nullBesideOthers) findings.push({ id: 'mx.null_beside_others', evidence: shown(facts) })
  for (const host of mail.duplicates) findings.push({ id: 'mx.duplicate', args: { host }, evidence: shown(facts) })
  if (mail.truncated > 0)
    findings.push({ id: 'mx.too_many', args: { count: mail.hosts.length + mail.truncated, seen: mail.hosts.length } })
  return [...findings, ...redundancy(mail.hosts)]
}

function redundancy(hosts: readonly MailHost[]): Finding[] {
  const addresses = allAddresses(hosts)
  const host = hosts[0]!.exchange
  if (hosts.some((other) => resolvable(other) === 'unknown') || addresses.length === 0) return []
  // What stands behind a provider's address is the provider's business.
  if (hosts.every(({ exchange }) => providerOfHost(exchange))) return []
  if (addresses.length === 1) return [{ id: 'mx.single_address', args: { address: addresses[0]! } }]
  return hosts.length === 1 ? [{ id: 'mx.single_host', args: { host, addresses } }] : []
}

/** What is to say of one host. */
function hostFindings(facts: MxFacts, host: MailHost): Finding[] {
  const { exchange } = host
  const findings: Finding[] = []
  const evidence = `${facts.domain} MX ${host.preference} ${exchange}`
  if (host.literal !== undefined) findings.push({ id: 'mx.ip_literal', args: { host: exchange }, evidence })
  else if (resolvable(host) === 'no') findings.push(dangling(host, evidence))
  else if (resolvable(host) === 'unknown')
    findings.push({ id: 'mx.host_unknown', args: { host: exchange, reason: unanswered(host) ?? '' } })
  else if (unanswered(host))
    findings.push({ id: 'mx.family_unknown', args: { host: exchange, reason: unanswered(host)! } })
  if (host.cname.length > 0 && facts.mail.kind === 'explicit') findings.push(alias(facts, host))
  const hidden = notPublic(host)
  if (hidden.length > 0)
    findings.push({ id: 'mx.not_public', args: { host: exchange, addresses: hidden.map(withRange) }, evidence })
  if (host.addressesLeftOut > 0)
    findings.push({ id: 'mx.too_many_addresses', args: { host: exchange, left: host.addressesLeftOut } })
  return findings
}

const dangling = (host: MailHost, evidence: string): Finding => ({
  id: 'mx.unresolvable',
  args: { host: host.exchange, exists: host.answers.A !== 'nxdomain' || host.answers.AAAA !== 'nxdomain' },
  evidence,
})

/** The record that names the end of the chain instead; only where it can replace the whole set. */
function alias(facts: MxFacts, host: MailHost): Finding {
  const target = host.cname.at(-1)!
  const finding = {
    id: 'mx.cname',
    args: { host: host.exchange, target },
    evidence: `${host.exchange} CNAME ${target}`,
  }
  if (facts.mail.records.length > 1) return finding
  return { ...finding, fix: { name: facts.domain, rtype: 'MX', value: `${host.preference} ${target}.` } }
}

const withRange = (address: Ip): string => `${address} (${rangeOf(address).replace('_', ' ')})`
const shown = ({ mail }: MxFacts): string =>
  mail.records
    .slice(0, 10)
    .map(({ preference, exchange }) => `${preference} ${exchange}.`)
    .join(', ')
