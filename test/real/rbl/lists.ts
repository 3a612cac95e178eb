import { DOMAIN_LISTS } from '../../../src/dnsbl/domain-zones.ts'
import { positivePoint } from '../../../src/dnsbl/query.ts'
import { BUILT_IN } from '../../../src/dnsbl/zones.ts'
import { listingCode } from '../../lab/lists.ts'
import { listServer } from '../addresses.ts'

/** What a list says of one address or domain: its codes (the last octet), and why. */
export type Entry = { readonly address: string; readonly codes: readonly number[]; readonly text: string }

/** How a list behaves. `entries`: as RFC 5782 has it, with these addresses on it. */
export type ListBehaviour =
  | { readonly kind: 'entries'; readonly entries: readonly Entry[] }
  /** Answers 127.255.255.x to everybody: it refuses us. */
  | { readonly kind: 'refuses'; readonly code: number }
  /** Lists every address there is. */
  | { readonly kind: 'everything' }
  /** Never answers. */
  | { readonly kind: 'dead' }

/** A list of the lab: its zones, its server, and the last octet of its code for a listing. */
export type LabList = {
  readonly zone: string
  readonly zone6?: string
  readonly server: string
  readonly code: number
  readonly ipv6: boolean
  /** A list of domains: the name that it must contain, and the first three octets of its codes. */
  readonly names?: { readonly point: string; readonly network: string }
}

/** On some of the lists; see {@link LISTED_ON}. */
export const LISTED = '45.53.9.9'
export const LISTED6 = '2a02:53:9::9'
export const CLEAN = '45.53.9.1'

/** The 29 lists of the product, so that the lab serves the very zones that it asks. */
export const LISTS: readonly LabList[] = BUILT_IN.lists.map((list, n) => ({
  zone: list.zone,
  code: Number(/^127\.0\.0\.(\d+)/.exec(list.codes[0]!.code)![1]),
  ipv6: list.ipv6 === 'yes',
  server: listServer(n),
  ...(list.zoneV6 !== undefined && { zone6: list.zoneV6 }),
}))

/** The lists of domains of the product. */
export const NAME_LISTS: readonly LabList[] = DOMAIN_LISTS.map((list, n) => {
  const code = listingCode(list)
  const at = code.lastIndexOf('.')
  return {
    ...{ zone: list.zone, code: Number(code.slice(at + 1)), ipv6: false, server: listServer(LISTS.length + n) },
    names: { point: positivePoint(list, 4), network: code.slice(0, at) },
  }
})
export const ALL_LISTS: readonly LabList[] = [...LISTS, ...NAME_LISTS]

/** Where LISTED stands in the default world, with the codes it has there. */
export const LISTED_ON: Readonly<Record<string, readonly number[]>> = {
  'zen.spamhaus.org': [2, 4, 10],
  'bl.spamcop.net': [2],
  'dnsbl-2.uceprotect.net': [2],
  'spam.spamrats.com': [38],
  'hostkarma.junkemailfilter.com': [2, 3],
}
/** The list that refuses us in the default world. */
export const REFUSING_LIST = 'b.barracudacentral.org'

/** The default world: one address on five lists, one list that refuses us, all others clean. */
export const defaultBehaviour = (zone: string): ListBehaviour => {
  if (zone === REFUSING_LIST) return { kind: 'refuses', code: 254 }
  const codes = LISTED_ON[zone]
  if (!codes) return { kind: 'entries', entries: [] }
  const entry = (address: string): Entry => ({ address, codes, text: `Listed, see https://${zone}/why?ip=${address}` })
  return { kind: 'entries', entries: [entry(LISTED), ...(zone === 'zen.spamhaus.org' ? [entry(LISTED6)] : [])] }
}

/** What the parent zones delegate. */
export const LIST_DELEGATIONS: readonly { readonly zone: string; readonly server: string }[] = ALL_LISTS.flatMap(
  (list) => [list.zone, list.zone6 ?? []].flat().map((zone) => ({ zone, server: list.server })),
)
