import type { BlacklistAnswer, BlacklistsAnswer, ListEntry, ListStateAnswer } from '../../src/answers/blacklist.ts'
import type { CheckAnswer } from '../../src/answers/check.ts'
import type { SpfInclude } from '../../src/answers/checks.ts'
import type { DmarcAnswer } from '../../src/answers/questions.ts'
import type { VerifyAnswer } from '../../src/answers/verify.ts'
import { blacklistDocument, blacklistsDocument } from '../../src/documents/blacklist.ts'
import type { Document, TimePoint } from '../../src/documents/block.ts'
import { briefDocument, checkDocument } from '../../src/documents/check/check-document.ts'
import { dmarcDocument } from '../../src/documents/dmarc.ts'
import { configDocument, keysDocument } from '../../src/documents/service.ts'
import { verifyDocument } from '../../src/documents/verify.ts'
import { blacklist } from '../../src/operations/blacklist.ts'
import { check } from '../../src/operations/check.ts'
import { dmarc } from '../../src/operations/dmarc.ts'
import { plan } from '../../src/operations/plan.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { verify } from '../../src/operations/verify.ts'
import { exampleOf } from './answer.ts'

const VERSION = '0.0.0'

const { steps, end, left } = exampleOf(plan)
/** A check with its plan, as documents have it. */
const planned: CheckAnswer = { ...exampleOf(check), plan: { steps, end, left } }

/** A verification that went through a pool: two sources were refused, the third was answered; with its transcript. */
export const failedOver: VerifyAnswer = {
  ...exampleOf(verify),
  email: 'joe@example.org',
  suggestion: 'joe@example.com',
  is_role: true,
  role: 'info',
  retry_after_ms: 300_000,
  reason: 'greylisted',
  result: 'deferred',
  deliverability: 'unknown',
  confidence: 0,
  code: 451,
  message: '4.7.1 Greylisted, please try again in 300 seconds',
  provider: 'google',
  catch_all: null,
  attempts: [
    ['192.0.2.1', 'source_blocked', 554, '5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org'],
    ['192.0.2.2', 'connect_timeout', 0, ''],
    ['192.0.2.3', 'greylisted', 451, '4.7.1 Greylisted, please try again in 300 seconds'],
  ].map(([ip_used, reason, code, message]) => ({
    ip_used: String(ip_used),
    mx_server: 'mx.example.org',
    address: '198.51.100.1',
    stage: code === 0 ? 'connect' : 'rcpt',
    code: Number(code),
    message: String(message),
    reason: String(reason),
    duration_ms: 120,
  })),
  skipped_sources: [{ address: '192.0.2.4', reason: 'listed_here' }],
  transcript: [
    { at_ms: 0, from: 'note', text: 'connected to 198.51.100.1' },
    { at_ms: 20, from: 'server', text: '220 mx.example.org ESMTP' },
    { at_ms: 21, from: 'client', text: 'EHLO mail.example.net' },
    { at_ms: 40, from: 'server', text: '250-mx.example.org' },
    { at_ms: 41, from: 'client', text: 'RCPT TO:<j***@example.org>' },
    { at_ms: 60, from: 'server', text: '451 4.7.1 Greylisted, please try again in 300 seconds' },
  ],
}

const entries = exampleOf(blacklist).results
const listing: Omit<ListEntry, 'blacklist' | 'zone'> = {
  listed: true,
  status: 'listed',
  tier: 'A',
  scope: 'ip',
  scope_text: 'The address itself is listed.',
  codes: ['127.0.0.2', '127.0.0.9'],
  meaning: ['spam source', 'hijacked network'],
  txt: 'https://www.spamhaus.org/query/ip/192.0.2.1',
  delist_url: 'https://check.spamhaus.org/',
  duration_ms: 3,
}

