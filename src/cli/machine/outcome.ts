import { isJsonRecord, type Json, type JsonRecord } from '../../base/json.ts'
import type { Verdict } from '../../operations/operation.ts'
import { SEVERITIES, type Severity } from '../status.ts'

/** A fault, in the words of the answer. */
export type Issue = {
  /** `spf.too_many_lookups`: the check before the first dot. */
  readonly id: string
  readonly severity: Severity | 'info'
  readonly title: string
  readonly detail: string
  /** What to do: the first step of the plan that mends it, with its record; without one, the words of the finding. */
  readonly repair: string | undefined
  /** Whether `repair` is a step of the plan. */
  readonly isStep?: boolean
  readonly reference: string | undefined
  /** Who accepted it, until when and why: it fails nothing. */
  readonly accepted?: string
}
/** A check of an answer with its status; `reason` says why it is unknown. */
export type CheckStatus = { readonly name: string; readonly status: string; readonly reason: string | undefined }

/** The outcome of one target for machine-readable formats. Texts are unchanged: each format escapes them. */
export type Outcome = {
  readonly operation: string
  readonly target: string
  /** `refused`: the request itself is invalid. */
  readonly verdict: Verdict | 'refused'
  /** The verdict in one line, without the target. */
  readonly line: string
  readonly issues: readonly Issue[]
  readonly checks: readonly CheckStatus[]
  readonly score: number | undefined
}

/** The outcome of a request without an answer. */
export const failed = (operation: string, target: string, verdict: 'unclear' | 'refused', line: string): Outcome => ({
  ...{ operation, target, verdict, line, issues: [], checks: [] },
  score: undefined,
})

/** Reads the answer of any operation: findings, listings, checks with their status, and the score. */
export function outcomeOf(operation: string, target: string, verdict: Verdict, answer: JsonRecord): Outcome {
  const score = answer.grade === null ? undefined : (answer.report_score ?? answer.score)
  return {
    ...{ operation, target, verdict },
    line: verdictLine(answer, verdict),
    issues: [
      ...findingsOf(answer),
      ...rulesOf(answer),
      ...listingsOf(answer),
      ...driftOf(answer),
      ...mailboxIssue(answer, verdict),
    ],
    checks: [...checksOf(answer), ...profileCheck(answer)],
    score: typeof score === 'number' ? score : undefined,
  }
}

/**
 * The verdict of an answer in words: `score 92 (A), warn`, `deliverable (accepted)`, `listed on 2 of 29 blacklists`.
 */
export function verdictLine(answer: JsonRecord, verdict: Verdict): string {
  const text = (name: string): string => String(answer[name] ?? '')
  const { profile } = answer
  if (isJsonRecord(profile))
    return `${profileLine(profile)}; ${verdictLine({ ...answer, profile: undefined }, verdict)}`
  if (answer.score !== undefined) return scoreLine(answer)
  if (answer.deliverability !== undefined) {
    const why = [text('result'), text('reason')].filter((word, i, all) => word !== '' && all.indexOf(word) === i)
    return `${text('deliverability')} (${why.join(': ')})`
  }
  if (answer.listed !== undefined && answer.total !== undefined)
    return `${text('verdict')}: on ${text('listed')} of ${text('total')} blacklists, ${text('answered')} answered`
  if (answer.differs !== undefined) return expectLine(answer)
  if (answer.result !== undefined) return text('result')
  if (answer.status !== undefined) return [text('status'), text('reason')].filter((word) => word !== '').join(': ')
  if (answer.fit !== undefined) return answer.fit === true ? 'fit' : 'not fit'
  return { good: 'ok', bad: 'bad', unclear: 'could not be determined' }[verdict]
}

const profileLine = ({ name, met, not_met: unmet, unknown }: JsonRecord): string =>
  `${String(name)}: ${String(met)} met, ${String(unmet)} not met, ${String(unknown)} unknown`

