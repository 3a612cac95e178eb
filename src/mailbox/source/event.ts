import { anotherSourceMayHelp, type Reason, reasonRow } from '../reasons.ts'
import type { SourceEvent } from './circuit-breaker.ts'

/** What an answer shows about its source. `text`: the text of the reply. */
export function sourceEvent(
  { reason, text, latencyMs }: { readonly reason: Reason; readonly text: string; readonly latencyMs: number },
  heloFollowsSource: boolean,
): SourceEvent {
  switch (reasonRow(reason).sourceHealth) {
    case 'good':
      return { kind: 'answered', latencyMs }
    case 'throttled':
      return { kind: 'throttled', reason, text }
    case 'refused':
      return anotherSourceMayHelp(reason, heloFollowsSource)
        ? { kind: 'refused', reason, text }
        : { kind: 'unanswered' }
    case 'none':
      return { kind: 'unanswered' }
  }
}
