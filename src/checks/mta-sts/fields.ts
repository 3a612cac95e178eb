import { type Parsed, parsed, problem } from '../../base/parsed.ts'
import { fieldsProblem } from './problems.ts'

/** One `name=value` of a record; `at` is its start in the text. */
export type Field = { readonly name: string; readonly value: string; readonly at: number }

/** Maximum number of fields of a record. */
const MAX_FIELDS = 100
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/
const VALUE = /^[\x21-\x3a\x3c\x3e-\x7e]+$/

/** Whether a text begins with the version and a semicolon: others are discarded before records are counted (RFC 8461 §3.1, RFC 8460 §3). */
export const hasVersion = (text: string, version: string): boolean =>
  text.startsWith(version) && /^[ \t]*(?:;|$)/.test(text.slice(version.length, version.length + 200))

/**
 * Reads the fields after the version by the grammar that RFC 8461 §3.1 and RFC 8460 §3 share. The grammar is strict: no empty field, no white space around
 * "=", and at most one ";" at the end. `free` names the field whose value has its own grammar.
 */
export function parseFields(text: string, version: string, free: string): Parsed<readonly Field[]> {
  if (!hasVersion(text, version)) return problem(fieldsProblem('version', { text: version }), 0)
  const items = text.split(';')
  if (items.length > MAX_FIELDS) return problem(fieldsProblem('too_many', { max: MAX_FIELDS }))
  if (items.length > 1 && items.at(-1)!.trim() === '') items.pop() // one ";" may end the record
  const fields: Field[] = []
  let next = items[0]!.length + 1
  for (const item of items.slice(1)) {
    const body = item.trim()
    const at = next + item.indexOf(body)
    next += item.length + 1
    if (body === '') return problem(fieldsProblem('empty'), at)
    const equals = body.indexOf('=')
    const name = body.slice(0, Math.max(0, equals))
    const value = body.slice(equals + 1)
    if (!NAME.test(name) || (name !== free && !VALUE.test(value)))
      return problem(fieldsProblem('form', { text: body }), at)
    fields.push({ name, value, at })
  }
  return parsed(fields)
}
