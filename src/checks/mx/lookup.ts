import { lookupMailHosts, type MailHosts } from '../../mailhosts/mailhosts.ts'
import type { Domain } from '../../names/domain.ts'
import type { Ctx } from '../../world.ts'

export type MxFacts = { readonly domain: Domain; readonly mail: MailHosts }

/** The mail hosts of `domain` with their addresses: at most 41 questions in two waits. Rejects with DnsError when MX stays unanswered. */
export async function lookupMx(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<MxFacts> {
  return { domain, mail: await lookupMailHosts(ctx, domain) }
}
