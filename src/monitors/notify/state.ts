import { z } from 'zod'
import { change } from '../../answers/changes.ts'

/** `rank`: how good the status is, more is better. `listedAs`: the listings in words. */
export type Facts = {
  readonly status: string
  readonly rank: number
  readonly score: number | null
  readonly listed: number | null
  readonly listedAs: string
}

const topic = z.strictObject({
  /** A condition that holds now, and as it was told last. */
  isBad: z.boolean(),
  told: z.boolean(),
  /** What a message says of it. */
  line: z.string().default(''),
})
/** How things were: a status as words, its rank, the score. */
const level = z.strictObject({ status: z.string().default(''), rank: z.number(), score: z.number().nullable() })
/** What the notifier of one monitor remembers. Times are ms since the epoch. */
export const notifyState = z.strictObject({
  failures: z.int(),
  topics: z.record(z.string(), topic),
  /** When each topic was told last; older than an hour is left out. */
  toldAt: z.record(z.string(), z.number()),
  /** Topics whose first recovery within the hour was told. */
  recovered: z.array(z.string()),
  /** What the messages of the last hour said of changes. */
  toldTexts: z.array(z.string()).default([]),
  /** What waits for the hour, or for the end of the quiet hours. */
  held: z
    .strictObject({
      count: z.int(),
      topics: z.array(z.string()),
      /** Topics of these that had been told within the hour when they came. */
      flapping: z.array(z.string()),
      changes: z.array(change),
      /** What was said since the last message, by which a change that comes back is known. */
      texts: z.array(z.string()).default([]),
      dueMs: z.number(),
    })
    .nullable(),
  /** What was before things got worse. */
  better: level.nullable(),
  last: level.nullable(),
})
export type NotifyState = z.output<typeof notifyState>

export const NEW_STATE: NotifyState = {
  failures: 0,
  topics: {},
  toldAt: {},
  recovered: [],
  toldTexts: [],
  held: null,
  better: null,
  last: null,
}

export type Level = NonNullable<NotifyState['better']>
export const levelOf = ({ status, rank, score }: Facts): Level => ({ status, rank, score })
export const levelWords = ({ status, score }: Level): string => (score === null ? status : `${status}, score ${score}`)
/** `fail instead of pass, score 55 instead of 91` */
export const beside = (now: Level, before: Level): string =>
  [
    ...(now.status === before.status || before.status === '' ? [] : [`${now.status} instead of ${before.status}`]),
    ...(now.score === before.score || now.score === null || before.score === null
      ? []
      : [`score ${now.score} instead of ${before.score}`]),
  ].join(', ')
