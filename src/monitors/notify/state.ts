import { z } from 'zod'
import { change } from '../../answers/changes.ts'

/** `rank`: how good the status is, higher is better. `listedAs`: the listings as text. */
export type Facts = {
  readonly status: string
  readonly rank: number
  readonly score: number | null
  readonly listed: number | null
  readonly listedAs: string
  /** Of a monitor of reports. */
  readonly reports?: ReportFacts
}

export type ReportFacts = {
  /** The last day with 100 messages or more; null: none. */
  readonly failing: { readonly date: string; readonly messages: number; readonly failing: number } | null
  /** Full days since the last report; null: there never was one. */
  readonly silentDays: number | null
}

const topic = z.strictObject({
  /** A condition that holds now, in its last reported form. */
  isBad: z.boolean(),
  told: z.boolean(),
  /** Its line in a message. */
  line: z.string().default(''),
})
/** The earlier state: the status as text, its rank, the score. */
const level = z.strictObject({ status: z.string().default(''), rank: z.number(), score: z.number().nullable() })
/** The state of a monitor's notifier. Times are ms since the epoch. */
export const notifyState = z.strictObject({
  failures: z.int(),
  topics: z.record(z.string(), topic),
  /** When each topic was last reported; times older than an hour are removed. */
  toldAt: z.record(z.string(), z.number()),
  /** Topics whose first recovery within the hour was reported. */
  recovered: z.array(z.string()),
  /** The changes in the messages of the last hour. */
  toldTexts: z.array(z.string()).default([]),
  /** What is held until the hour, or the quiet hours, are over. */
  held: z
    .strictObject({
      count: z.int(),
      topics: z.array(z.string()),
      /** Topics of these that had been reported within the hour when they occurred. */
      flapping: z.array(z.string()),
      changes: z.array(change),
      /** The changes since the last message, to recognize a reverted change. */
      texts: z.array(z.string()).default([]),
      dueMs: z.number(),
    })
    .nullable(),
  /** The state before it became worse. */
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
