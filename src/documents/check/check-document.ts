import type { AddressLists, PoolAddress } from '../../answers/report.ts'
import { counted, firstOf } from '../../base/text.ts'
import { combinedGrid, listedBlocks, silentBlocks } from '../blacklist.ts'
import {
  type Block,
  blocksOf,
  code,
  type Document,
  type Fact,
  facts,
  type Group,
  group,
  heading,
  type Inline,
  type Line,
  type Parts,
  quiet,
  table,
  text,
} from '../block.ts'
import { briefPath } from '../plan.ts'
import { profileBlocks } from '../profile.ts'
import { footerOf } from '../words.ts'
import { type Answer, isGone, isReverse, sectionsOf } from './answer.ts'
import { checkBlocks, type Row } from './checks.ts'
import { hostBlocks, listedOn, placeLine } from './hosts.ts'
import { byLabel, checkLabel, type Label, marked } from './labels.ts'
import { wayBlocks } from './path.ts'
import { sentenceOf } from './sentences.ts'
import { verdictBlock } from './verdict.ts'
import { whoSendsBlocks } from './who-may-send.ts'

/**
 * The answer of a check or a report as a document: the verdict, where mail goes, the one list of what to do, who sends,
 * and a row for each check with the evidence. `version` is the program's.
 */
export function checkDocument(answer: Answer, version: string): Document {
  const { profile } = answer
  const isKnown = !isGone(answer)
  const map = isKnown && !isReverse(answer) ? hostBlocks(answer) : []
  const rows = blocksOf([isKnown && checkBlocks(answer, listRow(answer)), poolRow(answer)])
  return {
    title: titleOf(answer),
    blocks: blocksOf([
      verdictBlock(answer),
      map.length > 0 && [heading(2, 'Where mail goes', 'map'), ...map],
      wayBlocks(answer),
      whoSendsBlocks(answer),
      rows.length > 0 && [heading(2, 'All checks', 'checks'), ...rows],
      profile && [heading(2, `Profile ${profile.name}`, 'profile'), ...profileBlocks(profile, 'Rules')],
    ]),
    footer: footerOf(version, answer.observed_at, ...versionsOf(answer)),
  }
}

const titleOf = ({ blacklists, domain }: Answer): string => `${blacklists ? 'Mail report' : 'Mail check'}: ${domain}`

function versionsOf({ score_version, blacklists }: Answer): readonly string[] {
  const lists = blacklists?.[0]?.list_version
  return [`score version ${score_version}`, ...(lists === undefined ? [] : [`blacklists ${lists}`])]
}

function listRow(answer: Answer): Row | undefined {
  const { blacklists: addresses, domain_blacklists: ofDomain, blacklist_summary: summary } = answer
  if (addresses === undefined) return undefined
  const { left_out: leftOut = 0, unknown_hosts: unknownHosts = [] } = summary ?? {}
  const label = listsLabel(answer)
  const row = group(
    'row',
    heading(3, ['Blacklists ', marked(label), ' ', listsWords(answer)], 'blacklists'),
    addresses.length === 0 && text('No address of a mail server is known, so no list was queried.'),
    leftOut > 0 && text(`${leftOut} more addresses were left out.`),
    unknownHosts.map((host) => text(`${host} may have more addresses, which could not be looked up.`)),
    addresses.map((one) => addressBlocks(one, one.mx_hosts)),
    ofDomain && [onLists(code(ofDomain.domain), ofDomain), ...listedBlocks(ofDomain, 4)],
    everyList(addresses, ofDomain),
  )
  return { label, block: label === 'broken' ? { ...row, open: true } : row }
}

/** Every list about the addresses and the domain at a glance. */
function listsLabel({ blacklists = [], domain_blacklists: ofDomain, mx_status: mx }: Answer): Label {
  const all = [...blacklists, ...(ofDomain ? [ofDomain] : [])]
  if (all.some(({ verdict }) => verdict === 'listed')) return 'broken'
  if (blacklists.length === 0 && mx === 'unknown') return 'open'
  if (all.length === 0) return 'left_out'
  return all.some(({ answered }) => answered > 0) ? 'good' : 'open'
}

function listsWords({ blacklists = [], domain_blacklists: ofDomain }: Answer): string {
  const listed = [
    ...blacklists.flatMap(({ ip, ...one }) => (one.listed > 0 ? [`${ip} is on ${counted(one.listed, 'list')}`] : [])),
    ...(ofDomain && ofDomain.listed > 0 ? [`${ofDomain.domain} is on ${counted(ofDomain.listed, 'list')}`] : []),
  ]
  const answered = Math.min(...blacklists.map((one) => one.answered))
  const ofAddresses =
    blacklists.length === 0
      ? 'no address of a mail server is known'
      : answered === 0
        ? 'no list answered about every address'
        : `on none of ${answered} that answered`
  return listed.length > 0
    ? firstOf(listed, 3)
    : `${ofAddresses}${ofDomain && ofDomain.answered > 0 ? `, the domain on none of ${ofDomain.answered}` : ''}`
}

