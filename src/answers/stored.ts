import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { listOf } from './list.ts'

/** What can be stored: the answers of these operations. */
export const storedKind = z.enum(['check', 'report', 'verify', 'blacklist', 'what-if'])
export type StoredKind = z.output<typeof storedKind>

/** Where an answer was stored. */
export const saved = z
  .strictObject({ id: z.string(), url: z.string(), expires_at: z.iso.datetime() })
  .meta({ id: 'Saved', description: 'the stored answer, with save=true' })
export type Saved = AnswerOf<typeof saved>

/** The field that `save=true` adds to an answer. */
export const savedField = { saved: saved.optional() }

/**
 * A stored answer: the answer of its kind as it was, with what is known of its storing beside its own fields. The program that reads it may be newer than the one that
 * answered, so that the fields of the answer are left as they are.
 */
export const storedAnswer = z.looseObject({
  kind: storedKind,
  id: z.string(),
  saved_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
})
export type StoredAnswer = AnswerOf<typeof storedAnswer>

/** One stored answer in a history. */
export const storedEntry = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    kind: storedKind,
    subject: z.string().meta({ description: 'the domain, mailbox or IP address that the answer is about' }),
    saved_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    status: z.string().meta({ description: 'status (check, report, what-if), result (verify) or verdict (blacklist)' }),
    score: z.int().nullable(),
  })
  .meta({ id: 'StoredEntry' })
export type StoredEntry = AnswerOf<typeof storedEntry>

export const historyAnswer = listOf(storedEntry)
export type HistoryAnswer = AnswerOf<typeof historyAnswer>
