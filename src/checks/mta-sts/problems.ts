import { type Problem, problemsOf, quoted, shown } from '../../base/problem.ts'

type Text = { text: string }
type Max = { max: number }
type Key = { key: string }

/** What is wrong with the fields of an MTA-STS or TLSRPT record. */
export const fieldsProblem = problemsOf('record_fields', {
  version: ({ text }: Text) => `the record does not begin with ${quoted(`${text};`)}`,
  too_many: ({ max }: Max) => `the record has more than ${max} fields`,
  empty: () => 'a field is empty',
  form: ({ text }: Text) => `${quoted(text)} is not a field of the form name=value`,
})

/** What is wrong with an MTA-STS record. */
export const stsRecordProblem = problemsOf('sts_record', {
  no_id: () => 'the id is missing',
  several_ids: () => 'the record has more than one id',
  id: () => 'the id is not 1 to 32 letters and digits',
})

/** What is wrong with an MTA-STS policy. */
export const stsPolicyProblem = problemsOf('sts_policy', {
  too_many_lines: ({ max }: Max) => `the policy has more than ${max} lines`,
  at: ({ line, why }: { line: number; why: Problem }, say) => `line ${line}: ${say(why)}`,
  form: () => 'it is not of the form "key: value"',
  no_value: ({ key }: Key) => `${shown(key, 40)} has no value`,
  control: ({ key }: Key) => `${shown(key, 40)} has control characters`,
  host: ({ text }: Text) => `${quoted(text)} is not a host name`,
  version: () => '"version: STSv1" is missing',
  mode: () => 'mode is not enforce, testing or none',
  max_age: () => 'max_age is not a number of seconds',
  no_mx: ({ mode }: { mode: string }) => `mode ${shown(mode, 20)} needs at least one mx`,
  too_many_mx: ({ max }: Max) => `the policy has more than ${max} mx lines`,
})

/** Why a policy cannot be fetched or used. */
export const stsFetchProblem = problemsOf('sts_fetch', {
  redirect: ({ status }: { status: number }) => `the response is a redirect (HTTP ${status})`,
  status: ({ status }: { status: number }) => `it answers with HTTP ${status}; senders accept only 200`,
  no_host: ({ host }: { host: string }) => `${shown(host, 255)} has no address`,
  no_mail_hosts: () => 'the mail hosts are not known',
})

/** Why senders that apply the policy do not deliver to a host. */
export const stsHostProblem = problemsOf('sts_host', {
  tls: ({ host, why }: { host: string; why: Problem }, say) => `${shown(host, 255)}: ${say(why)}`,
})
