import type { ReportWay } from '../operations/deps.ts'
import type { Deliver } from './deliver.ts'

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
      record.problem = (error as Error).message
      throw error
    }
  }