function scoreLine(answer: JsonRecord): string {
  const { score, score_min, score_max, grade, status, report_score, report_grade, blacklist_summary: listed } = answer
  const range =
    score_min === undefined || score_min === score_max ? '' : ` (${String(score_min)} to ${String(score_max)})`
  const words =
    grade === null
      ? [`grade not known, score ${String(score_min)} to ${String(score_max)}`, String(status)]
      : [`score ${String(report_score ?? score)}${range}`, `grade ${String(report_grade ?? grade)}`, String(status)]
  if (isJsonRecord(listed) && typeof listed.listings === 'number')
    words.push(`${listed.listings} ${listed.listings === 1 ? 'listing' : 'listings'}`)
  return words.join(', ')
}

function expectLine({ differs, unknown, total }: JsonRecord): string {
  if (differs === 0 && unknown === 0) return `as expected: ${String(total)} record sets`
  return `${String(differs)} of ${String(total)} record sets differ, ${String(unknown)} could not be determined`
}

const recordsOf = (value: Json | undefined): readonly JsonRecord[] =>
  Array.isArray(value) ? value.filter(isJsonRecord) : []

const severityOf = (value: Json | undefined): Issue['severity'] =>
  SEVERITIES.find((severity) => severity === value) ?? 'info'

const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

const findingsOf = (answer: JsonRecord): readonly Issue[] =>
  recordsOf(answer.findings).map((finding) => {
    const { id, severity, title, detail, repair, reference } = finding
    const step = stepOf(answer, finding)
    return {
      id: String(id),
      severity: severityOf(severity),
      title: String(title),
      detail: String(detail),
      repair: step ?? textOf(repair),
      ...(step !== undefined && { isStep: true }),
      reference: textOf(reference),
      ...(isJsonRecord(finding.accepted) && { accepted: acceptedLine(finding.accepted) }),
    }
  })

/** `accepted until 2026-06-30 by joe: a pilot` */
const acceptedLine = ({ by, reason, until }: JsonRecord): string =>
  `accepted until ${String(until).slice(0, 10)} by ${String(by)}: ${String(reason)}`

/** The first step of the plan for a finding, with its record and what comes before it. */
function stepOf({ plan }: JsonRecord, { steps, fix }: JsonRecord): string | undefined {
  const number = Array.isArray(steps) ? Number(steps[0]) : 0
  const step = isJsonRecord(plan) ? recordsOf(plan.steps)[number - 1] : undefined
  if (!step) return undefined
  const record = isJsonRecord(fix) ? `: ${[fix.name, fix.rtype, fix.value].join(' ')}` : ''
  const before = Array.isArray(step.before) ? step.before.map(String) : []
  const first = [...before, ...(step.wait === undefined ? [] : [String(step.wait)])].map((one) => `First: ${one}`)
  return [`Step ${number}: ${String(step.title)}${record}`, ...first].join('\n')
}

/** The rules of a profile that are not met, `bod-18-01.dmarc_reject`. */
function rulesOf({ profile }: JsonRecord): readonly Issue[] {
  if (!isJsonRecord(profile)) return []
  return recordsOf(profile.rules)
    .filter(({ status }) => status === 'not_met')
    .map(({ id, text, because, reference, accepted }) => ({
      id: `${String(profile.name)}.${String(id)}`,
      severity: 'high',
      title: `Not met: ${String(text)}`,
      detail: String(because),
      repair: undefined,
      reference: textOf(reference),
      ...(isJsonRecord(accepted) && { accepted: acceptedLine(accepted) }),
    }))
}

/** A profile as a check: unknown while a rule is and none is unmet. */
function profileCheck({ profile }: JsonRecord): readonly CheckStatus[] {
  if (!isJsonRecord(profile)) return []
  const open = recordsOf(profile.rules).filter(({ status }) => status === 'unknown')
  const reason = open.map(({ id, because }) => `${String(id)}: ${String(because)}`).join('; ')
  const status = Number(profile.not_met) > 0 ? 'fail' : open.length > 0 ? 'unknown' : 'pass'
  return [{ name: String(profile.name), status, reason: reason === '' ? undefined : reason }]
}

/**
 * Many receivers refuse mail because of a listing of tier A; the lower the tier, the fewer receivers use the list
 * (docs/blacklists.md).
 */
