import { certain, type Parsed, parsed, problem } from '../base/problem.ts'
import { bytesOf, type Family, familyOf, type Ip, ip, parseIp } from './ip.ts'
import { ipProblem } from './problems.ts'

/** A network; the address bits beyond `prefix` are ignored. */
export type Cidr = { readonly base: Ip; readonly prefix: number; readonly family: Family }

/** Reads `192.0.2.0/24`, `2001:db8::/32`, or one address (a network of one). */
export function parseCidr(text: string): Parsed<Cidr> {
  const [address = '', length, ...rest] = text.split('/')
  const base = parseIp(address)
  if (!base.ok || rest.length > 0) return problem(ipProblem('no_network', { text }))
  const family = familyOf(base.value)
  const bits = family === 4 ? 32 : 128
  if (length === undefined) return parsed({ base: base.value, prefix: bits, family })
  if (!/^\d{1,3}$/.test(length) || Number(length) > bits) return problem(ipProblem('prefix', { length, bits }))
  return parsed({ base: base.value, prefix: Number(length), family })
}

/** A parsed network, for literals that are known to be valid. Throws for invalid text. */
export const cidr = (text: string): Cidr => certain(parseCidr(text))

/** Whether `address` is in `network`; addresses of the other family never are. */
export const contains = (network: Cidr, address: Ip): boolean =>
  familyOf(address) === network.family && beginsWith(bytesOf(address), bytesOf(network.base), network.prefix)

/** Whether the first `bits` bits of two addresses of one family are the same. */
export function beginsWith(address: Uint8Array, base: Uint8Array, bits: number): boolean {
  const whole = bits >> 3
  for (let i = 0; i < whole; i++) if (address[i] !== base[i]) return false
  const rest = bits & 7
  return rest === 0 || (address[whole]! ^ base[whole]!) >> (8 - rest) === 0
}

/** The network of `prefix` bits that contains an address, in canonical form: `192.0.2.0/24`. */
export function networkOf(address: Ip, prefix: number): string {
  const bytes = bytesOf(address).map((byte, i) => byte & (0xff << Math.min(8, Math.max(0, 8 - (prefix - i * 8)))))
  return `${ip(familyOf(address) === 4 ? bytes.join('.') : [...Array(8)].map((_, i) => ((bytes[i * 2]! << 8) | bytes[i * 2 + 1]!).toString(16)).join(':'))}/${prefix}`
}
