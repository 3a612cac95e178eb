import type { CountingHost } from './counting-host.ts'

/** The questions in progress on nodes when they failed, by which repeated questions are judged. */
export type Ledger = {
  /** Records the questions of these sources without a result; the sources were killed, stopped or disconnected. */
  readonly broken: (sources: readonly string[]) => Promise<void>
  /**
   * A source continues after it was stopped or disconnected. Sessions that it had begun then send their RCPT, often
   * after another node has processed the row.
   */
  readonly resumed: (source: string) => void
  /** Judges the questions about these mailboxes. */
  readonly judge: (mailboxes: readonly string[]) => Repeats
}
export type Repeats = {
  /**
   * Mailboxes with more questions than one, plus one for each time that a question was in progress when a node failed.
   */
  readonly tooOften: readonly string[]
  /** Questions beyond the first of each mailbox. */
  readonly again: number
  /** Rows that were under way when nodes broke, all times together. */
  readonly underWay: number
  /** Mailboxes that were never asked about. */
  readonly never: number
}

/** `done` gives the mailboxes that have their result. */
export function ledgerOf(host: CountingHost, done: () => Promise<ReadonlySet<string>>): Ledger {
  const underWay = new Map<string, number>()
  const goOn = new Set<string>()
  const askedSince = new Set<string>()
  function take(source: string): ReadonlySet<string> {
    const asked = host.takeAskedBy(source)
    if (goOn.has(source)) for (const mailbox of asked) askedSince.add(mailbox)
    return asked
  }
  return {
    broken: async (sources) => {
      await new Promise((resolve) => setTimeout(resolve, 300)) // what was sent before has arrived
      const have = await done()
      for (const source of sources)
        for (const mailbox of take(source))
          if (!have.has(mailbox)) underWay.set(mailbox, (underWay.get(mailbox) ?? 0) + 1)
    },
    resumed: (source) => void goOn.add(source),
    judge: (mailboxes) => {
      for (const source of goOn) take(source)
      const times = (mailbox: string): number => host.asked.get(mailbox) ?? 0
      const mayBe = (mailbox: string): number => (underWay.get(mailbox) ?? 0) + (askedSince.has(mailbox) ? 1 : 0)
      return {
        tooOften: mailboxes.filter((mailbox) => times(mailbox) - 1 > mayBe(mailbox)),
        again: mailboxes.reduce((sum, mailbox) => sum + Math.max(0, times(mailbox) - 1), 0),
        underWay: mailboxes.reduce((sum, mailbox) => sum + (underWay.get(mailbox) ?? 0), 0),
        never: mailboxes.filter((mailbox) => times(mailbox) === 0).length,
      }
    },
  }
}
