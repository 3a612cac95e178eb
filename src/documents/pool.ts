import type { DoctorAnswer, PoolAnswer, PoolRowAnswer, SelfCheckAnswer } from '../answers/pool.ts'
import { counted } from '../base/text.ts'
import { type Block, code, codes, type Document, heading, type Inline, type Line, type Mark, text } from './block.ts'
import { backOf } from './check/hosts.ts'
import { footerOf, inWords } from './words.ts'

/**
 * The source addresses of verification: which are usable, then each with its PTR names, listings and state with the
 * providers.
 */
export function poolDocument({ data }: PoolAnswer, version: string): Document {
  const troubled = data.filter((row) => troubleOf(row).length > 0)
  const mark: Mark =
    data.length === 0 ? 'open' : troubled.length === 0 ? 'good' : troubled.length < data.length ? 'warn' : 'bad'
  return {
    title: 'Source addresses',
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: counted(data.length, 'source address', 'source addresses'),
          mark,
          badge: { good: 'Ready', warn: 'Partly ready', bad: 'Not ready', open: 'None', none: '' }[mark],
          words:
            data.length === 0
              ? 'No source address is known yet.'
              : troubled.length === 0
                ? 'Every address can be used.'
                : `${troubled.length} of ${data.length} need attention.`,
          notes: [],
        },
      },
      ...data.map(rowBlock),
    ],
    footer: footerOf(version),
  }
}

/** What limits the use of an address. */
const troubleOf = ({ problems = [], listings, providers }: PoolRowAnswer): readonly string[] => [
  ...problems,
  ...(listings ?? []).map(({ blacklist }) => blacklist),
  ...providers.filter(({ breaker }) => breaker !== 'closed').map(({ provider }) => provider),
]

const rowBlock = (row: PoolRowAnswer): Block => ({
  kind: 'group',
  look: 'check',
  blocks: [
    {
      kind: 'heading',
      level: 2,
      line: [
        row.address === '' ? 'Address chosen by the operating system' : code(row.address),
        ...(row.configured || row.address === '' ? [] : [' (no longer configured)']),
      ],
    },
    ...selfCheckBlocks(row),
    ...(row.providers.length === 0
      ? []
      : [
          {
            kind: 'table',
            table: {
              caption: 'State at each provider',
              head: ['Provider', 'State', 'A minute', 'Answers', 'Refusals', 'Last refusal'],
              rows: row.providers.map(providerRow),
              numeric: [2, 3, 4],
            },
          } as const,
        ]),
  ],
})

const BREAKERS = { closed: ['good', 'in use'], half_open: ['warn', 'on trial'], open: ['bad', 'paused'] } as const

function providerRow({
  provider,
  breaker,
  paused_reason,
  paused_until,
  per_minute,
  successes,
  refusals,
  last_refusal,
}: PoolRowAnswer['providers'][number]): Line[] {
  const [mark, words] = BREAKERS[breaker]
  const until = paused_until === undefined ? '' : ` until ${inWords(paused_until)}`
  return [
    [code(provider)],
    [{ mark, text: `${words}${until}${paused_reason === undefined ? '' : `: ${paused_reason.replaceAll('_', ' ')}`}` }],
    [String(Number(per_minute.toFixed(1)))],
    [String(successes)],
    [String(refusals)],
    last_refusal === undefined ? ['–'] : [`${last_refusal.reason.replaceAll('_', ' ')}: `, code(last_refusal.message)],
  ]
}

type Own = { readonly [K in keyof SelfCheckAnswer]?: SelfCheckAnswer[K] | undefined } & {
  readonly listings?: readonly { readonly blacklist: string; readonly meaning: string }[] | null | undefined
}

/** What a mail host sees of one of our addresses: faults and repairs, then names and listings. */
function selfCheckBlocks({
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

/** Whether this machine can do its work: what to do first, then the resolver, the lists and each source address. */
export function doctorDocument({ fit, repairs, resolver, lists, sources }: DoctorAnswer, version: string): Document {
  const first = [...repairs.map((one): Line => [one]), ...problemsOf(sources)]
  return {
    title: 'Doctor',
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: 'This machine',
          mark: fit ? 'good' : 'bad',
          badge: fit ? 'Ready' : 'Not ready',
          words: fit
            ? 'Checks, blacklists and verification can run from here.'
            : 'Checks, blacklists or verification do not work well from here.',
          notes: [],
        },
      },
      ...(first.length === 0 ? [] : [heading(2, 'What to do', 'first'), { kind: 'list', items: first } as const]),
      heading(2, 'Resolver and blacklists', 'resolver'),
      { kind: 'facts', rows: resolverRows(resolver, lists) },
      heading(2, 'Source addresses', 'sources'),
      ...(sources.length === 0 ? [text('This machine has no public address.')] : []),
      ...sources.map(
        (source): Block => ({
          kind: 'group',
          look: 'check',
          blocks: [{ kind: 'heading', level: 3, line: [code(source.address)] }, ...selfCheckBlocks(source)],
        }),
      ),
    ],
    footer: footerOf(version),
  }
}

/** Maximum number of addresses that are named with a problem that they share. */
const MAX_NAMED = 5

/** The problems of the source addresses, each once with the addresses that have it. */
function problemsOf(sources: DoctorAnswer['sources']): Line[] {
  const found = sources.flatMap(({ address, problems = [] }) => problems.map((problem) => ({ address, problem })))
  return [...Map.groupBy(found, ({ problem }) => problem)].map(([problem, ones]) => {
    const named = ones.slice(0, MAX_NAMED).map(({ address }) => address)
    const more = ones.length > named.length ? ` and ${ones.length - named.length} more` : ''
    return [...codes(named), `${more}: ${problem}`]
  })
}

const resolverRows = (
  resolver: DoctorAnswer['resolver'],
  lists: DoctorAnswer['lists'],
): Extract<Block, { kind: 'facts' }>['rows'] => [
  [
    'Resolver',
    [
      resolver.answers
        ? { mark: 'good', text: 'answers' }
        : { mark: 'bad', text: resolver.reason ?? 'does not answer' },
    ],
  ],
  ...(resolver.public.length === 0
    ? []
    : [
        [
          'Public resolvers',
          [{ mark: 'warn', text: `${resolver.public.join(', ')}: some blacklists refuse them` }],
        ] as const,
      ]),
  [
    'Blacklists',
    [{ mark: lists.answering === lists.total ? 'good' : 'warn', text: `${lists.answering} of ${lists.total} answer` }],
  ],
  ...(lists.refusing.length === 0 ? [] : [['Refusing us', [lists.refusing.join(', ')]] as const]),
]