/** An address that is on two lists, while others are silent. */
export const listedAddress: BlacklistAnswer = {
  ...exampleOf(blacklist),
  listed: 2,
  answered: 26,
  verdict: 'listed',
  worst_tier: 'A',
  results: entries.map((entry, i): ListEntry => {
    if (i === 0) return { ...entry, ...listing }
    if (i === 5)
      return { ...entry, ...listing, tier: 'D', scope: 'policy', scope_text: 'A list of policy.', meaning: ['listed'] }
    if (i > 25)
      return { ...entry, status: i === 26 ? 'timeout' : 'blocked', reason: i === 26 ? 'no_answer' : 'public_resolver' }
    return { ...entry, status: 'not_listed', listed: false }
  }),
}

const include = (term: string, lookups: number, more: Partial<SpfInclude> = {}): SpfInclude => ({
  term,
  state: 'record',
  lookups,
  void_lookups: 0,
  record: `v=spf1 ip4:192.0.2.0/24 ~all`,
  includes: [],
  ...more,
})

/** A check whose SPF record has a tree over the limit. */
export const manyLookups: CheckAnswer = {
  ...exampleOf(check),
  spf: {
    ...exampleOf(check).spf,
    record: 'v=spf1 mx include:a.example include:b.example include:gone.example ~all',
    records: ['v=spf1 mx include:a.example include:b.example include:gone.example ~all'],
    all: '~',
    lookups: 12,
    void_lookups: 1,
    includes: [
      include('include:a.example', 8, {
        includes: [
          include('include:a1.example', 6, { includes: [include('include:a2.example', 1)] }),
          include('include:a3.example', 1),
        ],
      }),
      include('include:b.example', 2, { all: '+' }),
      include('include:gone.example', 1, { state: 'none', void_lookups: 1, includes_left_out: 3 }),
    ],
    passing: {
      ipv4: 66_048,
      ipv6_prefixes: 65_536,
      by: [
        { term: 'mx', ipv4: 2, ipv6_prefixes: 0 },
        { term: 'include:a.example', ipv4: 66_046, ipv6_prefixes: 65_536 },
        { term: 'exists:%{i}.b.example', note: 'depends on the message' },
      ],
      complete: false,
    },
  },
}

/** A policy that is found two names up. */
export const walked: DmarcAnswer = {
  ...exampleOf(dmarc),
  domain: 'a.b.example.org',
  inherited: true,
  found_at: 'example.org',
  effective_policy: 'quarantine',
  steps: [
    { name: '_dmarc.a.b.example.org', answer: 'nxdomain', records: [], record_count: 0, decision: 'no_record' },
    {
      name: '_dmarc.b.example.org',
      answer: 'unknown',
      reason: 'SERVFAIL',
      records: [],
      record_count: 0,
      decision: 'unanswered',
    },
    {
      name: '_dmarc.example.org',
      answer: 'found',
      records: ['v=DMARC1; p=reject; sp=quarantine'],
      record_count: 1,
      decision: 'record',
    },
  ],
  legacy: { found_at: 'example.org', organizational_domain: 'example.org', policy: 'reject', pct: 50 },
}

const listState: ListStateAnswer = {
  blacklist: 'Spamhaus ZEN',
  zone: 'zen.spamhaus.org',
  tier: 'A',
  scope: 'ip',
  strict: true,
  codes: [{ code: '127.0.0.2', meaning: 'spam source', listing: true }],
  state: 'healthy',
  reason: null,
  tested_at: '2026-01-02T03:04:05.000Z',
  missing_since: null,
  test_codes: ['127.0.0.2'],
  history: [],
  ipv6: { supported: 'yes', state: 'healthy' },
  answers: { listed: 0, not_listed: 1, blocked: 0, timeout: 0, error: 0, unsupported: 0 },
  allowance: {},
  requires_key: true,
  delist_url: 'https://check.spamhaus.org/',
  verified: '2026-11-01',
  notes: '',
}
const states: BlacklistsAnswer = {
  total: 29,
  list_version: '2026.11.1',
  data: [
    listState,
    {
      ...listState,
      blacklist: 'PSBL',
      zone: 'psbl.surriel.com',
      tier: 'B',
      state: 'refused',
      reason: 'public_resolver',
    },
    { ...listState, blacklist: 'DroneBL', zone: 'dnsbl.dronebl.org', tier: 'C', state: 'dead', reason: 'dead' },
  ],
  has_more: false,
  next_cursor: null,
}

