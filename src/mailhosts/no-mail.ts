import type { MailHosts } from './mailhosts.ts'

/** Why no mail can be brought to a domain, to stand behind its name; undefined when mail has somewhere to go. */
export function noMailReason({ kind, exists }: Pick<MailHosts, 'kind' | 'exists'>): string | undefined {
  if (kind === 'null') return 'accepts no mail (null MX)' // RFC 7505 §3
  if (kind === 'none') return exists ? 'has no mail host' : 'does not exist' // RFC 5321 §5.1
  return undefined
}
