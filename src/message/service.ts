import type { World } from '../world.ts'
import { type Inbox, inbox } from './inbox.ts'
import type { VerifiedSelectors } from './selectors.ts'

/** What the analysis of messages needs in addition to the message, and what it keeps. */
export type MessageService = {
  /** Maximum size of a message, octets. */
  readonly maxBytes: number
  readonly verified: VerifiedSelectors
  readonly inbox: Inbox
}

/** Creates the service of a process. */
export const messageService = ({
  maxBytes,
  verified,
  ...clocks
}: Pick<MessageService, 'maxBytes' | 'verified'> & Pick<World, 'now' | 'monotonic'>): MessageService => ({
  maxBytes,
  verified,
  inbox: inbox(clocks),
})
