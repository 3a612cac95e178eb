import { type Cidr, contains } from '../names/cidr.ts'
import type { Ip } from '../names/ip.ts'
import { isPublic } from '../names/ip-range.ts'

/** Whether a socket may be opened to an address. */
export type Guard = (address: Ip) => boolean

/**
 * A guard that permits public addresses (RFC 6890 registries) and the networks that the operator has `allowed`. It gets
 * the exact address of each connection, after every lookup, for SMTP, HTTPS and direct DNS alike, so a name that
 * resolves differently at the second query gains nothing. IPv4 inside IPv6 is treated as IPv4.
 */
export const guard =
  (options: { readonly allowed: readonly Cidr[] }): Guard =>
  (address) =>
    isPublic(address) || options.allowed.some((network) => contains(network, address))
