import type { SoaFields } from '../../answers/checks.ts'
import { printable } from '../../base/text.ts'
import type { Domain } from '../../names/domain.ts'
import { zoneCandidates } from '../../names/suffix.ts'
import { DnsError, type RecordData, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { defineCheck, type Finding, type Outcome } from '../check.ts'
import { mayExist } from '../one-record.ts'
import { findings } from './findings.ts'

export const soa = defineCheck<SoaFacts, SoaFields>({
  table: findings,
  lookup: lookupSoa,
  judge: judgeSoa,
  present: ({ facts }) => {
    const record = facts?.soa
    if (!record) return {}
    const { mname, rname, serial, refresh, retry, expire, minimum } = record
    const contact = printable(contactOf(rname) ?? rname, 255)
    return { primary: printable(mname, 255), contact, serial, refresh, retry, expire, minimum, zone: facts?.zone }
  },
})

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

/** Maximum number of names that are queried to find the zone. */
const MAX_CANDIDATES = 4

type SoaFacts = {
  readonly domain: Domain
  /** False if the domain does not exist (NXDOMAIN without a CNAME). */
  readonly exists: boolean
  /** The apex of the domain's zone; absent if no SOA was found up to the registrable domain. */
  readonly zone?: string
  readonly soa?: RecordData['SOA']
}

/**
 * The SOA record of the zone of `domain`: at most 4 queries in one round. Rejects with DnsError if a decisive name has
 * no answer.
 */
export async function lookupSoa(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<SoaFacts> {
  const candidates = zoneCandidates(domain, MAX_CANDIDATES)
  const answers = await Promise.all(candidates.map((name) => settled(ctx.resolve(name, 'SOA', ctx.signal))))
  const exists = mayExist(answers[0])
  for (const [i, answer] of answers.entries()) {
    if (answer instanceof DnsError) throw answer
    const soa = answer.records[0]
    // The SOA behind a CNAME is that of another zone.
    if (soa && answer.cname.length === 0) return { domain, exists, zone: candidates[i]!, soa }
  }
  return { domain, exists }
}
