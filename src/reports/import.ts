import { AppError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { dayOf } from '../base/time.ts'
import { type Domain, parseDomain } from '../names/domain.ts'
import type { NewReport, ReportIntake, ReportKind, Stored, TlsRow } from '../store/postgres/reports.ts'
import { type Bounds, filesIn, type Leaf } from './parse/containers.ts'
import { lineOf, readDmarc } from './parse/dmarc.ts'
import { readTls } from './parse/tls.ts'
import { importError, reportError } from './problems.ts'
import { type DmarcHead, summedRow, type TlsReport } from './report.ts'
import { type Envelope, type Reported, reporterOf } from './reporters.ts'

/**
 * The way in: what came by `mail` (LMTP, IMAP, a pipe) counts if its sender is proven to be one of the table of
 * reporters; what a person uploads or names as a `file` counts unless its sender is refuted.
 */
export type Way = 'file' | 'mail'
/** Whether reports about a domain are taken. */
export type Accepts = (domain: Domain) => 'taken' | 'forbidden' | 'unknown_domain'

type ImportedReport = {
  readonly id: string
  readonly kind: ReportKind
  readonly domain: string
  readonly organization: string
  readonly reportId: string
  readonly beginMs: number
  readonly endMs: number
  readonly messages: number
  readonly duplicate: boolean
  readonly foreignRows: number
  readonly authenticated: boolean | null
  /** False: kept apart. */
  readonly counts: boolean
}
type RefusedReport = {
  readonly name: string
  readonly code: 'bad_report' | 'payload_too_large' | 'too_old' | 'forbidden' | 'unknown_domain'
  readonly detail: string
  readonly problem: Problem
  readonly line?: number
  /** The domain of a report that was read. */
  readonly domain?: Domain
}
export type Imported = {
  readonly reports: readonly ImportedReport[]
  /** At most {@link MAX_REFUSED}. */
  readonly refused: readonly RefusedReport[]
  readonly failureReports: number
  /** Files that are no reports. */
  readonly others: number
}

/** Refused files that an answer names. */
const MAX_REFUSED = 1_000
const DAY_MS = 86_400_000
/** A report ends at most this long after now: clocks differ. */
const AHEAD_MS = 2 * DAY_MS
/** The longest time that a report is about. */
const LONGEST_MS = 366 * DAY_MS

type ImportSettings = {
  readonly intake: () => Promise<ReportIntake>
  /** Looks at the message that brought a report. */
  readonly envelopeOf: (message: Uint8Array, signal: AbortSignal) => Promise<Envelope>
  readonly newId: () => string
  readonly now: () => number
  readonly keepMs: number
  readonly bounds: Bounds
}
export type ImportRequest = {
  readonly name: string
  readonly way: Way
  readonly accepts: Accepts
  /** The key that brings it; undefined for mail. */
  readonly owner?: string
  readonly signal: AbortSignal
}

/**
 * Reads an input and stores each report in it: when this resolves, what it names is stored. Rejects with AppError
 * `upstream_unavailable` if another attempt can help (the database is away; by mail also a DNS that does not answer);
 * what was stored until then is a duplicate of the next attempt.
 */
export async function importReports(
  settings: ImportSettings,
  octets: AsyncIterable<Uint8Array>,
  request: ImportRequest,
): Promise<Imported> {
  const reports: ImportedReport[] = []
  const refused: RefusedReport[] = []
  const envelopes = new WeakMap<Uint8Array, Promise<Envelope>>()
  let failureReports = 0
  let others = 0
  const refuse = (name: string, error: AppError, domain?: Domain): void => {
    if (refused.length >= MAX_REFUSED) return
    const line = lineOf(error)
    refused.push({
      name,
      code: codeOf(error),
      detail: error.message,
      problem: error.problem,
      ...(line !== undefined && { line }),
      ...(domain && { domain }),
    })
  }
  const envelopeOf = (message: Uint8Array): Promise<Envelope> => {
    const known = envelopes.get(message) ?? settings.envelopeOf(message, request.signal)
    envelopes.set(message, known)
    return known
  }
  for await (const file of filesIn(atMostOctets(octets, settings.bounds.maxOctets), request.name, settings.bounds)) {
    request.signal.throwIfAborted()
    if ('error' in file) refuse(file.name, file.error)
    else if (file.content === 'failure') failureReports++
    else if (file.content === 'other') others++
    else {
      try {
        const one = await importFile(settings, file, request, envelopeOf)
        if ('report' in one) reports.push(one.report)
        else refuse(file.name, one.error, one.domain)
      } catch (error) {
        if (!(error instanceof AppError) || !isAboutTheFile(error)) throw error
        if (error.problem.id === 'reports.none') others++
        else refuse(file.name, error)
      }
    }
  }
  return { reports, refused, failureReports, others }
}

/** The octets, until there are more than `max`. */
async function* atMostOctets(octets: AsyncIterable<Uint8Array>, max: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of octets) {
    size += chunk.length
    if (size > max) throw reportError('too_large', { max })
    yield chunk
  }
}

