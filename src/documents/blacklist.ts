import type {
  BlacklistAnswer,
  BlacklistBulkAnswer,
  BlacklistsAnswer,
  DomainBlacklistAnswer,
  ListEntry,
  ListStateAnswer,
} from '../answers/blacklist.ts'
import type { CheckAnswer } from '../answers/check.ts'
import { counted } from '../base/text.ts'
import { STOP_FIRST } from '../dnsbl/present.ts'
import {
  type Block,
  blocksOf,
  type Conclusion,
  code,
  codes,
  conclude,
  type Document,
  type GridCell,
  group,
  heading,
  type Inline,
  type Line,
  type Mark,
  type Marked,
  quiet,
  table,
  text,
} from './block.ts'
import { footerOf, LIST_STATUS, REASON_WORDS, TIER_WORDS, wordsFor } from './words.ts'

/**
 * The answers of 29 lists about one address: the verdict, each listing with its meaning and where to request removal,
 * and an overview of all lists.
 */
export const blacklistDocument = (answer: BlacklistAnswer, version: string): Document => ({
  title: `Blacklists: ${answer.ip}`,
  blocks: blocksOf([
    conclusionOf(answer),
    answer.listed > 0 && heading(2, 'Where it is listed, and what to do', 'listings'),
    answer.verdict === 'listed' && text({ strong: 'First: ' }, STOP_FIRST),
    listedBlocks(answer, 3),
    combinedGrid(`${answer.total} lists`, [answer]),
    !isNotPublic(answer) && silentBlocks(answer),
    vantageBlocks(answer),
  ]),
  footer: footerOf(version, answer.observed_at, `blacklists ${answer.list_version}`),
})

type Verdict = Pick<Conclusion, 'mark' | 'badge' | 'words'>

/** The verdict on an address. A listing of tier D alone is policy or information, not evidence of spam. */
function verdictOf(answer: BlacklistAnswer): Verdict {
  const { listed, answered, total, verdict } = answer
  if (verdict === 'listed')
    return {
      mark: 'bad',
      badge: 'Listed',
      words: `${counted(listed, 'list')} of ${answered} that answered ${listed === 1 ? 'contains' : 'contain'} this address.`,
    }
  if (listed > 0)
    return {
      mark: 'warn',
      badge: 'Not listed for spam',
      words: `Only policy or informational lists contain this address (${listed} of ${answered} that answered); that is not evidence of spam.`,
    }
  if (isNotPublic(answer)) return { mark: 'open', badge: 'Not a public address', words: NOT_PUBLIC }
  if (answered === 0)
    return {
      mark: 'open',
      badge: 'Unknown',
      words: 'No list answered, so it is not known whether the address is listed.',
    }
  if (verdict === 'clean')
    return { mark: 'good', badge: 'Not listed', words: `None of the ${total} lists contains this address.` }
  return {
    mark: answered * 2 < total ? 'open' : 'good',
    badge: 'Not listed',
    words: `None of the ${answered} lists that answered contains this address; ${total - answered} did not answer.`,
  }
}

function conclusionOf(answer: BlacklistAnswer): Block {
  const { mark, badge, words } = verdictOf(answer)
  const worst = answer.worst_tier
  return conclude(answer.ip, mark, badge, words, worst ? [[`The most serious listing is of tier ${worst}.`]] : [])
}

/** Maximum number of addresses whose listings are shown individually. */
const MAX_TOLD = 20
const RANK: Readonly<Record<Mark, number>> = { bad: 0, warn: 1, open: 2, busy: 2, none: 3, good: 4 }

