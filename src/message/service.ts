import type { World } from '../world.ts'
import { type Inbox, inbox, type Waiting } from './inbox.ts'
import type { VerifiedSelectors } from './selectors.ts'

/** The inbox, of this process or of another one of the service. */
export type AnyInbox = Omit<Inbox, 'create' | 'show'> & {
  readonly create: (...asked: Parameters<Inbox['create']>) => Waiting | Promise<Waiting>
  readonly show: (...asked: Parameters<Inbox['show']>) => Waiting | Promise<Waiting>
}

/** What the analysis of messages needs in addition to the message, and what it keeps. */
export type MessageService = {
  /** Maximum size of a message, octets. */
  readonly maxBytes: number
  readonly verified: VerifiedSelectors
  readonly inbox: AnyInbox
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
