import { AppError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { dayOf } from '../base/time.ts'
import { placeOf } from '../lane/crossing.ts'
import type { Heavy, HeavyAsk } from '../lane/heavy.ts'
import { isForGood, readingError } from '../lane/problems.ts'
import { canonicalName, type Domain, parseDomain } from '../names/domain.ts'
import type { ReportKind } from '../store/postgres/report-rows.ts'
import type { NewReport, ReportIntake, Stored } from '../store/postgres/reports.ts'
import { type Bounds, itemError, nothingSpent, type Spent } from './parse/containers.ts'
import { lineOf } from './parse/dmarc.ts'
import { eventOf, type ReportHead, readFiles, readMail } from './parse/reading.ts'
import { importError, reportError } from './problems.ts'
import { type Envelope, mayBeKnown, type Reported, reporterOf } from './reporters.ts'

/**
 * The way in: what came by `mail` (LMTP, IMAP, a pipe) counts if its sender is proven to be one of the table of
 * reporters; what a person uploads or names as a `file` counts unless its sender is refuted.
 */
export type Way = 'file' | 'mail'
/** Whether reports about a domain are taken. */
export type Accepts = (domain: Domain) => 'taken' | 'forbidden' | 'unknown_domain'

/** With `counts: false` it is kept apart. */
type ImportedReport = Stored &
  Pick<NewReport, 'kind' | 'domain' | 'organization' | 'reportId' | 'beginMs' | 'endMs' | 'authenticated'>
type RefusedReport = {
  readonly name: string
  readonly code: 'bad_report' | 'payload_too_large' | 'too_old' | 'forbidden' | 'unknown_domain'
  readonly detail: string
  readonly problem: Problem
  readonly line?: number
  readonly domain?: Domain
}
export type Imported = {
  readonly reports: readonly ImportedReport[]
  /** At most {@link MAX_REFUSED}. */
  readonly refused: readonly RefusedReport[]
  readonly failureReports: number
  readonly others: number
  /** What the first of them is. */
  readonly otherIs?: Problem
}

/** Refused files that an answer names. */
const MAX_REFUSED = 1_000
const DAY_MS = 86_400_000
/** A report ends at most this long after now: clocks differ. */
const AHEAD_MS = 2 * DAY_MS
/** The longest time that a report is about. */
const LONGEST_MS = 366 * DAY_MS

/** Reports that one message may bring although they do not count. */
const MAX_APART = 20

type ImportSettings = {
  readonly heavy: Heavy
  /** `isStranger`: what is taken in does not count. */
  readonly intake: (kind: ReportKind, isStranger: boolean) => Promise<ReportIntake>
  /** Rejects with AppError `storage_full` if no more may be stored that came by mail. */
  readonly admitMail: (isKnown: boolean) => Promise<void>
  /** Looks at the message that brought a report. */
  readonly envelopeOf: (message: Uint8Array, ask: HeavyAsk) => Promise<Envelope>
  readonly newId: () => string
  /** Hears of a fault of ours, by its name and place: it ends the report in which it is, and no other. */
  readonly onFault: (how: string) => void
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
  /** By mail: a DNS that does not answer is not waited for any more; the report does not count. */
  readonly isLastTry?: boolean
}

/** Octets of rows of a message that wait for the answer who sent it. A message with more is read a second time. */
const WAITING = 2 * 1_048_576

/**
 * Reads an input and stores each report in it: when this resolves, what it names is stored. Rejects with AppError
 * `upstream_unavailable` or `overloaded` if another attempt can help (the database is away, the lane is full; by mail
 * also a DNS that does not answer); what was stored until then is a duplicate of the next attempt.
 */
export async function importReports(
  settings: ImportSettings,
  octets: Uint8Array,
  request: ImportRequest,
): Promise<Imported> {
  if (octets.length > settings.bounds.maxOctets) throw reportError('too_large', { max: settings.bounds.maxOctets })
  const found = new Found()
  const importing = new Importing({ settings, request, found })
  const inputs: Input[] = [{ name: request.name, depth: 0, octets }]
  try {
    for (let input = inputs.shift(); input; input = inputs.shift()) inputs.unshift(...(await importing.read(input)))
  } finally {
    await importing.close()
  }
  return found.imported
}

/** An input of its own: what was handed in, or a message of an mbox file in it. */
type Input = { readonly name: string; readonly depth: number; readonly octets: Uint8Array }
type Batch = ReturnType<typeof eventOf>
type Import = { readonly settings: ImportSettings; readonly request: ImportRequest; readonly found: Found }

class Importing {
  readonly #of: Import
  readonly #reader: LaneReader
  #apart = 0
  #intake: ReportIntake | undefined

  constructor(of: Import) {
    this.#of = of
    this.#reader = new LaneReader(of)
  }

  /** Reads an input. Returns the messages in it. */
  async read(input: Input): Promise<readonly Input[]> {
    const messages: Input[] = []
    const waiting: Batch[] = []
    const { found, request } = this.#of
    const { spent } = this.#reader
    const before = found.told
    const otherBefore = found.otherIs
    found.otherIs = undefined
    let isCut = false
    try {
      isCut = await this.#reader.read(input, spent, WAITING, async (batch) => {
        const { event, octets } = batch
        if (event.what === 'message') messages.push({ name: event.name, depth: event.depth, octets })
        else if (event.isInMessage) waiting.push(batch)
        else await this.#take(batch)
      })
    } catch (error) {
      this.#reader.refuse(input.name, error)
    }
    const isAsked = isCut || waiting.some(({ event }) => event.what === 'complete')
    const envelope = isAsked ? await this.#reader.envelopeOf(input) : undefined
    if (!isCut) for (const batch of waiting) await this.#take(batch, envelope)
    else if (envelope) {
      try {
        await this.#reader.read(input, spent, undefined, (batch) => this.#take(batch, envelope))
      } catch (error) {
        this.#reader.refuse(input.name, error)
      }
    }
    await this.close()
    // A message of an mbox that is no report can be found again; of a single one the caller tells it.
    const isNothing = input.depth > 0 && messages.length === 0 && found.told === before
    if (isNothing && request.way === 'file')
      found.refuse(input.name, found.otherIs ? new AppError('bad_report', found.otherIs) : reportError('none'))
    found.otherIs = otherBefore ?? found.otherIs
    return messages
  }

  /** Leaves no rows of a report behind that was not read to its end. */
  async close(): Promise<void> {
    const intake = this.#intake
    this.#intake = undefined
    await intake?.abort()
  }

  async #take({ event, octets }: Batch, envelope?: Envelope): Promise<void> {
    const { name } = event
    if (event.what === 'failure') this.#of.found.failureReports++
    else if (event.what === 'other') {
      this.#of.found.others++
      this.#of.found.otherIs ??= event.why
    } else if (event.what === 'unread') {
      if (event.how !== undefined) this.#of.settings.onFault(event.how)
      this.#of.found.refuse(name, new AppError(event.code, event.problem))
    }
    if (event.what === 'rows' || event.what === 'complete') {
      if (event.isInMessage && !envelope) return // the message ended the lane, and is refused
      const isStranger = this.#of.request.way === 'mail' && !(envelope && mayBeKnown(envelope))
      this.#intake ??= await this.#of.settings.intake(event.kind, isStranger)
      if (octets.length > 0) await this.#intake.add(octets)
      if (event.what === 'rows') return
      await this.#store(this.#intake, name, event.head, envelope)
    }
    await this.close()
  }

  /** Stores the report whose rows were taken in, or refuses it. */
  async #store(intake: ReportIntake, name: string, head: ReportHead, envelope: Envelope | undefined): Promise<void> {
    const report = judged(this.#of, name, head, envelope)
    if (!report) return
    try {
      if (this.#of.request.way === 'mail') await this.#admit(report.counts)
      const stored = await intake.commit(report)
      this.#intake = undefined
      this.#of.found.reports.push(imported(report, stored))
    } catch (error) {
      if (!(error instanceof AppError) || !isAboutTheFile(error)) throw error
      this.#of.found.refuse(name, error)
    }
  }

  /** Throws for a report by mail that is not stored: one that counts comes again when there is room. */
  async #admit(counts: boolean): Promise<void> {
    if (counts) return this.#of.settings.admitMail(true)
    if (++this.#apart > MAX_APART) throw importError('too_many_apart', { max: MAX_APART })
    try {
      await this.#of.settings.admitMail(false)
    } catch (error) {
      if (error instanceof AppError && error.code === 'storage_full') throw importError('no_room')
      throw error
    }
  }
}

