import type { Status } from '../../checks/check.ts'
import type { Answer, Fields } from './answer.ts'

/** The status of a check in an answer; the mail servers have theirs beside the list. */
export function statusOf(answer: Answer, key: string): Status {
  if (key === 'mx') return answer.mx_status
  const own = answer[key]
  return isFields(own) && typeof own.status === 'string' ? (own.status as Status) : 'unknown'
}

export const reasonOf = (answer: Answer, key: string): string | undefined => {
  const reason = key === 'mx' ? answer.mx_reason : isFields(answer[key]) ? answer[key].reason : undefined
  return typeof reason === 'string' ? reason : undefined
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
