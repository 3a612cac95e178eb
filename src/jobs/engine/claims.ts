import { eachAlone } from '../../base/alone.ts'
import { sleep } from '../../base/deadline.ts'
import type { Json, JsonRecord } from '../../base/json.ts'
import { isAway } from '../../store/postgres/connect.ts'
import { type ClaimedRow, type DuePair, type JobRows, LEASE_MS } from '../../store/postgres/job-rows.ts'
import type { Jobs } from '../../store/postgres/jobs.ts'
import type { JobKind } from '../../store/postgres/schema.ts'

/** A claimed row that a node asks. */
export type Claim = {
  readonly of: DuePair
  readonly row: ClaimedRow
  /** Fires when the row is no longer to be asked: its job is paused, canceled or removed, or the claim was lost. */
  readonly signal: AbortSignal
  /**
   * Resolves once the row may be asked: its claim is held, and its job was running a moment ago. Rejects with the
   * reason of the signal.
   */
  readonly begin: () => Promise<void>
}

/**
 * Interval at which the states of jobs are read, and how long a state counts, ms. A pause is answered after
 * {@link PAUSE_MS}, when no earlier state counts.
 */
const WATCH_MS = 250
const STATE_MS = 800
export const PAUSE_MS = 1_000
/** Age at which a claim is renewed, and at which nothing begins under it before it is, ms. */
const RENEW_MS = LEASE_MS * 0.3
const SURE_MS = LEASE_MS * 0.8
/** Interval at which a row that may not begin yet looks again, ms. */
const LOOK_MS = 25

/**
 * A moment by both clocks: the steady one stands still while a virtual machine is suspended, the other one may be set.
 */
type Moment = { readonly steadyMs: number; readonly wallMs: number }

type Held = { readonly claim: Claim; readonly ended: AbortController; renewed: Moment }
/** A job with claimed rows, and when its state was last seen to be running. */
type HeldJob = { readonly of: DuePair; readonly rows: Map<Claim, Held>; running: Moment }

type ClaimsSettings = {
  readonly jobs: Pick<Jobs, 'running'>
  readonly rows: Pick<JobRows, 'renew'>
  /** The wall clock. */
  readonly now: () => number
  /** Called with the faults of the database, and the job that alone has one. */
  readonly onFault: (error: unknown, job?: DuePair) => void
}

