import { AppError, messageOf } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import { digestOf } from '../lane/digest.ts'
import type { ReportWay } from '../operations/deps.ts'
import type { Imported, ImportRequest } from '../reports/import.ts'
import type { ReportService } from '../reports/service.ts'
import type { Log } from '../world.ts'

/**
 * What became of a message: `report`: it held reports, which are stored, or were read and not taken; `unreadable`: it
 * held something that cannot be read as the report that it seems to be; `no_report`: other mail.
 */
type Delivered = 'report' | 'unreadable' | 'no_report'

/**
 * Takes the reports of a message in. Rejects only if another attempt can help: the message is not acknowledged then.
 * `isLastTry`: a DNS that does not answer is not waited for.
 */
export type Deliver = (
  message: Buffer,
  name: string,
  signal: AbortSignal,
  options?: { readonly isLastTry?: boolean },
) => Promise<Delivered>

/** How long a message waits for a DNS that does not answer, ms: from then it is taken and does not count. */
const WAITS_MS = 86_400_000

type DeliverSettings = {
  readonly reports: () => Promise<Pick<ReportService, 'import' | 'countStranger' | 'waitingSince'>>
  /** The domains whose reports are taken, as they are now. */
  readonly accepts: () => Promise<ImportRequest['accepts']>
  readonly now: () => number
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** Whether a message could not be stored only because the DNS does not answer who sent it. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof AppError && error.problem.id === 'report_import.unanswered'

/**
 * A message counts only if its sender is proven; whatever else it is, its Message-ID and the reason are logged, and
 * nothing of it is kept.
 */
export const deliverer =
  ({ reports, accepts, now, log }: DeliverSettings): Deliver =>
  async (message, name, signal, { isLastTry = false } = {}) => {
    const service = await reports()
    const request: ImportRequest = { name, way: 'mail', accepts: await accepts(), signal, isLastTry }
    const imported = await service.import(message, request).catch(async (error) => {
      if (!isUnanswered(error)) throw error
      const since = await service.waitingSince(await digestOf(message, true))
      if (now() - since.getTime() < WAITS_MS) throw error
      return service.import(message, { ...request, isLastTry: true })
    })
    for (const { code, domain } of imported.refused)
      if (code === 'unknown_domain' && domain !== undefined) await service.countStranger(domain)
    const delivered = judge(imported)
    const id = messageIdOf(message)
    const { failureReports, refused } = imported
    if (delivered === 'report') log.info('reports came in', { way: name, message_id: id, ...summaryOf(imported) })
    else
      log.warn(delivered === 'unreadable' ? 'a report could not be read' : 'a message is no report', {
        ...{
          way: name,
          message_id: id,
          reason: refused[0]?.detail ?? 'there is no report in it',
          failure_reports: failureReports,
        },
      })
    return delivered
  }

const summaryOf = ({ reports, refused, failureReports }: Imported) => ({
  reports: reports.length,
  duplicates: reports.filter(({ duplicate }) => duplicate).length,
  not_counted: reports.filter(({ counts }) => !counts).length,
  refused: refused.map(({ code, domain }) => (domain === undefined ? code : `${code} ${domain}`)).slice(0, 5),
  failure_reports: failureReports,
})

function judge({ reports, refused, failureReports }: Imported): Delivered {
  if (reports.length > 0 || failureReports > 0) return 'report'
  if (refused.some(({ code }) => code !== 'bad_report' && code !== 'payload_too_large')) return 'report'
  return refused.length > 0 ? 'unreadable' : 'no_report'
}

/** Octets of a header section in which the Message-ID is looked for. */
const HEADER_OCTETS = 65_536

function messageIdOf(message: Buffer): string {
  const text = message.subarray(0, HEADER_OCTETS).toString('latin1')
  const header = text.slice(0, Math.max(0, text.search(/\r?\n\r?\n/)))
  return printable(/^Message-ID:\s*(.{0,998})/im.exec(header)?.[1]?.trim() ?? '', 998) // RFC 5322 §2.1.1
}

/** What is known about one way in; changed in place. */
export type WayRecord = { -readonly [Key in keyof ReportWay]: ReportWay[Key] }

/** A way in that has received nothing yet. `place`: an address or a mailbox, without a password. */
export const newWay = (way: ReportWay['way'], place: string): WayRecord => ({
  ...{ way, place, taken: 0, unreadable: 0, others: 0, failed: 0, lastAtMs: null, problem: null },
})

/** Counts what a way brings, and notes why the last message could not be stored. */
export const countedBy =
  (record: WayRecord, deliver: Deliver, now: () => number): Deliver =>
  async (...message) => {
    try {
      const delivered = await deliver(...message)
      if (delivered === 'report') record.taken++
      else if (delivered === 'unreadable') record.unreadable++
      else record.others++
      record.problem = null
      record.lastAtMs = now()
      return delivered
    } catch (error) {
      record.failed++
      record.problem = messageOf(error)
      throw error
    }
  }
