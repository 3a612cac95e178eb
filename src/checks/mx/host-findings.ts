import type { MailHost } from '../../mailhosts/mailhosts.ts'
import { providerOfHost } from '../../mailhosts/providers/index.ts'
import type { Ip } from '../../names/ip.ts'
import { rangeOf } from '../../names/ip-range.ts'
import type { Finding } from '../check.ts'
import { notPublic, resolvable, unanswered } from './hosts.ts'
import type { MxFacts } from './lookup.ts'

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

/** The host that was meant if the name server appended the zone's name: a name in the zone, or a known provider's host, followed by the domain. */
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
