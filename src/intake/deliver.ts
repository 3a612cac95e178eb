import { messageOf } from '../base/errors.ts'
import { printable } from '../base/text.ts'
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
 */
export type Deliver = (message: Buffer, name: string, signal: AbortSignal) => Promise<Delivered>

type DeliverSettings = {
  readonly reports: () => Promise<Pick<ReportService, 'import' | 'countStranger'>>
  /** The domains whose reports are taken, as they are now. */
  readonly accepts: () => Promise<ImportRequest['accepts']>
  readonly log: Pick<Log, 'info' | 'warn'>
}

/**
 * A message counts only if its sender is proven; whatever else it is, its Message-ID and the reason are logged, and
 * nothing of it is kept.
 */
export const deliverer =
  ({ reports, accepts, log }: DeliverSettings): Deliver =>
  async (message, name, signal) => {
    const service = await reports()
    const imported = await service.import(message, { name, way: 'mail', accepts: await accepts(), signal })
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
  return printable(/^Message-ID:\s*(.{0,300})/im.exec(header)?.[1]?.trim() ?? '', 300)
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
