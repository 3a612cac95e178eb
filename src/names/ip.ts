import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { certain, type Parsed, parsed, problem } from '../base/problem.ts'
import { ipProblem } from './problems.ts'

/**
 * An IP address in its canonical text form: dotted IPv4, RFC 5952 IPv6; IPv4-mapped IPv6 is IPv4. Only {@link parseIp}
 * creates it.
 */
export type Ip = string & { readonly __brand: 'Ip' }
export type Family = 4 | 6

/** The common case, an IPv4 address in its canonical form. */
const PLAIN_IPV4 = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/

/**
 * Reads an IPv4 or IPv6 address. Octal, hexadecimal and short forms, zone ids, prefixes, brackets and ports are
 * refused.
 */
export function parseIp(text: string): Parsed<Ip> {
  if (PLAIN_IPV4.test(text)) return parsed(text as Ip)
  if (text.includes('%')) return problem(ipProblem('zone_id', { text }))
  if (text.includes('/') || isNetworkOrRange(text)) return problem(ipProblem('network', { text }))
  if (!looksLikeIp(text) || isIP(text) === 0) return problem(ipProblem('invalid', { text }))
  return parsed(canonical(ipaddr.parse(text)))
}

function canonical(address: ipaddr.IPv4 | ipaddr.IPv6): Ip {
  if (!(address instanceof ipaddr.IPv6)) return address.toString() as Ip
  return (address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toRFC5952String()) as Ip
}

/**
 * Whether to call `isIP`, which compiles a large pattern with the first text that is not an IPv4 address, such as a
 * name, or `192.0.2.1:53`.
 */
export const looksLikeIp = (text: string): boolean =>
  text.indexOf(':') !== text.lastIndexOf(':') || /^[\d.]+$/.test(text)

/**
 * Whether a text has the form of a network (`192.0.2.0/24`, `192.0.2.0/255.255.255.0`, `192.0.2.*`) or of a range
 * (`192.0.2.1-192.0.2.9`, `192.0.2.1-9`).
 */
export function isNetworkOrRange(text: string): boolean {
  if (text.length > 100) return false
  if (/^(?:\d{1,3}\.){1,3}(?:\*\.?){1,3}$/.test(text)) return true
  const [first = '', last] = text.split(/\s*[-–/]\s*/, 3)
  if (last === undefined || !looksLikeIp(first) || isIP(first) === 0) return false
  return /^[\da-f.:]+$/i.test(last)
}

/** A parsed address, for literals that are known to be valid. Throws for invalid text. */
export const ip = (text: string): Ip => certain(parseIp(text))

/** The canonical address of 4 or 16 bytes. IPv4-mapped bytes give the IPv4 address. */
export function ipFromBytes(bytes: Uint8Array): Ip {
  return canonical(ipaddr.fromByteArray([...bytes]))
}

/** The 4 or 16 bytes of an address. */
export const bytesOf = (address: Ip): Uint8Array =>
  familyOf(address) === 4 ? ipv4Bytes(address) : Uint8Array.from(ipaddr.parse(address).toByteArray())

function ipv4Bytes(address: Ip): Uint8Array {
  const number = ipv4Number(address)
  return Uint8Array.of(number >>> 24, number >>> 16, number >>> 8, number)
}

/** An IPv4 address as a number below 2^32, from its canonical form: four decimal numbers. */
export function ipv4Number(address: Ip): number {
  let sum = 0
  let byte = 0
  for (let i = 0; i < address.length; i++) {
    const code = address.charCodeAt(i)
    if (code !== DOT) byte = byte * 10 + code - ZERO
    else {
      sum = sum * 256 + byte
      byte = 0
    }
  }
  return sum * 256 + byte
}
const DOT = '.'.charCodeAt(0)
const ZERO = '0'.charCodeAt(0)

export const familyOf = (address: Ip): Family => (address.includes(':') ? 6 : 4)

/**
 * The labels of an address reversed, without a zone: `1.2.0.192`, or 32 nibbles (RFC 1035 §3.5, RFC 3596 §2.5,
 * RFC 5782 §2).
 */
export function reversed(address: Ip): string {
  if (familyOf(address) === 4) return address.split('.').reverse().join('.')
  return [...bytesOf(address)]
    .reverse()
    .map((byte) => `${(byte & 15).toString(16)}.${(byte >> 4).toString(16)}`)
    .join('.')
}

/** The name of an address's PTR record (RFC 1035 §3.5, RFC 3596 §2.5). */
export const reverseName = (address: Ip): string =>
  `${reversed(address)}.${familyOf(address) === 4 ? 'in-addr' : 'ip6'}.arpa`
