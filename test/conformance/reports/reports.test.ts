import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/base/errors.ts'
import { parseIp } from '../../../src/names/ip.ts'
import { filesIn } from '../../../src/reports/parse/containers.ts'
import { readDmarc } from '../../../src/reports/parse/dmarc.ts'
import { jsonIn, tlsReportOf } from '../../../src/reports/parse/tls.ts'
import { corpus } from '../../lab/corpora.ts'

/** What is compared: the shape of `expect` in the corpus. */
type Read = { readonly reports: readonly object[]; readonly failureReports: number; readonly unread: readonly string[] }

async function read(data: string): Promise<Read> {
  const reports: object[] = []
  const unread: string[] = []
  let failureReports = 0
  const inputs = [{ octets: Buffer.from(data, 'base64') as Uint8Array, name: 'input', depth: 0 }]
  for (const { octets, ...place } of inputs)
    for await (const file of filesIn(octets, place)) {
      try {
        if (file.content === 'unread') unread.push(file.error.message)
        else if (file.content === 'failure') failureReports++
        else if (file.content === 'message') inputs.push(file)
        else if (file.content === 'xml') reports.push(await dmarcOf(file.octets))
        else if (file.content === 'json') reports.push(await tlsOf(file.octets))
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        unread.push(error.message)
      }
    }
  return { reports, failureReports, unread }
}

async function dmarcOf(octets: AsyncIterable<Uint8Array>) {
  const bySource: Record<string, number> = {}
  const dispositions: Record<string, number> = { none: 0, quarantine: 0, reject: 0 }
  let pass = 0
  const head = await readDmarc(octets, (row) => {
    bySource[row.address] = (bySource[row.address] ?? 0) + row.count
    dispositions[row.disposition] = (dispositions[row.disposition] ?? 0) + row.count
    if (row.dkimAligned || row.spfAligned) pass += row.count
  })
  return {
    org_name: head.organization,
    report_id: head.reportId,
    domain: head.domain,
    begin: head.begin,
    end: head.end,
    policy: head.policy,
    records: head.records,
    messages: head.messages,
    by_source: bySource,
    pass,
    dispositions,
  }
}

async function tlsOf(octets: AsyncIterable<Uint8Array>) {
  const { organization, reportId, begin, end, policies } = tlsReportOf((await jsonIn(octets))[0])
  return {
    organization,
    report_id: reportId,
    start: begin,
    end,
    policies: policies.map(({ domain, type, successful, failed, failures }) => ({
      domain,
      type,
      success: successful,
      failure: failed,
      failures: failures.map((one) => ({ type: one.type, count: one.sessions })),
    })),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is the corpus's own
type Case = any

const cases: readonly Case[] = ['dmarc', 'tls', 'other', 'traps'].flatMap(
  (file) => corpus(`reports/${file}.json`)?.cases ?? [],
)

/** `by_source` of the corpus after normalising, without sources that have no messages. */
const comparable = (report: Case): Case =>
  report.by_source === undefined
    ? report
    : {
        ...report,
        by_source: Object.fromEntries(
          Object.entries(report.by_source as Record<string, number>)
            .filter(([, count]) => count > 0)
            .map(([text, count]) => {
              const address = parseIp(text)
              return [address.ok ? address.value : text, count]
            }),
        ),
        dispositions: Object.fromEntries(
          Object.entries(report.dispositions).filter(
            ([name, n]) => n !== 0 || ['none', 'quarantine', 'reject'].includes(name),
          ),
        ),
      }

const wanted = (expected: Case): Case[] =>
  expected.error ? [] : (expected.reports ?? [expected]).map((one: Case) => comparable(one))

describe.runIf(cases.length > 0)('the public reports', () => {
  it.each(cases.map((one) => [one.id, one] as const))('%s', async (_, one) => {
    const { reports, failureReports, unread } = await read(one.data)
    if (one.kind === 'forensic' && !one.expect.error)
      return void expect({ failureReports, reports }).toEqual({ failureReports: 1, reports: [] })
    const readings = [one.expect, ...(one.or ? [one.or] : [])].map(wanted)
    const got = reports.map(comparable)
    if (
      readings.length > 1 &&
      readings.some((reading) => JSON.stringify(sorted(reading)) === JSON.stringify(sorted(got)))
    )
      return
    expect({ reports: got, unread: got.length === readings[0]?.length ? [] : unread }).toEqual({
      reports: readings[0],
      unread: [],
    })
  })
})

// biome-ignore lint/suspicious/noExplicitAny: any JSON
const sorted = (value: any): any =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([k, v]) => [k, sorted(v)]),
        )
      : value
