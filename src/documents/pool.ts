import type { PoolAnswer, PoolRowAnswer } from '../answers/pool.ts'
import { counted } from '../base/text.ts'
import { type Block, code, type Document, type Line, type Mark } from './block.ts'
import { footerOf } from './footer.ts'
import { selfCheckBlocks } from './self-check.ts'
import { inWords } from './times.ts'

/** The source addresses of verification: which are usable, then each with its PTR names, listings and state with the providers. */
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
  resting,
  rest_until,
  per_minute,
  successes,
  refusals,
  last_refusal,
}: PoolRowAnswer['providers'][number]): Line[] {
  const [mark, words] = BREAKERS[breaker]
  const until = rest_until === undefined ? '' : ` until ${inWords(rest_until)}`
  return [
    [code(provider)],
    [{ mark, text: `${words}${until}${resting === undefined ? '' : `: ${resting.replaceAll('_', ' ')}`}` }],
    [String(Number(per_minute.toFixed(1)))],
    [String(successes)],
    [String(refusals)],
    last_refusal === undefined ? ['–'] : [`${last_refusal.reason.replaceAll('_', ' ')}: `, code(last_refusal.message)],
  ]
}