/** The answers of the lists about many addresses: how many are listed, each address in one line, then the listings. */
export function blacklistBulkDocument({ data }: BlacklistBulkAnswer, version: string): Document {
  const rows = data.map((answer) => ({ answer, ...verdictOf(answer) })).toSorted((a, b) => RANK[a.mark] - RANK[b.mark])
  const listed = rows.filter(({ mark }) => mark === 'bad')
  const open = rows.filter(({ mark }) => mark === 'open')
  const told = rows.filter(({ answer }) => answer.listed > 0)
  const worst: Mark = listed.length > 0 ? 'bad' : open.length > 0 ? 'open' : 'good'
  const words =
    listed.length === 0 ? 'None is listed' : `${listed.length} of them ${listed.length === 1 ? 'is' : 'are'} listed`
  const badges: Readonly<Record<Mark, string>> = {
    bad: 'Listed',
    open: 'Unknown',
    good: 'Not listed',
    warn: '',
    none: '',
    busy: '',
  }
  return {
    title: 'Blacklists',
    blocks: blocksOf([
      conclude(
        counted(data.length, 'address', 'addresses'),
        worst,
        badges[worst],
        open.length === 0 ? `${words}.` : `${words}; for ${open.length} it is not known.`,
      ),
      table(
        'Addresses, listed ones first',
        rows,
        ['Address', ({ answer }) => code(answer.ip)],
        ['Verdict', ({ mark, badge }) => ({ mark, text: badge })],
        ['Listed on', ({ answer }) => answer.listed, 'number'],
        ['Answered', ({ answer }) => `${answer.answered} of ${answer.total}`],
      ),
      told
        .slice(0, MAX_TOLD)
        .map(({ answer, mark, badge }) =>
          group('check', heading(2, [code(answer.ip), ' ', { mark, text: badge }]), listingBlocks(answer, 3)),
        ),
      told.length > MAX_TOLD && text(`${told.length - MAX_TOLD} more listed addresses are in the JSON.`),
    ]),
    footer: footerOf(version, data[0]?.observed_at, ...(data[0] ? [`blacklists ${data[0].list_version}`] : [])),
  }
}

type Vantage = Pick<CheckAnswer, 'vantage' | 'agreement'>

/** The agreement of several nodes, if several were asked. */
function vantageBlocks({ vantage, agreement }: Vantage): Block[] {
  const node = vantage === undefined ? [] : [text('Answer of the node ', code(vantage), '.')]
  if (agreement === undefined) return node
  const { verdict, agree, disagreeing } = agreement
  const words = verdict === null ? 'The nodes do not agree on a verdict' : `${agree} nodes: ${verdict}`
  const others = disagreeing.flatMap(({ node: name, verdict: other }, i): Inline[] => [
    i === 0 ? '; otherwise: ' : ', ',
    code(name),
    ` (${other ?? 'no answer'})`,
  ])
  return [...node, text({ strong: 'Nodes: ' }, words, ...others, '.')]
}

const STATES: Readonly<Record<ListStateAnswer['state'], readonly [Mark, string]>> = {
  healthy: ['good', 'works'],
  untested: ['none', 'not tested yet'],
  failing: ['warn', 'failing'],
  dead: ['bad', 'dead'],
  quarantined: ['bad', 'not trusted'],
  refused: ['warn', 'refuses us'],
  unanswered: ['open', 'no answer'],
}

/** The lists and the self-test state of each: which work, and why the others do not. */
export function blacklistsDocument({ data, total, list_version }: BlacklistsAnswer, version: string): Document {
  const working = data.filter(({ state }) => state === 'healthy').length
  const others = data.filter(({ state }) => state !== 'healthy')
  const isWorking = working === total
  return {
    title: 'Blacklists',
    blocks: blocksOf([
      conclude(
        `${total} blacklists`,
        isWorking ? 'good' : working * 2 > total ? 'warn' : 'bad',
        `${working} work`,
        isWorking
          ? 'Every list passes its self-test.'
          : `${working} of ${total} lists pass their self-test; the others are not counted.`,
      ),
      { kind: 'grid', grid: { label: 'Self-tests', cells: data.map(cellOf) } },
      others.length > 0 && heading(2, 'Blacklists that are not counted', 'others'),
      table(
        'Why they are not counted',
        others,
        ['List', ({ blacklist }) => blacklist],
        ['State', stateOf],
        ['Why', ({ reason }) => (reason === null ? '–' : reasonWords(reason))],
        ['Tested', ({ tested_at }) => (tested_at === null ? '–' : { time: tested_at })],
      ),
      heading(2, 'All blacklists', 'lists'),
      quiet(
        `Tiers: ${Object.entries(TIER_WORDS)
          .map(([tier, words]) => `${tier}, ${words}`)
          .join('; ')}.`,
      ),
      table(
        'Zones and tiers',
        data,
        ['List', ({ blacklist }) => blacklist],
        ['Zone', ({ zone }) => code(zone)],
        ['Tier', ({ tier }) => tier],
        ['IPv6', ({ ipv6 }) => (ipv6.supported === 'unknown' ? 'not known' : ipv6.supported)],
        ['Removal', ({ delist_url }) => ({ link: delist_url, text: hostOf(delist_url), named: true })],
      ),
    ]),
    footer: footerOf(version, undefined, `blacklists ${list_version}`),
  }
}