const TIER_SEVERITY: Readonly<Record<string, Severity>> = { A: 'critical', B: 'high', C: 'medium', D: 'low' }

function listingsOf(answer: JsonRecord): readonly Issue[] {
  const lists = answer.results === undefined ? recordsOf(answer.blacklists) : [answer]
  return lists.flatMap(({ ip, results }) =>
    recordsOf(results)
      .filter(({ listed }) => listed === true)
      .map((entry) => ({
        id: `blacklist.${String(entry.zone)}`,
        severity: TIER_SEVERITY[String(entry.tier)] ?? 'medium',
        title: `Listed on ${String(entry.blacklist)}`,
        detail: `${String(ip)} is listed on ${String(entry.blacklist)} (${[entry.codes, entry.meaning].flat().join(', ')})`,
        repair: textOf(entry.delist_url) && `Ask for removal at ${String(entry.delist_url)}`,
        reference: undefined,
      })),
  )
}

/** A record set that is not published as expected is a finding, with the diff. */
const driftOf = (answer: JsonRecord): readonly Issue[] =>
  recordsOf(answer.sets)
    .filter(({ status }) => status === 'differs' || status === 'missing')
    .map(({ name, type, status, expected, published }) => ({
      id: `expect.${String(status)}`,
      severity: 'high',
      title: `${String(name)} ${String(type)} is not published as expected`,
      detail: [`${String(name)} ${String(type)}:`, ...signed('-', expected), ...signed('+', published)].join('\n'),
      repair: undefined,
      reference: undefined,
    }))

const signed = (sign: string, values: Json | undefined): readonly string[] =>
  Array.isArray(values) ? values.map((value) => `${sign} ${String(value)}`) : []

/** An undeliverable address is one finding, named by its reason. */
const mailboxIssue = ({ deliverability, reason, message, email }: JsonRecord, verdict: Verdict): readonly Issue[] =>
  deliverability === undefined || verdict !== 'bad'
    ? []
    : [
        {
          id: `mailbox.${String(reason)}`,
          severity: deliverability === 'risky' ? 'medium' : 'high',
          title: `Mailbox is ${String(deliverability)}`,
          detail: `${String(email)}: ${String(reason)}${message === '' ? '' : ` (${String(message)})`}`,
          repair: undefined,
          reference: undefined,
        },
      ]

const STATUSES: readonly unknown[] = ['pass', 'warn', 'fail', 'unknown', 'not_applicable']

function checksOf(answer: JsonRecord): readonly CheckStatus[] {
  const mx = { name: 'mx', status: answer.mx_status, reason: textOf(answer.mx_reason) }
  const others = Object.entries(answer).flatMap(([name, value]) =>
    isJsonRecord(value) && STATUSES.includes(value.status)
      ? [{ name, status: value.status, reason: textOf(value.reason) }]
      : [],
  )
  return [mx, ...others].flatMap((one) => (typeof one.status === 'string' ? [{ ...one, status: one.status }] : []))
}

/**
 * Formats for other programs: annotations of GitHub Actions, JUnit XML, SARIF 2.1.0, the line and the exit status of a
 * Nagios plugin.
 */
export const MACHINE_FORMATS = ['github', 'junit', 'sarif', 'nagios'] as const
export type MachineFormat = (typeof MACHINE_FORMATS)[number]

export const isMachineFormat = (format: string): format is MachineFormat =>
  MACHINE_FORMATS.some((known) => known === format)

/** What a format needs beside the outcomes. */
export type Setup = {
  readonly version: string
  /** Findings at or above this severity are failures. */
  readonly failOn: Severity
  /** The file of `--expect`, if given: findings are located in it. */
  readonly file?: string
}

/** Writes each outcome as it arrives (`each`), and the end of the output (`end`). */
export type Writer = {
  readonly each: (outcome: Outcome) => string
  readonly end: (all: readonly Outcome[]) => string
  /** The exit status, if the format defines its own. */
  readonly status?: (all: readonly Outcome[]) => number
}
