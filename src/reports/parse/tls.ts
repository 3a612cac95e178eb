import { messageOf } from '../../base/errors.ts'
import { canonicalName } from '../../names/domain.ts'
import type { TlsRow } from '../../store/postgres/report-rows.ts'
import { reportError } from '../problems.ts'
import { MAX_COUNT, type TlsFailure, type TlsPolicy, type TlsReport } from '../report.ts'
import { buffered, encodingOf } from './containers.ts'

/** Maximum size of the JSON, octets: it is held in memory. Real ones have a few kB. */
const MAX_OCTETS = 16 * 1_048_576
/** Reports of a file. */
const MAX_REPORTS = 1_000
const MAX_POLICIES = 1_000
/** Failure details of all policies. */
const MAX_FAILURES = 100_000
/** Objects of the JSON: of each policy three or four, of each detail one. */
const MAX_OBJECTS = MAX_FAILURES + 5 * MAX_POLICIES
/** Members of an object; a failure detail has 9. */
const MAX_MEMBERS = 100
/** Members of all objects, and elements of all arrays. */
const MAX_VALUES = 20 * MAX_OBJECTS
/** Maximum nesting of objects and arrays; reports have 6. */
const MAX_DEPTH = 32
/** Characters of a text that is kept. */
const MAX_TEXT = 512

/**
 * The JSON values of a file: one, the elements of a list, or one behind the other. What is behind them and no JSON is
 * what a mail gateway added. Rejects with AppError `bad_report` for other text, and `payload_too_large` above 16 MiB or
 * {@link MAX_REPORTS} values.
 */
export async function jsonIn(octets: AsyncIterable<Uint8Array>): Promise<readonly unknown[]> {
  const whole = await buffered(octets, MAX_OCTETS)
  const text = new TextDecoder(encodingOf(whole)).decode(whole)
  const values: unknown[] = []
  for (let from = 0; from === 0 || /^\s*[{[]/.test(text.slice(from, from + 100)); ) {
    const end = from + boundJson(text.slice(from))
    const value = parsed(text.slice(from, end))
    values.push(...(Array.isArray(value) ? value : [value]))
    if (values.length > MAX_REPORTS) throw reportError('entries', { max: MAX_REPORTS })
    from = end
  }
  return values
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw reportError('json', { reason: messageOf(cause) }, { cause })
  }
}

/**
 * Reads a TLS report (RFC 8460 §4). Numbers may be texts, and whatever may be missing is null; a failure detail that
 * says nothing is left out. Throws AppError `bad_report` for JSON that is no report, and `payload_too_large` above 1,000
 * policies or 100,000 failure details.
 */
export function tlsReportOf(json: unknown): TlsReport {
  const report = fieldsOf(json)
  if (report === undefined || !('policies' in report || 'organization-name' in report || 'date-range' in report))
    throw reportError('none')
  const range = fieldsOf(report['date-range']) ?? {}
  const policies = fieldsOf(report.policies) ? [report.policies] : listOf(report.policies)
  if (policies.length > MAX_POLICIES) throw reportError('policies', { max: MAX_POLICIES })
  const reportId = textOf(report['report-id'])
  if (reportId === null || reportId === '') throw reportError('missing', { what: 'report-id' })
  const details = policies.reduce<number>((sum, one) => sum + listOf(fieldsOf(one)?.['failure-details']).length, 0)
  if (details > MAX_FAILURES) throw reportError('details', { max: MAX_FAILURES })
  return {
    organization: textOf(report['organization-name']),
    contact: textOf(report['contact-info']),
    reportId,
    begin: timeOf('start-datetime', range['start-datetime']),
    end: timeOf('end-datetime', range['end-datetime']),
    policies: policies.map(policyOf),
  }
}

/**
 * Throws at what no report has, before JSON.parse would hold it: 14 MiB of empty objects are 1 GiB of memory, and an
 * object of a million members takes a second. Faults of the syntax are left to JSON.parse. Returns where the outermost
 * object ends.
 */
function boundJson(text: string): number {
  /** Members of the objects around a place; NaN for an array. */
  const members: number[] = []
  let objects = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) at = endOfString(text, at)
    else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      if (members.length >= MAX_DEPTH) throw reportError('json_depth', { max: MAX_DEPTH })
      members.push(char === OPEN_OBJECT ? 0 : Number.NaN)
      if (++objects > MAX_OBJECTS) throw reportError('details', { max: MAX_FAILURES })
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      members.pop()
      if (members.length === 0) return at + 1
    } else if (char === COLON) {
      const inside = members.length - 1
      if (inside >= 0 && ++members[inside]! > MAX_MEMBERS) throw reportError('members', { max: MAX_MEMBERS })
    } else if (char === COMMA && ++values > MAX_VALUES) throw reportError('details', { max: MAX_FAILURES })
  }
  return text.length
}

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** The place of the quote that ends a string. */
function endOfString(text: string, from: number): number {
  let at = from + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}

