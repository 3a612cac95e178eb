import { parseDomain } from '../../names/domain.ts'
import type { Answer, RecordType } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'

/**
 * Queries the resolver, each query once: an answer that was queried ahead is there when its turn comes. Names are in
 * presentation format, like those in answers.
 */
export type Ask = <T extends RecordType>(name: string, type: T) => Promise<Answer<T>>

/** A longer text waits for its turn, so that parsing it is a separate step of the event loop. */
const LONG_TEXT = 2_048

/**
 * An {@link Ask} that caches for the duration of one evaluation. Rejects as `Resolve` does. Memory: one entry per
 * query; the callers are bounded.
 */
export function askOnce(ctx: Pick<Ctx, 'resolve' | 'signal'>): Ask {
  const asked = new Map<string, Promise<Answer>>()
  const turn = oneATurn()
  return <T extends RecordType>(name: string, type: T): Promise<Answer<T>> => {
    const key = `${type} ${name.toLowerCase()}`
    const known = asked.get(key)
    if (known !== undefined) return known as Promise<Answer<T>>
    const answer = ctx
      .resolve(name, type, ctx.signal)
      .then((found) => (isLong(found) ? turn().then(() => found) : found))
    // Queried ahead and perhaps never needed; a caller that needs the answer awaits the same promise and gets the
    // failure.
    answer.catch(() => {})
    asked.set(key, answer as Promise<Answer>)
    return answer
  }
}

const isLong = ({ type, records }: Answer<RecordType>): boolean =>
  type === 'TXT' && records.some((text) => typeof text === 'string' && text.length > LONG_TEXT)

/** Lets one caller continue in each turn of the event loop, first come, first served. */
function oneATurn(): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return last
  }
}

/**
 * A name from a record or its macros, in the form of the resolver: a backslash is an ordinary character there (RFC 1035
 * §5.1).
 */
export const presentationOf = (name: string): string =>
  name.replace(/[\\\x00-\x1f\x7f]/g, (char) =>
    char === '\\' ? '\\\\' : `\\${String(char.charCodeAt(0)).padStart(3, '0')}`,
  )

/**
 * A domain in the form of `check_host`: A-labels (RFC 7208 §4.3), two labels or more, without a final dot; undefined if
 * it is malformed, a literal or a single label.
 */
export function checkedName(text: string): string | undefined {
  const bare = text.endsWith('.') ? text.slice(0, -1) : text
  if (bare.length > 253 || bare.startsWith('[')) return undefined
  if (/[^\x00-\x7f]/.test(bare)) {
    const idn = parseDomain(bare)
    return idn.ok ? idn.value : undefined
  }
  const labels = bare.split('.')
  return labels.length > 1 && labels.every((label) => label.length > 0 && label.length < 64) ? bare : undefined
}
