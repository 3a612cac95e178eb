import type { MailHosts } from '../mailhosts/mailhosts.ts'
import { isPublic } from '../names/ip-range.ts'

/**
 * The id of the finding about MX hosts none of which the internet can reach; undefined if it can reach one, and if that
 * is not known.
 */
export function deadMailHosts(mail: MailHosts | undefined): string | undefined {
  if (mail?.kind !== 'explicit' || mail.hosts.some(({ addresses }) => addresses.some(isPublic))) return undefined
  return mail.hosts.some(({ addresses }) => addresses.length > 0) ? 'mx.not_public' : 'mx.none_resolvable'
}
