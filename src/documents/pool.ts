import type { DoctorAnswer, PoolAnswer, PoolRowAnswer, SelfCheckAnswer } from '../answers/pool.ts'
import { counted } from '../base/text.ts'
import {
  type Block,
  bullets,
  code,
  codes,
  conclude,
  type Document,
  facts,
  group,
  heading,
  type Inline,
  type Line,
  type Marked,
  type Parts,
  table,
  text,
} from './block.ts'
import { backOf } from './check/hosts.ts'
import { documentOf, inWords, wordsOf } from './words.ts'

/**
 * The source addresses of verification: which are usable, then each with its PTR names, listings and state with the
 * providers.
 */
export const poolDocument = ({ data }: PoolAnswer, version: string): Document =>
  documentOf('Source addresses', version, usable(data), data.map(rowBlock))

function usable(data: PoolAnswer['data']): Block {
  const subject = counted(data.length, 'source address', 'source addresses')
  const troubled = data.filter((row) => troubleOf(row).length > 0).length
  if (data.length === 0) return conclude(subject, 'open', 'None', 'No source address is known yet.')
  if (troubled === 0) return conclude(subject, 'good', 'Ready', 'Every address can be used.')
  const words = `${troubled} of ${data.length} need attention.`
  return troubled < data.length
    ? conclude(subject, 'warn', 'Partly ready', words)
    : conclude(subject, 'bad', 'Not ready', words)
}

/** What limits the use of an address. */
const troubleOf = ({ problems = [], listings, providers }: PoolRowAnswer): readonly string[] => [
  ...problems,
  ...(listings ?? []).map(({ blacklist }) => blacklist),
  ...providers.filter(({ breaker }) => breaker !== 'closed').map(({ provider }) => provider),
]

const rowBlock = (row: PoolRowAnswer): Block =>
  group(
    'check',
    {
      kind: 'heading',
      level: 2,
      line: [
        row.address === '' ? 'Address chosen by the operating system' : code(row.address),
        row.configured || row.address === '' ? '' : ' (no longer configured)',
      ],
    },
    selfCheckParts(row),
    table(
      'State at each provider',
      row.providers,
      ['Provider', ({ provider }) => code(provider)],
      ['State', breakerOf],
      ['A minute', (one) => String(Number(one.per_minute.toFixed(1))), 'number'],
      ['Answers', ({ successes }) => String(successes), 'number'],
      ['Refusals', ({ refusals }) => String(refusals), 'number'],
      ['Last refusal', ({ last_refusal: last }) => (last ? [`${wordsOf(last.reason)}: `, code(last.message)] : '–')],
    ),
  )

const BREAKERS = { closed: ['good', 'in use'], half_open: ['warn', 'on trial'], open: ['bad', 'paused'] } as const

function breakerOf({ breaker, paused_reason, paused_until }: PoolRowAnswer['providers'][number]): Marked {
  const [mark, state] = BREAKERS[breaker]
  const until = paused_until === undefined ? '' : ` until ${inWords(paused_until)}`
  return { mark, text: `${state}${until}${paused_reason === undefined ? '' : `: ${wordsOf(paused_reason)}`}` }
}

type Own = { readonly [K in keyof SelfCheckAnswer]?: SelfCheckAnswer[K] | undefined } & {
  readonly listings?: readonly { readonly blacklist: string; readonly meaning: string }[] | null | undefined
}

/** What a mail host sees of one of our addresses: faults and repairs, then names and listings. */
const selfCheckParts = ({ ptr = [], forward_confirmed: confirmed, helo, spf, listings, ...own }: Own): Parts => [
  bullets((own.problems ?? []).map((one) => ({ mark: 'bad', text: one }))),
  (own.fixes ?? []).map(({ name, rtype, value }): Block => ({ kind: 'publish', record: { name, rtype, value } })),
  facts(
    confirmed !== undefined && ['PTR', [...codes(ptr), ptr.length === 0 ? '' : ' ', backOf(ptr, confirmed)]],
    helo !== undefined && ['HELO', [code(helo), ' ', heloOf(own.helo_resolves)]],
    spf !== undefined && ['SPF of the HELO name', code(spf)],
    listings !== undefined && ['Blacklists', listingsOf(listings)],
  ),
]

const heloOf = (resolves: boolean | null | undefined): Inline =>
  resolves === true
    ? { mark: 'good', text: 'has this address' }
    : resolves === false
      ? { mark: 'bad', text: 'does not have this address' }
      : { mark: 'open', text: 'not checked' }

const listingsOf = (listings: NonNullable<Own['listings']> | null): Marked =>
  listings === null
    ? { mark: 'open', text: 'not known' }
    : listings.length === 0
      ? { mark: 'good', text: 'not listed' }
      : { mark: 'bad', text: listings.map(({ blacklist, meaning }) => `${blacklist} (${meaning})`).join(', ') }

/** Whether this machine can do its work: what to do first, then the resolver, the lists and each source address. */
export function doctorDocument(answer: DoctorAnswer, version: string): Document {
  const { fit, repairs, resolver, lists, sources, port_25: port25, database, mail } = answer
  const first = [...repairs, ...problemsOf(sources)]
  return documentOf(
    'Doctor',
    version,
    fit
      ? conclude('This machine', 'good', 'Ready', 'Checks, blacklists and verification can run from here.')
      : conclude('This machine', 'bad', 'Not ready', 'Checks, blacklists or verification do not work well from here.'),
    first.length > 0 && [heading(2, 'What to do', 'first'), bullets(first)],
    heading(2, 'Resolver, port 25, database and mail', 'resolver'),
    facts(
      [
        'Resolver',
        resolver.answers
          ? { mark: 'good', text: 'answers' }
          : { mark: 'bad', text: resolver.reason ?? 'does not answer' },
      ],
      resolver.public.length > 0 && [
        'Public resolvers',
        { mark: 'warn', text: `${resolver.public.join(', ')}: some blacklists refuse them` },
      ],
      [
        'Blacklists',
        {
          mark: lists.answering === lists.total ? 'good' : 'warn',
          text: `${lists.answering} of ${lists.total} answer`,
        },
      ],
      lists.refusing.length > 0 && ['Refusing us', lists.refusing.join(', ')],
      ['Port 25', PORT_25[String(port25) as keyof typeof PORT_25]],
      ['Database', { mark: database.ready ? 'good' : 'bad', text: database.detail }],
      mail && [
        'Mail to owners',
        { mark: mail.ready ? (mail.one_click === false ? 'warn' : 'good') : 'bad', text: mailInWords(mail) },
      ],
    ),
    heading(2, 'Source addresses', 'sources'),
    sources.length === 0 && text('This machine has no public address.'),
    sources.map((source) =>
      group('check', { kind: 'heading', level: 3, line: [code(source.address)] }, selfCheckParts(source)),
    ),
  )
}

const mailInWords = ({ server, from, ready, detail }: NonNullable<DoctorAnswer['mail']>): string =>
  `${server}${ready ? ' takes our login' : ''}, mail is from ${from}: ${detail}`

const PORT_25 = {
  true: { mark: 'good', text: 'open' },
  false: { mark: 'bad', text: 'blocked' },
  null: { mark: 'open', text: 'not known' },
} as const

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
