import type { z } from 'zod'
import type { AnswerOf } from '../answers/answer.ts'
import { type BlacklistAnswer, blacklistAnswer } from '../answers/blacklist.ts'
import { type CheckAnswer, checkAnswer } from '../answers/check.ts'
import type { MonitorFacts, MonitorKind } from '../answers/monitors.ts'
import { ownAnswer, readOpen } from '../answers/read-answer.ts'
import { type ReportAnswer, reportAnswer } from '../answers/report.ts'
import { type ReportsWatch, reportsWatch } from '../answers/reports.ts'
import type { Change } from '../answers/stored.ts'
import { verifyAnswer } from '../answers/verify.ts'
import type { OwnProfiles } from '../profiles/domain.ts'
import { type Acceptances, isBad, pointsAccepted, statusBeside, withAccepted } from '../score/accepted.ts'
import { blacklistChanges, checkChanges, reportChanges, verifyChanges, watchChanges } from './changes/changes.ts'
import { rememberCheck, rememberLists, rememberReport, rememberVerify } from './changes/remember.ts'
import { isFirm, listingName, rememberReports } from './changes/results.ts'
import { list } from './changes/row.ts'
import { factsOf } from './facts.ts'
import type { Facts, ReportFacts } from './notify/machine.ts'

/** An answer compared with the last known one: the changes, what is known now, and what could not be determined. */
export type Reading = {
  readonly status: string
  readonly facts: Facts
  /** Of the last known answer, beside what is accepted now; undefined for a baseline. */
  readonly before: Facts | undefined
  readonly isBad: boolean
  readonly changes: readonly Change[]
  readonly isBaseline: boolean
  readonly open: readonly string[]
  /** The last known answer after this one, as JSON text; undefined while nothing is known. */
  readonly known: string | undefined
  /** What filters and counts read of it, `unknown` where nothing is known; undefined for kinds that are no check. */
  readonly about: MonitorFacts | undefined
}

/** The last known answer of a monitor. */
type Known = {
  /** DKIM selectors for the next check: those of the last known keys; undefined for none. */
  readonly selectors: string | undefined
  /**
   * Compares an answer with it. What is accepted makes nothing bad, and is no change. Throws for an answer of another
   * kind.
   */
  readonly compare: (answer: unknown, accepted?: Acceptances, own?: OwnProfiles) => Reading
}

/** The last known answer from its JSON text; one that this version cannot read is none. */
export const knownRun = (kind: MonitorKind, text: string | null): Known => KINDS[kind](text)

type Kind<A> = {
  readonly status: (answer: A) => string
  readonly facts: (known: A) => Facts
  readonly isBad: (known: A) => boolean
  readonly changes: (before: A, after: A) => readonly Change[]
  readonly remember: (before: A, after: A) => A
  readonly open: (answer: A) => readonly string[]
  readonly about?: (known: A, own: OwnProfiles) => MonitorFacts
  /** The answer with its accepted findings marked. */
  readonly accept?: (answer: A, accepted: Acceptances) => A
  readonly selectors?: (known: A) => readonly string[]
}

/** Maximum number of selectors of a check. */
const MAX_SELECTORS = 10

const kindOf =
  <S extends z.ZodType>(schema: S, of: Kind<AnswerOf<S>>) =>
  (text: string | null): Known => {
    const read = text === null ? undefined : readOpen(schema, JSON.parse(text))
    const last = read?.ok ? { value: read.value } : undefined
    const selectors = last && of.selectors?.(last.value).slice(0, MAX_SELECTORS)
    return {
      selectors: selectors?.join() || undefined,
      compare: (value, accepted = new Map(), own = []) => {
        const accept = (one: AnswerOf<S>): AnswerOf<S> => of.accept?.(one, accepted) ?? one
        const answer = accept(ownAnswer(schema, value))
        const before = last && { value: accept(last.value) }
        const open = of.open(answer)
        const isBaseline = before === undefined
        const known = before ? of.remember(before.value, answer) : answer
        return {
          status: open.length > 0 ? 'unknown' : of.status(answer),
          facts: of.facts(known),
          isBad: of.isBad(known),
          before: before && of.facts(before.value),
          changes: before ? of.changes(before.value, answer) : [],
          isBaseline,
          open,
          known: isBaseline && open.length > 0 ? undefined : JSON.stringify(known),
          about: of.about?.(known, own),
        }
      },
    }
  }

const RANKS: Readonly<Record<string, number>> = { fail: 0, warn: 1, unknown: 2, pass: 2, not_applicable: 2 }

/** The status and score, and what they are beside what is accepted. */
function levelOf(answer: CheckAnswer, score: number | null): Pick<Facts, 'status' | 'rank' | 'score' | 'beside'> {
  const rankOf = (status: string): number => RANKS[status] ?? 2
  const level = { status: answer.status, rank: rankOf(answer.status), score }
  if (answer.findings.every(({ accepted }) => accepted === undefined)) return level
  const besideScore = score === null ? null : score + pointsAccepted(answer)
  return { ...level, beside: { rank: rankOf(statusBeside(answer)), score: besideScore } }
}

