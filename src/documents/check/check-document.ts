import type { Status } from '../../answers/finding.ts'
import type { AddressLists, PoolAddress } from '../../answers/report.ts'
import { WEIGHTS } from '../../answers/weights.ts'
import { counted } from '../../base/text.ts'
import { combinedGrid, isSilent, listingBlocks, whySilent } from '../blacklist.ts'
import { type Block, code, type Document, heading, type Inline, type Line, quiet, text } from '../block.ts'
import { reportsOfDomainBlocks } from '../reports.ts'
import { CHECKS, footerOf, LOSS_WORDS, ROW_WORDS, STATUS_MARKS, STATUS_WORDS, wordsFor } from '../words.ts'
import { type Answer, sectionsOf } from './answer.ts'
import { checkBlocks } from './checks.ts'
import { hostBlocks, listedOn, placeLine } from './hosts.ts'
import { hasWay, improvementBlocks, nothingBlocks, optionalPlanBlocks, planBlocks, wayBlocks } from './path.ts'
import { isUnused, sentenceOf } from './sentences.ts'
import { barBlocks, isAllOpen, isGone, isOpen, leftThings, plain, thingBlocks, verdictBlock } from './verdict.ts'
import { whoMaySendBlocks } from './who-may-send.ts'

/**
 * The answer of a check or a report as a document: the verdict and what to do first, then the evidence. `version` is
 * the program's.
 */
export function checkDocument(answer: Answer, version: string): Document {
  const map = isGone(answer) ? [] : hostBlocks(answer)
  const way = wayBlocks(answer)
  const things = thingBlocks(answer)
  const blocks: Block[] = [
    verdictBlock(answer),
    ...(map.length === 0 ? [] : [heading(2, 'Where mail goes', 'map'), ...map]),
    ...(way.length === 0 && things.length === 0 ? nothingBlocks(!isAllOpen(answer), answer) : []),
    ...(hasWay(answer) ? [...way, ...planBlocks(answer), ...things] : [...things, ...way]),
    ...optionalPlanBlocks(answer),
    ...improvementBlocks(answer, new Set(leftThings(answer).flatMap(({ title, also }) => [title, ...also]))),
    ...whoMaySendBlocks(answer),
    ...(answer.reports && !isGone(answer) ? reportsOfDomainBlocks(answer.reports) : []),
    ...(isGone(answer)
      ? []
      : [heading(2, 'All checks', 'checks'), ...barBlocks(answer), ...checkBlocks(answer), ...ledgerBlocks(answer)]),
    ...listBlocks(answer),
    ...poolBlocks(answer),
    ...unknownBlocks(answer),
  ]
  return {
    title: `${answer.blacklists ? 'Mail report' : 'Mail check'}: ${answer.domain}`,
    blocks,
    footer: footer(answer, version),
  }
}

function footer(answer: Answer, version: string): Line[] {
  const lists = answer.blacklists?.[0]?.list_version
  return [
    ...(answer.observed_at === undefined ? [] : [['Observed ', { time: answer.observed_at }, '.']]),
    [
      `mailsonde ${version} · score version ${answer.score_version}${lists === undefined ? '' : ` · blacklists ${lists}`}`,
    ],
  ]
}

/** Every point: the deductions with their reasons, the score, then the points lost to listings. */
function ledgerBlocks(answer: Answer): readonly Block[] {
  const rows = answer.score_breakdown.map(({ component, finding, kind, points }): Line[] => [
    [component === 'total' ? 'Whole' : CHECKS[component].name],
    causeOf(answer, component, finding, kind),
    [signed(-points)],
  ])
  return [
    heading(2, 'How the score adds up', 'score'),
    text('The score starts at 100; each deduction has its own line.'),
    {
      kind: 'table',
      table: {
        caption: 'Check score',
        head: ['Part', 'Cause', 'Points'],
        rows: [[['Whole'], ['Full marks'], ['100']], ...rows],
        sum: [['Score'], [isOpen(answer) ? 'No grade' : `Grade ${answer.grade}`], [String(answer.score)]],
        numeric: [2],
      },
    },
    ...listedBlocks(answer),
  ]
}

function causeOf(answer: Answer, component: string, finding: string | null, kind: string): Line {
  const loss = kind === 'deduction' && finding === null ? wordsFor(LOSS_WORDS, component) : undefined
  const words = loss ?? wordsFor(ROW_WORDS, kind) ?? kind
  if (finding === null) return [words]
  const title = answer.findings.find(({ id }) => id === finding)?.title
  const told: Inline = { link: `#${finding.split('.')[0]}`, text: title ?? finding }
  return kind === 'deduction' ? [told] : [told, ` (${words.toLowerCase()})`]
}

