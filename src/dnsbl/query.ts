import { type Parsed, parsed, problem } from '../base/parsed.ts'
import { familyOf, type Ip, reversed } from '../names/ip.ts'
import { type List, type ListKeys, zoneFor } from './zone-type.ts'

/** The test points of RFC 5782 §5, as they stand in a question's name. The IPv6 ones are ::ffff:7f00:2 and ::ffff:7f00:1, which no parsed address can be. */
export const TEST_POINTS = {
  4: { positive: '2.0.0.127', negative: '1.0.0.127' },
  6: {
    positive: `2.0.0.0.0.0.f.7.f.f.f.f.${'0.'.repeat(19)}0`,
    negative: `1.0.0.0.0.0.f.7.f.f.f.f.${'0.'.repeat(19)}0`,
  },
} as const

/**
 * The name to ask a list about an address: its octets, or for IPv6 its 32 nibbles, in reverse, before the zone (RFC 5782 §2.1, §2.4).
 * With a key the name holds that secret: it is for the resolver alone and never shown.
 */
export const questionName = (list: List, address: Ip, keys: ListKeys): string =>
  `${reversed(address)}.${askedZone(list, address.includes(':') ? 6 : 4, keys)}`

/** The zone that is asked: with the operator's key where the list takes one and there is one. A secret then. */
export function askedZone(list: List, family: 4 | 6, keys: ListKeys): string {
  const key = list.keyForm && keys[list.keyForm.key]
  return list.keyForm && key ? list.keyForm.zone.replace('{key}', key) : zoneFor(list, family)
}

/** Reads an operator's key for a list: one label of a DNS name, told by its caller's `name` in the problem and never repeated there. */
export function parseListKey(text: string, name: string): Parsed<string> {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(text)
    ? parsed(text.toLowerCase())
    : problem(`${name} is not a key: letters, digits and hyphens, at most 63`)
}

/** `text` from outside without any of the keys, in whatever case it repeats them. */
export const withoutKeys = (text: string, keys: ListKeys): string =>
  Object.values(keys).reduce(
    (kept: string, key) => (key ? kept.replaceAll(new RegExp(key.replace(/[^a-z0-9]/gi, '\\$&'), 'gi'), '…') : kept),
    text,
  )

/** Every zone of a set, each once: what a server has to serve so that all lists answer. */
export const zoneNames = (lists: readonly List[]): readonly string[] => [
  ...new Set(lists.flatMap((list) => [list.zone, ...(list.zoneV6 === undefined ? [] : [list.zoneV6])])),
]

/** Whether a list can be asked about addresses of this family, as far as its row tells. */
export const supports = (list: List, address: Ip): List['ipv6'] => (familyOf(address) === 4 ? 'yes' : list.ipv6)
