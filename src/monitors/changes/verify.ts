import type { VerifyAnswer } from '../../answers/verify.ts'
import { better, neutral, type Row, type Said, worse } from './row.ts'

/** Results that are about the mailbox; the others mean that nothing could be determined. */
const FIRM: Readonly<Partial<Record<VerifyAnswer['result'], string>>> = {
  accepted: 'accepted',
  catch_all: 'accepted, like every address of the domain',
  rejected: 'rejected',
  invalid: 'not a valid address',
}

export const isFirm = ({ result }: VerifyAnswer): boolean => Object.hasOwn(FIRM, result)

const row = (
  id: string,
  compare: (before: VerifyAnswer, after: VerifyAnswer) => readonly Said[],
): Row<VerifyAnswer> => ({
  id: `verify.${id}`,
  area: 'Mailbox',
  compare: (before, after) => (isFirm(before) && isFirm(after) ? compare(before, after) : []),
})

const side = (name: 'disposable' | 'free', words: readonly [yes: string, no: string]): Row<VerifyAnswer> => ({
  id: `verify.${name}`,
  area: 'Mailbox',
  compare: (before, after) =>
    before.checked.includes(name) && after.checked.includes(name) && before[name] !== after[name]
      ? [neutral(after[name] ? words[0] : words[1])]
      : [],
})

export const VERIFY_ROWS: readonly Row<VerifyAnswer>[] = [
  row('result', (before, after) => {
    if (before.result === after.result) return []
    const words = `${FIRM[after.result]} (${after.reason}), was ${FIRM[before.result]} (${before.reason})`
    const goes = after.result === 'rejected' || after.result === 'invalid'
    return [goes ? worse(words) : before.result === 'rejected' ? better(words) : neutral(words)]
  }),
  row('reason', (before, after) =>
    before.result === after.result && before.result === 'rejected' && before.reason !== after.reason
      ? [neutral(`rejected with ${after.reason} instead of ${before.reason}`)]
      : [],
  ),
  row('provider', (before, after) =>
    before.provider !== undefined && after.provider !== undefined && before.provider !== after.provider
      ? [neutral(`the provider is ${after.provider} instead of ${before.provider}`)]
      : [],
  ),
  side('disposable', [
    'the domain is now a disposable-mail provider',
    'the domain is no longer a disposable-mail provider',
  ]),
  side('free', ['the domain is now a free-mail provider', 'the domain is no longer a free-mail provider']),
]
