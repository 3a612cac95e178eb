import { isJsonRecord, type Json, type JsonRecord } from '../../base/json.ts'
import { type Block, code, codes, type Inline, type Line, quiet, text } from '../block.ts'
import { wordsFor } from '../words.ts'
import type { Answer } from './answer.ts'
import { findingBlock } from './findings.ts'
import { hostBlocks } from './hosts.ts'
import { keyBlocks } from './keys.ts'
import { type Section, sectionsOf } from './status.ts'

/** One section for each check: status, what is published, what was found. */
export const checkBlocks = (answer: Answer): readonly Block[] =>
  sectionsOf(answer).map((section) => sectionBlock(answer, section))

function sectionBlock(answer: Answer, { key, name, purpose, status, reason, fields }: Section): Block {
  const findings = answer.findings.filter(({ id }) => id.startsWith(`${key}.`))
  return {
    kind: 'group',
    look: 'check',
    blocks: [
      { kind: 'heading', level: 3, id: key, line: [name, ' ', { status }] },
      ...(purpose === '' ? [] : [quiet(purpose)]),
      ...(reason === undefined ? [] : [text({ strong: 'Reason: ' }, reason)]),
      ...evidence(answer, key, fields),
      ...findings.map(findingBlock),
    ],
  }
}

function evidence(answer: Answer, key: string, fields: JsonRecord = {}): readonly Block[] {
  if (key === 'mx') return hostBlocks(answer)
  return key === 'dkim' ? keyBlocks(answer.dkim) : factBlocks(fields)
}

/** Fields that are told elsewhere: as the heading, the record or the reason. */
const TOLD = new Set(['status', 'reason', 'record', 'records', 'valid'])
/** Rows of a list within a check that are shown; the JSON has them all. */
const MAX_ROWS = 50

function factBlocks(fields: JsonRecord): Block[] {
  const records = recordsOf(fields)
  const rest = Object.entries(fields).filter(([name, value]) => !TOLD.has(name) && !isEmpty(value))
  const simple = rest.filter(([, value]) => !isTable(value) && !isJsonRecord(value))
  const nested = rest.filter(([, value]) => isTable(value) || isJsonRecord(value))
  return [
    ...records.map(
      (record, i): Block => ({
        kind: 'seen',
        label: records.length === 1 ? 'Record' : `Record ${i + 1} of ${records.length}`,
        text: record,
      }),
    ),
    ...(simple.length === 0
      ? []
      : [{ kind: 'facts', rows: simple.map(([name, value]) => [label(name), line(value)] as const) } as const]),
    ...nested.flatMap(([name, value]) => {
      if (isTable(value)) return [tableBlock(name, value)]
      return isJsonRecord(value) ? nestedFacts(name, value) : []
    }),
  ]
}

const recordsOf = ({ record, records }: JsonRecord): string[] => {
  if (Array.isArray(records) && records.every((one) => typeof one === 'string')) return records
  return typeof record === 'string' ? [record] : []
}

const nestedFacts = (name: string, fields: JsonRecord): Block[] => {
  const rows = Object.entries(fields).filter(([, value]) => !isEmpty(value) && !isTable(value))
  return rows.length === 0
    ? []
    : [
        {
          kind: 'facts',
          rows: rows.map(([key, value]) => [`${label(name)}: ${label(key).toLowerCase()}`, line(value)]),
        },
      ]
}

function tableBlock(name: string, rows: readonly JsonRecord[]): Block {
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
      rows: shown.map((row) => columns.map((key) => line(row[key]))),
    },
  }
}

const isTable = (value: Json | undefined): value is readonly JsonRecord[] =>
  Array.isArray(value) && value.length > 0 && value.every(isJsonRecord)
const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

function line(value: Json | undefined): Line {
  if (value === undefined || value === null || value === '') return ['–']
  if (typeof value === 'boolean') return [value ? 'yes' : 'no']
  if (typeof value === 'number') return [String(value)]
  if (typeof value === 'string') return [code(value)]
  if (Array.isArray(value))
    return value.every((item) => typeof item !== 'object') ? codes(value.map(String)) : [`${value.length}`]
  return Object.entries(value).flatMap(([name, item], i): Inline[] => [i === 0 ? '' : ', ', `${name} `, ...line(item)])
}

const WORDS: Readonly<Record<string, string>> = {
  rua: 'Aggregate reports (rua)',
  ruf: 'Failure reports (ruf)',
  psd: 'Public suffix (psd)',
  np: 'Policy for names that do not exist (np)',
  pct: 'pct',
  uri: 'Address',
  mx: 'MX',
  id: 'Id',
  ede: 'Extended errors',
  tried: 'Selectors tried',
  all: 'Qualifier of all',
  lookups: 'Look-ups (10 allowed)',
  void_lookups: 'Void look-ups (2 allowed)',
  includes: 'Includes',
  uncovered_mx: 'MX hosts the policy leaves out',
  cname: 'CNAME',
  ptr: 'PTR',
}
const label = (name: string): string => wordsFor(WORDS, name) ?? capital(name.replaceAll('_', ' '))
const capital = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)
