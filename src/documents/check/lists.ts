import type { AddressLists, PoolAddress } from '../../answers/report.ts'
import { type Block, code, heading, type Inline, type Line, quiet, text } from '../block.ts'
import { combinedGrid, listingBlocks } from '../listings.ts'
import type { Answer } from './answer.ts'
import { listedOn, placeLine } from './hosts.ts'

/** The blacklists: each address with its listings, then every list with its answers about all addresses. */
export function listBlocks(answer: Answer): readonly Block[] {
  const addresses = answer.blacklists
  if (addresses === undefined) return []
  if (addresses.length === 0)
    return [
      heading(2, 'Blacklists', 'blacklists'),
      text('No address of a mail server is known, so no list was queried.'),
      ...domainBlocks(answer),
    ]
  const leftOut = answer.blacklist_summary?.left_out ?? 0
  const unknownHosts = answer.blacklist_summary?.unknown_hosts ?? []
  return [
    heading(2, 'Blacklists', 'blacklists'),
    ...(leftOut === 0 ? [] : [text(`${leftOut} more addresses were left out.`)]),
    ...unknownHosts.map((host) => text(`${host} may have more addresses, which could not be looked up.`)),
    ...addresses.map((one) => addressBlock(one, one.mx_hosts)),
    ...combinedGrid(
      addresses.length === 1 ? 'All blacklists' : `Every list and all ${addresses.length} addresses`,
      addresses,
    ),
    ...domainBlocks(answer),
  ]
}

/** The lists of domains about the domain itself. */
function domainBlocks({ domain_blacklists: lists }: Answer): readonly Block[] {
  if (lists === undefined) return []
  const { domain, verdict, answered, total } = lists
  const state: Inline =
    verdict === 'listed'
      ? { mark: 'bad', text: 'listed' }
      : verdict === 'clean'
        ? { mark: 'good', text: `on none of ${total} lists of domains` }
        : { mark: 'open', text: `on none of the ${answered} lists of domains that answered` }
  return [
    {
      kind: 'group',
      look: 'check',
      blocks: [
        { kind: 'heading', level: 3, line: [code(domain), ' ', state] },
        ...listingBlocks(lists),
        ...combinedGrid('Lists of domains', [lists]),
      ],
    },
  ]
}

/** The source addresses of this service, in one table. */
export const poolBlocks = ({ pool = [] }: Answer): readonly Block[] =>
  pool.length === 0
    ? []
    : [
        heading(2, 'Source addresses of this service', 'pool'),
        text('This service connects to mail hosts from these addresses. Their listings do not concern the domain.'),
        {
          kind: 'table',
          table: {
            caption: 'Source addresses',
            head: ['Address', 'State', 'Listed on'],
            rows: pool.map((one): Line[] => [[code(one.address)], [poolListed(one)], poolListings(one)]),
          },
        },
      ]

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

function addressBlock(lists: AddressLists, hosts: readonly string[]): Block {
  const where = hosts.flatMap((host, i): Inline[] => [i === 0 ? '' : ', ', code(host)])
  return {
    kind: 'group',
    look: 'check',
    blocks: [
      { kind: 'heading', level: 3, line: [code(lists.ip), ' ', listedOn(lists)] },
      quiet(...where, ...(where.length === 0 ? [] : [' · ']), ...placeLine(lists.geo)),
      ...listingBlocks(lists),
    ],
  }
}
