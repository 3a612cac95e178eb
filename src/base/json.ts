import { escapeUnsafe } from './text.ts'

/** A value that JSON can represent; a key whose value is undefined is omitted. */
export type Json = null | boolean | number | string | readonly Json[] | JsonRecord

export type JsonRecord = { readonly [key: string]: Json | undefined }

/** Whether a parsed JSON value is an object: neither null nor a list. */
export const isJsonRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * JSON for display on a terminal: characters that control it, reorder text or are invisible are escaped, and what a
 * build server would take for a command (`##[…]`). `indent`: spaces per level; absent: one line.
 */
export const formatJson = (value: Json, indent?: number): string => {
  const text = JSON.stringify(value, null, indent).replace(/##(?=(?:vso)?\[)/gi, '#\\u0023')
  return indent === undefined ? escapeUnsafe(text) : text.split('\n').map(escapeUnsafe).join('\n')
}
