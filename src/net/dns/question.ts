import type { Answer, DnsError, DnsReason, ExtendedError, RecordType, ServerAnswer } from './resolver.ts'
import type { Round, Upstream } from './upstream.ts'
import type { Wait, WireEvent } from './wait.ts'

/** Events for counters. `question`: a query ended; the others are about single packets. */
export type DnsEvent =
  | {
      readonly event: 'question'
      readonly type: RecordType
      readonly outcome: Answer['kind'] | DnsReason
      /** The server that was queried last, `address:port`. */
      readonly server: string
      readonly durationMs: number
    }
  | { readonly event: WireEvent | 'retry'; readonly server: string }

export type EngineOptions = {
  readonly recursion: boolean
  readonly trustAd: boolean
  /** A number from 0 to 1, for the jitter of retries. */
  readonly random: () => number
  /** Milliseconds of a clock that does not step. */
  readonly now: () => number
  /** The limit for one server in the first round; doubled in later rounds. */
  readonly tryMs: number
  /** Number of attempts for a query without an answer; every server is queried once in any case. */
  readonly tries: number
  /** The bound on a query with all attempts and its CNAME chain, independent of its signal. */
  readonly totalMs: number
  readonly onEvent: ((event: DnsEvent) => void) | undefined
}

/** A query from its first packet to its result. */
export type Question = Wait &
  Round & {
    readonly name: string
    readonly type: RecordType
    readonly checkingDisabled: boolean
    readonly signal: AbortSignal
    readonly upstreams: readonly Upstream<Question>[]
    readonly startedAtMs: number
    readonly resolve: (answer: ServerAnswer) => void
    readonly reject: (error: DnsError) => void
    /** Maximum number of attempts. */
    readonly most: number
    edns: boolean
    tries: number
    place: number
    chain: readonly string[]
    ttlSeconds: number
    secure: boolean
    ede: readonly ExtendedError[]
    failure: DnsError | undefined
  }

const NO_BYTES = Buffer.alloc(0)
/** Above every TTL (RFC 2181 §8). */
const NO_TTL_YET = 0x7fffffff
const NONE: readonly never[] = []

/** A query that was not sent yet. */
export const begun = (
  given: Pick<Question, 'name' | 'type' | 'checkingDisabled' | 'overTcp' | 'signal' | 'upstreams' | 'startedAtMs'> &
    Pick<Question, 'resolve' | 'reject' | 'secure' | 'most'>,
): Question => ({
  name: given.name,
  type: given.type,
  checkingDisabled: given.checkingDisabled,
  overTcp: given.overTcp,
  signal: given.signal,
  upstreams: given.upstreams,
  startedAtMs: given.startedAtMs,
  resolve: given.resolve,
  reject: given.reject,
  secure: given.secure,
  most: given.most,
  bytes: NO_BYTES,
  start: 0,
  questionEnd: 0,
  end: 0,
  wireName: given.name,
  expiresAtMs: 0,
  holder: undefined,
  id: 0,
  tried: 0,
  out: 0,
  edns: true,
  tries: 0,
  place: 0,
  chain: NONE,
  ttlSeconds: NO_TTL_YET,
  ede: NONE,
  failure: undefined,
})
