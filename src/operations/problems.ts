import { errorsOf } from '../base/errors.ts'
import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'
import { didYouMean } from '../base/value-problems.ts'

type Text = { text: string }
type Max = { max: number }
type Count = { count: number }
type Name = { name: string }

/** What is wrong with the text of a parameter. */
export const paramProblem = problemsOf('param', {
  items: ({ max }: Max) => `more than ${max} items; at most ${max} are allowed`,
  cursor: () => 'the cursor is not valid: give one that this service returned',
  selectors: ({ count, max }: Count & Max) => `${count} selectors given; at most ${max} are allowed`,
  sender_too_long: ({ max }: Max) => `the sender is longer than ${max} characters`,
  reverse_path: ({ text }: Text) =>
    `${quoted(text, 80)} is no address: give one such as joe@example.org, or nothing for a bounce`,
  sender: () => 'the sender contains white space, control characters or angle brackets',
  helo_too_long: ({ max }: Max) => `the HELO name is longer than ${max} characters`,
  helo: () => 'the HELO name contains white space or control characters',
  lines: () => 'the answer is not a list of lines',
  json: ({ reason }: { reason: string }) => `the file begins like JSON, but is not valid JSON: ${shown(reason)}`,
  time: ({ text }: Text) => `${quoted(text, 40)} is not a time such as 2026-01-31T12:00:00Z`,
  no_records: () => 'the JSON has no "records" list',
})

/** Errors of the parameters of any operation. */
export const inputError = errorsOf('input', {
  unknown_parameter: {
    unknown: ({ name, known, meant }: Name & { known: readonly string[]; meant: string | undefined }) =>
      `${quoted(name)} is not a parameter of this operation${didYouMean(meant)}; ${known.length === 0 ? 'it has none' : `its parameters are ${known.join(', ')}`}`,
  },
  invalid_parameter: {
    twice: ({ name, count }: Name & Count) => `${shown(name)} was given ${count} times; give it once`,
    expires_unsaved: () => 'expires_in requires save=true',
    subjects: () => 'give either email or domain, not both',
  },
  missing_parameter: {
    missing: ({ name }: Name) => `the parameter ${shown(name, 60)} is required`,
    sender_missing: () => 'give sender, or helo for a bounce',
    subject_missing: () => 'give either email or domain',
  },
})

export const messageError = errorsOf('message', {
  invalid_parameter: { empty: () => 'the message is empty: give a file, or its text' },
  unsupported_media_type: {
    type: ({ type }: { type: string }) =>
      `the content type is ${quoted(type, 60)}; send the message as message/rfc822 or text/plain`,
  },
  payload_too_large: { too_large: ({ max }: Max) => `the message is larger than ${max} octets (--max-message)` },
})

type Line = { line: number | undefined }
const onLine = ({ line }: Line): string => (line === undefined ? '' : `line ${line}: `)

/** What is wrong with an acceptance of a finding, or with a file of them. */
export const acceptedProblem = problemsOf('acceptance', {
  finding: ({ text, meant }: Text & { meant: string | undefined }) =>
    `${quoted(text, 80)} is not the id of a finding${didYouMean(meant)}; name one finding, such as dmarc.policy_none`,
  until: ({ text }: Text) =>
    `${quoted(text, 40)} is neither a day such as 2026-06-30 nor a time such as 2026-06-30T12:00:00Z`,
  file_size: ({ max }: Max) => `the accepted findings are longer than ${max} characters`,
  file: ({ line, why, expected }: { line: number; why: Problem; expected: string }, say) =>
    `line ${line}: ${shown(say(why), 400)}; expected is a list such as ${shown(expected)}`,
})

