import type { CheckAnswer } from '../../answers/check.ts'
import type { Change } from '../../answers/stored.ts'
import { printable } from '../../base/text.ts'

/** The result of a row for two answers: a sentence without its subject, and whether the state is better. */
export type Said = Pick<Change, 'effect' | 'text'>

export const better = (text: string): Said => ({ effect: 'better', text })
export const worse = (text: string): Said => ({ effect: 'worse', text })
export const neutral = (text: string): Said => ({ effect: 'neutral', text })

/** A kind of change between two answers; undefined if one of them is unknown. */
export type Row<A> = {
  readonly id: string
  readonly area: string
  readonly compare: (before: A, after: A) => readonly Said[]
}

type Part = 'spf' | 'dmarc' | 'mta_sts' | 'tls_rpt' | 'bimi' | 'dane' | 'starttls' | 'ns' | 'soa' | 'caa'
export type Known<K extends Part> = NonNullable<CheckAnswer[K]>

/** A kind of change of one check: nothing where it was not made, or is unknown. */
export const partRow = <K extends Part>(
  key: K,
  id: string,
  area: string,
  compare: (before: Known<K>, after: Known<K>) => readonly Said[],
): Row<CheckAnswer> => ({
  id: `${key}.${id}`,
  area,
  compare: ({ [key]: before }, { [key]: after }) =>
    !before || !after || before.status === 'unknown' || after.status === 'unknown' ? [] : compare(before, after),
})

/** Maximum number of characters shown of a record. */
const MAX_RECORD = 200
export const record = (text: string): string => printable(text, MAX_RECORD)

/** The items that are only in one of two lists, each once. */
export function difference(
  before: readonly string[],
  after: readonly string[],
): { readonly gone: readonly string[]; readonly added: readonly string[] } {
  const [was, is] = [new Set(before), new Set(after)]
  return { gone: [...was].filter((one) => !is.has(one)), added: [...is].filter((one) => !was.has(one)) }
}

/** The items that are only in the list after a change. */
export function came(before: readonly string[], after: readonly string[]): readonly Said[] {
  const { added } = difference(before, after)
  return added.length > 0 ? [neutral(`${list(added)} added`)] : []
}

/** The items that are only in the list before it. */
export function went(before: readonly string[], after: readonly string[]): readonly Said[] {
  const { gone } = difference(before, after)
  return gone.length > 0 ? [neutral(`${list(gone)} removed`)] : []
}

/** The items of two lists with the same key, each key once. */
export function pairs<T>(
  before: readonly T[],
  after: readonly T[],
  key: (one: T) => string,
): readonly (readonly [T, T])[] {
  const was = new Map(before.map((one) => [key(one), one]))
  return [...new Map(after.map((one) => [key(one), one]))].flatMap(([name, one]) => {
    const old = was.get(name)
    return old === undefined ? [] : [[old, one] as const]
  })
}

/** `a`, `a and b`, `a, b and 3 more`. */
export function list(items: readonly string[], most = 5): string {
  const shown = items.slice(0, most).map((item) => printable(item, MAX_RECORD))
  const all = items.length > most ? [...shown, `${items.length - most} more`] : shown
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}

/** `now X, was Y` if the value differs and both are known. */
export const turned = <T>(
  before: T | null | undefined,
  after: T | null | undefined,
  say: (before: T, after: T) => Said,
): readonly Said[] =>
  before === null || before === undefined || after === null || after === undefined || before === after
    ? []
    : [say(before, after)]
