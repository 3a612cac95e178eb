import type { DoctorAnswer } from '../answers/doctor.ts'
import { type Block, code, type Document, heading, text } from './block.ts'
import { footerOf } from './footer.ts'
import { selfCheckBlocks } from './self-check.ts'

/** Whether this machine can do its work: what to do first, then the resolver, the lists and each source address. */
export function doctorDocument({ fit, advice, resolver, lists, sources }: DoctorAnswer, version: string): Document {
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
      ...(advice.length === 0
        ? []
        : [heading(2, 'What to do', 'first'), { kind: 'list', items: advice.map((one) => [one]) } as const]),
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
