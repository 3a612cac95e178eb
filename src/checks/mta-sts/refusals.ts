import { type TlsFault, tlsFault } from '../starttls/index.ts'
import type { StarttlsFacts } from '../tls-host.ts'
import { matchesMx, type StsPolicy } from './policy.ts'

/** A mail host to which senders that apply the policy do not deliver, and why. */
export type Refusal = { readonly host: string; readonly fault: 'not_named' | TlsFault }

/**
 * The mail hosts that an enforced policy excludes: those that it does not name (RFC 8461 §4.1), and those without STARTTLS or without a valid certificate
 * (§4.2), as far as their TLS was checked. None for the mode `none`.
 */
export function refusalsOf(policy: StsPolicy, hosts: readonly string[], tls: StarttlsFacts | undefined): Refusal[] {
  if (policy.mode === 'none') return []
  const faultOf = (host: string): Refusal['fault'] | undefined => {
    if (!policy.mx.some((pattern) => matchesMx(pattern, host))) return 'not_named'
    const seen = tls?.hosts.find((other) => other.host === host)
    return tls && seen ? tlsFault(seen, tls.nowMs) : undefined
  }
  return hosts.flatMap((host) => {
    const fault = faultOf(host)
    return fault ? [{ host, fault }] : []
  })
}
