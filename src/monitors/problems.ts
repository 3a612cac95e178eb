import { errorsOf } from '../base/errors.ts'
import { shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'
import { valueProblem } from '../base/value-problems.ts'

type Max = { max: number }

/** Errors of monitors, webhooks and stored answers. */
export const monitorError = errorsOf('monitor', {
  invalid_parameter: {
    profile: ({ text, known }: { text: string; known: readonly string[] }, say) =>
      `profile: ${say(valueProblem('choice', { text, known }))}`,
    no_mail: () => 'this service cannot send mail: its operator must set --smtp-url and --notify-from',
    no_public_url: () =>
      'an address must consent on a page of this service before it gets mail: its operator must set --public-url, or name the domain with --mail-recipients',
  },
  not_found: {
    unknown: () => 'no monitor of your key has this id',
    no_badge: () => 'no public monitor has this id',
    old_link: () => 'this link is invalid or has expired',
  },
  limit_reached: { too_many: ({ max }: Max) => `the limit of ${max} monitors for one key is reached` },
  rate_limited: {
    too_soon: () => 'a monitor runs at most once a minute',
    tests: () => 'a monitor sends at most 3 test messages an hour',
    mails: ({ max }: Max) =>
      `a key may cause ${counted(max, 'test message or question for consent', 'test messages and questions for consent')} by mail in 24 hours; the operator can change it with --mail-rate, and name domains that need no consent with --mail-recipients`,
  },
  wrong_state: { off: () => 'the monitor is not enabled: enable it first' },
  internal: {
    /** The result of a run or of a message whose fault is ours. */
    internal: () => 'an internal error of this service; its log has the cause',
  },
  timeout: { late: () => 'it did not end in time' },
})

export const acceptedError = errorsOf('accepted', {
  not_found: { unknown: () => 'no accepted finding of your key has this id' },
  limit_reached: { too_many: ({ max }: Max) => `the limit of ${max} accepted findings for one key is reached` },
})

export const webhookError = errorsOf('webhook', {
  not_found: {
    unknown: () => 'no webhook of your key has this id',
    no_delivery: () => 'the webhook has no delivery with this id',
  },
  limit_reached: { too_many: ({ max }: Max) => `the limit of ${max} webhooks for one key is reached` },
  wrong_state: { off: () => 'the webhook is off: turn it on first' },
})

export const storedError = errorsOf('stored', {
  not_found: {
    unknown: () => 'no stored answer has this id',
    not_owned: () => 'no stored answer of your key has this id',
  },
  gone: {
    /** `time` in UTC. */
    expired: ({ time }: { time: string }) => `the answer expired at ${shown(time, 60)}`,
  },
  limit_reached: {
    too_many: ({ max }: Max) => `the limit of ${max} stored answers is reached; delete some, or let them expire sooner`,
  },
})
