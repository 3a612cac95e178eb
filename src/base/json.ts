import { escapeUnsafe } from './text.ts'

/** A value that JSON can carry; a key whose value is undefined is left out. */
export type Json = null | boolean | number | string | readonly Json[] | JsonRecord

export type JsonRecord = { readonly [key: string]: Json | undefined }

/** Whether a value that came as JSON is an object: neither null nor a list. */
export const isJsonRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON that a terminal may show: characters that steer it, reorder what is shown or hide in it are escaped. `indent`: spaces a level; absent: one line. */
export const formatJson = (value: Json, indent?: number): string => {
  const text = JSON.stringify(value, null, indent)
  return indent === undefined ? escapeUnsafe(text) : text.split('\n').map(escapeUnsafe).join('\n')
}
