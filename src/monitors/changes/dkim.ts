import type { CheckAnswer } from '../../answers/check.ts'
import { better, neutral, type Row, type Said, worse } from './row.ts'

type Key = CheckAnswer['dkim']['keys'][number]

const row = (id: string, compare: (before: CheckAnswer, after: CheckAnswer) => readonly Said[]): Row<CheckAnswer> => ({
  id: `dkim.${id}`,
  area: 'DKIM',
  compare,
})

/** Whether every selector has an answer: a key that was not found then does not exist. */
const isWhole = ({ findings, dkim }: CheckAnswer): boolean =>
  dkim.tried > 0 && !findings.some(({ id }) => id === 'dkim.not_asked')

/** The keys of `one` whose selectors have none in `other`. */
function only(one: CheckAnswer, other: CheckAnswer): readonly Key[] {
  const names = new Set(other.dkim.keys.map(({ name }) => name))
  return one.dkim.keys.filter(({ name }) => !names.has(name))
}

/** The keys at one name before and after. */
function pairs(before: CheckAnswer, after: CheckAnswer): readonly (readonly [Key, Key])[] {
  const was = new Map(before.dkim.keys.map((key) => [key.name, key]))
  return after.dkim.keys.flatMap((key) => {
    const old = was.get(key.name)
    return old ? [[old, key] as const] : []
  })
}

const size = ({ key_type, key_bits }: Key): string => `${key_type}${key_bits === null ? '' : ` of ${key_bits} bits`}`

export const DKIM_ROWS: readonly Row<CheckAnswer>[] = [
  row('key_added', (before, after) =>
    isWhole(before) && before.dkim.tried >= after.dkim.tried
      ? only(after, before).map((key) =>
          (key.usable ? better : neutral)(`new key at ${key.selector}${key.usable ? ` (${size(key)})` : ''}`),
        )
      : [],
  ),
  row('key_removed', (before, after) =>
    isWhole(after) && after.dkim.tried >= before.dkim.tried
      ? only(before, after).map((key) =>
          (key.usable && !after.dkim.valid ? worse : neutral)(
            `the key at ${key.selector} was removed${key.usable && !after.dkim.valid ? '; no usable key remains' : ''}`,
          ),
        )
      : [],
  ),
  row('key_revoked', (before, after) =>
    pairs(before, after).flatMap(([was, is]) =>
      !was.revoked && is.revoked ? [neutral(`the key at ${is.selector} was revoked`)] : [],
    ),
  ),
  row('key_unusable', (before, after) =>
    pairs(before, after).flatMap(([was, is]) => {
      if (was.usable === is.usable || is.revoked) return []
      return [
        is.usable
          ? better(`the key at ${is.selector} is usable`)
          : worse(`the key at ${is.selector} is not usable${is.problem === undefined ? '' : `: ${is.problem}`}`),
      ]
    }),
  ),
  row('key_replaced', (before, after) =>
    pairs(before, after).flatMap(([was, is]) => {
      if (!was.usable || !is.usable || publicKey(was) === publicKey(is)) return []
      const words = size(was) === size(is) ? `key replaced` : `key replaced, ${size(is)} instead of ${size(was)}`
      return [neutral(`${words} at ${is.selector}`)]
    }),
  ),
  row('testing', (before, after) =>
    pairs(before, after).flatMap(([was, is]) => {
      if (!was.usable || !is.usable || was.testing === is.testing) return []
      return [
        is.testing
          ? worse(`the key at ${is.selector} is now in test mode (t=y)`)
          : better(`the key at ${is.selector} is no longer in test mode`),
      ]
    }),
  ),
]

const publicKey = ({ record }: Key): string => /(?:^|;)\s*p\s*=\s*([^;]*)/i.exec(record)?.[1]?.replace(/\s/g, '') ?? ''
