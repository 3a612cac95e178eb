/**
 * Work that input can make long (containers, MIME, message hashes, large XML and JSON, documents of thousands of rows).
 * It runs in a process of its own, within walls of processor time, memory and wall time. It computes only: it has no
 * DNS, no database and no files. `start/heavy-kinds.ts` lists all of it.
 */
export type HeavyKind<Input, Result> = {
  /** The name under which the worker finds the kind. */
  readonly name: string
  /** Processor time that a job may use, ms. Default: {@link cpuLimitMs}. */
  readonly cpuMs?: (octets: number) => number
  /** Does the work. `octets` are the job's own; input and result are plain data (structured clone). */
  readonly work: (octets: Uint8Array, input: Input, job: HeavyJob) => Result | Promise<Result>
}

/** What a job may do beside computing. */
export type HeavyJob = {
  /**
   * Hands rows on as octets, some 64 KiB each. The job must not change the array afterwards, and waits for the promise,
   * which resolves when there is room: little more than one batch is under way.
   */
  readonly emit: (batch: Uint8Array) => Promise<void>
}

export type HeavyAsk = {
  /** Who asks: the id of a key, `mail`, `check`. Callers take turns by the time that they have used. */
  readonly caller: string
  /** A job that waits leaves the queue; one that runs is ended. */
  readonly signal: AbortSignal
  readonly onBatch?: (octets: Uint8Array) => Promise<void>
  /** The input came from a stranger: what ended the lane is refused when it comes again, also after a restart. */
  readonly isMail?: boolean
}

/**
 * Runs one job. Rejects with the AppError of the reader, with {@link LaneError}, or with the reason of the signal.
 */
export type Heavy = <Input, Result>(
  kind: HeavyKind<Input, Result>,
  octets: Uint8Array,
  input: Input,
  ask: HeavyAsk,
) => Promise<Result>

/**
 * Why a job has no result. `time`, `memory`, `fault`: it exceeded a wall, or the worker ended; `remembered`: the same
 * input did so before; `full`: too many jobs wait.
 */
export type LaneReason = 'time' | 'memory' | 'fault' | 'remembered' | 'full'

export class LaneError extends Error {
  readonly reason: LaneReason
  constructor(reason: LaneReason, options?: ErrorOptions) {
    super(`the work was not done: ${reason}`, options)
    this.name = 'LaneError'
    this.reason = reason
  }
}

/** One second of processor time, and 0.2 s for each MiB of input. */
export const cpuLimitMs = (octets: number): number => 1_000 + (octets / 1_048_576) * 200
