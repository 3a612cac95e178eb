import { wholeList } from '../../answers/answer.ts'
import type {
  ReportRowAnswer,
  ReportSenderAnswer,
  ReportsAnswer,
  ReportsDomainsAnswer,
  ReportsImportAnswer,
  ReportsPolicyAnswer,
  ReportsProvidersAnswer,
  ReportsTlsAnswer,
} from '../../answers/reports.ts'

export const importExample: ReportsImportAnswer = {
  reports: [
    {
      id: 'rep_AAAAAAAAAAAAAAAAAAAAAA',
      kind: 'dmarc',
      domain: 'example.org',
      organization: 'google.com',
      report_id: '949348866075514174',
      begin: '2026-11-20T00:00:00.000Z',
      end: '2026-11-20T23:59:59.000Z',
      messages: 1_204,
      duplicate: false,
      authenticated: true,
    },
  ],
  refused: [],
  failure_reports: 0,
  foreign_rows: 0,
}

const period = { domain: 'example.org', from: '2026-10-27', to: '2026-11-23' }
const mailchimp = {
  id: 'example.org:provider:mailchimp',
  name: 'Mailchimp',
  verdict: 'needs_setup',
  messages: 2_000,
  passing: 0,
  to_do:
    'Set up DKIM for example.org. Publish two CNAME records, k2._domainkey.example.org to dkim2.mcsv.net and k3._domainkey.example.org to dkim3.mcsv.net, and authenticate the domain in Mailchimp.',
} as const

export const reportsExample: ReportsAnswer = {
  ...period,
  reports: 2,
  reporters: [{ name: 'google.com', reports: 2, known: true }],
  other_reporters: [],
  messages: 14_000,
  passing: 11_500,
  forwarded: 480,
  failing: 2_020,
  unauthenticated_reports: 0,
  policies: [{ domain: 'example.org', policy: { p: 'none' }, from: '2026-11-19', to: '2026-11-20', reports: 2 }],
  days: [
    { date: '2026-11-19', messages: 7_000, passing: 5_750, forwarded: 240, failing: 1_010 },
    { date: '2026-11-20', messages: 7_000, passing: 5_750, forwarded: 240, failing: 1_010 },
  ],
  senders: [
    {
      id: 'example.org:provider:google',
      name: 'Google Workspace',
      verdict: 'authorized',
      messages: 11_500,
      passing: 11_500,
    },
    mailchimp,
    {
      id: 'example.org:forward:gmx.net',
      name: 'forwarded by gmx.net',
      verdict: 'forwarded',
      messages: 480,
      passing: 0,
    },
    { id: 'example.org:unknown:brief', name: 'unknown senders', verdict: 'forged', messages: 20, passing: 0 },
  ],
  advice: [{ sender: mailchimp.name, verdict: mailchimp.verdict, messages: mailchimp.messages, text: mailchimp.to_do }],
  last_report_at: '2026-11-21T07:12:44.000Z',
  differing_reports: 0,
  senders_total: 4,
  unanswered: [],
}

export const exampleSender = { id: mailchimp.id }
export const wordExample = { ours: true, note: '', by: '', at: '2026-11-24T09:12:44.000Z' }
export const senderExample: ReportSenderAnswer = {
  id: mailchimp.id,
  name: mailchimp.name,
  verdict: mailchimp.verdict,
  because: ['a verified signature of mcsv.net (selector k2)', 'none of its mail passes DMARC'],
  addresses: 1,
  messages: 2_000,
  passing: 0,
  spf_aligned: 0,
  dkim_aligned: 0,
  dispositions: { none: 2_000, quarantine: 0, reject: 0 },
  dkim_domains: ['mcsv.net'],
  selectors: ['k2'],
  envelope_domains: ['mail1.mcsv.net'],
  first_seen: '2026-11-19',
  last_seen: '2026-11-20',
  today: {
    spf: [{ address: '198.2.128.10', result: 'softfail', mechanism: '~all' }],
    ptr: [{ address: '198.2.128.10', names: ['mail10.mcsv.net'], forward_confirmed: true }],
    listed: [],
    keys: [{ domain: 'mcsv.net', selector: 'k2', status: 'found' }],
    asked: 1,
    left_out: 0,
    lists_answered: 29,
  },
  to_do: mailchimp.to_do,
}

export const providersExample: ReportsProvidersAnswer = {
  ...{ from: '2026-10-27', to: '2026-11-23', domains: 3, messages: 21_000, other_messages: 1_000 },
  ...wholeList([
    {
      ...{ id: 'provider:mailchimp', name: 'Mailchimp', domains: 2, failing_domains: 1 },
      ...{ messages: 20_000, passing: 18_000, failing: 2_000 },
      at: [
        { domain: 'example.org', messages: 2_000, passing: 0, verdict: 'needs_setup' as const },
        { domain: 'example.net', messages: 18_000, passing: 18_000, verdict: 'authorized' as const },
      ],
    },
  ]),
}

export const rowExample: ReportRowAnswer = {
  date: '2026-11-20',
  address: '198.2.128.10',
  header_from: 'example.org',
  envelope_from: 'mail1.mcsv.net',
  spf_domain: 'mail1.mcsv.net',
  spf_result: 'pass',
  spf_aligned: false,
  dkim_domain: 'mcsv.net',
  dkim_selector: 'k2',
  dkim_result: 'pass',
  dkim_aligned: false,
  disposition: 'none',
  sender: 'Mailchimp',
  verdict: 'needs_setup',
  messages: 1_000,
}

export const policyExample: ReportsPolicyAnswer = {
  ...period,
  policy: 'reject',
  messages: 14_000,
  passing_before: 11_500,
  passing_after: 11_500,
  affected: [
    {
      sender: 'provider:mailchimp',
      name: 'Mailchimp',
      verdict: 'needs_setup',
      messages: 2_000,
      share: 1,
      to_do: mailchimp.to_do,
    },
    { sender: 'forward:gmx.net', name: 'forwarded by gmx.net', verdict: 'forwarded', messages: 480, share: 1 },
    { sender: 'unknown:brief', name: 'unknown senders', verdict: 'forged', messages: 20, share: 1 },
  ],
  not_reevaluated: 0,
  days: 2,
  reports: 2,
  as_if: [],
  unanswered: [],
}

export const tlsExample: ReportsTlsAnswer = {
  ...period,
  policies: [
    {
      type: 'sts',
      domain: 'example.org',
      successful: 5_326,
      failed: 303,
      mail_hosts: [
        {
          host: 'mx1.example.org',
          failed: 303,
          failures: [{ type: 'certificate-expired', sessions: 303, reporters: ['google.com'] }],
          now: {
            starttls: { status: 'pass' },
            certificate: { status: 'fail', detail: 'expires 2026-11-01' },
            mta_sts: { status: 'pass', detail: 'mode enforce covers mx1.example.org' },
            dane: { status: 'not_applicable' },
          },
        },
      ],
    },
  ],
}

export const domainsExample: ReportsDomainsAnswer = {
  ...wholeList([{ domain: 'example.org', reports: 56, messages: 48_211, last_report_at: '2026-11-21T07:12:44.000Z' }]),
  unknown_domains: [],
  ways: [
    {
      ...{ way: 'lmtp', place: '127.0.0.1:2424', taken: 56, unreadable: 0, others: 2, failed: 0 },
      ...{ last_at: '2026-11-21T07:12:44.000Z', problem: null },
    },
  ],
}
