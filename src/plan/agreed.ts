import { authorizationName, type DmarcRecord, judgeAuthorization } from '../checks/dmarc/index.ts'
import { isWithin } from '../names/domain.ts'
import { DnsError, settled } from '../net/dns/resolver.ts'
import type { Subject } from './snapshot.ts'

/** Maximum number of hosts of report addresses that are asked. */
const MAX_AGREED = 10

/**
 * The hosts of report addresses that accept reports about the name: those of the organization, and those that agreed
 * (RFC 9990 §4). One query for each of the others, at most 10; one without an answer has not agreed. Never rejects with
 * DnsError.
 */
export async function agreedHosts(
  { ctx, domain }: Subject,
  { rua, ruf }: Pick<DmarcRecord, 'rua' | 'ruf'>,
  organization: string,
): Promise<ReadonlySet<string>> {
  const hosts = [...new Set([...rua, ...ruf].flatMap(({ host }) => host ?? []))].slice(0, MAX_AGREED)
  const agreed = hosts.map(async (host) => {
    if (isWithin(host, organization)) return [host]
    const answer = await settled(ctx.resolve(authorizationName(domain, host), 'TXT', ctx.signal))
    if (answer instanceof DnsError) return []
    return judgeAuthorization(answer.records, host).authorization === 'authorized' ? [host] : []
  })
  return new Set((await Promise.all(agreed)).flat())
}
