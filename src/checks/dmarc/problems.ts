import { problemsOf } from '../../base/problem.ts'

/** What is wrong with a DMARC record as a whole. */
export const dmarcProblem = problemsOf('dmarc_record', {
  version: () => 'the record does not begin with the tag "v=DMARC1"',
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
