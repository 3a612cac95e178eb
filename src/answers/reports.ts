import { z } from 'zod'
import { type AnswerOf, listOf } from './answer.ts'

const count = z.int().min(0)
const date = z.iso.date()
const kind = z.enum(['dmarc', 'tls'])

export const senderVerdict = z
  .enum(['authorized', 'needs_setup', 'forwarded', 'forged', 'not_ours', 'unknown'])
  .meta({ id: 'SenderVerdict', description: 'docs/reports.md says when each is given' })
export type SenderVerdict = z.output<typeof senderVerdict>

/** What an input held. */
export const reportsImportAnswer = z.strictObject({
  reports: z.array(
    z.strictObject({
      id: z.string(),
      kind,
      domain: z.string(),
      organization: z.string(),
      report_id: z.string(),
      begin: z.iso.datetime(),
      end: z.iso.datetime(),
      messages: count.meta({ description: 'sessions of a TLS report' }),
      duplicate: z.boolean(),
      authenticated: z
        .boolean()
        .nullable()
        .meta({ description: 'whether the reporting organization wrote it; null: not known, as for a file' }),
      note: z.string().optional().meta({ description: 'why it does not count' }),
      foreign_rows: count
        .optional()
        .meta({ description: 'rows about other domains than its own: they are not stored' }),
    }),
  ),
  refused: z.array(
    z.strictObject({
      name: z.string(),
      code: z.enum(['bad_report', 'payload_too_large', 'too_old', 'forbidden', 'unknown_domain']),
      detail: z.string(),
      line: z.int().optional(),
    }),
  ),
  failure_reports: count.meta({ description: 'failure reports (RFC 6591, RFC 9991): counted, and not kept' }),
  foreign_rows: count.meta({ description: 'rows of all reports that are about other domains: they are not stored' }),
})
export type ReportsImportAnswer = AnswerOf<typeof reportsImportAnswer>

const advice = z.strictObject({ sender: z.string(), verdict: senderVerdict, messages: count, text: z.string() })

const senderSummary = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    verdict: senderVerdict,
    messages: count,
    passing: count,
    to_do: z.string().optional(),
  })
  .meta({ id: 'SenderSummary' })
export type SenderSummary = AnswerOf<typeof senderSummary>

const leftOut = z.strictObject({ sources: count, messages: count }).optional().meta({
  description: 'the smallest sources, beyond what an answer is computed from; their mail is in the sums alone',
})

const sums = { messages: count, passing: count, forwarded: count, failing: count }

export const reportsAnswer = z.strictObject({
  domain: z.string(),
  from: date,
  to: date,
  reports: count,
  reporters: z.array(
    z.strictObject({
      name: z.string(),
      reports: count,
      known: z.boolean().meta({ description: 'in the table of reporters; verdicts need at least one of these' }),
    }),
  ),
  other_reporters: z
    .array(z.strictObject({ name: z.string(), reports: count, messages: count }))
    .meta({ description: 'proven senders that are in no table, whose reports came by mail: they change nothing' }),
  ...sums,
  unauthenticated_reports: count,
  policies: z.array(
    z.strictObject({
      domain: z.string(),
      policy: z.record(z.string(), z.string()),
      from: date,
      to: date,
      reports: count,
    }),
  ),
  days: z.array(z.strictObject({ date, ...sums })),
  senders: z.array(senderSummary).meta({ description: 'the ten largest' }),
  advice: z.array(advice),
  last_report_at: z.iso.datetime().nullable(),
  differing_reports: count.meta({ description: 'reports that came again with other numbers; the first one counts' }),
  senders_total: count,
  left_out: leftOut,
  unanswered: z
    .array(z.string())
    .meta({ description: 'what the DNS did not answer: verdicts that rest on it are unknown' }),
})
export type ReportsAnswer = AnswerOf<typeof reportsAnswer>

const record = z.strictObject({ name: z.string(), type: z.literal('TXT'), value: z.string() })

