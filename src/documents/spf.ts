import type { SpfAnswer } from '../answers/questions.ts'
import { counted } from '../base/text.ts'
import { code, conclude, type Document, facts, heading, type Mark, table } from './block.ts'
import { LOOKUPS } from './check/spf.ts'
import { documentOf } from './words.ts'

/** The results of check_host (RFC 7208 §2.6, §8). */
const RESULTS: Readonly<Record<SpfAnswer['result'], readonly [Mark, words: string]>> = {
  pass: ['good', 'The address may send mail for the domain.'],
  fail: ['bad', 'The address may not send mail for the domain; receivers may refuse it.'],
  softfail: ['warn', 'The address probably may not send mail for the domain; receivers treat it with suspicion.'],
  neutral: ['none', 'The record does not say whether the address may send.'],
  none: ['none', 'The domain has no SPF record.'],
  permerror: [
    'bad',
    'The record cannot be evaluated, so receivers do not use it or refuse the mail. Correct the record.',
  ],
  temperror: ['open', 'The DNS did not answer, so the result is not known. Try again later.'],
}

const OUTCOMES: Readonly<Record<string, string>> = {
  match: 'matches',
  no_match: 'no match',
  followed: 'followed',
}

/** The result of `check_host`, and the steps that led to it. */
export function spfDocument(answer: SpfAnswer, version: string): Document {
  const { result, mechanism, explanation, trace, domain } = answer
  const [mark, words] = RESULTS[result]
  return documentOf(
    'SPF',
    version,
    conclude(
      domain === '' ? 'SPF' : `SPF of ${domain}`,
      mark,
      result,
      words,
      mechanism === undefined ? [] : [['Decided by ', code(mechanism), '.']],
    ),
    explanation !== undefined && { kind: 'seen', label: "The domain's explanation", text: explanation },
    heading(2, 'How it was decided', 'evidence'),
    table(
      counted(trace.length, 'step'),
      trace,
      ['Record of', (step) => code(step.domain)],
      ['Term', ({ term }) => (term === undefined ? '–' : code(term))],
      ['Outcome', ({ outcome }) => OUTCOMES[outcome] ?? outcome],
      ['Note', ({ note }) => note ?? '–'],
    ),
    facts(['DNS lookups', `${answer.lookups} of ${LOOKUPS.limit}`], ['Void lookups', `${answer.void_lookups} of 2`]),
  )
}