/** Errors of an acceptance of a finding. */
export const acceptedInputError = errorsOf('acceptance_input', {
  invalid_parameter: {
    subject: () => 'give either domain or label: a finding is not accepted for everything',
    past: () => 'the end has passed: give a day from today on',
    too_long: ({ finding, line, day }: Line & { finding: string; day: string }) =>
      `${onLine({ line })}${shown(finding, 80)} can be accepted until ${shown(day, 20)} at latest`,
  },
  forbidden: { label: () => 'this key is made for some domains: accept for one of them, not for a label' },
  until_required: {
    until: ({ finding, line, day }: Line & { finding: string; day: string }) =>
      `${onLine({ line })}${shown(finding, 80)} is critical: give until, at latest ${shown(day, 20)}`,
  },
})

export const accessError = errorsOf('access', {
  forbidden: {
    node_stores: () => 'nodes may not store answers',
    trace: () => 'trace=true requires a key with the scope admin',
    mx_port: () => 'mx_port is allowed only if the operator set --smtp-port to the same port',
    probe_mailbox: () => 'module=mailbox requires a key with the scope verify',
  },
})

/** Errors of a verification and of records to compare or to overlay. */
export const questionError = errorsOf('question', {
  invalid_parameter: {
    bind_ip_and_peer: () => 'bind_ip is an address of this node: give bind_ip or peer, not both',
    outside_domain: ({ name, domain }: Name & { domain: string }) =>
      `${shown(name)} is not below ${shown(domain, 260)}; compare it with its own domain`,
  },
  bind_ip_not_local: {
    bind_ip: ({ ip }: { ip: string }) => `${shown(ip, 60)} is not an address that this machine can bind to`,
  },
  missing_parameter: { no_overlay: () => 'give `records` or `zone`: there is nothing to overlay on the DNS' },
  payload_too_large: {
    overlay_records: ({ count, max }: Count & Max) => `the overlay has ${count} records; at most ${max} are allowed`,
    overlay_bytes: ({ count, max }: Count & Max) => `the overlay has ${count} bytes; at most ${max} are allowed`,
    record_sets: ({ count, max }: Count & Max) => `${count} record sets given; at most ${max} are allowed`,
  },
  timeout: { disconnected: () => 'all callers of this answer have disconnected' },
})

export const idempotencyError = errorsOf('idempotency', {
  rate_limited: {
    too_many: ({ max }: Max) => `the limit of ${max} idempotency keys in 24 hours for one caller is reached`,
  },
  idempotency_key_in_use: {
    in_use: () => 'the first request with this key is still running: try again in a moment',
    lost: () => 'this request stalled, and another one with this key took over',
  },
  idempotency_key_reused: { reused: () => 'this key was used for another request within 24 hours: use a new one' },
})

export const setupProblem = problemsOf('setup_text', {
  reports: ({ text }: Text) => `${quoted(text, 80)} is not a mail address for reports`,
})

export const setupError = errorsOf('setup', {
  invalid_parameter: {
    provider: ({ text, known }: Text & { known: readonly string[] }) =>
      `${quoted(text, 80)} is not a known provider; known are ${known.join(', ')}`,
    no_hosts: () => 'with mailboxes=own, name the mail hosts in mail_hosts',
    host: ({ text }: Text) => `${quoted(text, 80)} is not a mail host or an address`,
  },
})

/** What is wrong with a parameter of bulk jobs. */
export const jobParamProblem = problemsOf('job_param', {
  column: () => 'a column is a name of 1 to 200 characters, or a number',
  records: ({ text }: Text) => `${quoted(text, 40)} is not a whole number of records`,
  word: ({ text }: Text) => `${quoted(text, 40)} is not a result or reason`,
})

export const jobInputError = errorsOf('job_input', {
  invalid_parameter: {
    selector: ({ kind }: { kind: string }) => `selector is for jobs of kind check, not ${shown(kind, 60)}`,
  },
  unsupported_media_type: {
    no_list: () =>
      'send the list as the body, with its Content-Type: text/csv, text/plain, application/x-ndjson or application/json',
  },
})