const stateOf = ({ state }: ListStateAnswer): Marked => ({ mark: STATES[state][0], text: STATES[state][1] })
const cellOf = (list: ListStateAnswer): GridCell => ({ name: list.blacklist, ...stateOf(list) })
const reasonWords = (reason: string): string => wordsFor(REASON_WORDS, reason) ?? reason.replaceAll('_', ' ')

/** The host of a page; a text that is not a URL stays unchanged. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : url)

/** Where a domain stands on the lists of domains. */
export function domainBlacklistDocument(answer: DomainBlacklistAnswer, version: string): Document {
  const { domain, verdict, listed, answered, total } = answer
  const words = {
    clean: ['good', `The domain is on none of the ${total} lists.`],
    listed: ['bad', `The domain is on ${listed} of ${total} lists.`],
    incomplete: ['open', `The domain is on no list that answered; ${answered} of ${total} did.`],
  } as const
  return {
    title: `Lists of domains: ${domain}`,
    blocks: [
      conclude(domain, words[verdict][0], verdict, words[verdict][1]),
      heading(2, 'All lists', 'lists'),
      ...combinedGrid('Lists of domains', [answer]),
      heading(2, 'Listings', 'listings'),
      ...listingBlocks(answer, 3),
    ],
    footer: footerOf(version, answer.observed_at),
  }
}

/** The answers of the blacklists about one address; for several together use only {@link combinedGrid}. */

type Asked = { readonly results: readonly ListEntry[]; readonly total: number; readonly answered: number }

/** Each listing, the most severe first, then the lists that gave no answer with the reasons. */
export const listingBlocks = (lists: Asked, level: 3 | 4 = 4): Block[] =>
  isNotPublic(lists) ? [quiet(NOT_PUBLIC)] : [...listedBlocks(lists, level), ...silentBlocks(lists)]

/** Each listing, the most severe first. */
export const listedBlocks = ({ results }: Asked, level: 3 | 4): Block[] =>
  results
    .filter(({ listed }) => listed)
    .toSorted(byTier)
    .map((one) => listingBlock(one, level))

const NOT_PUBLIC = 'Blacklists contain only public addresses, so none was queried.'

/** Whether no list was asked, because the address is not public. */
const isNotPublic = ({ results }: Pick<Asked, 'results'>): boolean =>
  results.length > 0 && results.every(({ reason }) => reason === 'not_public')

const byTier = (a: ListEntry, b: ListEntry): number => a.tier.localeCompare(b.tier)

const listingBlock = (entry: ListEntry, level: 3 | 4): Block =>
  group(
    'finding',
    heading(level, entry.blacklist),
    text(`${isOwn(entry) ? `${meaningOf(entry)}${entry.scope_text ?? ''}` : (entry.scope_text ?? meaningOf(entry))} `, {
      link: entry.delist_url,
      text: `${isOwn(entry) ? 'Removal from' : 'About'} ${entry.blacklist}`,
    }),
    entry.txt !== undefined && quiet('The list says: ', code(entry.txt)),
    quiet(`Tier ${entry.tier}: ${TIER_WORDS[entry.tier]} · `, code(entry.zone), ' · ', ...codes(entry.codes)),
  )

/** Whether the holder of the address can request removal: a listed range or network belongs to its operator. */
const isOwn = ({ scope }: ListEntry): boolean => scope !== 'range' && scope !== 'asn'

function meaningOf({ meaning }: ListEntry): string {
  const words = meaning.filter((one) => one !== 'listed').join('; ')
  return words === '' ? '' : `${words.slice(0, 1).toUpperCase()}${words.slice(1)}. `
}

/** The lists that gave no answer, with the reasons. */
export function silentBlocks({ results, total, answered }: Asked): Block[] {
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
const whySilent = ({ status, reason = status }: ListEntry): string => reasonWords(reason)

/**
 * Every list with its answers about all these addresses, in the order of the lists; nothing if none was asked about
 * any.
 */
export function combinedGrid(label: string, all: readonly { readonly results: readonly ListEntry[] }[]): Block[] {
  const addresses = all.filter((one) => !isNotPublic(one))
  if (addresses.length === 0) return []
  const names = [...new Set(addresses.flatMap(({ results }) => results.map(({ blacklist }) => blacklist)))]
  const cells = names.map((name) => {
    const entries = addresses.flatMap(({ results }) => results.filter(({ blacklist }) => blacklist === name))
    return listingCell(name, entries)
  })
  return [{ kind: 'grid', grid: { label, cells } }]
}

function listingCell(name: string, entries: readonly ListEntry[]): GridCell {
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
