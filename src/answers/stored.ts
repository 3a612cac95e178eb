import { z } from 'zod'
import { type AnswerOf, listOf } from './answer.ts'

/** The kinds of stored answers: the answers of these operations. */
export const storedKind = z.enum(['check', 'report', 'verify', 'blacklist', 'what-if', 'message'])
export type StoredKind = z.output<typeof storedKind>

/** Where an answer was stored. */
export const saved = z
  .strictObject({ id: z.string(), url: z.string(), expires_at: z.iso.datetime() })
  .meta({ id: 'Saved', description: 'the stored answer, with save=true' })
export type Saved = AnswerOf<typeof saved>

/** The field of an answer about a value that was not asked as it was given (names/pasted.ts). */
export const askedField = {
  asked: z.string().optional().meta({ description: 'the value as it was given, if it was not asked as given' }),
}

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

/** One difference, as text. */
export const change = z
  .strictObject({
    id: z.string().meta({ description: 'kind of the change; stable' }),
    area: z.string(),
    effect: z.enum(['better', 'worse', 'neutral']),
    text: z.string(),
  })
  .meta({ id: 'Change' })
export type Change = AnswerOf<typeof change>

/** The differences between two stored answers. */
export const changesAnswer = z.strictObject({
  from: storedEntry,
  to: storedEntry,
  lines: z.array(z.string()).meta({ description: 'the changes as text, one line per area' }),
  changes: z.array(change),
  unknown: z
    .array(z.string())
    .meta({ description: 'areas that were not compared, because they are unknown in one of the answers' }),
})
export type ChangesAnswer = AnswerOf<typeof changesAnswer>
