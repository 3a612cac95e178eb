import type { Domain } from '../names/domain.ts'
import { registrableDomain } from '../names/suffix.ts'
import type { RecordType } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'

const TYPES: readonly RecordType[] = ['A', 'AAAA', 'MX', 'TXT']

/**
 * The wildcard that the records of `domain` come from: a record written at the name itself would take all of them away (RFC 4592 §2.2.1). Undefined for a registrable domain, and for a
 * name with records of its own. Told by a made-up name beside it, which has the same records; at most 8 questions, one where there is no wildcard. Rejects with DnsError when one stays unanswered.
 */
export async function wildcardOf(
  { resolve, signal, random }: Pick<Ctx, 'resolve' | 'signal' | 'random'>,
  domain: Domain,
): Promise<string | undefined> {
  if ((registrableDomain(domain) ?? domain) === domain) return undefined
  const parent = domain.slice(domain.indexOf('.') + 1)
  const letters = Array.from({ length: 20 }, () => String.fromCharCode(97 + Math.floor(random() * 26)))
  const madeUp = `${letters.join('')}.${parent}`
  if ((await resolve(madeUp, 'A', signal)).kind === 'nxdomain') return undefined
  const isSame = await Promise.all(
    TYPES.map(async (type) => {
      const [own, other] = await Promise.all([resolve(domain, type, signal), resolve(madeUp, type, signal)])
      return shown(own) === shown(other)
    }),
  )
  return isSame.every(Boolean) ? `*.${parent}` : undefined
}

const shown = ({
  records,
  cname,
}: {
  readonly records: readonly unknown[]
  readonly cname: readonly string[]
}): string => JSON.stringify([cname, records.map((record) => JSON.stringify(record)).sort()])
