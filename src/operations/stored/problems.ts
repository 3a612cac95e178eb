import { errorsOf } from '../../base/errors.ts'
import { shown } from '../../base/problem.ts'

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
