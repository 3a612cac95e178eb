import type { Json } from '../../base/json.ts'

/** A text in the form that PostgreSQL can store: without NUL and without lone surrogates. */
export const storable = (text: string): string => {
  const formed = text.isWellFormed() ? text : text.toWellFormed()
  return formed.includes('\0') ? formed.replaceAll('\0', '\uFFFD') : formed
}

/** JSON of a value as PostgreSQL keeps it, likewise: `JSON.stringify` writes both as escapes. */
export const storableJson = (value: Json): string => {
  const text = JSON.stringify(value)
  if (!/\\u(?:0000|d)/.test(text)) return text
  return text.replaceAll(/\\\\|\\u(?:0000|d[89a-f][0-9a-f]{2})/g, (found) => (found === '\\\\' ? found : '\\ufffd'))
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** A text that can be stored as a field in the text format of COPY. */
export const escaped = (text: string): string =>
  /[\\\t\n\r]/.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (letter) => ESCAPES[letter]!) : text

/** A value as a field in the text format of COPY. */
export function copyField(value: string | number | boolean | null): string {
  if (value === null) return '\\N'
  if (typeof value === 'string') return escaped(storable(value))
  return typeof value === 'boolean' ? (value ? 't' : 'f') : String(value)
}
