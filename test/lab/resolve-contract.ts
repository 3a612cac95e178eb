import type { Answer, DnsReason, RecordType, ResolveOptions } from '../../src/net/dns/resolver.ts'

/**
 * What every Resolve does on the zone {@link CONTRACT_ZONE}: the fake of the tests, the client on the wire and its
 * wrappers alike.
 */
export type ContractRow = {
  readonly why: string
  readonly ask: readonly [name: string, type: RecordType, options?: ResolveOptions]
  readonly answer?: Partial<Answer>
  readonly error?: DnsReason
}

const LONG_LABEL = 'a'.repeat(64)
const LONG_NAME = `${'a.'.repeat(128)}example`

/** A zone literal as `test/lab/dns.ts` reads it. */
export const CONTRACT_ZONE = {
  'a.example': {
    A: ['192.0.2.1', '192.0.2.2'],
    MX: [
      [10, 'mx.a.example'],
      [20, '.'],
    ],
    TXT: ['v=spf1 -all', 'héllo'],
  },
  'six.example': { AAAA: ['2001:db8::1'] },
  'alias.example': { CNAME: ['second.example'] },
  'second.example': { CNAME: ['a.example'] },
  'nowhere.example': { CNAME: ['missing.example'] },
  'bare.example': { CNAME: ['six.example'] },
  'round.example': { CNAME: ['again.example'] },
  'again.example': { CNAME: ['round.example'] },
  'deep.under.example': { A: ['192.0.2.3'] },
  '*.wild.example': { A: ['192.0.2.4'] },
  'signed.example': { A: ['192.0.2.5'], AD: true, TTL: 60 },
  'bogus.example': { A: 'BOGUS' },
  'broken.example': 'SERVFAIL',
  'closed.example': 'REFUSED',
  'silent.example': 'TIMEOUT',
  'long.example': { TXT: ['x'.repeat(3_000)] },
  'tlsa.example': { TLSA: [{ usage: 3, selector: 1, matchingType: 1, data: 'ab01' }] },
  'ds.example': { DS: [{ keyTag: 7, algorithm: 13, digestType: 2, digest: '00ff' }] },
  'key.example': { DNSKEY: [{ flags: 257, protocol: 3, algorithm: 13, publicKey: 'AQID' }] },
  'caa.example': { CAA: [{ critical: false, tag: 'issue', value: 'ca.example' }] },
  'ns.example': { NS: ['ns1.example', 'ns2.example'] },
  '1.2.0.192.in-addr.arpa': { PTR: ['host.example'] },
} as const

export const CONTRACT: readonly ContractRow[] = [
  {
    why: 'records in the order of the server',
    ask: ['a.example', 'A'],
    answer: { kind: 'found', name: 'a.example', type: 'A', records: ['192.0.2.1', '192.0.2.2'] as never, cname: [] },
  },
  {
    why: 'a trailing dot and case do not matter',
    ask: ['A.Example.', 'A'],
    answer: { kind: 'found', name: 'a.example' },
  },
  {
    why: 'MX, the root as exchange is the empty name (RFC 7505 §3)',
    ask: ['a.example', 'MX'],
    answer: {
      records: [
        { preference: 10, exchange: 'mx.a.example' },
        { preference: 20, exchange: '' },
      ],
    },
  },
  { why: 'text as UTF-8', ask: ['a.example', 'TXT'], answer: { records: ['v=spf1 -all', 'héllo'] } },
  { why: 'IPv6 in canonical form', ask: ['six.example', 'AAAA'], answer: { records: ['2001:db8::1'] as never } },
  { why: 'the name exists without the type', ask: ['six.example', 'A'], answer: { kind: 'nodata', records: [] } },
  { why: 'no such name', ask: ['missing.example', 'A'], answer: { kind: 'nxdomain', records: [] } },
  { why: 'an empty non-terminal exists (RFC 8020)', ask: ['under.example', 'A'], answer: { kind: 'nodata' } },
  { why: 'a wildcard (RFC 4592)', ask: ['x.wild.example', 'A'], answer: { records: ['192.0.2.4'] as never } },
  {
    why: 'CNAMEs are followed',
    ask: ['alias.example', 'A'],
    answer: { kind: 'found', name: 'alias.example', cname: ['second.example', 'a.example'] },
  },
  {
    why: 'CNAME itself is not followed',
    ask: ['alias.example', 'CNAME'],
    answer: { records: ['second.example'], cname: [] },
  },
  {
    why: 'NXDOMAIN is of the end of the chain (RFC 6604 §3)',
    ask: ['nowhere.example', 'A'],
    answer: { kind: 'nxdomain', cname: ['missing.example'] },
  },
  {
    why: 'no data at the end of the chain',
    ask: ['bare.example', 'A'],
    answer: { kind: 'nodata', cname: ['six.example'] },
  },
  {
    why: 'AD of a trusted resolver, and the TTL',
    ask: ['signed.example', 'A'],
    answer: { secure: true, ttlSeconds: 60 },
  },
  { why: 'no AD', ask: ['a.example', 'A'], answer: { secure: false, ttlSeconds: 300 } },
  { why: 'bogus is SERVFAIL', ask: ['bogus.example', 'A'], error: 'servfail' },
  {
    why: 'and an answer with CD (RFC 4035 §3.2.2)',
    ask: ['bogus.example', 'A', { checkingDisabled: true }],
    answer: { kind: 'nodata' },
  },
  { why: 'SERVFAIL is no answer', ask: ['broken.example', 'A'], error: 'servfail' },
  { why: 'nor is REFUSED', ask: ['closed.example', 'MX'], error: 'refused' },
  { why: 'nor is silence', ask: ['silent.example', 'A'], error: 'timeout' },
  { why: 'an answer too large for a datagram', ask: ['long.example', 'TXT'], answer: { records: ['x'.repeat(3_000)] } },
  { why: 'TLSA', ask: ['tlsa.example', 'TLSA'], answer: { records: CONTRACT_ZONE['tlsa.example'].TLSA } },
  { why: 'DS', ask: ['ds.example', 'DS'], answer: { records: CONTRACT_ZONE['ds.example'].DS } },
  { why: 'DNSKEY', ask: ['key.example', 'DNSKEY'], answer: { records: CONTRACT_ZONE['key.example'].DNSKEY } },
  { why: 'CAA', ask: ['caa.example', 'CAA'], answer: { records: CONTRACT_ZONE['caa.example'].CAA } },
  { why: 'NS', ask: ['ns.example', 'NS'], answer: { records: ['ns1.example', 'ns2.example'] } },
  { why: 'PTR', ask: ['1.2.0.192.in-addr.arpa', 'PTR'], answer: { records: ['host.example'] } },
  { why: 'a label over 63 octets cannot be asked', ask: [`${LONG_LABEL}.example`, 'A'], error: 'invalid_name' },
  { why: 'nor a name over 255', ask: [LONG_NAME, 'A'], error: 'invalid_name' },
  { why: 'nor an empty label', ask: ['a..example', 'A'], error: 'invalid_name' },
  { why: 'a chain that loops', ask: ['round.example', 'A'], error: 'cname_loop' },
]
