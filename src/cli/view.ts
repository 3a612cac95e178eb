import Table from 'cli-table3'
import { isJsonRecord, type Json, type JsonRecord } from '../base/json.ts'
import { printable } from '../base/text.ts'
import { escapeMarkdown } from '../documents/markdown/markdown-text.ts'

/** An answer as a person reads it on a terminal: plain fields first, then lists as tables. Text from outside is cleaned of control characters. */
export function viewTable(answer: JsonRecord): string {
  const plain: [string, string][] = []
  const blocks: string[] = []
  for (const [name, value] of Object.entries(answer)) {
    if (value === undefined) continue
    if (isRows(value)) blocks.push(`${nameOf(name)}\n${rowsTable(value)}`)
    else plain.push([nameOf(name), cell(value)])
  }
  const table = new Table({ style: { head: [], border: [] }, wordWrap: true, colWidths: [22, 90] })
  table.push(...plain)
  return [table.toString(), ...blocks].join('\n\n')
}

/** A field's name, which is another's word where a service was asked. */
const nameOf = (name: string): string => printable(name, 60)
const markdownName = (name: string): string => (/^\w{1,60}$/.test(name) ? name : escapeMarkdown(nameOf(name)))

/** Columns of a list of objects that are shown; the JSON has them all. */
const MAX_COLUMNS = 7

const isRows = (value: Json): value is readonly JsonRecord[] =>
  Array.isArray(value) && value.length > 0 && value.every(isJsonRecord)

function rowsTable(rows: readonly JsonRecord[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MAX_COLUMNS)
  const table = new Table({ head: columns.map(nameOf), style: { head: [], border: [] } })
  for (const row of rows) table.push(columns.map((column) => cell(row[column], 60)))
  return table.toString()
}

function cell(value: Json | undefined, maxLength = 600): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'object')
    return printable(
      Array.isArray(value) && value.every((item) => typeof item !== 'object') ? value.join(', ') : brief(value),
      maxLength,
    )
  return printable(String(value), maxLength)
}

const brief = (value: Json): string =>
  Array.isArray(value) || value === null || typeof value !== 'object'
    ? JSON.stringify(value)
    : Object.entries(value)
        .filter(([, item]) => item !== undefined && (typeof item !== 'object' || item === null))
        .map(([name, item]) => `${name}: ${String(item)}`)
        .join(', ')

/** An answer as Markdown: plain fields as a list, lists of objects as tables. Text from outside cannot become markup. */
export function viewMarkdown(answer: JsonRecord): string {
  const lines: string[] = []
  for (const [name, value] of Object.entries(answer)) {
    if (value === undefined) continue
    if (isRows(value)) lines.push('', `## ${markdownName(name)}`, '', rowsMarkdown(value), '')
    else lines.push(`- **${markdownName(name)}**: ${escapeMarkdown(cell(value))}`)
  }
  return lines.join('\n')
}

function rowsMarkdown(rows: readonly JsonRecord[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, MAX_COLUMNS)
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(markdownName)),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => escapeMarkdown(cell(row[column], 200))))),
  ].join('\n')
}
