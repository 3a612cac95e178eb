import { type Parsed, type Problem, parsed, problem } from '../../base/problem.ts'
import type { OverlayRecord } from './overlay.ts'
import { zoneProblem } from './problems.ts'
import { type Field, readFields, readSeconds } from './record-data.ts'
import { absoluteName, made, typeOf } from './record-text.ts'
import { type ZoneEntry, zoneEntries } from './zone-entries.ts'

/** The content of a zone file. */
type ZoneText = {
  readonly records: readonly OverlayRecord[]
  /** Types that are not used here, each with the number of its records. */
  readonly skipped: ReadonlyMap<string, number>
}

const MAX_LENGTH = 1 << 20
/** Maximum number of records of a zone file. */
const MAX_RECORDS = 10_000

type State = { readonly origin: string; readonly owner: string | undefined }

/**
 * Reads a zone file (RFC 1035 §5.1) whose origin is the domain until a `$ORIGIN` changes it. Problems name their line.
 * Types that the program does not query are ignored and counted; `$INCLUDE` and `$GENERATE` are refused. At most 1 MiB
 * and 10,000 records.
 */
export function parseZone(text: string, domain: string): Parsed<ZoneText> {
  if (text.length > MAX_LENGTH) return problem(zoneProblem('too_long', { max: MAX_LENGTH }))
  const records: OverlayRecord[] = []
  const skipped = new Map<string, number>()
  let state: State = { origin: domain, owner: undefined }
  for (const entry of zoneEntries(asWritten(text))) {
    const at = (why: Problem) => problem(zoneProblem('at', { line: entry.line, why }))
    if ('problem' in entry) return at(entry.problem)
    const read = readEntry(entry, state)
    if (!read.ok) return at(read.problem)
    state = read.value.state
    const { record, type } = read.value
    if (record) records.push(record)
    else if (type !== undefined) skipped.set(type, (skipped.get(type) ?? 0) + 1)
    if (records.length > MAX_RECORDS) return at(zoneProblem('too_many', { max: MAX_RECORDS }))
  }
  return parsed({ records, skipped })
}

/** A zone as it was pasted from a page: indented as a whole, or with quotes of typography alone. */
function asWritten(text: string): string {
  const bare = text.replace(/^\ufeff/, '')
  const zone = bare.includes('"') ? bare : bare.replace(/[“”„]/g, '"')
  const isIndented = !/^[^\s;]/m.test(zone) && !NO_NAME.test(zone)
  return isIndented ? zone.replace(/^[^\S\r\n]+/gm, '') : zone
}
/** A first line without a name. */
const NO_NAME = /^\s*(?:\d\w*|IN|A|AAAA|CAA|CNAME|DS|MX|NS|PTR|SOA|SRV|TLSA|TXT)\s/i

type Read = { readonly state: State; readonly record?: OverlayRecord; readonly type?: string }

function readEntry(entry: Extract<ZoneEntry, { fields: unknown }>, state: State): Parsed<Read> {
  const [first, ...others] = entry.fields
  if (!entry.isIndented && first!.text.startsWith('$') && !first!.quoted) return directive(first!.text, others, state)
  if (entry.isIndented && state.owner === undefined) return problem(zoneProblem('no_owner'))
  const owner = entry.isIndented ? parsed(state.owner!) : absoluteName(first!.text, state.origin)
  if (!owner.ok) return owner
  const next: State = { ...state, owner: owner.value }
  const typed = afterTtlAndClass(entry.isIndented ? entry.fields : others)
  if (!typed.ok) return typed
  const { type, fields } = typed.value
  const known = typeOf(type)
  if (!known.ok) return /^[A-Z][A-Z0-9-]{0,30}$/i.test(type) ? parsed({ state: next, type: type.toUpperCase() }) : known
  const data = readFields(known.value, fields, (text) => absoluteName(text, state.origin))
  const record = made(owner.value, known.value, data)
  return record.ok ? parsed({ state: next, record: record.value }) : record
}

function directive(word: string, fields: readonly Field[], state: State): Parsed<Read> {
  const name = word.toUpperCase()
  const value = fields[0]?.text
  if (name === '$TTL')
    return value !== undefined && readSeconds(value) !== undefined ? parsed({ state }) : problem(zoneProblem('ttl'))
  if (name !== '$ORIGIN') return problem(zoneProblem('directive', { text: word }))
  const origin = value === undefined ? problem(zoneProblem('origin')) : absoluteName(value, state.origin)
  return origin.ok ? parsed({ state: { ...state, origin: origin.value } }) : origin
}

/** TTL and class may precede the type, in any order, or be omitted (RFC 1035 §5.1). */
function afterTtlAndClass(
  fields: readonly Field[],
): Parsed<{ readonly type: string; readonly fields: readonly Field[] }> {
  let at = 0
  while (at < 2 && fields[at] && (isClass(fields[at]!.text) || readSeconds(fields[at]!.text) !== undefined)) {
    if (isClass(fields[at]!.text) && fields[at]!.text.toUpperCase() !== 'IN')
      return problem(zoneProblem('class', { text: fields[at]!.text }))
    at++
  }
  const type = fields[at]
  return type && !type.quoted
    ? parsed({ type: type.text, fields: fields.slice(at + 1) })
    : problem(zoneProblem('no_type'))
}

const isClass = (text: string): boolean => /^(?:IN|CH|HS|CS)$/i.test(text)