const isAboutTheFile = ({ code }: AppError): boolean => code === 'bad_report' || code === 'payload_too_large'

type One = { readonly report: ImportedReport } | { readonly error: AppError; readonly domain: Domain }

async function importFile(
  settings: ImportSettings,
  file: Leaf,
  request: ImportRequest,
  envelopeOf: (message: Uint8Array) => Promise<Envelope>,
): Promise<One> {
  const intake = await settings.intake()
  let isDone = false
  try {
    const read = file.content === 'xml' ? await readXml(intake, file) : await readJson(file)
    const domain = domainOf(read.domain)
    const why = refusalOf(settings, read, domain, request.accepts)
    if (why) return { error: why, domain }
    const { name: reporter, isKnown, authenticated } = await reporterIn(read, file, request, envelopeOf)
    const counts = request.way === 'mail' ? authenticated === true && isKnown : authenticated !== false
    const report: NewReport = {
      ...{ id: settings.newId(), kind: read.kind, domain, reporter, isKnownReporter: isKnown && counts },
      ...{
        organization: read.organization ?? '',
        reportId: read.reportId,
        policy: read.policy,
        messages: read.messages,
      },
      ...{ beginMs: read.beginMs, endMs: read.endMs, day: dayOf((read.beginMs + read.endMs) / 2) },
      authenticated,
      counts,
      receivedMs: settings.now(),
      owner: request.owner,
    }
    const stored = await intake.commit(report, read.tls)
    isDone = true
    return { report: imported(report, stored) }
  } finally {
    if (!isDone) await intake.abort()
  }
}

const imported = (report: NewReport, { id, duplicate, messages, foreignRows }: Stored): ImportedReport => {
  const { kind, domain, organization, reportId, beginMs, endMs, authenticated, counts } = report
  return {
    ...{ id, kind, domain, organization, reportId, beginMs, endMs, messages, duplicate, foreignRows },
    ...{ authenticated, counts },
  }
}

/** A report of either kind, as far as both have the same. */
type Read = {
  readonly kind: ReportKind
  readonly domain: string | null
  /** Other domains that it is about. */
  readonly others: readonly string[]
  readonly organization: string | null
  readonly contact: string | null
  readonly reportId: string
  readonly beginMs: number
  readonly endMs: number
  readonly messages: number
  readonly policy: Readonly<Record<string, string>>
  readonly tls: readonly TlsRow[]
}

async function readXml(intake: ReportIntake, file: Leaf): Promise<Read> {
  const head = await readDmarc(
    file.octets,
    (row) => intake.add(summedRow(row)),
    () => intake.flush(),
  )
  return dmarcOf(head)
}