/** What an input brought. */
class Found {
  readonly reports: ImportedReport[] = []
  readonly #refused: RefusedReport[] = []
  failureReports = 0
  others = 0
  otherIs: Problem | undefined

  /** Number of items of which the answer tells. */
  get told(): number {
    return this.reports.length + this.#refused.length + this.failureReports
  }

  get imported(): Imported {
    return {
      reports: this.reports,
      refused: this.#refused,
      failureReports: this.failureReports,
      others: this.others,
      ...(this.otherIs && { otherIs: this.otherIs }),
    }
  }

  refuse(name: string, error: AppError, domain?: Domain): undefined {
    if (this.#refused.length >= MAX_REFUSED) return
    const line = lineOf(error)
    this.#refused.push({
      name,
      code: codeOf(error),
      detail: error.message,
      problem: error.problem,
      ...(line !== undefined && { line }),
      ...(domain && { domain }),
    })
  }
}

/** Reads inputs in the lane, all of an import within one budget. */
class LaneReader {
  readonly #of: Import
  spent = nothingSpent()

  constructor(of: Import) {
    this.#of = of
  }

  /** Returns whether reading ended at so many octets of rows. */
  async read(
    { name, depth, octets }: Input,
    spent: Spent,
    maxRowOctets: number | undefined,
    take: (batch: Batch) => Promise<void>,
  ): Promise<boolean> {
    const { heavy, bounds } = this.#of.settings
    const input = { name, depth, bounds, spent, ...(maxRowOctets !== undefined && { maxRowOctets }) }
    let failure: { readonly error: unknown } | undefined
    try {
      const result = await heavy(this.#of.request.way === 'mail' ? readMail : readFiles, octets, input, {
        ...this.#ask(),
        onBatch: async (batch) => {
          try {
            await take(eventOf(batch))
          } catch (error) {
            failure ??= { error }
            throw error
          }
        },
      })
      this.spent = result.spent
      return result.isCut
    } catch (error) {
      throw failure === undefined ? error : failure.error // ours, not what the lane makes of it
    }
  }

  /** Refuses an input that ended the lane. Throws what another attempt can help against. */
  refuse(name: string, error: unknown): void {
    const told = readingError(error, 'bad_report')
    if (!isForGood(error) || !(told instanceof AppError)) throw told
    this.#of.found.refuse(name, told)
  }

  /** Undefined: the message ended the lane, and is refused. */
  async envelopeOf({ name, octets }: Input): Promise<Envelope | undefined> {
    try {
      return await this.#of.settings.envelopeOf(octets, this.#ask())
    } catch (error) {
      this.refuse(name, error)
      return undefined
    }
  }

  #ask(): HeavyAsk {
    const { way, owner = way, signal } = this.#of.request
    return { caller: owner, signal, isMail: way === 'mail' }
  }
}

