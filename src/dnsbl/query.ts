import { type Parsed, parsed, problem } from '../base/problem.ts'
import { type Cidr, networkOf, parseCidr } from '../names/cidr.ts'
import type { Domain } from '../names/domain.ts'
import { bytesOf, type Family, type Ip, ip, ipFromBytes, parseIp, reversed } from '../names/ip.ts'
import { registrableDomain } from '../names/suffix.ts'
import { listFileProblem, targetsProblem } from './problems.ts'
import { type List, type ListKeys, type Subject, zoneFor } from './zone-type.ts'

/** 127.x.y.z as the name of a query; for IPv6 ::ffff:127.x.y.z, which no parsed address can be. */
const pointName = (family: Family, [x, y, z]: readonly [x: number, y: number, z: number]): string =>
  family === 4 ? `${z}.${y}.${x}.127` : `${nibbles(z)}.${nibbles(y)}.${nibbles(x)}.f.7.f.f.f.f.${'0.'.repeat(19)}0`

const nibbles = (octet: number): string => `${(octet & 15).toString(16)}.${(octet >> 4).toString(16)}`

/** The test points of RFC 5782 §5, as names of a query: 127.0.0.2 is listed, 127.0.0.1 is not. */
export const TEST_POINTS = {
  4: { positive: pointName(4, [0, 0, 2]), negative: pointName(4, [0, 0, 1]) },
  6: { positive: pointName(6, [0, 0, 2]), negative: pointName(6, [0, 0, 1]) },
} as const

/** The address of the positive test point: the only address that is not public and is queried nevertheless. */
export const POSITIVE_POINT = ip('127.0.0.2')

/**
 * The name of a point that the list must not contain: 127.0.0.1, or for a list that has entries there a random address
 * of 127.0.0.0/8 outside of 127.0.0.0/16, which contains the test points. `random` returns a number from 0 to 1.
 */
export const negativePoint = (list: List, family: Family, random: () => number): string => {
  if (list.testPoint.names) return list.testPoint.names.negative
  if (list.testPoint.negative) return TEST_POINTS[family].negative
  const octet = (): number => 1 + Math.floor(random() * 254)
  return pointName(family, [octet(), octet(), octet()])
}

/**
 * The name of the query to a list about an address: its octets, or for IPv6 its 32 nibbles, reversed, before the zone
 * (RFC 5782 §2.1, §2.4). With a key the name contains that secret: it is for the resolver only and never shown.
 */
export const questionName = (list: List, address: Subject, keys: ListKeys): string =>
  `${isIp(address) ? reversed(address) : askedDomain(list, address)}.${askedZone(list, address.includes(':') ? 6 : 4, keys)}`

/** Whether a subject is an address: no domain has a number as its last label. */
export const isIp = (subject: Subject): subject is Ip => /^[\d.]+$|:/.test(subject)

/** The family of a subject; a name counts as one of 4, because lists of domains have one zone. */
export const familyOfSubject = (subject: Subject): Family => (subject.includes(':') ? 6 : 4)

/** The name that a list of domains is asked about; a public suffix stands for itself. */
const askedDomain = (list: List, domain: Domain): string =>
  list.names === 'registrable' ? (registrableDomain(domain) ?? domain) : domain

/** The name of the point that a list must contain. */
export const positivePoint = (list: List, family: Family): string =>
  list.testPoint.names?.positive ?? TEST_POINTS[family].positive

/** The queried zone: with the operator's key if the list accepts one and there is one. It is then a secret. */
export function askedZone(list: List, family: Family, keys: ListKeys): string {
  const key = list.keyForm && keys[list.keyForm.key]
  return list.keyForm && key ? list.keyForm.zone.replace('{key}', key) : zoneFor(list, family)
}

/**
 * Reads an operator's key for a list: one label of a DNS name. A problem names it by the caller's `name` and never
 * repeats it.
 */
export function parseListKey(text: string, name: string): Parsed<string> {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(text)
    ? parsed(text.toLowerCase())
    : problem(listFileProblem('key', { name }))
}

/** External `text` without any of the keys, in any case. */
export const withoutKeys = (text: string, keys: ListKeys): string =>
  Object.values(keys).reduce(
    (kept: string, key) => (key ? kept.replaceAll(new RegExp(key.replace(/[^a-z0-9]/gi, '\\$&'), 'gi'), '…') : kept),
    text,
  )

/** Whether a list supports addresses of this family, according to its row. */
export const supports = (list: List, address: Subject): List['ipv6'] =>
  familyOfSubject(address) === 4 ? 'yes' : list.ipv6

/** Maximum number of addresses per call. */
export const MAX_TARGETS = 256

/**
 * The addresses of a bulk request, each once, in order: single addresses, and IPv4 networks up to a /24
 * (`192.0.2.0/24`). More than {@link MAX_TARGETS} and anything else are refused, with the item.
 */
export function expandTargets(texts: readonly string[]): Parsed<readonly Ip[]> {
  if (texts.length === 0) return problem(targetsProblem('none'))
  const tooMany = problem(targetsProblem('too_many', { max: MAX_TARGETS }))
  if (texts.length > MAX_TARGETS) return tooMany
  const found = new Set<Ip>()
  for (const [index, text] of texts.entries()) {
    const addresses = expand(text.trim())
    if (!addresses.ok) return problem(targetsProblem('at', { index: index + 1, why: addresses.problem }))
    for (const address of addresses.value) found.add(address)
    if (found.size > MAX_TARGETS) return tooMany
  }
  return parsed([...found])
}

function expand(text: string): Parsed<readonly Ip[]> {
  if (!text.includes('/')) {
    const address = parseIp(text)
    return address.ok ? parsed([address.value]) : address
  }
  const network = parseCidr(text)
  if (!network.ok) return network
  if (network.value.family === 6) return problem(targetsProblem('ipv6_network', { text }))
  if (network.value.prefix < 24) return problem(targetsProblem('large_network', { text }))
  return parsed(addressesOf(network.value))
}

function addressesOf(network: Cidr): readonly Ip[] {
  const first = parseCidr(networkOf(network.base, network.prefix))
  const bytes = bytesOf(first.ok ? first.value.base : network.base)
  return Array.from({ length: 2 ** (32 - network.prefix) }, (_, i) =>
    ipFromBytes(Uint8Array.of(bytes[0]!, bytes[1]!, bytes[2]!, bytes[3]! + i)),
  )
}
