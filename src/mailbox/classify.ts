import type { Reply, Stage } from '../net/smtp/reply.ts'
import type { Provider } from './providers.ts'
import type { Reason } from './reasons.ts'

/** One reply and where it came. `provider` is the one of the host that was talked to. */
export type Answered = { readonly stage: Stage; readonly reply: Reply; readonly provider?: Provider }

export type Verdict = {
  readonly reason: Reason
  /**
   * What the verdict rests on: the words of the reply, its codes alone, or the stage alone. Only `text` is explicit: a `mailbox_not_found` by text always
   * stands, whatever a made-up recipient got.
   */
  readonly by: 'text' | 'code' | 'stage'
  /** How long the server asks us to wait, in ms; only for temporary reasons and where the text says it (or greylisting: a default). */
  readonly retryAfterMs?: number
}
