import type { SelfCheckAnswer } from '../answers/pool.ts'
import { type Block, code, codes, type Inline, type Line } from './block.ts'
import { backOf } from './check/hosts.ts'

type Own = { readonly [K in keyof SelfCheckAnswer]?: SelfCheckAnswer[K] | undefined } & {
  readonly listings?: readonly { readonly blacklist: string; readonly meaning: string }[] | null | undefined
}

/** What a mail host sees of one of our addresses: faults and repairs, then names and listings. */
export function selfCheckBlocks({
  ptr = [],
  forward_confirmed,
  helo,
  helo_resolves,
  spf,
  problems = [],
  fixes = [],
  listings,
}: Own): Block[] {
  const rows: (readonly [string, Line])[] = [
    ...(forward_confirmed === undefined
      ? []
      : [['PTR', [...codes(ptr), ...(ptr.length === 0 ? [] : [' ']), backOf(ptr, forward_confirmed)]] as const]),
    ...(helo === undefined ? [] : [['HELO', [code(helo), ' ', heloOf(helo_resolves)]] as const]),
    ...(spf === undefined ? [] : [['SPF of the HELO name', [code(spf)]] as const]),
    ...(listings === undefined ? [] : [['Blacklists', listingsOf(listings)] as const]),
  ]
  return [
    ...(problems.length === 0
      ? []
      : [{ kind: 'list', items: problems.map((one): Line => [{ mark: 'bad', text: one }]) } as const]),
    ...fixes.map(({ name, rtype, value }): Block => ({ kind: 'publish', record: { name, rtype, value } })),
    ...(rows.length === 0 ? [] : [{ kind: 'facts', rows } as const]),
  ]
}

const heloOf = (resolves: boolean | null | undefined): Inline =>
  resolves === true
    ? { mark: 'good', text: 'has this address' }
    : resolves === false
      ? { mark: 'bad', text: 'does not have this address' }
      : { mark: 'open', text: 'not checked' }

const listingsOf = (listings: NonNullable<Own['listings']> | null): Line =>
  listings === null
    ? [{ mark: 'open', text: 'not known' }]
    : listings.length === 0
      ? [{ mark: 'good', text: 'not listed' }]
      : [{ mark: 'bad', text: listings.map(({ blacklist, meaning }) => `${blacklist} (${meaning})`).join(', ') }]