/** The report as it is stored. Undefined: it is refused, also where judging it has a fault of ours. */
function judged(
  { settings, request, found }: Import,
  name: string,
  head: ReportHead,
  envelope: Envelope | undefined,
): NewReport | undefined {
  const { way, owner, accepts } = request
  try {
    const claimed = head.kind === 'tls' && head.domain === null ? tlsDomainIn(name, envelope, request) : head.domain
    const domain = domainOf(claimed, head.kind)
    const why = refusalOf(settings, head, domain, accepts)
    if (why) return found.refuse(name, why, domain)
    const { name: reporter, isKnown, authenticated } = reporterIn(head, request, envelope)
    const counts = way === 'mail' ? authenticated === true && isKnown : authenticated !== false
    const { kind, reportId, policy, messages, beginMs, endMs, digest } = head
    return {
      ...{ id: settings.newId(), kind, domain, reporter, isKnownReporter: isKnown && counts },
      ...{ organization: head.organization ?? '', reportId, policy, messages, digest },
      ...{ beginMs, endMs, day: dayOf((beginMs + endMs) / 2) },
      ...{ authenticated, counts, receivedMs: settings.now(), owner },
    }
  } catch (error) {
    const told = itemError(error)
    if (!isAboutTheFile(told)) throw told
    if (told !== error) settings.onFault(placeOf(error))
    return found.refuse(name, told)
  }
}

