import { messageOf } from '../../base/errors.ts'
import { canonicalName } from '../../names/domain.ts'
import { reportError } from '../problems.ts'
import { MAX_COUNT, type TlsFailure, type TlsPolicy, type TlsReport } from '../report.ts'
import { buffered, encodingOf } from './containers.ts'

/** Maximum size of the JSON, octets: it is held in memory. Real ones have a few kB. */
const MAX_OCTETS = 16 * 1_048_576
/** Policies of a report. */
const MAX_POLICIES = 1_000
/** Failure details of a policy. */
const MAX_FAILURES = 100_000
/** Characters of a text that is kept. */
const MAX_TEXT = 512

/**
 * Reads a TLS report (RFC 8460 §4). Numbers may be texts, and whatever may be missing is null.
 * Rejects with AppError `bad_report` for JSON that is no report, and `payload_too_large` above 1,000 policies or
 * 100,000 failure details.
 */
export async function readTls(octets: AsyncIterable<Uint8Array>): Promise<TlsReport> {
  const whole = await buffered(octets, MAX_OCTETS)
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder(encodingOf(whole)).decode(whole))
  } catch (cause) {
    throw reportError('json', { reason: messageOf(cause) }, { cause })
  }
  const report = fieldsOf(json)
  if (report === undefined || !('policies' in report || 'organization-name' in report || 'date-range' in report))
    throw reportError('none')
  const range = fieldsOf(report['date-range']) ?? {}
  const policies = listOf(report.policies)
  if (policies.length > MAX_POLICIES) throw reportError('rows', { max: MAX_POLICIES })
  const reportId = textOf(report['report-id'])
  if (reportId === null || reportId === '') throw reportError('missing', { what: 'report-id' })
  return {
    organization: textOf(report['organization-name']),
    contact: textOf(report['contact-info']),
    reportId,
    begin: timeOf('start-datetime', range['start-datetime']),
    end: timeOf('end-datetime', range['end-datetime']),
    policies: policies.map(policyOf),
  }
}

function policyOf(value: unknown): TlsPolicy {
  const entry = fieldsOf(value) ?? {}
  const policy = fieldsOf(entry.policy) ?? {}
  const summary = fieldsOf(entry.summary) ?? {}
  const details = listOf(entry['failure-details'])
  if (details.length > MAX_FAILURES) throw reportError('rows', { max: MAX_FAILURES })
  const domain = textOf(policy['policy-domain'])
  return {
    domain: domain === null || domain === '' ? null : canonicalName(domain).slice(0, 253),
    type: (textOf(policy['policy-type']) ?? '').toLowerCase(),
    successful: sessionsOf(summary['total-successful-session-count']),
    failed: sessionsOf(summary['total-failure-session-count']),
    failures: details.map(failureOf),
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

/** Unix seconds of an RFC 3339 time (RFC 8460 §4.4). */
function timeOf(what: string, value: unknown): number {
  const text = typeof value === 'string' ? value.trim() : ''
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) throw reportError('missing', { what: `date-range with a ${what} (RFC 3339)` })
  return Math.floor(ms / 1_000)
}