function listedBlocks(answer: Answer): Block[] {
  if (answer.report_score === undefined || answer.report_score === answer.score) return []
  const { domain_blacklists: ofDomain } = answer
  const subjects = [
    ...(answer.blacklists ?? []).map(({ ip, results }) => ({ subject: ip, results })),
    ...(ofDomain ? [{ subject: ofDomain.domain, results: ofDomain.results }] : []),
  ]
  const listings = subjects.flatMap(({ subject, results }) =>
    results.filter(({ listed }) => listed).map(({ blacklist, tier }) => ({ subject, blacklist, tier })),
  )
  const taken = listings.reduce((sum, { tier }) => sum + WEIGHTS.listing[tier], 0)
  const lost = answer.score - answer.report_score
  const back: Line[][] =
    taken > lost
      ? [
          [
            ['Whole'],
            [
              taken > WEIGHTS.listing.at_most
                ? `Listings cost at most ${WEIGHTS.listing.at_most} points`
                : 'Not below 0',
            ],
            [signed(taken - lost)],
          ],
        ]
      : []
  return [
    {
      kind: 'table',
      table: {
        caption: 'Report score: the check and the blacklists',
        head: ['Address or domain', 'Listed on', 'Points'],
        rows: [
          [['Whole'], ['Check score'], [String(answer.score)]],
          ...listings.map(({ subject, blacklist, tier }): Line[] => [
            [{ code: subject }],
            [`${blacklist} (tier ${tier})`],
            [signed(-WEIGHTS.listing[tier])],
          ]),
          ...back,
        ],
        sum: [
          ['Report score'],
          [answer.report_grade === undefined ? '' : isOpen(answer) ? 'No grade' : `Grade ${answer.report_grade}`],
          [String(answer.report_score)],
        ],
        numeric: [2],
      },
    },
  ]
}

/** With a minus sign, as in print. */
const signed = (points: number): string => (points < 0 ? `−${plain(-points)}` : points > 0 ? `+${plain(points)}` : '0')

/** Everything that could not be determined, each by name and with its reason. */
export function unknownBlocks(answer: Answer): readonly Block[] {
  const items = [...checks(answer), ...hosts(answer), ...tlsHosts(answer), ...silentLists(answer)]
  const leftOut = answer.blacklist_summary?.left_out ?? 0
  if (leftOut > 0) items.push([`${leftOut} addresses of mail servers were not looked up.`])
  if (items.length === 0 && answer.complete) return [] // said at the top
  const title = heading(2, 'What could not be determined', 'unknowns')
  if (items.length === 0) return [title, text('Every check has an answer; the part that is missing is named there.')]
  return [title, text('None of this counts as a pass or a fail.'), { kind: 'list', items }]
}

const checks = (answer: Answer): Line[] =>
  sectionsOf(answer)
    .filter(({ status }) => status === 'unknown')
    .map(({ key, name, reason }) => [{ link: `#${key}`, text: name }, `: ${reason ?? 'no reason is given'}`])

const hosts = (answer: Answer): Line[] =>
  answer.mx.flatMap(({ host, reason, addresses }) => [
    ...(reason === undefined ? [] : [[{ code: host }, `: ${reason}`]]),
    ...addresses
      .filter((one) => one.forward_confirmed === null)
      .map(({ address }): Line => ['Whether the name of ', { code: address }, ' resolves back to it.']),
  ])

/** Hosts whose TLS is not known, where the check of the others has a result. */
const tlsHosts = ({ starttls }: Answer): Line[] =>
  starttls === undefined || starttls.status === 'unknown'
    ? []
    : starttls.hosts
        .filter(({ reason }) => reason !== undefined)
        .map(({ host, address, reason }) => [
          { link: '#starttls', text: 'STARTTLS' },
          ' at ',
          { code: address === null ? host : `${host} (${address})` },
          `: ${reason}`,
        ])

