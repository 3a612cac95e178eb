import { errorsOf } from '../../base/errors.ts'
import { problemsOf, shown } from '../../base/problem.ts'

/** What is wrong with a field of a monitor. */
export const monitorProblem = problemsOf('monitor_field', {
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
  no_scope: { code: 'forbidden', detail: () => 'a monitor of kind reports requires a key with the scope reports' },
  url: { code: 'invalid_parameter', detail: () => 'the URL of a recipient must begin with https://' },
  url_length: {
    code: 'invalid_parameter',
    detail: ({ max }: { max: number }) =>
      `the URL of a recipient has at most ${max} characters, where characters beyond ASCII are percent-encoded`,
  },
  login: { code: 'invalid_parameter', detail: () => 'a URL with a user name or a password is not accepted' },
})
