import { z } from 'zod'
import { keysOf } from '../base/json.ts'
import { type AnswerOf, listOf } from './answer.ts'
import { acceptance, severity } from './finding.ts'
import { profileVerdict } from './profile.ts'
import { change } from './stored.ts'

const time = z.iso.datetime()

export const monitorKind = z.enum(['check', 'report', 'verify', 'blacklist', 'reports'])
export type MonitorKind = z.output<typeof monitorKind>
export const monitorState = z.enum(['ok', 'bad', 'unknown'])

/** Services that take messages at a URL; `hasSecretUrl`: who knows it may post there. */
export const MESSAGE_SERVICES = {
  slack: {
    name: 'Slack',
    what: 'URL of its incoming webhook',
    hint: 'https://hooks.slack.com/services/…',
    hasSecretUrl: true,
    takesToken: false,
  },
  ntfy: {
    name: 'ntfy',
    what: 'URL of the topic',
    hint: 'https://ntfy.sh/topic',
    hasSecretUrl: false,
    takesToken: true,
  },
} as const
export const messageService = z.enum(keysOf(MESSAGE_SERVICES))
export type MessageService = z.output<typeof messageService>

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
  z.strictObject({ type: messageService, url: z.string() }),
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

/** The phase of DMARC of a domain, by what receivers of RFC 9989 and of RFC 7489 apply. */
export const dmarcPhase = z.enum(['none', 'monitoring', 'partial', 'enforced', 'parked', 'inherited', 'unknown'])
export type DmarcPhase = z.output<typeof dmarcPhase>

/** What is known of a domain from the last run that had a result, for filters and counts. */
export const monitorFacts = z
  .strictObject({
    score: z.int().nullable(),
    grade: z.string().nullable(),
    role: z.string(),
    provider: z.string().meta({
      description: 'who runs its mail hosts: a provider, `other`, `none` without mail hosts, or `unknown`',
    }),
    policy: z.enum(['none', 'quarantine', 'reject', 'absent', 'unknown']).meta({
      description: 'the DMARC policy that applies to the domain; absent: no record can be applied',
    }),
    phase: dmarcPhase,
    inherited_phase: dmarcPhase
      .optional()
      .meta({ description: 'with phase `inherited`: the phase of what is in force' }),
    inherited_because: z
      .string()
      .optional()
      .meta({ description: 'with phase `inherited`: which record governs the domain, and by which tag' }),
    mta_sts: z.enum(['none', 'testing', 'enforce', 'broken', 'unknown']),
    dnssec: z.enum(['signed', 'unsigned', 'broken', 'unknown']),
    worst: z
      .strictObject({ finding: z.string(), severity, title: z.string() })
      .nullable()
      .meta({ description: 'its most severe finding; null: none that costs anything' }),
    findings: z.array(z.string()).meta({ description: 'ids of the findings that are more than information' }),
    profiles: z.record(z.string(), profileVerdict).meta({
      description: 'by each profile: a rule is not met, one is unknown and none unmet, or all are met',
    }),
  })
  .meta({ id: 'MonitorFacts' })
export type MonitorFacts = AnswerOf<typeof monitorFacts>

