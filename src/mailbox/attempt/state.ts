import type { VerifyAnswer } from '../../answers/verify.ts'
import type { Parsed } from '../../base/parsed.ts'
import type { ShareWork, Work } from '../../base/share-work.ts'
import type { Email } from '../../names/email.ts'
import type { NodeName } from '../../names/source.ts'
import type { Ctx } from '../../world.ts'
import type { Identity } from '../source/helo.ts'
import type { HostLimits } from '../source/host-limits.ts'
import type { Port25Monitor } from '../source/port25.ts'
import type { Source, Sources } from '../source/sources.ts'
import type { CatchAllCache, ProbeAnswer } from './catch-all.ts'
import type { Destination } from './destinations.ts'
import type { DialogueResult } from './dialogue.ts'
import type { SessionPool } from './session-pool.ts'

/**
 * Makes another node verify. The answer is about the question, and its result matches its reason. A problem says why
 * there is none.
 */
export type AskNode = (
  ctx: Ctx,
  question: { readonly node: NodeName; readonly email: string; readonly timeoutMs: number },
) => Promise<Parsed<VerifyAnswer>>

/** The state that all verifications of one verifier share. */
export type VerifierState = {
  readonly identity: Identity
  readonly sources: Sources
  readonly limits: HostLimits
  readonly catchAll: CatchAllCache
  /** Made-up mailboxes that are asked about in separate sessions. */
  readonly probes: ShareWork<ProbeAnswer, Work<ProbeAnswer>>
  readonly port25: Port25Monitor
  readonly sessions: SessionPool
  readonly askNode: AskNode
}

/** The parameters of one verification at the mail hosts. */
export type MailboxQuery = {
  readonly email: Email
  readonly port: number
  /** Source addresses to use, in this order; undefined is the system's choice. */
  readonly sources: readonly Source[]
  /** The deadline; later callers of shared work may extend it. */
  readonly deadlineMs: () => number
  /**
   * Sources that are used whatever their circuit breaker says: those that the caller named, and the system's choice.
   */
  readonly forced: readonly Source[]
  /** Keep sessions open for a short time, for the next address of a list. */
  readonly reuse: boolean
}

/** The attempts of a verification from one source address. */
export type SourcePass = {
  readonly ctx: Ctx
  readonly state: VerifierState
  readonly query: MailboxQuery
  readonly source: Source
  readonly destinations: readonly Destination[]
  /** The results so far; the pass appends to it. */
  readonly results: DialogueResult[]
  readonly isLastSource: boolean
}