/** Every list with its answers, and those that gave none: folded on a page. */
const everyList = (addresses: readonly AddressLists[], ofDomain: Answer['domain_blacklists']): Block =>
  group(
    'row',
    heading(4, 'Every list'),
    combinedGrid(addresses.length === 1 ? 'All blacklists' : `For ${addresses.length} addresses`, addresses),
    addresses.map((one) => [text(code(one.ip)), ...silentBlocks(one)]),
    ofDomain && [...combinedGrid('Lists of domains', [ofDomain]), ...silentBlocks(ofDomain)],
  )

const onLists = (name: Inline, lists: Parameters<typeof listedOn>[0]): Block => heading(4, [name, ' ', listedOn(lists)])

function addressBlocks(lists: AddressLists, hosts: readonly string[]): readonly Block[] {
  const where = hosts.flatMap((host, i): Inline[] => [i === 0 ? '' : ', ', code(host)])
  return [
    onLists(code(lists.ip), lists),
    quiet(...where, ...(where.length === 0 ? [] : [' · ']), ...placeLine(lists.geo)),
    ...listedBlocks(lists, 4),
  ]
}

/** The source addresses of this service, in one row. */
export const poolRow = ({ pool = [] }: Answer): Group | undefined =>
  pool.length === 0
    ? undefined
    : group(
        'row',
        heading(3, ['Source addresses ', marked('left_out'), ' of this service'], 'pool'),
        text('This service connects to mail hosts from these addresses. Their listings do not concern the domain.'),
        table(
          'Source addresses',
          pool,
          ['Address', ({ address }) => code(address)],
          ['State', poolListed],
          ['Listed on', poolListings],
        ),
      )

const poolListed = ({ verdict, answered }: PoolAddress): Inline =>
  verdict === 'listed'
    ? { mark: 'bad', text: 'listed' }
    : verdict === 'clean'
      ? { mark: 'good', text: 'on no list' }
      : {
          mark: 'open',
          text: answered === 0 ? 'not known: no list answered' : `on none of the ${answered} that answered`,
        }

const poolListings = ({ listings }: PoolAddress): Line =>
  listings.length === 0
    ? ['–']
    : listings.flatMap(({ blacklist, delist_url }, i): Inline[] => [
        i === 0 ? '' : ', ',
        { link: delist_url, text: blacklist },
      ])

/**
 * The first screen of a check or a report: the verdict, the way up, and one line a check. `version` is the program's.
 */
export const briefDocument = (answer: Answer, version: string): Document => ({
  title: titleOf(answer),
  blocks: blocksOf([
    withoutSum(verdictBlock(answer)),
    briefPath(wayBlocks(answer)),
    !isGone(answer) && checkRows(answer),
    nextBlocks(answer),
  ]),
  footer: footerOf(version, answer.observed_at, `score version ${answer.score_version}`),
})

const withoutSum = (block: Block): Block =>
  block.kind === 'verdict' ? { ...block, verdict: { ...block.verdict, sum: [] } } : block

/** A fact for each check, and one for the lists, the worst first. */
function checkRows(answer: Answer): Parts {
  const checks = sectionsOf(answer).map((section) => {
    const label = checkLabel(answer, section)
    return { name: section.name, label, words: label === 'unused' ? '' : sentenceOf(answer, section.key) }
  })
  const lists = { name: 'Blacklists', label: listsLabel(answer), words: listsWords(answer) }
  const rows = [...checks, ...(answer.blacklists ? [lists] : [])].toSorted((a, b) => byLabel(a.label, b.label))
  return [
    heading(2, 'Checks', 'checks'),
    facts(
      ...rows.map(({ name, label, words }): Fact => [name, { ...marked(label), ...(words !== '' && { text: words }) }]),
    ),
  ]
}

/** Where the evidence and the records are. */
function nextBlocks(answer: Answer): Parts {
  const command = answer.blacklists ? 'report' : 'check'
  const steps = answer.plan?.steps ?? []
  return [
    steps.length > 0 && text('Records to publish: ', code(`mailsonde plan ${answer.domain}`)),
    quiet('Everything: ', code(`mailsonde ${command} ${answer.domain} --all`)),
  ]
}
