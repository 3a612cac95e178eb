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

/** Why the policy of a domain is not known. */
export const walkProblem = problemsOf('dmarc_walk', {
  not_asked: () => 'not asked',
  existence: () => 'it could not be determined whether the name exists, which decides between sp and np',
})

/** Why a destination gets no reports, or why that is not known. */
export const destinationProblem = problemsOf('report_destination', {
  not_asked: ({ max }: { max: number }) => `not checked: only ${max} hosts per record are`,
  no_name: () => 'the name does not exist',
  null_mx: () => 'it has a null MX',
  no_host: () => 'it has neither an MX record nor an address',
  no_record: () => 'no record there authorizes it',
  redirects: ({ host }: { host: string }) =>
    `the record there redirects the reports to ${shown(host, 255)}, which is not allowed`,
  no_answer: () => 'it could not be looked up',
  no_mail: () => 'the domain accepts no mail',
  no_mail_host: () => 'none of its MX hosts has an address',
  not_public: () => 'its mail hosts have only addresses at which no mail arrives',
})
