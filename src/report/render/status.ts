import { isJsonObject } from '../../base/json.ts'
import type { Status } from '../../checks/check.ts'
import type { Answer } from './answer.ts'
import { STATUS_WORDS } from './words.ts'

/** The status of a check in an answer; the mail servers have theirs beside the list. */
export function statusOf(answer: Answer, key: string): Status {
  if (key === 'mx') return known(answer.mx_status)
  const own = answer[key]
  return known(isJsonObject(own) ? own.status : undefined)
}

export const reasonOf = (answer: Answer, key: string): string | undefined => {
  const reason = key === 'mx' ? answer.mx_reason : isJsonObject(answer[key]) ? answer[key].reason : undefined
  return typeof reason === 'string' ? reason : undefined
}

/** A status that is none of ours tells nothing. */
const known = (status: unknown): Status =>
  typeof status === 'string' && Object.hasOwn(STATUS_WORDS, status) ? (status as Status) : 'unknown'
