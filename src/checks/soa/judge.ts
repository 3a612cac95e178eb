import type { RecordData } from '../../net/dns/resolver.ts'
import type { Finding, Outcome } from '../check.ts'
import type { SoaFacts } from './lookup.ts'

/** Secondaries drop a zone after this time without their primary. RFC 1912 §2.2 recommends two to four weeks. */
const MIN_EXPIRE_SECONDS = 7 * 86_400
/** Maximum negative caching time; RFC 2308 §5: values above one day have caused problems. */
const MAX_NEGATIVE_SECONDS = 86_400
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){1,126}[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/**
 * `pass` or `warn`; `fail` if no zone was found; `not_applicable` if the domain does not exist. It never costs points.
 */
export function judgeSoa(facts: SoaFacts): Outcome<SoaFacts> {
  const { soa, zone, domain } = facts
  if (!soa && !facts.exists) return { status: 'not_applicable', facts, findings: [] } // the MX check reports that
  if (!soa || zone === undefined) return { status: 'fail', facts, findings: [{ id: 'soa.none', args: { domain } }] }
  const findings = timers(zone, soa)
  if (!HOST.test(soa.mname)) findings.push({ id: 'soa.primary', args: { zone }, evidence: soa.mname })
  if (soa.rname === '' || contactOf(soa.rname) === undefined)
    findings.push({ id: 'soa.contact', args: { zone }, evidence: soa.rname })
  return { status: findings.length > 0 ? 'warn' : 'pass', facts, findings }
}

/**
 * The mailbox that RNAME encodes: the first label is the local part (RFC 1035 §8, RFC 2142 §7). Undefined if it encodes
 * none.
 */
export function contactOf(rname: string): string | undefined {
  const dot = rname.search(/(?<!\\)\./)
  if (dot < 1 || dot === rname.length - 1 || rname.includes('@')) return undefined
  return `${rname.slice(0, dot).replace(/\\(.)/g, '$1')}@${rname.slice(dot + 1)}`
}

function timers(zone: string, { refresh, retry, expire, minimum }: RecordData['SOA']): Finding[] {
  const findings: Finding[] = []
  if (retry >= refresh) findings.push({ id: 'soa.retry', args: { zone, retry, refresh } })
  if (expire < MIN_EXPIRE_SECONDS || expire <= refresh + retry)
    findings.push({ id: 'soa.expire', args: { zone, expire, least: MIN_EXPIRE_SECONDS } })
  if (minimum > MAX_NEGATIVE_SECONDS)
    findings.push({ id: 'soa.minimum', args: { zone, minimum, most: MAX_NEGATIVE_SECONDS } })
  return findings
}
