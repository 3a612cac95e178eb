import { deadlineOf, raced } from '../../base/deadline.ts'
import { AppError, messageOf } from '../../base/errors.ts'
import type { JobKind } from '../../store/postgres/schema.ts'
import type { Ask, Asked } from './claims.ts'

/** Time limit of a question, ms: each kind ends earlier by itself. */
const ROW_MS = 180_000

type Question = {
  readonly kind: JobKind
  readonly input: string
  readonly options: Parameters<Ask>[2]
  readonly signal: AbortSignal
  readonly begin?: Parameters<Ask>[4]
  /** Default {@link ROW_MS}. */
  readonly limitMs?: number | undefined
  /** Called with what is a fault of ours, and not of the row; what it throws is thrown. */
  readonly onFault: (error: unknown) => void
}

/**
 * The result of a row, whatever the question throws: what was refused is one, and so is a fault of ours
 * ({@link faultResult}). Rejects with the signal's reason, and with what `onFault` throws.
 */
export async function rowResult(ask: Ask, question: Question): Promise<Asked> {
  const { kind, input, options, signal, begin, limitMs = ROW_MS, onFault } = question
  const limit = deadlineOf(limitMs, signal)
  try {
    return await raced(limit.signal, ask(kind, input, options, limit.signal, begin))
  } catch (error) {
    signal.throwIfAborted() // what was cut short is no answer
    const refused = error instanceof AppError ? refusal(error) : undefined
    if (refused) return refused
    onFault(error)
    return faultResult(kind, error)
  } finally {
    limit.clear()
  }
}

/** What an operation refused or could not do; undefined where that says nothing about the row. */
function refusal({ code, message }: AppError): Asked | undefined {
  const answer = { message }
  switch (code) {
    case 'invalid_domain':
    case 'invalid_ip':
    case 'invalid_parameter':
      return { result: 'invalid', reason: 'bad_syntax', answer }
    case 'timeout':
      return { result: 'unreachable', reason: 'timeout', answer }
    case 'forbidden':
      return { result: 'blocked', reason: 'policy', answer }
    case 'overloaded':
    case 'rate_limited':
      return { result: 'deferred', reason: 'own_limit', answer }
    default:
      return undefined
  }
}

/** A row that was not answered because of a fault of ours: nothing is said about the mailbox, domain or address. */
export const faultResult = (kind: JobKind, error: unknown): Asked => ({
  result: kind === 'verify' ? 'unreachable' : 'unknown',
  reason: 'internal_error',
  answer: {
    message: error instanceof AppError ? messageOf(error) : 'an internal error of this service; its log has the cause',
  },
})
