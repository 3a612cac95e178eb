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

/** The object identifier of the type `json` in PostgreSQL. */
const JSON_OID = 114

/**
 * Values as a parameter of type `json[]` in PostgreSQL's binary format (array_send): the number of dimensions, a flag
 * for nulls, the type, the length and the first index, then each element after its size. As text, each element would be
 * escaped once more, and the server would have to undo it.
 */
export function jsonArray(values: readonly Json[]): Buffer {
  const texts = values.map((value) => {
    const text = storableJson(value)
    return { text, size: Buffer.byteLength(text) }
  })
  const array = Buffer.allocUnsafe(texts.reduce((sum, { size }) => sum + 4 + size, values.length === 0 ? 12 : 20))
  let at = 0
  const put = (number: number): void => void (at = array.writeInt32BE(number, at))
  for (const part of [values.length === 0 ? 0 : 1, 0, JSON_OID]) put(part)
  if (values.length > 0) for (const part of [values.length, 1]) put(part)
  for (const { text, size } of texts) {
    put(size)
    at += array.write(text, at)
  }
  return array
}
