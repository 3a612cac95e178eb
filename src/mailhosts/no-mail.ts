import type { Problem } from '../base/problem.ts'
import type { MailHosts } from './mailhosts.ts'
import { noMailProblem } from './problems.ts'

/** Why a domain receives no mail, as text after its name; undefined if it has a mail host. */
export function noMailReason({ kind, exists }: Pick<MailHosts, 'kind' | 'exists'>): Problem | undefined {
  if (kind === 'null') return noMailProblem('null_mx') // RFC 7505 §3
  if (kind === 'none') return noMailProblem(exists ? 'no_host' : 'no_name') // RFC 5321 §5.1
  return undefined
}
