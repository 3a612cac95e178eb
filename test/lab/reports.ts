import { domain } from '../../src/names/domain.ts'
import type { ReportsHere } from '../../src/operations/deps.ts'
import type { SenderFacts } from '../../src/reports/home.ts'
import { findSenders, type Sender } from '../../src/reports/senders.ts'
import type { ReportService } from '../../src/reports/service.ts'
import type { SourceSum } from '../../src/store/postgres/report-sums.ts'

/**
 * A source of the lab: 100 messages of example.org that pass nothing, seen on 28 days by two known reporters, unless
 * said otherwise.
 */
export const labSource = (over: Partial<SourceSum> = {}): SourceSum => {
  const source = {
    ...{ number: 1, name: 'example.org', address: '192.0.2.1', envelope_from: '', spf_domain: '', spf_result: 'fail' },
    ...{ spf_aligned: false, dkim_domain: '', dkim_selector: '', dkim_result: '', dkim_aligned: false, signers: '' },
    ...{ disposition: 'none', reason: '', messages: 100, first_day: '2026-10-27', last_day: '2026-11-23' },
    ...{ recent_days: 0xfffffff, first_reporter: 1, last_reporter: 2, ...over },
  }
  const { messages, first_day, last_day } = source
  return { known_messages: messages, first_known: first_day, last_known: last_day, ...source }
}

/** What reporters that nobody knows have seen of a source. */
export const STRANGE = {
  ...{ known_messages: 0, first_known: null, last_known: null },
  ...{ first_reporter: null, last_reporter: null, recent_days: 0 },
} as const

/** Facts of a lab: nothing is known unless said otherwise. */
export const labFacts = (over: Partial<SenderFacts> = {}): SenderFacts => ({
  domain: 'example.org',
  spfOf: () => undefined,
  hostOf: () => undefined,
  mailHostOf: () => undefined,
  mailProviders: new Set(),
  rangeOf: () => undefined,
  networkOf: () => undefined,
  isListed: () => false,
  hasKey: () => false,
  isSpfKnown: true,
  sendsNothing: false,
  words: [],
  ...over,
})

const senders: readonly Sender[] = await findSenders(
  [
    labSource({ signers: 'mcsv.net:k2', dkim_domain: 'mcsv.net', dkim_selector: 'k2', dkim_result: 'pass' }),
    labSource({ number: 2, address: '192.0.2.2', spf_aligned: true, spf_result: 'pass', messages: 900 }),
  ],
  labFacts({
    spfOf: (address) =>
      address === '192.0.2.2' ? { text: 'ip4:192.0.2.2', include: false, domain: 'example.org' } : undefined,
  }),
)
const found = {
  senders,
  facts: { ...labFacts(), unanswered: [], passesOf: () => undefined },
  names: [1],
  leftOut: { sources: 0, messages: 0 },
}

/**
 * Reports without a database: the same two senders, whatever is asked, and an import that reads everything and finds
 * one report. A test of reports brings the real service, over labDatabase.
 */
export const labReports: ReportService = {
  import: async (octets) => {
    for await (const _ of octets);
    const [beginMs, endMs] = [Date.UTC(2026, 10, 22), Date.UTC(2026, 10, 23) - 1_000]
    const report = {
      id: `rep_${'A'.repeat(22)}`,
      kind: 'dmarc',
      domain: 'example.org',
      organization: 'google.com',
    } as const
    const rest = { reportId: '1', beginMs, endMs, messages: 1_000, duplicate: false, foreignRows: 0 }
    const found = { ...report, ...rest, authenticated: null, counts: true }
    return { reports: [found], refused: [], failureReports: 0, others: 0 }
  },
  senders: async () => found,
  across: async () => ({
    ...{ domains: 2, messages: 1_000, leftOut: { sources: 0, messages: 0 } },
    senders: [
      {
        ...{ id: 'provider:mailchimp', name: 'Mailchimp', messages: 1_000, passing: 900 },
        domains: [
          { domain: 'example.org', messages: 100, passing: 0, verdict: 'needs_setup' },
          { domain: 'example.net', messages: 900, passing: 900, verdict: 'authorized' },
        ],
      },
    ],
  }),
  say: async (_, { id }) => senders.find((one) => one.id === id),
  summary: async () => ({
    ...found,
    about: {
      reports: 1,
      uncounted: 0,
      differing: 0,
      lastReceived: new Date(Date.UTC(2026, 10, 23)),
      reporters: [{ name: 'google.com', is_known: true, reports: 1 }],
      others: [],
    },
    days: [{ day: '2026-11-22', messages: 1_000, passing: 900, forwarded: 0 }],
    policies: [
      { policy: { p: 'none' }, domain: 'example.org', first_day: '2026-11-22', last_day: '2026-11-22', reports: 1 },
    ],
  }),
  rows: async () => [{ ...labSource(), day: '2026-11-22' }],
  tls: async () => [
    {
      domain: domain('example.org'),
      type: 'sts',
      host: null,
      failure: null,
      successful: 10,
      failed: 1,
      reporters: ['google.com'],
    },
    {
      domain: domain('example.org'),
      type: 'sts',
      host: 'mx.test',
      failure: 'certificate-expired',
      successful: null,
      failed: 1,
      reporters: ['google.com'],
    },
  ],
  stored: async () => 1,
  domains: async () => [
    { domain: 'example.org', reports: 1, messages: 1_000, last_at: new Date(Date.UTC(2026, 10, 23)) },
  ],
  strangers: async () => [],
  countStranger: async () => {},
  mailboxPlace: async () => undefined,
  rememberPlace: async () => {},
  waitingSince: async () => new Date(0),
  monitored: async () => [],
  selectors: async () => [],
  forget: async () => 0,
  counted: () => ({ reports: 0, failureReports: 0, refused: 0 }),
}

/** An installation without reports. */
export const NO_REPORTS: ReportsHere = {
  find: async () => undefined,
  rua: undefined,
  ways: [],
  counted: () => ({ reports: 0, failureReports: 0, refused: 0 }),
}