/** Lists without an answer for the same reason and addresses are one line. */
function silentLists(answer: Answer): Line[] {
  const asked = answer.blacklists ?? []
  const names = [...new Set(asked.flatMap(({ results }) => results.filter(isSilent).map(({ blacklist }) => blacklist)))]
  const lines = new Map<string, string[]>()
  for (const name of names) {
    for (const [reason, addresses] of silence(asked, name)) {
      const about = addresses.length === asked.length ? '' : ` (queried for ${addresses.join(', ')})`
      lines.set(`${reason}${about}`, [...(lines.get(`${reason}${about}`) ?? []), name])
    }
  }
  for (const { blacklist, ...entry } of (answer.domain_blacklists?.results ?? []).filter(isSilent)) {
    const why = whySilent({ blacklist, ...entry })
    lines.set(why, [...(lines.get(why) ?? []), blacklist])
  }
  return [...lines].map(([why, lists]): Line => [{ strong: lists.join(', ') }, `: ${why}`])
}

/** Why a list gave no answer, and about which addresses. */
function silence(asked: readonly AddressLists[], name: string): ReadonlyMap<string, readonly string[]> {
  const reasons = new Map<string, string[]>()
  for (const { ip, results } of asked) {
    const entry = results.find(({ blacklist }) => blacklist === name)
    if (entry && isSilent(entry)) reasons.set(whySilent(entry), [...(reasons.get(whySilent(entry)) ?? []), ip])
  }
  return reasons
}

/** The blacklists: each address with its listings, then every list with its answers about all addresses. */
function listBlocks(answer: Answer): readonly Block[] {
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
      addresses.length === 1 ? 'All blacklists' : `Every list, for ${addresses.length} addresses`,
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
        : {
            mark: 'open',
            text:
              answered === 0
                ? 'not known: no list of domains answered'
                : `on none of the ${answered} lists of domains that answered`,
          }
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

/**
 * The first screen of a check or a report: the verdict, the way up, and one line a check. `version` is the program's.
 */
export function briefDocument(answer: Answer, version: string): Document {
  const way = wayBlocks(answer)
  const left = leftThings(answer)
  return {
    title: `${answer.blacklists ? 'Mail report' : 'Mail check'}: ${answer.domain}`,
    blocks: [
      verdictBlock(answer),
      ...(way.length === 0 && left.length === 0 ? nothingBlocks(!isAllOpen(answer), answer) : way),
      ...(left.length === 0
        ? []
        : [
            heading(2, hasWay(answer) ? 'Also to repair' : 'To repair', 'first'),
            {
              kind: 'list',
              items: left.map(({ title, repair }): Line => [{ strong: title }, repair ? `: ${repair}` : '']),
            } as const,
          ]),
      ...(isGone(answer) ? [] : checkRows(answer)),
      ...listingsRow(answer),
      ...nextBlocks(answer),
    ],
    footer: footerOf(version, answer.observed_at, `score version ${answer.score_version}`),
  }
}

const checkRows = (answer: Answer): Block[] => [
  heading(2, 'Checks', 'checks'),
  { kind: 'facts', rows: sectionsOf(answer).map(({ key, name, status }) => rowOf(answer, key, name, status)) },
]

type Row = readonly [string, Line]

const rowOf = (answer: Answer, key: string, name: string, status: Status): Row => {
  if (isUnused(answer, key)) return [name, [{ mark: 'none', text: 'not used' }]]
  const sentence = sentenceOf(answer, key)
  return [name, [{ mark: STATUS_MARKS[status], text: sentence === '' ? STATUS_WORDS[status] : sentence }]]
}

function listingsRow({ blacklist_summary: summary, domain_blacklists: domain }: Answer): Block[] {
  if (summary === undefined) return []
  const { listings, listed_addresses: listed, addresses } = summary
  const line: Line =
    addresses === 0
      ? ['no address of a mail server is known']
      : listings === 0
        ? [{ mark: 'good', text: 'no listing' }]
        : [
            {
              mark: 'bad',
              text: `${counted(listings, 'listing')} of ${listed} of ${counted(addresses, 'address', 'addresses')}`,
            },
          ]
  const ofDomain: Line[] =
    domain && domain.verdict === 'listed'
      ? [[{ mark: 'bad', text: `the domain is on ${counted(domain.listed, 'list of domains', 'lists of domains')}` }]]
      : []
  return [{ kind: 'facts', rows: [line, ...ofDomain].map((one) => ['Blacklists', one]) }]
}

/** Where the evidence and the records are. */
function nextBlocks(answer: Answer): Block[] {
  const command = answer.blacklists ? 'report' : 'check'
  return [
    ...(answer.plan && answer.plan.steps.length > 0
      ? [text('Records to publish: ', code(`mailsonde plan ${answer.domain}`))]
      : []),
    quiet('Everything: ', code(`mailsonde ${command} ${answer.domain} --all`)),
  ]
}
