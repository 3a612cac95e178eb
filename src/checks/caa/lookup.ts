import { type Domain, labelsOf } from '../../names/domain.ts'
import { DnsError, type RecordData, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { mayExist } from '../exists.ts'

/** Maximum number of names that are queried while climbing to the root. */
const MAX_NAMES = 8
/** Maximum number of records kept. */
const MAX_RECORDS = 100

export type CaaFacts = {
  readonly domain: Domain
  /** The closest name, from the domain upwards, with CAA records; absent if there is none. */
  readonly foundAt?: string
  readonly records: readonly RecordData['CAA'][]
  /** False if the domain does not exist (NXDOMAIN without a CNAME). */
  readonly exists: boolean
}

/**
 * The CAA records that apply to `domain`: its own, otherwise those of the closest name above (RFC 8659 §3). At most 8
 * queries. Rejects with DnsError if a decisive name has no answer.
 */
export async function lookupCaa(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<CaaFacts> {
  const labels = labelsOf(domain)
  const names = labels.map((_, i) => labels.slice(i).join('.')).slice(0, MAX_NAMES)
  const answers = await Promise.all(names.map((name) => settled(ctx.resolve(name, 'CAA', ctx.signal))))
  const exists = mayExist(answers[0])
  for (const [i, answer] of answers.entries()) {
    if (answer instanceof DnsError) throw answer
    if (answer.kind === 'found')
      return { domain, foundAt: names[i]!, records: answer.records.slice(0, MAX_RECORDS), exists }
  }
  return { domain, records: [], exists }
}
