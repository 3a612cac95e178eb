import { z } from 'zod'
import { type AnswerOf, listOf } from './answer.ts'
import { change } from './stored.ts'

const time = z.iso.datetime()

export const monitorKind = z.enum(['check', 'report', 'verify', 'blacklist', 'reports'])
export type MonitorKind = z.output<typeof monitorKind>
export const monitorState = z.enum(['ok', 'bad', 'unknown'])

/** The receivers of a monitor. Secret parts of an address are masked. */
const notifyTarget = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('webhook'),
    url: z.string(),
    id: z.string().meta({ description: 'id of the webhook' }),
    secret: z.string().optional().meta({ description: 'only in the answer that created the webhook' }),
  }),
  z.strictObject({
    type: z.literal('mail'),
    to: z.string(),
    unsubscribed: z.literal(true).optional(),
    consent: z
      .enum(['pending', 'refused'])
      .optional()
      .meta({ description: 'the address gets no mail: it has not consented yet, or it refused' }),
  }),
  z.strictObject({ type: z.literal('slack'), url: z.string() }),
  z.strictObject({ type: z.literal('ntfy'), url: z.string() }),
])

/** One run: a point of the history. */
export const monitorPoint = z
  .strictObject({
    time,
    status: z.string().meta({
      description:
        'status (check, report), result (verify), verdict (blacklist), or `reported` or `no_reports` (reports); unknown if it could not be determined',
    }),
    score: z.int().nullable(),
    listed: z.int().nullable(),
    reason: z.string().optional().meta({ description: 'what could not be determined' }),
  })
  .meta({ id: 'MonitorPoint' })
export type MonitorPoint = AnswerOf<typeof monitorPoint>

const tested = z.array(
  z.strictObject({
    type: z.enum(['webhook', 'mail', 'slack', 'ntfy']),
    to: z.string(),
    ok: z.boolean(),
    reason: z.string().optional(),
  }),
)

/** A monitor with its state. */
export const monitorAnswer = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    kind: monitorKind,
    target: z.string(),
    every: z.string(),
    options: z.record(z.string(), z.string()),
    notify: z.array(notifyTarget),
    when: z.array(z.string()),
    quiet_hours: z.strictObject({ from: z.string(), to: z.string(), timezone: z.string() }).nullable(),
    public: z.boolean(),
    enabled: z.boolean(),
    state: monitorState,
    last: monitorPoint.nullable(),
    failures: z.int().meta({ description: 'consecutive runs without a result' }),
    created_at: time,
    next_run_at: time,
    tested: tested.optional().meta({
      description: 'what each URL answered to a test message; only in the answer that created the monitor',
    }),
  })
  .meta({ id: 'Monitor' })
export type MonitorAnswer = AnswerOf<typeof monitorAnswer>
export const monitorListAnswer = listOf(monitorAnswer)

export const monitorHistoryAnswer = listOf(monitorPoint)

/** The changes of a run. */
const monitorChange = z
  .strictObject({ time, lines: z.array(z.string()), changes: z.array(change) })
  .meta({ id: 'MonitorChange' })
export type MonitorChange = AnswerOf<typeof monitorChange>
export const monitorChangesAnswer = listOf(monitorChange)

/** A requested run: at once, or when it has ended. */
export const monitorRunAnswer = z.strictObject({
  run: z.strictObject({
    monitor: z.string(),
    state: z.enum(['waiting', 'done']),
    point: monitorPoint.nullable(),
    lines: z.array(z.string()),
  }),
})
export type MonitorRunAnswer = AnswerOf<typeof monitorRunAnswer>

/** The results of test messages. */
export const monitorTestAnswer = z.strictObject({ sent: tested })
export type MonitorTestAnswer = AnswerOf<typeof monitorTestAnswer>

/** The badge of a public monitor in the form of shields.io's endpoint, whose names are its own. */
export const badgeAnswer = z.strictObject({
  schemaVersion: z.literal(1),
  label: z.string(),
  message: z.string(),
  color: z.string(),
})
export type BadgeAnswer = AnswerOf<typeof badgeAnswer>

/** An address that gets no more mail of a monitor. */
export const unsubscribeAnswer = z.strictObject({ unsubscribed: z.literal(true) })
/** The page that asks whether to. */
export const unsubscribeQuestion = z.strictObject({ unsubscribed: z.literal(false) })

/** An address that gets mail of the monitors of a key. */
export const consentAnswer = z.strictObject({ consented: z.literal(true) })
/** The page that asks whether to. */
export const consentQuestionAnswer = z.strictObject({ consented: z.literal(false) })