const point = (day: number, value: number | null, mark: TimePoint['mark'], text: string): TimePoint => ({
  time: `2026-01-${String(day).padStart(2, '0')}T03:04:05.000Z`,
  value,
  mark,
  text,
})

/** Every kind of block that pictures something, with parts that no operation shows yet. */
export const pictures: Document = {
  title: 'Pictures',
  blocks: [
    {
      kind: 'conclusion',
      conclusion: {
        subject: 'example.org',
        mark: 'warn',
        badge: 'Changed',
        words: 'The score fell by 20.',
        notes: [['Since yesterday.']],
      },
    },
    {
      kind: 'timeline',
      timeline: {
        label: 'Score',
        least: 0,
        most: 100,
        points: [
          point(1, 80, 'good', 'not listed'),
          point(2, 80, 'good', 'not listed'),
          point(3, null, 'open', 'could not be checked'),
          point(4, 60, 'bad', 'listed on Spamhaus ZEN'),
          point(5, 95.5, 'good', 'not listed'),
        ],
      },
    },
    { kind: 'timeline', timeline: { label: 'Nothing yet', least: 0, most: 100, points: [] } },
    { kind: 'progress', progress: { label: 'Nothing to do', done: 0, total: 0, parts: [] } },
    {
      kind: 'map',
      map: {
        label: 'Where mail goes',
        domain: 'example.org',
        hosts: [
          {
            preference: 10,
            host: 'mx1.example.org',
            addresses: [
              {
                address: '192.0.2.1',
                names: ['mx1.example.org'],
                back: { mark: 'good', text: 'resolves back' },
                place: ['Germany · AS64500 Example'],
                lists: { mark: 'bad', text: 'on 2 of 29 blacklists that answered' },
              },
              { address: '2001:db8::1', names: [], back: { mark: 'bad', text: 'no PTR name' } },
            ],
          },
          { preference: 20, host: 'mx2.example.org', problem: { mark: 'open', text: 'SERVFAIL' }, addresses: [] },
        ],
      },
    },
  ],
  footer: [['The end.']],
}

/** A document by name for every operation, of its example, and of answers that show more. */
export async function labDocuments(): Promise<Readonly<Record<string, Document>>> {
  const operations = await allOperations()
  const examples = operations.map(async (operation): Promise<readonly [string, Document]> => {
    const { output } = operation.example
    const read = operation.receive(operation.line ? Reflect.get(output, 'data') : output)
    const document = read.ok ? read.value.document({ version: VERSION }) : undefined
    if (!document) throw new Error(`${operation.name} has no document`)
    return [operation.name.replaceAll(' ', '-'), document]
  })
  return {
    ...Object.fromEntries(await Promise.all(examples)),
    'verify-failed-over': verifyDocument(failedOver, VERSION),
    'blacklist-listed': blacklistDocument(listedAddress, VERSION),
    'check-many-lookups': checkDocument(manyLookups, VERSION),
    'check-plan': checkDocument(planned, VERSION),
    'check-brief': briefDocument(planned, VERSION),
    'dmarc-walked': dmarcDocument(walked, VERSION),
    'blacklists-some': blacklistsDocument(states, VERSION),
    config: configDocument(
      [
        { option: '--port', value: '8080', source: 'default', meaning: 'port of the service' },
        { option: '--dqs-key', value: '********', source: 'environment', meaning: 'key of Spamhaus' },
      ],
      VERSION,
    ),
    keys: keysDocument(
      [
        { id: 'k1', name: 'laptop', scopes: ['read', 'verify'], created_at: '2026-01-02T03:04:05.000Z' },
        {
          id: 'k2',
          name: 'jobs',
          scopes: ['jobs'],
          created_at: '2026-01-02T03:04:05.000Z',
          expires_at: '2026-02-02T03:04:05.000Z',
        },
      ],
      VERSION,
    ),
    pictures,
  }
}
