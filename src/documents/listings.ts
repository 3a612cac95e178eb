import type { ListEntry } from '../answers/blacklist.ts'
import { type Block, code, codes, type GridCell, type Line, quiet, text } from './block.ts'
import { LIST_STATUS, REASON_WORDS, TIER_WORDS, wordsFor } from './words.ts'

/** The answers of the blacklists about one address; for several together use only {@link combinedGrid}. */

type Asked = { readonly results: readonly ListEntry[]; readonly total: number; readonly answered: number }

/** Each listing, the most severe first, then the lists that gave no answer with the reasons. */
export const listingBlocks = (lists: Asked, level: 3 | 4 = 4): Block[] =>
  isNotPublic(lists)
    ? [quiet(NOT_PUBLIC)]
    : [
        ...lists.results
          .filter(({ listed }) => listed)
          .toSorted(byTier)
          .map((one) => listingBlock(one, level)),
        ...silentBlocks(lists),
      ]

export const NOT_PUBLIC = 'Blacklists contain only public addresses, so none was queried.'

/** Whether no list was asked, because the address is not public. */
export const isNotPublic = ({ results }: Pick<Asked, 'results'>): boolean =>
  results.length > 0 && results.every(({ reason }) => reason === 'not_public')

const byTier = (a: ListEntry, b: ListEntry): number => a.tier.localeCompare(b.tier)

const listingBlock = (entry: ListEntry, level: 3 | 4): Block => ({
  kind: 'group',
  look: 'finding',
  blocks: [
    { kind: 'heading', level, line: [entry.blacklist] },
    quiet(`Tier ${entry.tier}: ${TIER_WORDS[entry.tier]} · `, code(entry.zone), ' · ', ...codes(entry.codes)),
    text(isOwn(entry) ? `${meaningOf(entry)}${entry.scope_text ?? ''}` : (entry.scope_text ?? meaningOf(entry))),
    ...(entry.txt === undefined ? [] : [{ kind: 'seen', label: 'Text of the list', text: entry.txt } as const]),
    text({ link: entry.delist_url, text: `${isOwn(entry) ? 'Removal from' : 'About'} ${entry.blacklist}` }),
  ],
})

/** Whether the holder of the address can request removal: a listed range or network belongs to its operator. */
const isOwn = ({ scope }: ListEntry): boolean => scope !== 'range' && scope !== 'asn'

function meaningOf({ meaning }: ListEntry): string {
  const words = meaning.filter((one) => one !== 'listed').join('; ')
  return words === '' ? '' : `${words.slice(0, 1).toUpperCase()}${words.slice(1)}. `
}

function silentBlocks({ results, total, answered }: Asked): Block[] {
  const silent = results.filter(isSilent)
  if (silent.length === 0) return [quiet(`All ${total} lists answered.`)]
  const reasons = [...new Set(silent.map(whySilent))]
  const items = reasons.map((reason): Line => {
    const names = silent.filter((entry) => whySilent(entry) === reason).map(({ blacklist }) => blacklist)
    if (names.length === total) return [`All ${total} lists: ${reason}`]
    return [{ strong: names.join(', ') }, `: ${reason}`]
  })
  return [quiet(`${answered} of ${total} lists answered. Without an answer:`), { kind: 'list', items }]
}

export const isSilent = ({ status }: ListEntry): boolean => status !== 'listed' && status !== 'not_listed'
export const whySilent = ({ status, reason = status }: ListEntry): string =>
  wordsFor(REASON_WORDS, reason) ?? reason.replaceAll('_', ' ')

/** Every list with its answers about all these addresses, in the order of the lists; nothing if none was asked about any. */
export function combinedGrid(label: string, all: readonly { readonly results: readonly ListEntry[] }[]): Block[] {
  const addresses = all.filter((one) => !isNotPublic(one))
  if (addresses.length === 0) return []
  const names = [...new Set(addresses.flatMap(({ results }) => results.map(({ blacklist }) => blacklist)))]
  const cells = names.map((name) => {
    const entries = addresses.flatMap(({ results }) => results.filter(({ blacklist }) => blacklist === name))
    return cellOf(name, entries)
  })
  return [{ kind: 'grid', grid: { label, cells } }]
}

function cellOf(name: string, entries: readonly ListEntry[]): GridCell {
  const listed = entries.filter((entry) => entry.listed)
  const of = (count: number): string => (entries.length === 1 ? '' : ` (${count} of ${entries.length})`)
  if (listed.length > 0)
    return { name, mark: listed.every(({ tier }) => tier === 'D') ? 'warn' : 'bad', text: `listed${of(listed.length)}` }
  // A list without IPv6 addresses is silent only if it was asked for nothing else.
  const asked = entries.filter(({ status }) => status !== 'unsupported')
  const first = (asked.length > 0 ? asked : entries).find(isSilent)
  if (first) {
    const words = wordsFor(LIST_STATUS, first.status) ?? first.status
    const alike = entries.filter(({ status }) => status === first.status)
    return { name, mark: 'open', text: `${words}${of(alike.length)}` }
  }
  return { name, mark: 'good', text: `not listed${asked.length < entries.length ? of(asked.length) : ''}` }
}