const tested = z.array(
  z.strictObject({
    type: z.enum(['webhook', 'mail', ...messageService.options]),
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
    labels: z.array(z.string()),
    owner: z.string().nullable().meta({ description: 'mail address of who is responsible for the target' }),
    note: z.string(),
    state: monitorState,
    last: monitorPoint.nullable(),
    below: z
      .string()
      .nullable()
      .meta({ description: 'the organizational domain that the target is below; null: it is one, or an IP address' }),
    facts: monitorFacts
      .nullable()
      .meta({ description: 'of a check or report; null: nothing is known yet, or another kind' }),
    accepted: z
      .array(z.strictObject({ finding: z.string(), ...acceptance.shape }))
      .meta({ description: 'those of its findings that are accepted' }),
    changed_at: time.nullable().meta({ description: 'when a run last found a change' }),
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

const share = z.strictObject({
  value: z.string(),
  count: z.int(),
  change_7_days: z.int().nullable().meta({ description: 'since 7 days ago; null: not kept' }),
  change_28_days: z.int().nullable(),
  compared: z.int().optional().meta({ description: 'how many had it at the end of `compare`' }),
})
export const monitorSummaryAnswer = z.strictObject({
  total: z.int(),
  organizations: z.int().meta({ description: 'organizational domains at or below which the targets are' }),
  below: z.int().meta({ description: 'names below these' }),
  compare: z.iso.date().optional(),
  grade: z.array(share),
  state: z.array(share),
  phase: z.array(share).meta({ description: 'phases of DMARC' }),
  policy: z.array(share).meta({ description: 'DMARC policies' }),
  mta_sts: z.array(share),
  dnssec: z.array(share),
  provider: z.array(share).meta({ description: 'the 20 that run the mail hosts of the most domains' }),
  role: z.array(share),
  findings: z.array(share).meta({ description: 'the 20 findings of the most domains' }),
  profiles: z
    .array(
      z.strictObject({
        name: z.string(),
        met: z.int(),
        not_met: z.int(),
        unknown: z.int(),
        change_7_days: z.int().meta({ description: 'of those that meet it, since 7 days ago' }),
        change_28_days: z.int(),
        compared: z.int().optional().meta({ description: 'how many met it at the end of `compare`' }),
      }),
    )
    .meta({ description: 'how many domains meet each profile' }),
})
export type MonitorSummary = AnswerOf<typeof monitorSummaryAnswer>

/** What an import of monitors did, or with `dry_run` would do. */
export const monitorImportAnswer = z.strictObject({
  created: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  bad_rows: z.array(z.strictObject({ line: z.int(), reason: z.string() })),
  bad_rows_left_out: z.int().optional(),
  ignored_columns: z
    .array(z.string())
    .optional()
    .meta({ description: 'columns of the list that say nothing about a monitor: what is in them is not stored' }),
  dry_run: z.boolean(),
  changes: z
    .array(z.strictObject({ line: z.int(), target: z.string(), change: z.string() }))
    .optional()
    .meta({ description: 'with dry_run: what each row would do; the first 1,000' }),
})
export type MonitorImport = AnswerOf<typeof monitorImportAnswer>

/** Digests to the owners of monitors: whether they are on, who gets them, and what one says now. */
export const monitorDigestAnswer = z.strictObject({
  every: z.enum(['off', 'day', 'week']),
  next_at: time.nullable().meta({ description: 'when the next digests are made; null while they are off' }),
  cannot_send: z.string().optional().meta({ description: 'why digests cannot be turned on' }),
  owners: z.int().meta({ description: 'addresses that are responsible for a monitor' }),
  without_owner: z.int().meta({ description: 'monitors for which nobody is responsible' }),
  ...listOf(
    z.strictObject({
      address: z.string(),
      monitors: z.int().meta({ description: 'monitors for which it is responsible' }),
      changed: z.int().meta({ description: 'monitors with a change that no digest has told' }),
      state: z.enum(['ready', 'not_asked', 'asked', 'refused', 'unsubscribed']).meta({
        description: 'only those that are ready get digests; the others have not consented, or do not want them',
      }),
      foreign: z
        .literal(true)
        .optional()
        .meta({ description: 'the address is at no domain of your monitors or of the operator' }),
    }),
  ).shape,
  preview: z
    .strictObject({ to: z.string(), subject: z.string(), text: z.string() })
    .nullable()
    .meta({ description: 'the digest to the address that is asked about, else to the first with changes, as of now' }),
})
export type MonitorDigestAnswer = AnswerOf<typeof monitorDigestAnswer>

/** How many monitors a request to many has changed. */
export const monitorsChangedAnswer = z.strictObject({ changed: z.int() })

export const monitorHistoryAnswer = listOf(monitorPoint)

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
