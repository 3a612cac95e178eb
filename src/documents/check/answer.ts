import type { CheckAnswer } from '../../answers/check.ts'
import type { Status } from '../../answers/finding.ts'
import type { ReportAnswer } from '../../answers/report.ts'

/** What a document is made of: the answer of a check, or of a report, which has more. */
export type Answer = CheckAnswer & Partial<Omit<ReportAnswer, keyof CheckAnswer>>

/** The checks of an answer: those whose object has a status, and the mail servers, which have theirs beside the list. */
export type CheckName =
  | 'mx'
  | {
      [K in keyof CheckAnswer]-?: NonNullable<CheckAnswer[K]> extends { readonly status: Status } ? K : never
    }[keyof CheckAnswer]
