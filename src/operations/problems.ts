import { errorsOf } from '../base/errors.ts'
import { problemsOf, quoted, shown } from '../base/problem.ts'
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
  unknown: {
    code: 'unknown_parameter',
    detail: ({ name, known, meant }: Name & { known: readonly string[]; meant: string | undefined }) =>
      `${quoted(name)} is not a parameter of this operation${didYouMean(meant)}; ${known.length === 0 ? 'it has none' : `its parameters are ${known.join(', ')}`}`,
  },
  twice: {
    code: 'invalid_parameter',
    detail: ({ name, count }: Name & Count) => `${shown(name)} was given ${count} times; give it once`,
  },
  missing: { code: 'missing_parameter', detail: ({ name }: Name) => `the parameter ${shown(name, 60)} is required` },
  expires_unsaved: { code: 'invalid_parameter', detail: () => 'expires_in requires save=true' },
  sender_missing: { code: 'missing_parameter', detail: () => 'give sender, or helo for a bounce' },
  subject_missing: { code: 'missing_parameter', detail: () => 'give either email or domain' },
  subjects: { code: 'invalid_parameter', detail: () => 'give either email or domain, not both' },
})

/** Errors of messages that are analysed. */
export const messageError = errorsOf('message', {
  empty: { code: 'invalid_parameter', detail: () => 'the message is empty: send it as the body' },
  type: {
    code: 'unsupported_media_type',
    detail: ({ type }: { type: string }) =>
      `the content type is ${quoted(type, 60)}; send the message as message/rfc822 or text/plain`,
  },
  too_large: {
    code: 'payload_too_large',
    detail: ({ max }: Max) => `the message is larger than ${max} octets (--max-message)`,
  },
})

/** Errors of who may do what. */
export const accessError = errorsOf('access', {
  node_stores: { code: 'forbidden', detail: () => 'nodes may not store answers' },
  trace: { code: 'forbidden', detail: () => 'trace=true requires a key with the scope admin' },
  mx_port: {
    code: 'forbidden',
    detail: () => 'mx_port is allowed only if the operator set --smtp-port to the same port',
  },
  probe_mailbox: { code: 'forbidden', detail: () => 'module=mailbox requires a key with the scope verify' },
})

/** Errors of a verification and of records to compare or to overlay. */
export const questionError = errorsOf('question', {
  bind_ip_and_peer: {
    code: 'invalid_parameter',
    detail: () => 'bind_ip is an address of this node: give bind_ip or peer, not both',
  },
  bind_ip: {
    code: 'bind_ip_not_local',
    detail: ({ ip }: { ip: string }) => `${shown(ip, 60)} is not an address that this machine can bind to`,
  },
  no_overlay: {
    code: 'missing_parameter',
    detail: () => 'give `records` or `zone`: there is nothing to overlay on the DNS',
  },
  overlay_records: {
    code: 'payload_too_large',
    detail: ({ count, max }: Count & Max) => `the overlay has ${count} records; at most ${max} are allowed`,
  },
  overlay_bytes: {
    code: 'payload_too_large',
    detail: ({ count, max }: Count & Max) => `the overlay has ${count} bytes; at most ${max} are allowed`,
  },
  outside_domain: {
    code: 'invalid_parameter',
    detail: ({ name, domain }: Name & { domain: string }) =>
      `${shown(name)} is not below ${shown(domain, 260)}; compare it with its own domain`,
  },
  record_sets: {
    code: 'payload_too_large',
    detail: ({ count, max }: Count & Max) => `${count} record sets given; at most ${max} are allowed`,
  },
  disconnected: { code: 'timeout', detail: () => 'all callers of this answer have disconnected' },
})

/** Errors of an Idempotency-Key. */
export const idempotencyError = errorsOf('idempotency', {
  too_many: {
    code: 'rate_limited',
    detail: ({ max }: Max) => `the limit of ${max} idempotency keys in 24 hours for one caller is reached`,
  },
  in_use: {
    code: 'idempotency_key_in_use',
    detail: () => 'the first request with this key is still running: try again in a moment',
  },
  lost: {
    code: 'idempotency_key_in_use',
    detail: () => 'this request stalled, and another one with this key took over',
  },
  reused: {
    code: 'idempotency_key_reused',
    detail: () => 'this key was used for another request within 24 hours: use a new one',
  },
})

/** What is wrong with a setup. */
export const setupProblem = problemsOf('setup_text', {
  reports: ({ text }: Text) => `${quoted(text, 80)} is not a mail address for reports`,
})

/** Errors of the setup of a plan. */
export const setupError = errorsOf('setup', {
  provider: {
    code: 'invalid_parameter',
    detail: ({ text, known }: Text & { known: readonly string[] }) =>
      `${quoted(text, 80)} is not a known provider; known are ${known.join(', ')}`,
  },
  no_hosts: { code: 'invalid_parameter', detail: () => 'with mailboxes=own, name the mail hosts in mail_hosts' },
  host: {
    code: 'invalid_parameter',
    detail: ({ text }: Text) => `${quoted(text, 80)} is not a mail host or an address`,
  },
})

/** What is wrong with a parameter of bulk jobs. */
export const jobParamProblem = problemsOf('job_param', {
  column: () => 'a column is a name of 1 to 200 characters, or a number',
  records: ({ text }: Text) => `${quoted(text, 40)} is not a whole number of records`,
  word: ({ text }: Text) => `${quoted(text, 40)} is not a result or reason`,
})

