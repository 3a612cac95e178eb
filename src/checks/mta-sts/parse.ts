import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { fieldsProblem, stsRecordProblem } from './problems.ts'

/** An MTA-STS record (RFC 8461 §3.1): its `id` changes with the policy. */
export type StsRecord = { readonly id: string; readonly extensions: readonly string[] }

const VERSION = 'v=STSv1'
/** Maximum number of extensions that are kept. */
const MAX_EXTENSIONS = 20

export const isStsRecord = (text: string): boolean => hasVersion(text, VERSION)

/** Whether a text was probably meant to be an MTA-STS record. */
export const resemblesStsRecord = (text: string): boolean => /^["\s]{0,8}v\s{0,8}=?\s{0,8}sts/i.test(text.slice(0, 64))

/** Reads an MTA-STS record (RFC 8461 §3.1); a record that violates the grammar counts as no policy. */
export function parseStsRecord(text: string): Parsed<StsRecord> {
  const fields = parseFields(text, VERSION, 'id')
  if (!fields.ok) return fields
  const ids = fields.value.filter((field) => field.name === 'id')
  const [id] = ids
  if (!id) return problem(stsRecordProblem('no_id'))
  if (ids.length > 1) return problem(stsRecordProblem('several_ids'), ids[1]!.at)
  if (!/^[A-Za-z0-9]{1,32}$/.test(id.value)) return problem(stsRecordProblem('id'), id.at)
  const extensions = fields.value.filter((field) => field !== id).map((field) => `${field.name}=${field.value}`)
  return parsed({ id: id.value, extensions: extensions.slice(0, MAX_EXTENSIONS) })
}

export const formatStsRecord = (record: StsRecord): string =>
  [VERSION, `id=${record.id}`, ...record.extensions].join('; ')

/** One `name=value` of a record; `at` is its start in the text. */
export type Field = { readonly name: string; readonly value: string; readonly at: number }

/** Maximum number of fields of a record. */
const MAX_FIELDS = 100
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/
const VALUE = /^[\x21-\x3a\x3c\x3e-\x7e]+$/

/**
 * Whether a text begins with the version and a semicolon: others are discarded before records are counted (RFC 8461
 * §3.1, RFC 8460 §3).
 */
export const hasVersion = (text: string, version: string): boolean =>
  text.startsWith(version) && /^[ \t]*(?:;|$)/.test(text.slice(version.length, version.length + 200))

/**
 * Reads the fields after the version by the grammar that RFC 8461 §3.1 and RFC 8460 §3 share. The grammar is strict: no
 * empty field, no white space around "=", and at most one ";" at the end. `free` names the field whose value has its
 * own grammar.
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
