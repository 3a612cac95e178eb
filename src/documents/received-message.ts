import type { ReceivedMessageAnswer } from '../answers/message.ts'
import { type Conclusion, type Document, text } from './block.ts'
import { footerOf } from './footer.ts'
import { messageDocument } from './message.ts'

const STATES: Readonly<Record<ReceivedMessageAnswer['state'], Pick<Conclusion, 'mark' | 'badge' | 'words'>>> = {
  waiting: { mark: 'busy', badge: 'waiting', words: 'Send one message to the address below. None has come in yet.' },
  received: { mark: 'busy', badge: 'received', words: 'The message came in and is being analysed.' },
  expired: { mark: 'none', badge: 'expired', words: 'The address has expired. It takes no message any more.' },
}

/** What came to a one-time address: the analysis, or what is waited for. */
export function receivedMessageDocument(answer: ReceivedMessageAnswer, version: string): Document {
  const { state, address, expires_at, answer: analysis } = answer
  if (analysis) return messageDocument(analysis, version)
  const until = state === 'expired' ? [] : [text('It is valid until ', { time: expires_at }, '.')]
  return {
    title: 'Message to a one-time address',
    blocks: [
      { kind: 'conclusion', conclusion: { subject: 'One-time address', ...STATES[state], notes: [] } },
      { kind: 'seen', label: 'Address', text: address },
      ...until,
      ...(state === 'waiting' ? [text('The message is not stored, and no bounce is ever sent.')] : []),
    ],
    footer: footerOf(version),
  }
}
