import { problemsOf } from '../../base/problem.ts'
import { counted } from '../../base/text.ts'

type Octet = { octet: number }

/** Why mail servers cannot use a TLSA record. */
export const tlsaProblem = problemsOf('tlsa', {
  pkix: ({ octet }: Octet) => `certificate usage ${octet} is not valid for mail`,
  usage: ({ octet }: Octet) => `${octet} is not a certificate usage`,
  selector: ({ octet }: Octet) => `${octet} is not a selector`,
  matching_type: ({ octet }: Octet) => `${octet} is not a matching type`,
  digest: ({ count, expected }: { count: number; expected: number }) =>
    `the digest has ${counted(count, 'octet')} instead of ${expected}`,
  empty: () => 'it has no data',
})