function dmarcOf(head: DmarcHead): Read {
  const { organization, email: contact, reportId, policy, messages } = head
  if (reportId === null || reportId === '') throw reportError('missing', { what: 'report_id' })
  const times = { beginMs: head.begin * 1_000, endMs: head.end * 1_000 }
  return {
    kind: 'dmarc',
    domain: head.domain,
    others: [],
    organization,
    contact,
    reportId,
    ...times,
    messages,
    policy,
    tls: [],
  }
}

async function readJson(file: Leaf): Promise<Read> {
  const report = await readTls(file.octets)
  const { organization, contact, policies } = report
  const domains = [...new Set(policies.flatMap(({ domain }) => domain ?? []))]
  const times = { beginMs: report.begin * 1_000, endMs: report.end * 1_000 }
  return {
    ...{
      kind: 'tls',
      domain: domains[0] ?? null,
      others: domains.slice(1),
      organization,
      contact,
      reportId: report.reportId ?? '',
    },
    ...{ ...times, messages: sessionsOf(report), policy: {}, tls: policies.flatMap(tlsRows) },
  }
}

const sessionsOf = ({ policies }: TlsReport): number =>
  policies.reduce((sum, { successful, failed }) => sum + (successful ?? 0) + (failed ?? 0), 0)

const tlsRows = ({ domain, type, successful, failed, failures }: TlsReport['policies'][number]): readonly TlsRow[] =>
  domain === null
    ? [] // a policy about nothing
    : [
        { domain, type, host: null, failure: null, successful, failed },
        ...failures.map((one) => ({
          domain,
          type,
          host: one.host,
          failure: one.type,
          successful: null,
          failed: one.sessions,
        })),
      ]

function domainOf(text: string | null): Domain {
  if (text === null) throw reportError('missing', { what: 'domain' })
  const domain = parseDomain(text)
  if (!domain.ok) throw reportError('domain', { text })
  return domain.value
}

/** Why a report that was read is not taken. Throws AppError `bad_report` for a time that is not possible. */
function refusalOf(
  { now, keepMs }: ImportSettings,
  read: Read,
  domain: Domain,
  accepts: Accepts,
): AppError | undefined {
  const { beginMs, endMs } = read
  if (beginMs > endMs || endMs > now() + AHEAD_MS || endMs - beginMs > LONGEST_MS)
    throw reportError('range', { begin: timeText(beginMs), end: timeText(endMs) })
  for (const one of [domain, ...read.others.map((text) => domainOf(text))]) {
    const answer = accepts(one)
    if (answer !== 'taken') return importError(answer, { domain: one })
  }
  const day = dayOf((beginMs + endMs) / 2)
  const oldest = dayOf(now() - keepMs)
  return day < oldest ? importError('too_old', { day, oldest }) : undefined
}

const timeText = (ms: number): string => (ms < 8e15 ? new Date(ms).toISOString() : String(ms / 1_000))

async function reporterIn(
  read: Read,
  { message }: Leaf,
  { way }: ImportRequest,
  envelopeOf: (message: Uint8Array) => Promise<Envelope>,
): Promise<Reported & { readonly authenticated: boolean | null }> {
  // a file says nothing about who sent it
  const judged = reporterOf(read, message === undefined ? undefined : await envelopeOf(message))
  if (judged.authenticated !== 'unanswered') return { ...judged, authenticated: judged.authenticated }
  if (way === 'mail') throw importError('unanswered')
  return { ...judged, authenticated: null }
}

const CODES: readonly RefusedReport['code'][] = ['payload_too_large', 'forbidden']
/** The code of a refused file: two of them are those of no error. */
const codeOf = ({ code, problem }: AppError): RefusedReport['code'] => {
  if (problem.id === 'report_import.too_old') return 'too_old'
  if (problem.id === 'report_import.unknown_domain') return 'unknown_domain'
  return CODES.find((one) => one === code) ?? 'bad_report'
}
