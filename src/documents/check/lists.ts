import type { ListEntry } from '../../answers/blacklist.ts'
import type { AddressLists, PoolAddress } from '../../answers/report.ts'
import { type Block, code, codes, heading, type Inline, type Line, quiet, text } from '../block.ts'
import { LIST_STATUS, REASON_WORDS, TIER_WORDS, wordsFor } from '../words.ts'
import type { Answer } from './answer.ts'
import { listedOn, placeLine } from './hosts.ts'

/** The blacklists: each address that is listed, then every list and every address in one table. */
export function listBlocks(answer: Answer): readonly Block[] {
  const addresses = answer.blacklists
  if (addresses === undefined) return []
  if (addresses.length === 0)
    return [heading(2, 'Blacklists', 'blacklists'), text('No address of a mail server is known, so no list was asked.')]
  const leftOut = answer.blacklist_summary?.left_out ?? 0
  return [
    heading(2, 'Blacklists', 'blacklists'),
    ...(leftOut === 0 ? [] : [text(`${leftOut} more addresses were left out.`)]),
    ...addresses.map((one) => addressBlock(one, one.mx_hosts)),
    matrix(addresses),
  ]
}

/** The addresses that this service sends from, in one table. */
export const poolBlocks = ({ pool = [] }: Answer): readonly Block[] =>
  pool.length === 0
    ? []
    : [
        heading(2, 'The source addresses of this service', 'pool'),
        text('Mail hosts are asked from these addresses. Their listings say nothing about the domain.'),
        {
          kind: 'table',
          table: {
            caption: 'Source addresses',
            head: ['Address', 'State', 'Listed on'],
            rows: pool.map((one): Line[] => [[code(one.address)], [poolListed(one)], poolListings(one)]),
          },
        },
      ]

const poolListed = ({ verdict, answered, total }: PoolAddress): Inline =>
  verdict === 'listed'
    ? { mark: 'bad', text: 'listed' }
    : verdict === 'clean'
      ? { mark: 'good', text: 'on no list' }
      : { mark: 'open', text: `${answered} of ${total} lists answered, none lists it` }

const poolListings = ({ listings }: PoolAddress): Line =>
  listings.length === 0
    ? ['–']
    : listings.flatMap(({ blacklist, delist_url }, i): Inline[] => [
        i === 0 ? '' : ', ',
        { link: delist_url, text: blacklist },
      ])

function addressBlock(lists: AddressLists, hosts: readonly string[]): Block {
  const listings = lists.results.filter(({ listed }) => listed).toSorted(byTier)
  const where = hosts.flatMap((host, i): Inline[] => [i === 0 ? '' : ', ', code(host)])
  return {
    kind: 'group',
    look: 'check',
    blocks: [
      { kind: 'heading', level: 3, line: [code(lists.ip), ' ', listedOn(lists)] },
      quiet(...where, ...(where.length === 0 ? [] : [' · ']), ...placeLine(lists.geo)),
      ...listings.map(listingBlock),
      ...silentBlocks(lists),
    ],
  }
}

const byTier = (a: ListEntry, b: ListEntry): number => a.tier.localeCompare(b.tier)

const listingBlock = (entry: ListEntry): Block => ({
  kind: 'group',
  look: 'finding',
  blocks: [
    { kind: 'heading', level: 4, line: [entry.blacklist] },
    quiet(`Tier ${entry.tier}: ${TIER_WORDS[entry.tier]} · `, code(entry.zone), ' · ', ...codes(entry.codes)),
    text(`${meaningOf(entry)}${entry.scope_text ?? ''}`),
    ...(entry.txt === undefined ? [] : [{ kind: 'seen', label: "The list's own words", text: entry.txt } as const]),
    text({ link: entry.delist_url, text: `${isOwn(entry) ? 'Removal from' : 'About'} ${entry.blacklist}` }),
  ],
})

/** Whether the holder of the address can ask for removal: a listed range or network is its operator's. */
const isOwn = ({ scope }: ListEntry): boolean => scope !== 'range' && scope !== 'asn'

function meaningOf({ meaning }: ListEntry): string {
  const words = meaning.filter((one) => one !== 'listed').join('; ')
  return words === '' ? '' : `${words.slice(0, 1).toUpperCase()}${words.slice(1)}. `
}

function silentBlocks({ results, total, answered }: AddressLists): Block[] {
  const silent = results.filter(isSilent)
  if (silent.length === 0) return [quiet(`All ${total} lists answered.`)]
  const reasons = [...new Set(silent.map(whySilent))]
  const items = reasons.map((reason): Line => {
    const names = silent.filter((entry) => whySilent(entry) === reason).map(({ blacklist }) => blacklist)
    return [{ strong: names.join(', ') }, `: ${reason}`]
  })
  return [
    quiet(`${answered} of ${total} lists answered. Without an answer, which is neither good nor bad:`),
    { kind: 'list', items },
  ]
}

export const isSilent = ({ status }: ListEntry): boolean => status !== 'listed' && status !== 'not_listed'
export const whySilent = ({ status, reason = status }: ListEntry): string =>
  wordsFor(REASON_WORDS, reason) ?? reason.replaceAll('_', ' ')

/** Every list and every address, the lists with a listing first; addresses by number, as told above. */
function matrix(addresses: readonly AddressLists[]): Block {
  const names = [...new Set(addresses.flatMap(({ results }) => results.map(({ blacklist }) => blacklist)))]
  const rows = names.map((name) => ({
    name,
    entries: addresses.map(({ results }) => results.find((one) => one.blacklist === name)),
  }))
  const weight = (entries: readonly (ListEntry | undefined)[]): number =>
    entries.some((entry) => entry?.listed) ? 0 : entries.some((entry) => entry && isSilent(entry)) ? 1 : 2
  return {
    kind: 'table',
    table: {
      caption: 'Every list and every address, listings first',
      head: ['List', 'Tier', ...addresses.map(({ ip }) => ip)],
      rows: rows
        .toSorted((a, b) => weight(a.entries) - weight(b.entries))
        .map(({ name, entries }) => [[name], [entries[0]?.tier ?? '–'], ...entries.map(cell)]),
    },
  }
}

function cell(entry: ListEntry | undefined): Line {
  if (entry === undefined) return ['–']
  if (entry.listed) return [{ mark: 'bad', text: 'listed' }]
  if (isSilent(entry)) return [{ mark: 'open', text: wordsFor(LIST_STATUS, entry.status) ?? entry.status }]
  return [{ mark: 'good', text: 'clean' }]
}
