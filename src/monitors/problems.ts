import { errorsOf } from '../base/errors.ts'
import { shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'

type Max = { max: number }

/** Errors of monitors, webhooks and stored answers. */
export const monitorError = errorsOf('monitor', {
  no_mail: {
    code: 'invalid_parameter',
    detail: () => 'this service cannot send mail: its operator must set --smtp-url and --notify-from',
  },
  no_public_url: {
    code: 'invalid_parameter',
    detail: () =>
      'an address must consent on a page of this service before it gets mail: its operator must set --public-url, or name the domain with --mail-recipients',
  },
  unknown: { code: 'not_found', detail: () => 'no monitor of your key has this id' },
  too_many: { code: 'limit_reached', detail: ({ max }: Max) => `the limit of ${max} monitors for one key is reached` },
  too_soon: { code: 'rate_limited', detail: () => 'a monitor runs at most once a minute' },
  tests: { code: 'rate_limited', detail: () => 'a monitor sends at most 3 test messages an hour' },
  mails: {
    code: 'rate_limited',
    detail: ({ max }: Max) =>
      `a key may cause ${counted(max, 'test message or question for consent', 'test messages and questions for consent')} by mail in 24 hours; the operator can change it with --mail-rate, and name domains that need no consent with --mail-recipients`,
  },
  off: { code: 'wrong_state', detail: () => 'the monitor is not enabled: enable it first' },
  no_badge: { code: 'not_found', detail: () => 'no public monitor has this id' },
  old_link: { code: 'not_found', detail: () => 'this link is invalid or has expired' },
  /** The result of a run or of a message whose fault is ours. */
  internal: { code: 'internal', detail: () => 'an internal error of this service; its log has the cause' },
  late: { code: 'timeout', detail: () => 'it did not end in time' },
})

export const webhookError = errorsOf('webhook', {
  unknown: { code: 'not_found', detail: () => 'no webhook of your key has this id' },
  too_many: { code: 'limit_reached', detail: ({ max }: Max) => `the limit of ${max} webhooks for one key is reached` },
  no_delivery: { code: 'not_found', detail: () => 'the webhook has no delivery with this id' },
  off: { code: 'wrong_state', detail: () => 'the webhook is off: turn it on first' },
})

export const storedError = errorsOf('stored', {
  unknown: { code: 'not_found', detail: () => 'no stored answer has this id' },
  not_owned: { code: 'not_found', detail: () => 'no stored answer of your key has this id' },
  /** `time` in UTC. */
  expired: { code: 'gone', detail: ({ time }: { time: string }) => `the answer expired at ${shown(time, 60)}` },
  too_many: {
    code: 'limit_reached',
    detail: ({ max }: Max) => `the limit of ${max} stored answers is reached; delete some, or let them expire sooner`,
  },
})
