import type { Domain } from '../../names/domain.ts'
import { zoneCandidates } from '../../names/suffix.ts'
import { DnsError, type RecordData, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { mayExist } from '../exists.ts'

/** Maximum number of names that are queried to find the zone. */
const MAX_CANDIDATES = 4

export type SoaFacts = {
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
