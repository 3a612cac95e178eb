import { isJsonRecord, type Json, type JsonRecord } from '../base/json.ts'
import { type Block, code, codes, type Document, type Inline, type Line } from './block.ts'
import { footerOf } from './words.ts'

/** Maximum number of rows shown of a list; the JSON has all. */
const MAX_ROWS = 50

/** An answer without a document of its own: its fields, then its lists as tables. */
export const plainDocument = (title: string, answer: unknown, version: string): Document => ({
  title,
  blocks: [
    { kind: 'conclusion', conclusion: { subject: title, mark: 'none', badge: '', words: '', notes: [] } },
    ...(isJsonRecord(answer) ? fieldBlocks(answer, () => true) : []),
  ],
  footer: footerOf(version),
})

/** Fields and those of objects as facts, then lists of objects as tables. Empty fields are omitted. */
export function fieldBlocks(fields: JsonRecord, isShown: (name: string) => boolean, label = labelOf): Block[] {
  const rest = Object.entries(fields).filter(([name, value]) => isShown(name) && !isEmpty(value))
  const simple = rest.filter(([, value]) => !isTable(value) && !isJsonRecord(value))
  const nested = rest.filter(([, value]) => isTable(value) || isJsonRecord(value))
  const rows = [
    ...simple.map(([name, value]) => [label(name), lineOf(value)] as const),
    ...nested.flatMap(([name, value]) => (isJsonRecord(value) ? nestedFacts(name, value, label) : [])),
  ]
  return [
    ...(rows.length === 0 ? [] : [{ kind: 'facts', rows } as const]),
    ...nested.flatMap(([name, value]) => (isTable(value) ? [tableBlock(name, value, label)] : [])),
  ]
}

type Label = (name: string) => string

const nestedFacts = (name: string, fields: JsonRecord, label: Label) =>
  Object.entries(fields)
    .filter(([, value]) => !isEmpty(value) && !isTable(value))
    .map(([key, value]) => [`${label(name)}: ${label(key).toLowerCase()}`, lineOf(value)] as const)

function tableBlock(name: string, rows: readonly JsonRecord[], label: Label): Block {
  const shown = rows.slice(0, MAX_ROWS)
  const columns = [...new Set(shown.flatMap((row) => Object.keys(row)))].filter(
    (key) => key !== 'records' && shown.some((row) => !isEmpty(row[key])),
  )
  const more = rows.length > MAX_ROWS ? ` (the first ${MAX_ROWS} of ${rows.length})` : ''
  return {
    kind: 'table',
    table: {
      caption: `${label(name)}${more}`,
      head: columns.map(label),
      rows: shown.map((row) => columns.map((key) => lineOf(row[key]))),
    },
  }
}

const isTable = (value: Json | undefined): value is readonly JsonRecord[] =>
  Array.isArray(value) && value.length > 0 && value.every(isJsonRecord)
const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

function lineOf(value: Json | undefined): Line {
  if (value === undefined || value === null || isEmpty(value)) return ['–']
  if (typeof value === 'boolean') return [value ? 'yes' : 'no']
  if (typeof value === 'number') return [String(value)]
  if (typeof value === 'string') return [code(value.replace(MIDNIGHT, '$1'))]
  if (Array.isArray(value))
    return value.every((item) => typeof item !== 'object') ? codes(value.map(String)) : [`${value.length}`]
  return Object.entries(value).flatMap(([name, item], i): Inline[] => [
    i === 0 ? '' : ', ',
    `${name} `,
    ...lineOf(item),
  ])
}

/** A time at midnight is a day. */
const MIDNIGHT = /^(\d{4}-\d\d-\d\d)T00:00:00\.000Z$/

/** `expires_at` as `Expires at`. */
export function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
