import type { SpfAnswer } from '../answers/questions.ts'
import { counted } from '../base/text.ts'
import { type Block, type Conclusion, code, type Document, heading, type Line } from './block.ts'
import { LOOKUPS } from './check/spf.ts'
import { footerOf } from './words.ts'

type Verdict = Pick<Conclusion, 'mark' | 'badge' | 'words'>

/** The results of check_host (RFC 7208 §2.6, §8). */
const RESULTS: Readonly<Record<SpfAnswer['result'], Verdict>> = {
  pass: { mark: 'good', badge: 'pass', words: 'The address may send mail for the domain.' },
  fail: { mark: 'bad', badge: 'fail', words: 'The address may not send mail for the domain; receivers may refuse it.' },
  softfail: {
    mark: 'warn',
    badge: 'softfail',
    words: 'The address probably may not send mail for the domain; receivers treat it with suspicion.',
  },
  neutral: { mark: 'none', badge: 'neutral', words: 'The record does not say whether the address may send.' },
  none: { mark: 'none', badge: 'none', words: 'The domain has no SPF record.' },
  permerror: {
    mark: 'bad',
    badge: 'permerror',
    words: 'The record cannot be evaluated, so receivers do not use it or refuse the mail. Correct the record.',
  },
  temperror: {
    mark: 'open',
    badge: 'temperror',
    words: 'The DNS did not answer, so the result is not known. Try again later.',
  },
}

const OUTCOMES: Readonly<Record<string, string>> = {
  match: 'matches',
  no_match: 'no match',
  followed: 'followed',
}

/** The result of `check_host`, and the steps that led to it. */
export function spfDocument(answer: SpfAnswer, version: string): Document {
  const { result, mechanism, explanation, lookups, void_lookups, trace, domain } = answer
  return {
    title: 'SPF',
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: domain === '' ? 'SPF' : `SPF of ${domain}`,
          ...RESULTS[result],
          notes: mechanism === undefined ? [] : [['Decided by ', code(mechanism), '.']],
        },
      },
      ...(explanation === undefined
        ? []
        : [{ kind: 'seen', label: "The domain's explanation", text: explanation } as const]),
      heading(2, 'How it was decided', 'evidence'),
      ...traceBlocks(trace),
      {
        kind: 'facts',
        rows: [
          ['DNS lookups', [`${lookups} of ${LOOKUPS.limit}`]],
          ['Void lookups', [`${void_lookups} of 2`]],
        ],
      },
    ],
    footer: footerOf(version),
  }
}

const traceBlocks = (trace: SpfAnswer['trace']): Block[] =>
  trace.length === 0
    ? []
    : [
        {
          kind: 'table',
          table: {
            caption: counted(trace.length, 'step'),
            head: ['Record of', 'Term', 'Outcome', 'Note'],
            rows: trace.map(({ domain, term, outcome, note }): Line[] => [
              [code(domain)],
              [term === undefined ? '–' : code(term)],
              [OUTCOMES[outcome] ?? outcome],
              [note ?? '–'],
            ]),
          },
        },
      ]