/** Who sends as a domain, in the answer of its check: only for a caller who may see its reports. */
export const reportsOfDomain = z
  .strictObject({
    from: date,
    to: date,
    reports: count,
    days: count.meta({ description: 'days with reports' }),
    ...sums,
    senders: z.array(senderSummary).meta({ description: 'the ten largest' }),
    senders_total: count,
    left_out: leftOut,
    unknown: z.string().optional().meta({ description: 'why the reports could not be read' }),
    how_to_get: z
      .strictObject({
        rua: z
          .string()
          .nullable()
          .meta({ description: 'the address that this installation reads; null: none is set up' }),
        authorization: record.optional().meta({
          description: 'the record at the domain of `rua`, which allows reports about this domain (RFC 9990 §4)',
        }),
      })
      .optional()
      .meta({ description: 'while there are no reports' }),
  })
  .meta({ id: 'ReportsOfDomain' })
export type ReportsOfDomain = AnswerOf<typeof reportsOfDomain>

const today = z.strictObject({
  spf: z.array(
    z.strictObject({
      address: z.string(),
      result: z.enum(['none', 'neutral', 'pass', 'fail', 'softfail', 'temperror', 'permerror']),
      mechanism: z.string().optional(),
    }),
  ),
  ptr: z.array(
    z.strictObject({ address: z.string(), names: z.array(z.string()), forward_confirmed: z.boolean().nullable() }),
  ),
  listed: z.array(
    z.strictObject({
      blacklist: z.string(),
      addresses: count,
      share: z.number().min(0).max(1).meta({ description: 'share of the mail of the addresses that were asked' }),
    }),
  ),
  keys: z.array(
    z.strictObject({ domain: z.string(), selector: z.string(), status: z.enum(['found', 'missing', 'unknown']) }),
  ),
  asked: count,
  left_out: count.meta({ description: 'addresses beyond the 20 largest' }),
  lists_answered: count,
})

const said = z
  .strictObject({
    ours: z.boolean(),
    note: z.string(),
    by: z.string().meta({ description: 'id of the key that said it; empty without keys' }),
    at: z.iso.datetime(),
  })
  .meta({ description: 'what was said about whose it is' })

export const reportSender = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    verdict: senderVerdict,
    because: z.array(z.string()),
    addresses: count,
    messages: count,
    passing: count,
    spf_aligned: count,
    dkim_aligned: count,
    dispositions: z.strictObject({ none: count, quarantine: count, reject: count }),
    dkim_domains: z.array(z.string()),
    selectors: z.array(z.string()),
    envelope_domains: z.array(z.string()),
    first_seen: date,
    last_seen: date,
    today: today.optional(),
    to_do: z.string().optional(),
    said: said.optional(),
  })
  .meta({ id: 'ReportSender' })
export type ReportSenderAnswer = AnswerOf<typeof reportSender>
export const reportSendersAnswer = listOf(reportSender).extend({ left_out: leftOut })
export type ReportSendersAnswer = AnswerOf<typeof reportSendersAnswer>

export const reportRow = z
  .strictObject({
    date,
    address: z.string(),
    header_from: z.string(),
    envelope_from: z.string(),
    spf_domain: z.string(),
    spf_result: z.string(),
    spf_aligned: z.boolean().nullable(),
    dkim_domain: z.string(),
    dkim_selector: z.string(),
    dkim_result: z.string(),
    dkim_aligned: z.boolean().nullable(),
    disposition: z.string(),
    sender: z.string(),
    verdict: senderVerdict,
    messages: count,
  })
  .meta({ id: 'ReportRow' })
export type ReportRowAnswer = AnswerOf<typeof reportRow>
export const reportRowsAnswer = listOf(reportRow)
export type ReportRowsAnswer = AnswerOf<typeof reportRowsAnswer>

const nowAtHost = z.strictObject({ status: z.string(), detail: z.string().optional() })

export const reportsTlsAnswer = z.strictObject({
  domain: z.string(),
  from: date,
  to: date,
  policies: z.array(
    z.strictObject({
      type: z.string(),
      domain: z.string(),
      successful: count.nullable(),
      failed: count.nullable(),
      mail_hosts: z.array(
        z.strictObject({
          host: z.string().nullable().meta({ description: 'null: the reports do not name it' }),
          failed: count.nullable(),
          failures: z.array(
            z.strictObject({
              type: z.string(),
              sessions: count.nullable().meta({ description: 'null: not given' }),
              reporters: z.array(z.string()),
            }),
          ),
          now: z.strictObject({ starttls: nowAtHost, certificate: nowAtHost, mta_sts: nowAtHost, dane: nowAtHost }),
        }),
      ),
    }),
  ),
})
export type ReportsTlsAnswer = AnswerOf<typeof reportsTlsAnswer>

