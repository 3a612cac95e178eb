import type { CheckAnswer } from '../../answers/check.ts'
import type { Status } from '../../answers/finding.ts'
import type { ReportAnswer } from '../../answers/report.ts'
import type { Component } from '../../answers/weights.ts'
import { isJsonRecord, type JsonRecord } from '../../base/json.ts'
import { CHECK_NAMES, CHECKS, type CheckName, STATUS_WORDS } from '../words.ts'

/** The input of a document: the answer of a check, or of a report, which has more fields. */
export type Answer = CheckAnswer & Partial<Omit<ReportAnswer, keyof CheckAnswer>>

/** One check in its displayed form. */
export type Section = {
  readonly key: string
  readonly name: string
  readonly purpose: string
  readonly status: Status
  readonly reason?: string | undefined
  /** Its fields; those of `mx` are elsewhere in the answer. */
  readonly fields?: JsonRecord
}

/** The checks that the score is made of. */
export const SCORED = ['spf', 'dkim', 'dmarc', 'mx', 'ptr'] as const satisfies readonly (CheckName & Component)[]

/** There is no grade: more than half of the points could not be determined. */
export const isOpen = ({ grade }: Answer): boolean => grade === null

/** The name does not exist, so that no check has a subject. */
export const isGone = ({ domain_role: role }: Answer): boolean => role?.name === 'no_such_domain'

/** A name of a reverse zone, about which nothing is said that is about mail. */
export const isReverse = ({ findings }: Answer): boolean => findings.some(({ id }) => id === 'mx.reverse_zone')

export const statusOf = (answer: Answer, key: CheckName): Status =>
  key === 'mx' ? answer.mx_status : (answer[key]?.status ?? 'unknown')

/** The sections in the order of {@link CHECK_NAMES}, then checks of a newer service that are unknown here. */
export const sectionsOf = (answer: Answer): readonly Section[] => [
  ...CHECK_NAMES.flatMap((key) => known(answer, key)),
  ...others(answer),
]

function known(answer: Answer, key: CheckName): readonly Section[] {
  const about = { key, ...CHECKS[key] }
  if (key === 'mx') return [{ ...about, status: answer.mx_status, reason: answer.mx_reason }]
  const fields = answer[key]
  return fields ? [{ ...about, status: fields.status, reason: fields.reason, fields }] : []
}

function others(answer: Answer): readonly Section[] {
  const entries: readonly (readonly [string, unknown])[] = Object.entries(answer)
  return entries.flatMap(([key, value]) => {
    if (CHECK_NAMES.some((name) => name === key) || !isJsonRecord(value) || !isStatus(value.status)) return []
    const reason = typeof value.reason === 'string' ? value.reason : undefined
    return [{ key, name: key, purpose: '', status: value.status, reason, fields: value }]
  })
}

const isStatus = (value: unknown): value is Status => typeof value === 'string' && Object.hasOwn(STATUS_WORDS, value)
