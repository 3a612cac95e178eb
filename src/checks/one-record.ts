import type { Parsed } from '../base/problem.ts'
import { type Answer, DnsError } from '../net/dns/resolver.ts'

/** The TXT records of one kind at a name; receivers use such a record only if it is the only one. */
export type OneRecord<T> = {
  /** At most 10. */
  readonly records: readonly string[]
  readonly count: number
  /** A text that was meant to be one, if there is none. */
  readonly lookalike?: string
  /** The parsed record; absent unless there is exactly one. */
  readonly parsed?: Parsed<T>
}

/** Selects the records of one kind from the texts at their name. */
export function oneRecord<T>(
  texts: readonly string[],
  kind: {
    readonly is: (text: string) => boolean
    readonly resembles: (text: string) => boolean
    readonly parse: (text: string) => Parsed<T>
  },
): OneRecord<T> {
  const records = texts.filter(kind.is)
  const lookalike = records.length === 0 ? texts.find(kind.resembles) : undefined
  return {
    records: records.slice(0, 10),
    count: records.length,
    ...(lookalike === undefined ? {} : { lookalike }),
    ...(records.length === 1 ? { parsed: kind.parse(records[0]!) } : {}),
  }
}

/**
 * Whether a name may exist according to an answer: NXDOMAIN at the end of a CNAME chain is about its last name (RFC
 * 6604 §3), and a missing answer shows nothing.
 */
export const mayExist = (answer: Answer | DnsError | undefined): boolean =>
  answer === undefined || answer instanceof DnsError || answer.kind !== 'nxdomain' || answer.cname.length > 0