function policyOf(value: unknown): TlsPolicy {
  const entry = fieldsOf(value) ?? {}
  const policy = fieldsOf(entry.policy) ?? {}
  const summary = fieldsOf(entry.summary) ?? {}
  const details = listOf(entry['failure-details'])
  const domain = textOf(policy['policy-domain'])
  return {
    domain: domain === null || domain === '' ? null : canonicalName(domain).slice(0, 253),
    type: (textOf(policy['policy-type']) ?? '').toLowerCase(),
    successful: sessionsOf(summary['total-successful-session-count']),
    failed: sessionsOf(summary['total-failure-session-count']),
    failures: details
      .map(failureOf)
      .filter(({ type, host, sessions }) => type !== '' || host !== null || sessions !== null),
  }
}

/**
 * The rows of a report: the totals of each policy, and its failures. Where no policy names its domain it is empty, to be
 * that of the report; where others do, a policy without one has no rows.
 */
export function* tlsRows({ policies }: TlsReport): Generator<TlsRow> {
  const isNamed = policies.some((one) => one.domain !== null)
  for (const { domain: named, type, successful, failed, failures } of policies) {
    if (named === null && isNamed) continue
    const domain = named ?? ''
    yield { domain, type, host: null, failure: null, successful, failed }
    for (const one of failures)
      yield { domain, type, host: one.host, failure: one.type, successful: null, failed: one.sessions }
  }
}

function failureOf(value: unknown): TlsFailure {
  const detail = fieldsOf(value) ?? {}
  const host = textOf(detail['receiving-mx-hostname'])
  return {
    type: (textOf(detail['result-type']) ?? '').toLowerCase(),
    host: host === null || host === '' ? null : canonicalName(host).slice(0, 253),
    sessions: sessionsOf(detail['failed-session-count']),
  }
}

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: unknown): Fields | undefined => (isFields(value) ? value : undefined)
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value.trim().slice(0, MAX_TEXT) : typeof value === 'number' ? String(value) : null

function sessionsOf(value: unknown): number | null {
  if (value === undefined || value === null || value === '') return null
  const text = typeof value === 'string' ? value.trim() : String(value)
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!(count <= MAX_COUNT)) throw reportError('count', { text, max: MAX_COUNT })
  return count
}

/** Unix seconds of an RFC 3339 time (RFC 8460 §4.4); some write them so, or without a zone, in UTC. */
function timeOf(what: string, value: unknown): number {
  if (typeof value === 'number' && value > 0 && value < 1e11) return Math.floor(value)
  const text = typeof value === 'string' ? value.trim() : ''
  const zoned = text.replace(/^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)$/, '$1T$2Z')
  const ms = /^\d{4}-\d\d-\d\d[T ]/.test(zoned) ? Date.parse(zoned) : Number.NaN
  if (text === '') throw reportError('missing', { what: `date-range with a ${what} (RFC 3339)` })
  if (Number.isNaN(ms)) throw reportError('time', { what, text })
  return Math.floor(ms / 1_000)
}
