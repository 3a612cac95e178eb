import type { DoctorAnswer } from '../answers/doctor.ts'
import { type Block, code, codes, type Document, heading, type Line, text } from './block.ts'
import { footerOf } from './footer.ts'
import { selfCheckBlocks } from './self-check.ts'

/** Whether this machine can do its work: what to do first, then the resolver, the lists and each source address. */
export function doctorDocument({ fit, advice, resolver, lists, sources }: DoctorAnswer, version: string): Document {
  const first = [...advice.map((one): Line => [one]), ...problemsOf(sources)]
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
