import { isDeepStrictEqual } from 'node:util'
import { escapeUnsafe } from './text.ts'

/** A value that JSON can represent; a key whose value is undefined is omitted. */
export type Json = null | boolean | number | string | readonly Json[] | JsonRecord

export type JsonRecord = { readonly [key: string]: Json | undefined }

/** The keys of a table, which has no others than those of its type. */
export const keysOf = <K extends string>(table: Readonly<Partial<Record<K, unknown>>>): readonly K[] =>
  Object.keys(table) as K[]

/** Whether a parsed JSON value is an object: neither null nor a list. */
export const isJsonRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether lists and objects of a JSON text are nested more than `max` levels; reading such a value can end the stack. */
export function isNestedBeyond(text: string, max: number): boolean {
  let depth = 0
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (isInText) {
      if (unit === BACKSLASH) at++
      else if (unit === QUOTE) isInText = false
    } else if (unit === QUOTE) isInText = true
    else if (OPENING.includes(unit) && ++depth > max) return true
    else if (CLOSING.includes(unit)) depth--
  }
  return false
}

const [QUOTE, BACKSLASH, OPENING, CLOSING] = [0x22, 0x5c, [0x5b, 0x7b], [0x5d, 0x7d]]

/**
 * JSON for display on a terminal: characters that control it, reorder text or are invisible are escaped, and what a
 * build server would take for a command (`##[…]`). `indent`: spaces per level; absent: one line.
 */
export const formatJson = (value: Json, indent?: number): string => {
  const text = JSON.stringify(value, null, indent).replace(/##(?=(?:vso)?\[)/gi, '#\\u0023')
  return indent === undefined ? escapeUnsafe(text) : text.split('\n').map(escapeUnsafe).join('\n')
}

/**
 * Whether two values are equal as data, in all their parts; for lists and plain objects without cycles faster than
 * `isDeepStrictEqual`, which compares all others.
 */
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
