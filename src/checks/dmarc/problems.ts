import { problemsOf, shown } from '../../base/problem.ts'

/** What is wrong with a DMARC record as a whole. */
export const dmarcProblem = problemsOf('dmarc_record', {
  version: () => 'the record does not begin with the tag "v=DMARC1"',
})

/** Why receivers ignore a record as a whole: its typing errors. */
export const dmarcSlip = problemsOf('dmarc_slip', {
  leading_space: () => 'a space precedes it',
  /** `code` as U+00A0. */
  hidden_character: ({ code, index }: { code: string; index: number }) =>
    `it has the character ${shown(code, 10)} (at ${index}), which is not a space`,
  quotes: () => 'quotation marks are part of it',
  backslashes: () => 'backslashes are part of it',
  version: () => 'the version is misspelled, or is not the first tag',
  separator: () => 'a semicolon between tags is missing',
  two_records: () => 'two records are in one text',
})

/** Why no report is sent to a URI. */
export const reportUriProblem = problemsOf('report_uri', {
  empty: () => 'empty',
  no_mailto: () => 'not a URI: the prefix "mailto:" is missing',
  uri: () => 'not a URI',
  exclamation: () => 'a "!" must be written as %21',
  characters: () => 'contains characters that are not allowed in a URI',
  mailbox: () => 'not a mailbox with a full domain name',
  host: () => 'no host name',
})