export const reportsPolicyAnswer = z.strictObject({
  domain: z.string(),
  from: date,
  to: date,
  policy: z.enum(['none', 'quarantine', 'reject']),
  messages: count,
  passing_before: count,
  passing_after: count,
  affected: z.array(
    z.strictObject({
      sender: z.string(),
      name: z.string(),
      verdict: senderVerdict,
      messages: count,
      share: z.number().min(0).max(1).meta({ description: "of the sender's own mail" }),
      to_do: z.string().optional(),
    }),
  ),
  not_reevaluated: count.meta({ description: 'messages whose reported SPF result stands' }),
  days: count.meta({ description: 'days with reports on which this rests' }),
  reports: count,
  left_out: leftOut,
  as_if: z.array(z.strictObject({ name: z.string(), type: z.string(), data: z.unknown() })),
  unanswered: z.array(z.string()),
})
export type ReportsPolicyAnswer = AnswerOf<typeof reportsPolicyAnswer>

/** What a sender sends for one domain of several. */
const sentFor = z.strictObject({ domain: z.string(), messages: count, passing: count, verdict: senderVerdict })
export const reportProvider = z
  .strictObject({
    id: z.string(),
    name: z.string().meta({ description: 'a provider, or the zone of hosts, signatures or return paths' }),
    domains: count,
    failing_domains: count.meta({ description: 'domains for which not all of its mail passes DMARC' }),
    messages: count,
    passing: count,
    failing: count,
    at: z.array(sentFor).meta({ description: 'the 50 domains that lose most of its mail; the CSV has all' }),
    at_left_out: count.optional().meta({ description: 'domains beyond those of `at`' }),
  })
  .meta({ id: 'ReportProvider' })
export type ReportProvider = AnswerOf<typeof reportProvider>
export const reportsProvidersAnswer = z.strictObject({
  from: date,
  to: date,
  domains: count.meta({ description: 'organizational domains in From that had mail' }),
  messages: count.meta({ description: 'all of their mail' }),
  other_messages: count.meta({
    description: 'mail in no row: forwarded, looks forged, not named, or of a sender for one domain alone',
  }),
  ...listOf(reportProvider).shape,
  left_out: leftOut,
})
export type ReportsProvidersAnswer = AnswerOf<typeof reportsProvidersAnswer>

/**
 * What a monitor of kind reports sees in a run: the period, its days, the senders by messages, and the last report, of
 * any time.
 */
export const reportsWatch = z.strictObject({
  domain: z.string(),
  to: date,
  days: z.array(z.strictObject({ date, messages: count, failing: count })),
  senders: z.array(z.strictObject({ id: z.string(), name: z.string(), verdict: senderVerdict, messages: count })),
  last_report_at: z.iso.datetime().nullable(),
})
export type ReportsWatch = AnswerOf<typeof reportsWatch>

export const reportsDomainsAnswer = z.strictObject({
  ...listOf(z.strictObject({ domain: z.string(), reports: count, messages: count, last_report_at: z.iso.datetime() }))
    .shape,
  unknown_domains: z
    .array(z.strictObject({ domain: z.string(), reports: count, last_report_at: z.iso.datetime() }))
    .meta({ description: 'domains whose reports came by mail although nobody here takes them' }),
  ways: z
    .array(
      z.strictObject({
        way: z.enum(['lmtp', 'imap']),
        place: z.string(),
        taken: count.meta({ description: 'messages with reports, since the service started' }),
        unreadable: count,
        others: count.meta({ description: 'mail that is no report' }),
        failed: count.meta({ description: 'messages that could not be stored and come again' }),
        last_at: z.iso.datetime().nullable(),
        problem: z.string().nullable().meta({ description: 'why it does not work now' }),
      }),
    )
    .meta({ description: 'the ways in from mail servers; only for a key that is not made for domains' }),
})
export type ReportsDomainsAnswer = AnswerOf<typeof reportsDomainsAnswer>