/** Errors of the input of bulk jobs. */
export const jobInputError = errorsOf('job_input', {
  selector: {
    code: 'invalid_parameter',
    detail: ({ kind }: { kind: string }) => `selector is for jobs of kind check, not ${shown(kind, 60)}`,
  },
  no_list: {
    code: 'unsupported_media_type',
    detail: () =>
      'send the list as the body, with its Content-Type: text/csv, text/plain, application/x-ndjson or application/json',
  },
})

/** What is wrong with a field of a monitor. */
export const monitorProblem = problemsOf('monitor_field', {
  date: () => 'give a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z',
  label: () => 'a label is one line of text',
  clock: () => 'the time of day does not have the form 22:00',
  timezone: () => 'the time zone is unknown: give one such as Europe/Berlin',
  condition: () =>
    'the condition is not one of changed, worse, listed, score_below:N, and for reports new_sender, failing_above:N, no_reports',
})

/** Errors of the input of monitors and webhooks. */
export const monitorInputError = errorsOf('monitor_input', {
  ntfy: { code: 'invalid_parameter', detail: () => 'the URL of an ntfy topic has the form https://server/topic' },
  own_option: {
    code: 'invalid_parameter',
    detail: ({ name }: { name: string }) => `${shown(name, 60)} is set by the monitor: leave it out`,
  },
  condition_kind: {
    code: 'invalid_parameter',
    detail: ({ condition, kind }: { condition: string; kind: string }) =>
      `a monitor of kind ${shown(kind, 20)} has no condition ${shown(condition, 40)}`,
  },
  reports_private: {
    code: 'invalid_parameter',
    detail: () => 'what comes from reports is private: a monitor of kind reports has no public badge',
  },
  reports_filter: {
    code: 'forbidden',
    detail: () => 'no_reports requires a key with the scope reports that is not restricted to domains',
  },
  no_filter: {
    code: 'missing_parameter',
    detail: ({ known }: { known: readonly string[] }) =>
      `select the monitors with at least one of ${known.join(', ')}: a change of all of them at once is not accepted`,
  },
  rows: {
    code: 'payload_too_large',
    detail: ({ max }: { max: number }) => `an import has at most ${max} rows; nothing was stored: send it in parts`,
  },
  row_kind: {
    code: 'invalid_parameter',
    detail: ({ text }: { text: string }) => `the kind ${shown(text, 40)} is not one of check, report, reports`,
  },
  row_text: {
    code: 'invalid_parameter',
    detail: ({ column }: { column: string }) => `the cell of ${shown(column, 20)} is too long, or not one line of text`,
  },
  row_every: {
    code: 'invalid_parameter',
    detail: ({ text }: { text: string }) => `the interval ${shown(text, 40)} is not a duration from 15m to 31d`,
  },
  labels: {
    code: 'invalid_parameter',
    detail: ({ count, max }: { count: number; max: number }) =>
      `give at most ${counted(count, 'label')}, each one line of at most ${max} characters`,
  },
  no_scope: { code: 'forbidden', detail: () => 'a monitor of kind reports requires a key with the scope reports' },
  url: { code: 'invalid_parameter', detail: () => 'the URL of a recipient must begin with https://' },
  url_length: {
    code: 'invalid_parameter',
    detail: ({ max }: { max: number }) =>
      `the URL of a recipient has at most ${max} characters, where characters beyond ASCII are percent-encoded`,
  },
  login: { code: 'invalid_parameter', detail: () => 'a URL with a user name or a password is not accepted' },
})

type Two<T> = { from: T; to: T }

/** Errors of questions about stored answers. */
export const storedInputError = errorsOf('stored_input', {
  one_name: { code: 'invalid_parameter', detail: () => 'give only one of domain, email or ip' },
  no_name: { code: 'missing_parameter', detail: () => 'give domain, email or ip' },
  key: { code: 'unauthorized', detail: () => 'use the key that stored the answer, or a key with the scope admin' },
  kinds: {
    code: 'invalid_parameter',
    detail: ({ from, to }: Two<string>) =>
      `answers of the kinds ${shown(from, 60)} and ${shown(to, 60)} cannot be compared`,
  },
  version: {
    code: 'invalid_parameter',
    detail: () => 'one of the answers was stored by a version that cannot be compared',
  },
  subjects: {
    code: 'invalid_parameter',
    detail: ({ from, to }: Two<string>) =>
      `the answers are about ${shown(from)} and ${shown(to)}: give two about the same subject`,
  },
})

type Named = { readonly domain: string }

/** Errors of the questions about reports. */
export const reportsError = errorsOf('reports_question', {
  other_domain: {
    code: 'forbidden',
    detail: ({ domain }: Named) => `the key is not made for ${quoted(domain)} (keys create --domains)`,
  },
  no_body: { code: 'bad_report', detail: () => 'the request has no body: send a report, a message, gzip, zip or mbox' },
  period: {
    code: 'invalid_parameter',
    detail: ({ from, to }: { from: string; to: string }) => `from ${quoted(from)} is after to ${quoted(to)}`,
  },
  too_long: {
    code: 'invalid_parameter',
    detail: ({ max }: { max: number }) => `from and to are more than ${max} days apart`,
  },
  no_sender: {
    code: 'not_found',
    detail: ({ sender }: { sender: string }) => `no sender of this domain and time has the id ${quoted(sender, 120)}`,
  },
  policy_missing: { code: 'missing_parameter', detail: () => 'give policy, or with: a record to try' },
})

/** What is wrong with the text of a parameter. */
export const reportsParamProblem = problemsOf('reports_param', {
  date: ({ text }: { text: string }) => `${quoted(text)} is not a date such as 2026-11-23`,
})
