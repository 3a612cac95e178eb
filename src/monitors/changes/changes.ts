import type { BlacklistAnswer } from '../../answers/blacklist.ts'
import type { CheckAnswer } from '../../answers/check.ts'
import type { FindingAnswer } from '../../answers/finding.ts'
import type { MessageAnswer } from '../../answers/message.ts'
import type { ReportAnswer } from '../../answers/report.ts'
import type { ReportsWatch } from '../../answers/reports.ts'
import type { Change } from '../../answers/stored.ts'
import type { VerifyAnswer } from '../../answers/verify.ts'
import { printable } from '../../base/text.ts'
import { MX_ROWS, TRANSPORT_ROWS } from './receiving.ts'
import { BLACKLIST_ROWS, MESSAGE_ROWS, REPORT_ROWS, REPORTS_ROWS, VERIFY_ROWS } from './results.ts'
import { better, type Row, worse } from './row.ts'
import { DKIM_ROWS, DMARC_ROWS, SPF_ROWS } from './sending.ts'
import { DNSSEC_ROWS, ZONE_ROWS } from './zone.ts'

/** Findings of severity info, and accepted ones, are not reported as changes. */
const TOLD: readonly FindingAnswer['severity'][] = ['critical', 'high', 'medium', 'low']

/** Whether the check of a finding has a result. */
function isKnown(answer: CheckAnswer, id: string): boolean {
  const key = id.split('.')[0]!
  if (key === 'mx') return answer.mx_status !== 'unknown'
  const section: unknown = Object.hasOwn(answer, key) ? Reflect.get(answer, key) : undefined
  return typeof section === 'object' && section !== null && Reflect.get(section, 'status') !== 'unknown'
}

const told = ({ findings }: CheckAnswer): ReadonlyMap<string, FindingAnswer> =>
  new Map(
    findings
      .filter(({ severity, accepted }) => TOLD.includes(severity) && accepted === undefined)
      .map((one) => [one.id, one]),
  )

/** The findings of one answer that the other does not have, if both are known. */
const only = (one: CheckAnswer, other: CheckAnswer): readonly FindingAnswer[] => {
  const all = new Set(other.findings.map(({ id }) => id))
  return [...told(one).values()].filter(({ id }) => !all.has(id) && isKnown(one, id) && isKnown(other, id))
}
const isCut = (answer: CheckAnswer): boolean => Object.hasOwn(answer, 'findings_left_out')

/**
 * Whether the score is the same whatever the unknown parts are: lists without an answer make a report incomplete, but
 * do not change its score.
 */
export const isScoreKnown = ({
  complete,
  score_min,
  score_max,
}: Pick<CheckAnswer, 'complete' | 'score_min' | 'score_max'>): boolean =>
  complete || (score_min !== undefined && score_min === score_max)

const FINDING_ROWS: readonly Row<CheckAnswer>[] = [
  {
    id: 'finding.new',
    area: 'New findings',
    compare: (before, after) =>
      isCut(before) ? [] : only(after, before).map(({ title, id }) => worse(`${title} (${id})`)),
  },
  {
    id: 'finding.solved',
    area: 'Solved',
    compare: (before, after) =>
      isCut(after) ? [] : only(before, after).map(({ title, id }) => better(`${title} (${id})`)),
  },
  {
    id: 'score',
    area: 'Score',
    compare: (before, after) => {
      if (!isScoreKnown(before) || !isScoreKnown(after) || before.score_version !== after.score_version) return []
      if (before.score === after.score) return []
      const words = `${after.score} (${after.grade}) instead of ${before.score} (${before.grade})`
      return [after.score < before.score ? worse(words) : better(words)]
    },
  },
]

/** Every kind of change between two checks of a domain, in the order in which they are reported. */
export const CHECK_ROWS: readonly Row<CheckAnswer>[] = [
  ...SPF_ROWS,
  ...DKIM_ROWS,
  ...DMARC_ROWS,
  ...MX_ROWS,
  ...TRANSPORT_ROWS,
  ...ZONE_ROWS,
  ...DNSSEC_ROWS,
  ...FINDING_ROWS,
]

const MAX_CHANGES = 100
/** Maximum number of characters of a change. */
const MAX_TEXT = 600

const rowsOf = <A>(rows: readonly Row<A>[], before: A, after: A): readonly Change[] =>
  rows
    .flatMap(({ id, area, compare }) =>
      compare(before, after).map(({ effect, text }) => ({ id, area, effect, text: printable(text, MAX_TEXT) })),
    )
    .slice(0, MAX_CHANGES)

const isGone = ({ domain_role }: CheckAnswer): boolean => domain_role.name === 'no_such_domain'

/** The domain itself was created or removed: no other change is reported then. */
function existence(before: CheckAnswer, after: CheckAnswer): readonly Change[] | undefined {
  if (isGone(before) === isGone(after)) return isGone(after) ? [] : undefined
  return isGone(after)
    ? [{ id: 'domain.gone', area: 'Domain', effect: 'worse', text: `${after.domain} no longer exists` }]
    : [{ id: 'domain.exists', area: 'Domain', effect: 'better', text: `${after.domain} exists` }]
}

/** The differences between two checks of one domain. A value that is unknown in one of them is never a change. */
export const checkChanges = (before: CheckAnswer, after: CheckAnswer): readonly Change[] =>
  existence(before, after) ?? rowsOf(CHECK_ROWS, before, after)

/** The differences between two reports, including the listings of the mail hosts. */
export const reportChanges = (before: ReportAnswer, after: ReportAnswer): readonly Change[] =>
  existence(before, after) ??
  [...rowsOf(REPORT_ROWS, before, after), ...rowsOf(CHECK_ROWS, before, after)].slice(0, MAX_CHANGES)

/** The differences between two blacklist answers about one address. */
export const blacklistChanges = (before: BlacklistAnswer, after: BlacklistAnswer): readonly Change[] =>
  rowsOf(BLACKLIST_ROWS, before, after)

/** The differences between the analyses of two messages of one author domain. */
export const messageChanges = (before: MessageAnswer, after: MessageAnswer): readonly Change[] =>
  rowsOf(MESSAGE_ROWS, before, after)

/** The differences between two looks at the reports of a domain. */
export const watchChanges = (before: ReportsWatch, after: ReportsWatch): readonly Change[] =>
  rowsOf(REPORTS_ROWS, before, after)

/** The differences between two verifications of one mailbox. */
export const verifyChanges = (before: VerifyAnswer, after: VerifyAnswer): readonly Change[] =>
  rowsOf(VERIFY_ROWS, before, after)

/** The changes as text: one line per area, in their order: `SPF: include of X gone; 7 lookups instead of 12`. */
export const changeLines = (changes: readonly Change[]): readonly string[] =>
  [...Map.groupBy(changes, ({ area }) => area)].map(
    ([area, all]) => `${area}: ${all.map(({ text }) => text).join('; ')}`,
  )