const isAboutTheFile = ({ code }: AppError): boolean => code === 'bad_report' || code === 'payload_too_large'

const imported = (report: NewReport, stored: Stored): ImportedReport => {
  const { kind, domain, organization, reportId, beginMs, endMs, authenticated } = report
  return { ...{ kind, domain, organization, reportId, beginMs, endMs, authenticated }, ...stored }
}

/**
 * The domain of a TLS report that leaves out its `policy-domain`: that of its file's name (RFC 8460 §5.1), of
 * TLS-Report-Domain and of the subject (§5.3), as far as a signature of the sender covers them. All must agree.
 */
function tlsDomainIn(
  name: string,
  envelope: Envelope | undefined,
  { way, isLastTry = false }: ImportRequest,
): string | null {
  const { signatures = [], domains = {} } = envelope ?? {}
  const whole = signatures.filter(({ signsFrom, isPartial }) => signsFrom && !isPartial)
  const passed = whole.filter(({ result }) => result === 'pass')
  if (passed.length === 0) {
    if (way === 'mail' && !isLastTry && whole.some(({ result }) => result === 'unanswered'))
      throw importError('unanswered')
    return null
  }
  const ofName = /^[^!]+!([^!]{1,253})!\d+!\d+/.exec(name)?.[1]
  const signed = Object.entries(domains).filter(([field]) => passed.some(({ signs }) => signs?.includes(field)))
  const [one, other] = new Set([
    ...(ofName === undefined ? [] : [canonicalName(ofName)]),
    ...signed.map(([, domain]) => domain),
  ])
  if (one !== undefined && other !== undefined) throw reportError('policy_domains', { one, other })
  return one ?? null
}

function domainOf(text: string | null, kind: ReportKind): Domain {
  if (text === null) throw reportError('missing', { what: kind === 'tls' ? 'policy-domain' : 'domain' })
  const domain = parseDomain(text)
  if (!domain.ok) throw reportError('domain', { text })
  return domain.value
}

/** Why a report that was read is not taken. Throws AppError `bad_report` for a time that is not possible. */
function refusalOf(
  { now, keepMs }: ImportSettings,
  read: ReportHead,
  domain: Domain,
  accepts: Accepts,
): AppError | undefined {
  const { beginMs, endMs } = read
  if (beginMs > endMs || endMs > now() + AHEAD_MS || endMs - beginMs > LONGEST_MS)
    throw reportError('range', { begin: timeText(beginMs), end: timeText(endMs) })
  for (const one of [domain, ...read.others.map((text) => domainOf(text, read.kind))]) {
    const answer = accepts(one)
    if (answer !== 'taken') return importError(answer, { domain: one })
  }
  const day = dayOf((beginMs + endMs) / 2)
  const oldest = dayOf(now() - keepMs)
  return day < oldest ? importError('too_old', { day, oldest }) : undefined
}

const timeText = (ms: number): string => (ms < 8e15 ? new Date(ms).toISOString() : String(ms / 1_000))

/** Undefined envelope: a file, which says nothing about who sent it. */
function reporterIn(
  head: ReportHead,
  { way, isLastTry = false }: ImportRequest,
  envelope: Envelope | undefined,
): Reported & { readonly authenticated: boolean | null } {
  const judged = reporterOf(head, envelope)
  if (judged.authenticated !== 'unanswered') return { ...judged, authenticated: judged.authenticated }
  if (way === 'mail' && !isLastTry) throw importError('unanswered')
  return { ...judged, authenticated: null }
}

const CODES: readonly RefusedReport['code'][] = ['payload_too_large', 'forbidden']
/** The code of a refused file: two of them are those of no error. */
const codeOf = ({ code, problem }: AppError): RefusedReport['code'] => {
  if (problem.id === 'report_import.too_old') return 'too_old'
  if (problem.id === 'report_import.unknown_domain') return 'unknown_domain'
  return CODES.find((one) => one === code) ?? 'bad_report'
}