/** The claims of a node: they are renewed, and end with their job. */
export function claimsOf({ jobs, rows, now, onFault }: ClaimsSettings) {
  const moment = (): Moment => ({ steadyMs: performance.now(), wallMs: now() })
  /** Milliseconds since then, by the clock that shows more. */
  const age = ({ steadyMs, wallMs }: Moment): number => Math.max(performance.now() - steadyMs, now() - wallMs)
  const held = new Map<number, HeldJob>()
  const counts = new Map<string, number>()
  const beginning = new AbortController()
  let size = 0

  async function watch(): Promise<void> {
    if (held.size === 0) return // all rows have ended since
    const [sent, numbers] = [moment(), [...held.keys()]]
    const running = new Set(await jobs.running(numbers))
    for (const number of numbers) {
      const job = held.get(number)
      if (!job) continue
      if (running.has(number)) job.running = sent
      else
        for (const one of job.rows.values())
          one.ended.abort(new DOMException('the job is no longer running', 'AbortError'))
    }
  }
  async function renew(): Promise<void> {
    await eachAlone(1, [...held.values()], renewOf, (error, { of }) => {
      if (isAway(error)) throw error
      onFault(error, of)
    })
  }
  async function renewOf(job: HeldJob): Promise<void> {
    const old = [...job.rows.values()].filter((one) => age(one.renewed) >= RENEW_MS && !one.ended.signal.aborted)
    if (old.length === 0) return
    const sent = moment()
    const kept = new Set(
      await rows.renew(
        job.of,
        old.map(({ claim }) => claim.row),
      ),
    )
    for (const one of old) {
      if (kept.has(one.claim.row.line)) one.renewed = sent
      else
        one.ended.abort(
          new DOMException('the row was claimed by another node, or its job is no longer running', 'AbortError'),
        )
    }
  }
  /**
   * Returns a function that repeats a step while rows are claimed; each run begins some time after the one before has
   * ended.
   */
  const timers = new Set<NodeJS.Timeout>()
  function repeater(step: () => Promise<void>, everyMs: number): () => void {
    let isGoing = false
    function go(): void {
      isGoing = size > 0 && !isStopped
      if (!isGoing) return
      const timer = setTimeout(() => {
        timers.delete(timer)
        step().catch(onFault).finally(go)
      }, everyMs).unref()
      timers.add(timer)
    }
    return () => {
      if (!isGoing) go()
    }
  }
  let isStopped = false
  const [watching, renewing] = [repeater(watch, WATCH_MS), repeater(renew, WATCH_MS * 2)]

  async function begin(job: HeldJob, one: Held): Promise<void> {
    for (;;) {
      one.ended.signal.throwIfAborted()
      beginning.signal.throwIfAborted()
      if (age(one.renewed) < SURE_MS && age(job.running) < STATE_MS) return
      await sleep(LOOK_MS, one.ended.signal)
    }
  }
  return {
    moment,
    /** Takes over rows that were claimed by a statement sent at `sent`. */
    open: (of: DuePair, claimed: readonly ClaimedRow[], sent: Moment): readonly Claim[] => {
      const job: HeldJob = held.get(of.number) ?? { of, rows: new Map(), running: sent }
      held.set(of.number, job)
      // The statement that claimed has seen the job running.
      if (sent.steadyMs > job.running.steadyMs) job.running = sent
      counts.set(of.provider, (counts.get(of.provider) ?? 0) + claimed.length)
      size += claimed.length
      watching()
      renewing()
      return claimed.map((row) => {
        const ended = new AbortController()
        const claim: Claim = { of, row, signal: ended.signal, begin: () => begin(job, one) }
        const one: Held = { claim, ended, renewed: sent }
        job.rows.set(claim, one)
        return claim
      })
    },
    /** Ends the claim; nothing may be asked under it any more. */
    close: (claim: Claim): void => {
      const job = held.get(claim.of.number)
      if (!job?.rows.delete(claim)) return
      size--
      const left = (counts.get(claim.of.provider) ?? 1) - 1
      if (left > 0) counts.set(claim.of.provider, left)
      else counts.delete(claim.of.provider)
      if (job.rows.size === 0) held.delete(claim.of.number)
    },
    count: (provider: string) => counts.get(provider) ?? 0,
    size: () => size,
    /** Keeps all rows that have not begun from beginning. */
    stopBeginning: (reason: unknown) => beginning.abort(reason),
    /** Ends all claims. */
    abort: (reason: unknown): void => {
      for (const job of held.values()) for (const { ended } of job.rows.values()) ended.abort(reason)
    },
    stop: (): void => {
      isStopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

/** The result of one row: the words by which jobs are counted, and the answer of the operation. */
export type Asked = {
  /** `result` of verify, `status` of check, `verdict` of blacklist. */
  readonly result: string
  /** The reason if the kind has one, else ''. */
  readonly reason: string
  readonly answer: JsonRecord
  /** When to try again, according to the answer. */
  readonly retryAfterMs?: number
}

/**
 * Runs the operation of the job's kind for one row. `begin` is awaited before a mail host is contacted: it rejects once
 * the row is no longer to be asked. Rejects with AppError, with the signal's reason, or for a bug.
 */
export type Ask = (
  kind: JobKind,
  input: string,
  options: { readonly [key: string]: Json },
  signal: AbortSignal,
  begin?: () => Promise<void>,
) => Promise<Asked>

/** The limits toward a provider across all nodes. */
export type RowProvider = {
  readonly id: string
  /** Rows that may be asked at a time. */
  readonly concurrent: number
  readonly perMinute: number
}

/** Finds the provider of a domain; if it cannot be determined, the domain is its own provider. */
export type FindProvider = (kind: JobKind, domain: string, signal: AbortSignal) => Promise<RowProvider>
