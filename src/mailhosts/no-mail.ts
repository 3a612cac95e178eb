import { DnsError } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'
import { lookupMailHosts, type MailHosts } from './mailhosts.ts'

/** Why no mail can be brought to a domain, to stand behind its name; undefined when mail has somewhere to go. */
export function noMailReason({ kind, exists }: Pick<MailHosts, 'kind' | 'exists'>): string | undefined {
  if (kind === 'null') return 'takes no mail (null MX)' // RFC 7505 §3
  if (kind === 'none') return exists ? 'has no mail host' : 'does not exist' // RFC 5321 §5.1
  return undefined
}

/** {@link noMailReason} of a domain; undefined too where that could not be determined. Rejects with nothing that the DNS does. */
export async function lookupNoMail(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: string): Promise<string | undefined> {
  try {
    return noMailReason(await lookupMailHosts(ctx, domain))
  } catch (error) {
    if (error instanceof DnsError) return undefined
    throw error
  }
}