/** What people monitor a domain for: a check without these has no result. */
function openParts({ spf, dmarc, mx_status, mx_reason }: CheckAnswer): readonly string[] {
  const parts = [
    { name: 'SPF', ...spf },
    { name: 'DMARC', ...dmarc },
    { name: 'mail hosts', status: mx_status, reason: mx_reason },
  ]
  return parts.flatMap(({ name, status, reason }) =>
    status === 'unknown' ? [`${name}: ${reason ?? 'not known'}`] : [],
  )
}

const UNLISTED = { listed: null, listedAs: '' } as const

const listedOn = ({ results }: Pick<BlacklistAnswer, 'results'>): readonly string[] =>
  results.filter(({ status }) => status === 'listed').map(listingName)

const listingsOf = ({ blacklists }: ReportAnswer): number =>
  blacklists.reduce((sum, { results }) => sum + results.filter(({ status }) => status === 'listed').length, 0)

const wordOf = ({ days }: ReportsWatch): string => (days.length > 0 ? 'reported' : 'no_reports')

/** Fewer messages of a day say nothing about a share. */
const MANY_MESSAGES = 100
const DAY_MS = 86_400_000

const reportFactsOf = ({ days, to, last_report_at }: ReportsWatch): ReportFacts => ({
  failing: days.findLast(({ messages }) => messages >= MANY_MESSAGES) ?? null,
  silentDays:
    last_report_at === null
      ? null
      : Math.max(0, Math.round((Date.parse(to) - Date.parse(last_report_at.slice(0, 10))) / DAY_MS)),
})

const selectorsOf = ({ dkim }: CheckAnswer): readonly string[] => [
  ...new Set(dkim.keys.map(({ selector }) => selector)),
]

const KINDS: Readonly<Record<MonitorKind, (text: string | null) => Known>> = {
  check: kindOf(checkAnswer, {
    status: ({ status }) => status,
    facts: (answer) => ({ ...UNLISTED, ...levelOf(answer, answer.grade === null ? null : answer.score) }),
    isBad,
    accept: withAccepted,
    selectors: selectorsOf,
    changes: checkChanges,
    remember: rememberCheck,
    open: openParts,
    about: (known, own) => ({
      score: known.grade === null ? null : known.score,
      grade: known.grade,
      ...factsOf(known, own),
    }),
  }),
  report: kindOf(reportAnswer, {
    status: ({ status }) => status,
    facts: (answer) => ({
      ...levelOf(answer, answer.report_grade === null ? null : answer.report_score),
      listed: listingsOf(answer),
      listedAs: list(answer.blacklists.flatMap((one) => listedOn(one).map((name) => `${one.ip} on ${name}`))),
    }),
    isBad: (answer) => isBad(answer) || listingsOf(answer) > 0,
    accept: withAccepted,
    selectors: selectorsOf,
    changes: reportChanges,
    remember: rememberReport,
    open: (answer) => [
      ...openParts(answer),
      ...(answer.blacklists.length > 0 && answer.blacklists.every(({ answered }) => answered === 0)
        ? ['blacklists: none answered']
        : []),
    ],
    about: (known, own) => ({
      score: known.report_grade === null ? null : known.report_score,
      grade: known.report_grade,
      ...factsOf(known, own),
    }),
  }),
  verify: kindOf(verifyAnswer, {
    status: ({ result }) => result,
    facts: ({ result }) => ({
      ...UNLISTED,
      status: result,
      rank: result === 'accepted' ? 2 : result === 'catch_all' ? 1 : 0,
      score: null,
    }),
    isBad: ({ result }) => result === 'rejected' || result === 'invalid',
    changes: verifyChanges,
    remember: rememberVerify,
    open: (answer) => (isFirm(answer) ? [] : [`${answer.result} (${answer.reason})`]),
  }),
  blacklist: kindOf(blacklistAnswer, {
    status: ({ verdict }) => verdict,
    facts: (answer) => {
      const names = listedOn(answer)
      const rank = names.length > 0 ? 0 : 2
      return { status: answer.verdict, rank, score: null, listed: names.length, listedAs: list(names) }
    },
    isBad: ({ results }) => results.some(({ status }) => status === 'listed'),
    changes: blacklistChanges,
    remember: rememberLists,
    open: ({ answered, total }) => (answered * 2 < total ? [`${answered} of ${total} lists answered`] : []),
  }),
  reports: kindOf(reportsWatch, {
    status: wordOf,
    facts: (watch) => ({ ...UNLISTED, status: wordOf(watch), rank: 2, score: null, reports: reportFactsOf(watch) }),
    isBad: () => false,
    changes: watchChanges,
    remember: rememberReports,
    open: () => [],
  }),
}
