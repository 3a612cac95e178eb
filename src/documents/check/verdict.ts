import type { Severity } from '../../answers/finding.ts'
import { earnedGrade } from '../../answers/weights.ts'
import type { Block, Inline, Line } from '../block.ts'
import { BUT_BROKEN, CHECKS, GRADE_WORDS, UNDELIVERABLE, wordsFor } from '../words.ts'
import { type Answer, isGone, isReverse, SCORED, statusOf } from './answer.ts'
import { roleNote, sumBlocks } from './score-sum.ts'
import { sendersNote } from './who-may-send.ts'

export const verdictBlock = (answer: Answer): Block => ({
  kind: 'verdict',
  verdict: {
    subject: answer.domain,
    ...(answer.unicode_domain === undefined ? {} : { unicode: answer.unicode_domain }),
    score: answer.report_score ?? answer.score,
    ...rangeOf(answer),
    ...gradeIn(answer),
    ...(isBroken(answer) ? { isBroken: true } : {}),
    words: wordsOf(answer),
    notes: notesOf(answer),
    sum: sumBlocks(answer),
  },
})

const ALL_OPEN =
  'The DNS did not answer for this domain, so almost nothing is known about it. The score is not meaningful. "mailsonde doctor" tells whether the resolver works.'
const BOGUS =
  'DNSSEC fails for this domain: resolvers that validate, as most receivers have, get no answer, so almost nothing is known about it. The score is not meaningful.'
const GONE = 'The domain does not exist, so no mail can reach it.'
const REVERSE = 'A reverse zone names addresses: it is no mail domain, and nothing about mail is judged.'
const OPEN_ONLY = 'Good as far as it could be determined.'
const MOSTLY_OPEN = 'More than half of the points could not be determined, so there is no grade.'

const isAllOpen = (answer: Answer): boolean => SCORED.every((component) => statusOf(answer, component) === 'unknown')

const gradeIn = ({ report_grade: reported, grade }: Answer): { readonly grade?: string } => {
  const shown = reported ?? grade
  return shown === null ? {} : { grade: shown }
}

const isBroken = ({ findings }: Answer): boolean =>
  findings.some(({ severity }) => severity === 'critical' || severity === 'high')

/** No mail to the domain can arrive. */
const isUndeliverable = ({ findings }: Answer): boolean =>
  findings.some(({ id, severity }) => id.startsWith('mx.') && severity === 'critical')

function wordsOf(answer: Answer): string {
  const { grade } = gradeIn(answer)
  if (isGone(answer)) return GONE
  if (isReverse(answer)) return REVERSE
  if (grade === undefined) {
    const isBogus = answer.findings.some(({ id }) => id === 'dnssec.bogus')
    return !isAllOpen(answer) ? MOSTLY_OPEN : isBogus ? BOGUS : ALL_OPEN
  }
  if (isUndeliverable(answer)) return UNDELIVERABLE
  if (isOpenOnly(answer)) return OPEN_ONLY
  return isBroken(answer) && /^[AB]/.test(grade) ? BUT_BROKEN : (wordsFor(GRADE_WORDS, grade) ?? '')
}

/** Points are missing only because something could not be determined, and nothing needs repair. */
function isOpenOnly({ complete, score_breakdown: rows, findings }: Answer): boolean {
  const isFault = (severity: Severity): boolean => severity !== 'info' && severity !== 'low'
  const missing = rows.filter(({ points, component }) => points > 0 && component !== 'total')
  return (
    !complete &&
    missing.length > 0 &&
    missing.every(({ kind }) => kind === 'unknown') &&
    !findings.some(({ severity }) => isFault(severity))
  )
}

/** The range of the check's score, minus the deductions for listings. */
function rangeOf({ score, score_min: least = score, score_max: most = score, report_score: reported = score }: Answer) {
  const less = (value: number): number => Math.max(0, value - (score - reported))
  return least === most ? {} : { range: [less(least), less(most)] as const }
}

/** At most two things that matter besides, why the grade is below its points, and what is accepted. */
function notesOf(answer: Answer): Line[] {
  const role = answer.domain_role?.name
  const judged = role === 'sends_and_accepts_mail' ? sendersNote(answer) : roleNote(answer)
  return [...becauseNote(answer), ...(isGone(answer) ? [] : judged), ...openNote(answer), ...acceptedNote(answer)]
}

/** Accepted findings that a note names. */
const MOST_ACCEPTED = 3

function acceptedNote({ findings }: Answer): Line[] {
  const all = findings.filter(({ accepted }) => accepted !== undefined)
  if (all.length === 0) return []
  const named = all
    .slice(0, MOST_ACCEPTED)
    .flatMap(({ id, title, accepted }, i): Inline[] => [
      i === 0 ? 'Accepted: ' : ', ',
      { link: `#${id.split('.')[0]}`, text: title },
      ` until ${accepted?.until.slice(0, 10)}`,
    ])
  const more = all.length - MOST_ACCEPTED
  return [[...named, more > 0 ? ` and ${more} more.` : '.']]
}

function becauseNote({ grade, grade_because: because, score, findings }: Answer): Line[] {
  if (!because || grade === null) return []
  const title = findings.find(({ id }) => id === because.finding)?.title ?? because.finding
  return [[`${grade} and not ${earnedGrade(score)}: `, { link: `#${because.finding.split('.')[0]}`, text: title }, '.']]
}

/** What is not known, where the score depends on it. */
function openNote(answer: Answer): Line[] {
  const { score, score_min: least = score, score_max: most = score } = answer
  if (least === most || isGone(answer)) return []
  const open = SCORED.filter((key) => statusOf(answer, key) === 'unknown')
  const named = open.flatMap((key, i): Inline[] => [i === 0 ? ': ' : ', ', { link: `#${key}`, text: CHECKS[key].name }])
  return [
    [
      `Not known${open.length === 0 ? ' is a part of the answer' : ''}`,
      ...named,
      `; the score is between ${least} and ${most}.`,
    ],
  ]
}
