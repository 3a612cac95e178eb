import type { MailHosts } from './mailhosts.ts'

/** Why a domain receives no mail, as text after its name; undefined if it has a mail host. */
export function noMailReason({ kind, exists }: Pick<MailHosts, 'kind' | 'exists'>): string | undefined {
  if (kind === 'null') return 'accepts no mail (null MX)' // RFC 7505 §3
  if (kind === 'none') return exists ? 'has no mail host' : 'does not exist' // RFC 5321 §5.1
  return undefined
}
