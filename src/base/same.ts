import { isDeepStrictEqual } from 'node:util'

/** Whether two values are equal as data, in all their parts; for lists and plain objects without cycles faster than `isDeepStrictEqual`, which compares all others. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((value, i) => isSame(value, b[i]))
  if (!isPlain(a) || !isPlain(b)) return isDeepStrictEqual(a, b)
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
}

const isPlain = (value: object): value is Readonly<Record<string, unknown>> =>
  Object.getPrototypeOf(value) === Object.prototype
