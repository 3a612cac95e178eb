import { z } from 'zod'
import { invalidFlag } from '../base/errors.ts'
import { isJsonRecord, type Json, type JsonRecord } from '../base/json.ts'
import { nearest } from '../base/value-problems.ts'
import { flagProblem } from './problems.ts'

/**
 * Field names as a tree: `spf.record` is `record` below `spf`; a name without names below it selects the whole field.
 */
type Names = { readonly [name: string]: Names }
/** Selects fields of an answer in the given order; in a list, those of each item. Absent fields stay absent. */
export type Select = (answer: JsonRecord) => JsonRecord

/** Maximum number of fields per command line. */
const MAX_FIELDS = 100
/** Maximum nesting of a field. */
const MAX_DEPTH = 10

type Schema = { readonly [key: string]: unknown }

/**
 * Parses the value of `--json`: names separated by commas, `a.b` for a nested field. Throws AppError for a name that is
 * not in the schema of the answer, with the closest name that is.
 */
export function readFields(text: string, schema: z.ZodType): Select {
  const paths = text.split(',').map((path) => path.trim())
  if (paths.length > MAX_FIELDS) throw invalidFlag('json', flagProblem('too_many_fields', { max: MAX_FIELDS }))
  const whole = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Schema
  let names: Names = {}
  for (const path of paths) names = withPath(names, checked(path, whole))
  return (answer) => taken(answer, names)
}

/** Fields of an answer as an example for `--json`: two fields, or one of the items of a list. */
export function someFields(schema: z.ZodType): string {
  const { spf, data } = shapeOf(schema)
  if (spf !== undefined) return 'score,spf.record'
  const [first, second] = Object.keys(shapeOf(schema))
  if (data instanceof z.ZodArray) return `data.${Object.keys(shapeOf(data.element))[0] ?? '0'}`
  return [first, second].filter((name) => name !== undefined).join(',')
}

/** Of alternatives, the fields of the first one. */
const shapeOf = (schema: unknown): Readonly<Record<string, unknown>> => {
  if (schema instanceof z.ZodUnion) return shapeOf(schema.options[0])
  return schema instanceof z.ZodObject ? schema.shape : {}
}

function checked(path: string, whole: Schema): readonly string[] {
  const words = path.split('.')
  let at: readonly Schema[] = [whole]
  for (const [i, word] of words.entries()) {
    const known = at.flatMap((one) => fieldsOf(one, whole))
    const next = known.filter(([name]) => name === word || name === '*').map(([, below]) => below)
    if (next.length === 0 || words.length > MAX_DEPTH) {
      const others = [...new Set(known.map(([name]) => name))]
      const where = words.slice(0, i).join('.')
      const why = flagProblem('field', { text: word, known: others, meant: nearest(word, others), where })
      throw invalidFlag('json', why)
    }
    at = next
  }
  return words
}

/**
 * The nested fields of a schema; `*` stands for names that depend on the answer. Lists and alternatives are followed.
 */
function fieldsOf(schema: Schema, whole: Schema): readonly (readonly [string, Schema])[] {
  const { $ref, items, anyOf, oneOf, allOf, properties, additionalProperties } = schema
  if (typeof $ref === 'string') return fieldsOf(referred($ref, whole), whole)
  const others = [items, ...[anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : []))]
  return [
    ...(isSchema(properties) ? Object.entries(properties) : []),
    ...(isSchema(additionalProperties) ? ([['*', additionalProperties]] as const) : []),
    ...others.flatMap((one) => (isSchema(one) ? fieldsOf(one, whole) : [])),
  ].filter((field): field is [string, Schema] => isSchema(field[1]))
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function referred(ref: string, whole: Schema): Schema {
  const name = ref.replace(/^#\/\$defs\//, '')
  const found = ref === '#' ? whole : isSchema(whole.$defs) ? whole.$defs[name] : undefined
  return isSchema(found) ? found : {}
}

function withPath(names: Names, [first, ...rest]: readonly string[]): Names {
  if (first === undefined) return names
  const known = Object.hasOwn(names, first) ? names[first] : undefined
  // A whole field includes its parts.
  const below = rest.length === 0 || (known && Object.keys(known).length === 0) ? {} : withPath(known ?? {}, rest)
  return { ...names, [first]: below }
}

const taken = (value: JsonRecord, names: Names): JsonRecord =>
  Object.fromEntries(
    Object.entries(names).flatMap(([name, below]) =>
      Object.hasOwn(value, name) && value[name] !== undefined ? [[name, part(value[name], below)]] : [],
    ),
  )

function part(value: Json, names: Names): Json {
  if (Object.keys(names).length === 0) return value
  if (Array.isArray(value)) return value.map((item: Json) => part(item, names))
  return isJsonRecord(value) ? taken(value, names) : value
}