export const monitorProblem = problemsOf('monitor_field', {
  date: () => 'give a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z',
  label: () => 'a label is one line of text',
  clock: () => 'the time of day does not have the form 22:00',
  timezone: () => 'the time zone is unknown: give one such as Europe/Berlin',
  token: () => 'receivers of this type take no token',
  condition: () =>
    'the condition is not one of changed, worse, listed, score_below:N, and for reports new_sender, failing_above:N, no_reports',
})

export const monitorInputError = errorsOf('monitor_input', {
  invalid_parameter: {
    ntfy: () => 'the URL of an ntfy topic has the form https://server/topic',
    own_option: ({ name }: { name: string }) => `${shown(name, 60)} is set by the monitor: leave it out`,
    condition_kind: ({ condition, kind }: { condition: string; kind: string }) =>
      `a monitor of kind ${shown(kind, 20)} has no condition ${shown(condition, 40)}`,
    reports_private: () => 'what comes from reports is private: a monitor of kind reports has no public badge',
    row_kind: ({ text }: { text: string }) => `the kind ${shown(text, 40)} is not one of check, report, reports`,
    row_text: ({ column }: { column: string }) =>
      `the cell of ${shown(column, 20)} is too long, or not one line of text`,
    row_every: ({ text }: { text: string }) => `the interval ${shown(text, 40)} is not a duration from 15m to 31d`,
    labels: ({ count, max }: { count: number; max: number }) =>
      `give at most ${counted(count, 'label')}, each one line of at most ${max} characters`,
    url: () => 'the URL of a recipient must begin with https://',
    url_length: ({ max }: { max: number }) =>
      `the URL of a recipient has at most ${max} characters, where characters beyond ASCII are percent-encoded`,
    login: () => 'a URL with a user name or a password is not accepted',
  },
  forbidden: {
    reports_filter: () => 'no_reports requires a key with the scope reports that is not restricted to domains',
    no_scope: () => 'a monitor of kind reports requires a key with the scope reports',
  },
  missing_parameter: {
    no_filter: ({ known }: { known: readonly string[] }) =>
      `select the monitors with at least one of ${known.join(', ')}: a change of all of them at once is not accepted`,
  },
  payload_too_large: {
    rows: ({ max }: { max: number }) => `an import has at most ${max} rows; nothing was stored: send it in parts`,
  },
})

type Two<T> = { from: T; to: T }

/** Errors of questions about stored answers. */
export const storedInputError = errorsOf('stored_input', {
  invalid_parameter: {
    one_name: () => 'give only one of domain, email or ip',
    kinds: ({ from, to }: Two<string>) =>
      `answers of the kinds ${shown(from, 60)} and ${shown(to, 60)} cannot be compared`,
    version: () => 'one of the answers was stored by a version that cannot be compared',
    subjects: ({ from, to }: Two<string>) =>
      `the answers are about ${shown(from)} and ${shown(to)}: give two about the same subject`,
  },
  missing_parameter: { no_name: () => 'give domain, email or ip' },
  unauthorized: { key: () => 'use the key that stored the answer, or a key with the scope admin' },
})

type Named = { readonly domain: string }

export const reportsError = errorsOf('reports_question', {
  forbidden: {
    other_domain: ({ domain }: Named) => `the key is not made for ${quoted(domain)} (keys create --domains)`,
  },
  bad_report: { no_body: () => 'the request has no body: send a report, a message, gzip, zip or mbox' },
  invalid_parameter: {
    period: ({ from, to }: { from: string; to: string }) => `from ${quoted(from)} is after to ${quoted(to)}`,
    too_long: ({ max }: { max: number }) => `from and to are more than ${max} days apart`,
  },
  not_found: {
    no_sender: ({ sender }: { sender: string }) =>
      `no sender of this domain and time has the id ${quoted(sender, 120)}`,
  },
  missing_parameter: { policy_missing: () => 'give policy, or with: a record to try' },
})

/** What is wrong with the text of a parameter. */
export const reportsParamProblem = problemsOf('reports_param', {
  date: ({ text }: { text: string }) => `${quoted(text)} is not a date such as 2026-11-23`,
})
