import { printable } from '../base/text.ts'
import { type Answer, DnsError, type DnsReason, type Resolve } from '../net/dns/resolver.ts'
import type { Allow } from './allowance.ts'
import { questionName, withoutKeys } from './query.ts'
import type { List, ListKeys, Subject } from './zone-type.ts'

/** The parameters of a query to a list. `first` fires when it is time for the retry, `whole` at the deadline. */
export type Asking = {
  readonly resolve: Resolve
  readonly allow: Allow
  readonly keys: ListKeys
  readonly first: AbortSignal
  readonly whole: AbortSignal
  /** Milliseconds until the deadline. */
  readonly leftMs: () => number
  /** Whether a query without an answer is repeated once. */
  readonly retry: boolean
}

/** Maximum number of bytes kept of a list's text. */
export const MAX_TXT_BYTES = 512

/**
 * Queries the A records of a name in a list, with one retry inside the deadline. `own_limit`: the list's allowance did
 * not permit the query in time. Never rejects with {@link DnsError}.
 */
export async function askA(list: List, name: string, asking: Asking): Promise<Answer<'A'> | DnsError | 'own_limit'> {
  const first = await attempt(list, name, asking, asking.retry ? asking.first : asking.whole)
  if (!asking.retry || !(first instanceof DnsError) || !AGAIN.has(first.reason) || asking.whole.aborted) return first
  const second = await attempt(list, name, asking, asking.whole)
  return second === 'own_limit' ? first : second
}

/** The text of a list about a listed address, cleaned; null if there is none, or none in time (best effort). */
export async function askText(list: List, address: Subject, asking: Asking): Promise<string | null> {
  const allowed = asking.allow(list, asking.leftMs(), asking.whole)
  if (!(typeof allowed === 'boolean' ? allowed : await allowed)) return null
  try {
    const answer = await asking.resolve(questionName(list, address, asking.keys), 'TXT', asking.whole)
    return cleanText(answer.records, asking.keys)
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    return null
  }
}

/**
 * The records as one line: control characters and our keys removed, cut at {@link MAX_TXT_BYTES} bytes of UTF-8; null
 * if nothing is left.
 */
export function cleanText(records: readonly string[], keys: ListKeys): string | null {
  const joined = records
    .slice(0, 8)
    .map((record) => record.slice(0, MAX_TXT_BYTES * 2))
    .join(' ')
  const clean = withoutKeys(printable(joined, MAX_TXT_BYTES * 20), keys)
    .toWellFormed()
    .replace(/ +/g, ' ')
    .trim()
  const bytes = Buffer.from(clean)
  if (bytes.length <= MAX_TXT_BYTES) return clean === '' ? null : clean
  let end = MAX_TXT_BYTES
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end-- // never within a character
  return bytes.toString('utf8', 0, end).trim()
}

/**
 * Reasons after which the query is repeated. SERVFAIL and REFUSED are not among them: they are answers of the server.
 */
const AGAIN: ReadonlySet<DnsReason> = new Set(['timeout', 'network', 'malformed'])

async function attempt(
  list: List,
  name: string,
  asking: Asking,
  signal: AbortSignal,
): Promise<Answer<'A'> | DnsError | 'own_limit'> {
  const allowed = asking.allow(list, asking.leftMs(), asking.whole)
  if (!(typeof allowed === 'boolean' ? allowed : await allowed)) return 'own_limit'
  try {
    return await asking.resolve(name, 'A', signal)
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    return error
  }
}
