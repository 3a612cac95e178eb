import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { listOf } from './list.ts'

/** The kinds of stored answers: the answers of these operations. */
export const storedKind = z.enum(['check', 'report', 'verify', 'blacklist', 'what-if', 'message'])
export type StoredKind = z.output<typeof storedKind>

/** Where an answer was stored. */
export const saved = z
  .strictObject({ id: z.string(), url: z.string(), expires_at: z.iso.datetime() })
  .meta({ id: 'Saved', description: 'the stored answer, with save=true' })
export type Saved = AnswerOf<typeof saved>

/** The field that `save=true` adds to an answer. */
export const savedField = { saved: saved.optional() }

/**
 * A stored answer: the unchanged answer of its kind, with the metadata of its storage. The program that reads it may be
 * newer than the one that answered, so the fields of the answer are not validated.
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
