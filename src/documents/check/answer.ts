import type { CheckAnswer } from '../../answers/check.ts'
import type { Status } from '../../answers/finding.ts'
import type { ReportAnswer } from '../../answers/report.ts'

/** The input of a document: the answer of a check, or of a report, which has more fields. */
export type Answer = CheckAnswer & Partial<Omit<ReportAnswer, keyof CheckAnswer>>

/** The checks of an answer: those whose object has a status, and the mail servers, whose status is beside the list. */
export type CheckName =
  | 'mx'
  | {
      [K in keyof CheckAnswer]-?: NonNullable<CheckAnswer[K]> extends { readonly status: Status } ? K : never
    }[keyof CheckAnswer]
