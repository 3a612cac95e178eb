import { type VerifiedSelectors, verifiedSelectors } from './selectors.ts'

/** What the analysis of messages needs in addition to the message, and what it keeps. */
export type MessageService = {
  /** Maximum size of a message, octets. */
  readonly maxBytes: number
  readonly verified: VerifiedSelectors
}

/** Creates the service of a process. */
export const messageService = ({ maxBytes }: Pick<MessageService, 'maxBytes'>): MessageService => ({
  maxBytes,
  verified: verifiedSelectors(),
})
