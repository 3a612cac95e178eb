import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LONGEST_RETRY_MS, retryAfter } from './retry-after.ts'

it.each([
  ['Greylisted, please retry in 5 minutes', 300_000],
  ['Greylisting in action, please come back in 00:05:00', 300_000], // milter-greylist
  ['greylisted for 60 seconds by ZEROSPAM', 60_000],
  ['please try again in 300s', 300_000],
  ['Try again in 2m', 120_000],
  ['Please wait 1 hour and retry', 3_600_000],
  ['Greylisted, come back 180 seconds later', 180_000],
  ['retry=240', 240_000],
  ['Greylist: retry after: 90 sec', 90_000],
  ['reessayez dans 5 minutes', 300_000],
  ['bitte in 10 Minuten erneut versuchen', 600_000],
  ['intente de nuevo en 3 minutos', 180_000],
  ['riprovare tra 2 ore', 7_200_000],
  ['попробуйте через 5 минут', 300_000],
  ['请在 10 分钟后重试', 600_000],
  ['try again in 3 days', LONGEST_RETRY_MS], // at most a day
  ['try again later', undefined],
  ['limit of 100 messages per 60 seconds', undefined], // a rate, no delay
  ['10 mails in the last 5 minutes', undefined],
  ['[AM0EUR02FT051.eop 2024-05-09T23:34:45.000Z]', undefined], // a time of day
  ['wait 0 seconds', undefined],
  ['', undefined],
])('%j is %s ms', (text, ms) => expect(retryAfter(text)).toBe(ms))

it('gives nothing or a delay within bounds', () =>
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^(?:in |for )?\d{1,8} ?(?:s|seconds|hours|m)$/)), (text) => {
      const ms = retryAfter(text)
      if (ms !== undefined) expect(ms > 0 && ms <= LONGEST_RETRY_MS).toBe(true)
    }),
  ))

it.each(['1', '1 ', 'in ', 'in 1:', '9:99:99 '])(
  'reads 64 KiB of %j',
  (part) => void retryAfter(part.repeat(65_536 / part.length)),
)
