import type { BitRow, CodeRow, List, ListSet } from './zone-type.ts'

/** Changes with every change of a row below. */
const DOMAIN_LIST_VERSION = '2026.11.2'

/** RFC 5782 §5: a list of names has an entry for `test` and none for `invalid`. */
const USUAL = {
  ipv6: 'no',
  scope: 'domain',
  codes: [{ code: '127.0.0.2', meaning: 'listed' }],
  ignored: [],
  strict: true,
  allowance: { perSecond: 50 },
  testPoint: { negative: true, answers: [], names: { positive: 'test', negative: 'invalid' } },
  verified: '',
  notes: '',
} as const satisfies Partial<List>

const dbl = (code: string, meaning: string): CodeRow => ({ code, meaning })
const bit = (value: number, meaning: string, more: Partial<BitRow> = {}): BitRow => ({ bit: value, meaning, ...more })
const testPoint = (positive: string, negative = 'invalid') => ({
  negative: true,
  answers: [],
  names: { positive, negative },
})
/** What the lists of names of Spam Eating Monkey share; their test points: https://spameatingmonkey.com/faq.html. */
const SEM = {
  ...USUAL,
  tier: 'C',
  names: 'registrable',
  allowance: { perSecond: 5 },
  testPoint: testPoint('_dnsbl_.test', '_dnsblneg_.test'),
  delistUrl: 'https://spameatingmonkey.com',
  source: { page: 'https://spameatingmonkey.com/lists.html', seen: '2026-11-23' },
} as const satisfies Partial<List>

/**
 * The lists of domains, in the order of every answer. Each row names the operator's page; `seen`, the day on which the
 * row was compared with that page, and `verified`, that of live queries, stay empty until then.
 */
export const DOMAIN_LISTS: readonly List[] = [
  {
    ...USUAL,
    name: 'Spamhaus DBL',
    zone: 'dbl.spamhaus.org',
    tier: 'A',
    names: 'exact',
    codes: [
      dbl('127.0.1.2', 'domain of spam'),
      dbl('127.0.1.4', 'domain of phishing'),
      dbl('127.0.1.5', 'domain of malware'),
      dbl('127.0.1.6', 'domain of the control of a botnet'),
      dbl('127.0.1.102', 'abused legitimate domain: spam'),
      dbl('127.0.1.103', 'abused legitimate domain: redirector'),
      dbl('127.0.1.104', 'abused legitimate domain: phishing'),
      dbl('127.0.1.105', 'abused legitimate domain: malware'),
      dbl('127.0.1.106', 'abused legitimate domain: control of a botnet'),
    ],
    faults: [{ code: '127.0.1.255', reason: 'address_asked', meaning: 'an address was asked instead of a name' }],
    allowance: { perDay: 300_000 },
    testPoint: testPoint('dbltest.com'),
    delistUrl: 'https://check.spamhaus.org',
    source: {
      page: 'https://docs.spamhaus.com/datasets/docs/source/10-data-type-documentation/datasets/040-zones.html',
      seen: '2026-11-23',
    },
    notes: 'Refuses public resolvers (127.255.255.254) and heavy use (127.255.255.255).',
  },
  {
    ...USUAL,
    name: 'SURBL multi',
    zone: 'multi.surbl.org',
    tier: 'A',
    names: 'registrable',
    codes: [],
    bits: [
      bit(8, 'PH: phishing'),
      bit(16, 'MW: malware'),
      bit(64, 'ABUSE: spam and other abuse'),
      bit(128, 'CR: cracked site'),
      bit(4, 'DM: disposable mail', { tier: 'D' }),
      bit(32, 'CT: clicks are tracked', { tier: 'D' }),
    ],
    testPoint: testPoint('test.surbl.org'),
    delistUrl: 'https://surbl.org/surbl-analysis',
    source: { page: 'https://surbl.org/lists', seen: '' },
    notes: "Refuses heavy use (127.0.0.1). The operator's page could not be read: the bits are those of copies of it.",
  },
  {
    ...USUAL,
    name: 'URIBL multi',
    zone: 'multi.uribl.com',
    tier: 'B',
    names: 'registrable',
    codes: [],
    bits: [
      bit(2, 'black: seen in spam'),
      bit(4, 'grey: bulk mail that some do not want', { tier: 'D', scope: 'policy' }),
      bit(8, 'red: automatic, or registered lately', { tier: 'C' }),
    ],
    testPoint: testPoint('test.uribl.com'),
    delistUrl: 'https://admin.uribl.com',
    source: { page: 'https://uribl.com/about.shtml', seen: '2026-11-23' },
    notes: 'Refuses public resolvers and heavy use (127.0.0.1).',
  },
  { ...SEM, name: 'SEM-URI', zone: 'uribl.spameatingmonkey.net' },
  { ...SEM, name: 'SEM-URIRED', zone: 'urired.spameatingmonkey.net' },
  {
    ...USUAL,
    name: 'NordSpam DBL',
    zone: 'dbl.nordspam.com',
    tier: 'C',
    names: 'registrable',
    allowance: { perDay: 10_000 },
    delistUrl: 'https://www.nordspam.com/delist',
    source: { page: 'https://nordspam.com/usage', seen: '2026-11-23' },
  },
]

export const DOMAIN_SET: ListSet = { version: DOMAIN_LIST_VERSION, lists: DOMAIN_LISTS }
