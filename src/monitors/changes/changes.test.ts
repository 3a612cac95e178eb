import { describe, expect, it } from 'vitest'
import healthy from '../../../test/golden/check/healthy.json' with { type: 'json' }
import { type BlacklistAnswer, blacklistAnswer } from '../../answers/blacklist.ts'
import { checkAnswer } from '../../answers/check.ts'
import { reportAnswer } from '../../answers/report.ts'
import { verifyAnswer } from '../../answers/verify.ts'
import blacklistExample from '../../operations/examples/blacklist.json' with { type: 'json' }
import reportExample from '../../operations/examples/report.json' with { type: 'json' }
import verifyExample from '../../operations/examples/verify.json' with { type: 'json' }
import { blacklistChanges, CHECK_ROWS, changeLines, checkChanges, reportChanges, verifyChanges } from './changes.ts'
import { rememberCheck, rememberLists, rememberReport, rememberVerify } from './remember.ts'
import { BLACKLIST_ROWS, REPORT_ROWS, VERIFY_ROWS } from './results.ts'

/** Fields to put in place of others, by path (`spf.record`, `mx.0.priority`); undefined takes one away. */
type Edit = { readonly [path: string]: unknown }

function edited(value: unknown, edit: Edit): unknown {
  const copy: unknown = structuredClone(value)
  for (const [path, to] of Object.entries(edit)) {
    const names = path.split('.')
    const last = names.pop()!
    const holder = names.reduce<unknown>((at, name) => Reflect.get(at as object, name), copy) as object
    if (to === undefined) Reflect.deleteProperty(holder, last)
    else Reflect.set(holder, last, to)
  }
  return copy
}

/** A domain of which everything is known. */
const BASE = edited(healthy, {
  complete: true,
  score_min: undefined,
  score_max: undefined,
  mta_sts: {
    valid: true,
    record: 'v=STSv1; id=1',
    id: '1',
    uncovered_mx: [],
    status: 'pass',
    policy: { mode: 'enforce', max_age: 86_400, mx: ['mx.danegood.test'] },
  },
  starttls: {
    status: 'pass',
    hosts: [
      {
        host: 'mx.danegood.test',
        address: '45.53.5.27',
        banner_name: null,
        ehlo_name: null,
        offered: true,
        protocol: 'TLSv1.3',
        names: [],
        issuer: null,
        expires_at: null,
        trusted: true,
        name_matches: true,
        key_type: null,
        key_bits: null,
      },
    ],
  },
  dane: {
    status: 'pass',
    hosts: [
      {
        host: 'mx.danegood.test',
        secure: true,
        records: [{ usage: 3, selector: 1, matching_type: 1, data: 'aa', usable: true, matches: true }],
      },
    ],
  },
  'dnssec.signed': true,
  bimi: {
    valid: true,
    record: 'v=BIMI1; l=https://a.example/1.svg',
    logo: 'https://a.example/1.svg',
    authority: '',
    status: 'pass',
  },
})
const check = (edit: Edit = {}) => checkAnswer.parse(edited(BASE, edit))
const include = (name: string, state = 'record', lookups = 1) => ({
  term: `include:${name}`,
  state,
  lookups,
  void_lookups: 0,
  includes: [],
})
const finding = (id: string, severity = 'medium') => ({
  id,
  severity,
  title: `title of ${id}`,
  detail: '',
  reference: '',
})
const key = (selector: string, p = 'AAAA', over: Edit = {}) => ({
  ...healthy.dkim.keys[0],
  selector,
  name: `${selector}._domainkey.healthy.test`,
  record: `v=DKIM1; p=${p}`,
  records: [`v=DKIM1; p=${p}`],
  ...over,
})
const NO_SPF: Edit = {
  'spf.records': [],
  'spf.record': undefined,
  'spf.all': undefined,
  'spf.lookups': undefined,
  'spf.valid': false,
  'spf.passing': undefined,
  'spf.status': 'fail',
}
const NO_DMARC: Edit = {
  'dmarc.record': undefined,
  'dmarc.policy': '',
  'dmarc.valid': false,
  'dmarc.rua': [],
  'dmarc.status': 'fail',
  'dmarc.domain': undefined,
  'dmarc.subdomain_policy': '',
}

/**
 * id of the row, before, after, and the line that is said; the same the other way round where a second line is given.
 */
const TABLE: readonly (readonly [string, Edit, Edit, string, string?])[] = [
  ['spf.published', NO_SPF, {}, 'SPF: record published: v=spf1 mx -all'],
  ['spf.removed', {}, NO_SPF, 'SPF: record removed'],
  [
    'spf.several_records',
    {},
    { 'spf.records': ['a', 'b'] },
    'SPF: 2 records instead of one: receivers use none of them',
    'SPF: only one record again',
  ],
  [
    'spf.include_removed',
    { 'spf.includes': [include('x.example')], 'spf.lookups': 12 },
    { 'spf.lookups': 7 },
    'SPF: include of x.example removed; 7 lookups instead of 12',
    'SPF: include of x.example added; 12 lookups instead of 7, more than the 10 allowed',
  ],
  ['spf.include_added', {}, { 'spf.includes': [include('x.example')] }, 'SPF: include of x.example added'],
  [
    'spf.include_broken',
    { 'spf.includes': [include('x.example')] },
    { 'spf.includes': [include('x.example', 'none')] },
    'SPF: include:x.example is none now, was record',
  ],
  [
    'spf.all',
    {},
    { 'spf.all': '~' },
    'SPF: the record ends in "~all" instead of "-all"',
    'SPF: the record ends in "-all" instead of "~all"',
  ],
  [
    'spf.lookups',
    {},
    { 'spf.lookups': 11 },
    'SPF: 11 lookups instead of 1, more than the 10 allowed',
    'SPF: 1 lookup instead of 11',
  ],
  ['spf.record', {}, { 'spf.records': ['v=spf1 a -all'] }, 'SPF: the record is now v=spf1 a -all, was v=spf1 mx -all'],
  ['spf.passing', {}, { 'spf.passing.ipv4': 1_024 }, 'SPF: 1,024 IPv4 addresses pass instead of 2'],
  [
    'spf.valid',
    {},
    { 'spf.valid': false },
    'SPF: the record results in permerror',
    'SPF: the record can be evaluated again',
  ],
  ['dkim.key_added', {}, { 'dkim.keys': [...healthy.dkim.keys, key('s9')] }, 'DKIM: new key at s9 (rsa of 2048 bits)'],
  [
    'dkim.key_removed',
    { 'dkim.keys': [key('s9')] },
    { 'dkim.keys': [], 'dkim.valid': false, 'dkim.status': 'unknown' },
    'DKIM: the key at s9 was removed; no usable key remains',
  ],
  [
    'dkim.key_revoked',
    { 'dkim.keys': [key('s1')] },
    { 'dkim.keys': [key('s1', '', { revoked: true, usable: false })] },
    'DKIM: the key at s1 was revoked',
  ],
  [
    'dkim.key_unusable',
    { 'dkim.keys': [key('s1')] },
    { 'dkim.keys': [key('s1', '!', { usable: false, problem: 'p= is no base64' })] },
    'DKIM: the key at s1 is not usable: p= is no base64',
    'DKIM: the key at s1 is usable',
  ],
  [
    'dkim.key_replaced',
    { 'dkim.keys': [key('s1', 'AAAA', { key_bits: 1_024 })] },
    { 'dkim.keys': [key('s1', 'BBBB')] },
    'DKIM: key replaced, rsa of 2048 bits instead of rsa of 1024 bits at s1',
  ],
  [
    'dkim.testing',
    { 'dkim.keys': [key('s1')] },
    { 'dkim.keys': [key('s1', 'AAAA', { testing: true })] },
    'DKIM: the key at s1 is now in test mode (t=y)',
    'DKIM: the key at s1 is no longer in test mode',
  ],
  ['dmarc.published', NO_DMARC, {}, 'DMARC: record published, policy reject'],
  ['dmarc.removed', {}, NO_DMARC, 'DMARC: record removed; its policy was reject'],
  [
    'dmarc.policy',
    {},
    { 'dmarc.policy': 'none', 'dmarc.subdomain_policy': 'none' },
    'DMARC: policy none instead of reject',
    'DMARC: policy reject instead of none',
  ],
  [
    'dmarc.subdomain_policy',
    { 'dmarc.subdomain_policy': 'quarantine' },
    { 'dmarc.subdomain_policy': 'none' },
    'DMARC: policy none for subdomains instead of quarantine',
  ],
  [
    'dmarc.testing',
    {},
    { 'dmarc.testing': true },
    'DMARC: the policy is now in test mode (t=y)',
    'DMARC: the policy is no longer in test mode',
  ],
  [
    'dmarc.source',
    {},
    { 'dmarc.domain': 'test' },
    'DMARC: the record of test now applies instead of that of healthy.test',
  ],
  [
    'dmarc.rua',
    {},
    { 'dmarc.rua': [{ uri: 'mailto:d@b.example', authorized: true }] },
    'DMARC: aggregate reports now also go to mailto:d@b.example; aggregate reports no longer go to mailto:dmarc@healthy.test',
  ],
  [
    'dmarc.ruf',
    {},
    { 'dmarc.ruf': [{ uri: 'mailto:d@b.example', authorized: true }] },
    'DMARC: failure reports now also go to mailto:d@b.example',
    'DMARC: failure reports no longer go to mailto:d@b.example',
  ],
  [
    'dmarc.report_authorization',
    { 'dmarc.rua.0.authorized': true },
    { 'dmarc.rua.0.authorized': false },
    'DMARC: mailto:dmarc@healthy.test no longer accepts the reports',
    'DMARC: mailto:dmarc@healthy.test now accepts the reports',
  ],
  [
    'dmarc.valid',
    {},
    { 'dmarc.valid': false },
    'DMARC: the record is no longer valid',
    'DMARC: the record is now valid',
  ],
  [
    'dmarc.record',
    {},
    { 'dmarc.record': 'v=DMARC1; p=reject; ri=1' },
    'DMARC: the record is now v=DMARC1; p=reject; ri=1, was v=DMARC1; p=reject; rua=mailto:dmarc@healthy.test',
  ],
  [
    'mx.kind',
    { mx: [] },
    { mx: [], mx_kind: 'null' },
    'MX: the domain now declares that it accepts no mail (null MX)',
    'MX: mail now goes to the hosts of MX records',
  ],
  ['mx.host_added', { mx: [healthy.mx[0]] }, {}, 'MX: mx.danesecond.test added', 'MX: mx.danesecond.test removed'],
  ['mx.host_removed', {}, { mx: [healthy.mx[0]] }, 'MX: mx.danesecond.test removed'],
  ['mx.preference', {}, { 'mx.0.priority': 30 }, 'MX: mx.danegood.test has preference 30 instead of 10'],
  [
    'mx.resolvable',
    {},
    { 'mx.0.resolvable': false, 'mx.0.addresses': [] },
    'MX: mx.danegood.test no longer has an address',
    'MX: mx.danegood.test has an address again',
  ],
  [
    'mx.addresses',
    {},
    { 'mx.0.addresses.0.address': '45.53.5.99' },
    'MX: addresses of mx.danegood.test: 45.53.5.99 added, 45.53.5.27 removed',
  ],
  [
    'ptr.names',
    {},
    { 'mx.0.addresses.0.ptr': [] },
    'PTR: 45.53.5.27 no longer has a PTR name (was mx.danegood.test)',
    'PTR: 45.53.5.27 now has the PTR name mx.danegood.test',
  ],
  [
    'ptr.confirmed',
    {},
    { 'mx.0.addresses.0.forward_confirmed': false },
    'PTR: the PTR name of 45.53.5.27 no longer resolves back to it',
    'PTR: the PTR name of 45.53.5.27 resolves back to it',
  ],
  ['mta_sts.published', { 'mta_sts.record': undefined }, {}, 'MTA-STS: record published', 'MTA-STS: record removed'],
  ['mta_sts.removed', {}, { 'mta_sts.record': undefined }, 'MTA-STS: record removed'],
  [
    'mta_sts.valid',
    {},
    { 'mta_sts.valid': false, 'mta_sts.reason': 'no policy' },
    'MTA-STS: no longer usable: no policy',
    'MTA-STS: usable again',
  ],
  [
    'mta_sts.mode',
    {},
    { 'mta_sts.policy.mode': 'testing' },
    'MTA-STS: mode testing instead of enforce',
    'MTA-STS: mode enforce instead of testing',
  ],
  [
    'mta_sts.mx',
    {},
    { 'mta_sts.policy.mx': ['*.test'] },
    'MTA-STS: the policy has the hosts *.test instead of mx.danegood.test',
  ],
  [
    'mta_sts.uncovered_mx',
    {},
    { 'mta_sts.uncovered_mx': ['mx.other.test'] },
    'MTA-STS: the policy no longer contains mx.other.test',
    'MTA-STS: the policy contains mx.other.test, or it is no longer an MX host',
  ],
  ['tls_rpt.published', { 'tls_rpt.record': undefined }, {}, 'TLS-RPT: record published', 'TLS-RPT: record removed'],
  ['tls_rpt.removed', {}, { 'tls_rpt.record': undefined }, 'TLS-RPT: record removed'],
  ['tls_rpt.valid', {}, { 'tls_rpt.valid': false }, 'TLS-RPT: no longer usable', 'TLS-RPT: usable again'],
  [
    'tls_rpt.rua',
    {},
    { 'tls_rpt.rua': ['mailto:t@b.example'] },
    'TLS-RPT: reports go to mailto:t@b.example instead of mailto:tls@healthy.test',
  ],
  ['bimi.published', { 'bimi.record': undefined }, {}, 'BIMI: record published', 'BIMI: record removed'],
  ['bimi.removed', {}, { 'bimi.record': undefined }, 'BIMI: record removed'],
  ['bimi.valid', {}, { 'bimi.valid': false }, 'BIMI: no longer usable', 'BIMI: usable again'],
  [
    'bimi.logo',
    {},
    { 'bimi.logo': 'https://a.example/2.svg' },
    'BIMI: the logo is https://a.example/2.svg instead of https://a.example/1.svg',
  ],
  [
    'dane.records',
    {},
    { 'dane.hosts.0.records': [] },
    'DANE: the TLSA records of mx.danegood.test were removed',
    'DANE: mx.danegood.test now has TLSA records',
  ],
  [
    'dane.matches',
    {},
    { 'dane.hosts.0.records.0.matches': false },
    'DANE: the certificate of mx.danegood.test no longer matches its TLSA records: senders that use DANE do not deliver',
    'DANE: the certificate of mx.danegood.test matches its TLSA records again',
  ],
  [
    'starttls.offered',
    {},
    { 'starttls.hosts.0.offered': false },
    'STARTTLS: mx.danegood.test [45.53.5.27] no longer offers STARTTLS',
    'STARTTLS: mx.danegood.test [45.53.5.27] offers STARTTLS again',
  ],
  [
    'starttls.trusted',
    {},
    { 'starttls.hosts.0.trusted': false },
    'STARTTLS: mx.danegood.test [45.53.5.27] no longer has a trusted certificate',
    'STARTTLS: mx.danegood.test [45.53.5.27] now has a trusted certificate',
  ],
  [
    'starttls.name_matches',
    {},
    { 'starttls.hosts.0.name_matches': false },
    'STARTTLS: mx.danegood.test [45.53.5.27] now has a certificate for another name',
    'STARTTLS: mx.danegood.test [45.53.5.27] now has a certificate for its name',
  ],
  [
    'ns.added',
    { 'ns.servers': [healthy.ns.servers[0]] },
    {},
    'Name servers: ns2.lab.test added',
    'Name servers: ns2.lab.test removed',
  ],
  ['ns.removed', {}, { 'ns.servers': [healthy.ns.servers[0]] }, 'Name servers: ns2.lab.test removed'],
  [
    'ns.lame',
    {},
    { 'ns.servers.1.lame': true },
    'Name servers: ns2.lab.test no longer answers for the domain',
    'Name servers: ns2.lab.test answers for the domain again',
  ],
  [
    'ns.differs',
    {},
    { 'ns.servers.1.differs': ['MX'] },
    'Name servers: ns2.lab.test has records that differ from those of the other servers (MX)',
    'Name servers: ns2.lab.test has the same records as the other servers again',
  ],
  [
    'soa.primary',
    {},
    { 'soa.primary': 'ns9.lab.test' },
    `SOA: primary server ns9.lab.test instead of ${healthy.soa.primary}`,
  ],
  ['soa.contact', {}, { 'soa.contact': 'x@lab.test' }, `SOA: contact x@lab.test instead of ${healthy.soa.contact}`],
  [
    'dnssec.signed',
    {},
    { 'dnssec.signed': false },
    'DNSSEC: the zone is no longer signed',
    'DNSSEC: the zone is now signed',
  ],
  [
    'dnssec.bogus',
    {},
    { 'dnssec.bogus': true },
    'DNSSEC: DNSSEC validation fails: validating resolvers return no answer',
    'DNSSEC: DNSSEC validation succeeds again',
  ],
  ['caa.records', {}, { 'caa.records': [] }, 'CAA: issue ca.lab.test removed', 'CAA: issue ca.lab.test added'],
  [
    'finding.new',
    {},
    { findings: [...healthy.findings, finding('spf.too_wide')] },
    'New findings: title of spf.too_wide (spf.too_wide)',
    'Solved: title of spf.too_wide (spf.too_wide)',
  ],
  ['finding.solved', { findings: [finding('mx.one')] }, { findings: [] }, 'Solved: title of mx.one (mx.one)'],
  ['score', {}, { score: 80, grade: 'B' }, 'Score: 80 (B) instead of 100 (A+)', 'Score: 100 (A+) instead of 80 (B)'],
]

describe('a check', () => {
  it.each(TABLE.map((row) => [row[0], row] as const))('%s', (_, [id, before, after, line, back]) => {
    const found = checkChanges(check(before), check(after))
    expect(found.map((one) => one.id)).toContain(id)
    expect(changeLines(found)).toContain(line)
    if (back !== undefined) expect(changeLines(checkChanges(check(after), check(before)))).toContain(back)
  })
  it('an address without a PTR name is told once, not as a name that does not resolve back too', () => {
    const unnamed = check({ 'mx.0.addresses.0.ptr': [], 'mx.0.addresses.0.forward_confirmed': false })
    expect(checkChanges(check(), unnamed).map(({ id }) => id)).toEqual(['ptr.names'])
    expect(checkChanges(unnamed, check()).map(({ id }) => id)).toEqual(['ptr.names'])
  })
  it('every kind of change has a row here', () =>
    expect(new Set(TABLE.map(([id]) => id))).toEqual(new Set(CHECK_ROWS.map(({ id }) => id))))
  it('that is the same has no changes', () =>
    expect(checkChanges(check(), check({ 'soa.serial': 9, observed_at: '2026-01-02T03:04:05Z' }))).toEqual([]))

  it.each(['spf', 'dmarc', 'mta_sts', 'tls_rpt', 'bimi', 'dane', 'ns', 'soa', 'caa', 'starttls'])(
    'unknown is never a change: %s',
    (part) => {
      const empty = { spf: NO_SPF, dmarc: NO_DMARC }[part] ?? {}
      const open = check({ ...empty, [`${part}.status`]: 'unknown', complete: false, findings: [finding(`${part}.x`)] })
      expect(checkChanges(check({ findings: [] }), open)).toEqual([])
      expect(checkChanges(open, check({ findings: [] }))).toEqual([])
    },
  )
  it.each<[string, Edit]>([
    ['mail hosts', { mx_status: 'unknown', mx: [], complete: false }],
    [
      'keys, some of which were not asked for',
      { 'dkim.keys': [], findings: [finding('dkim.not_asked', 'info')], complete: false },
    ],
    ['an address of a host', { 'mx.0.resolvable': null, 'mx.0.addresses': [] }],
    ['the name of an address', { 'mx.0.addresses.0.ptr': [], 'mx.0.addresses.0.forward_confirmed': null }],
    ['one name server', { 'ns.servers.1.lame': null }],
    ['a signature', { 'dnssec.signed': null, 'dnssec.bogus': null }],
    ['a score', { complete: false, score: 3 }],
    ['a score of another version', { score_version: 99, score: 3 }],
  ])('unknown is never a change: %s', (_, edit) => {
    const lines = changeLines(checkChanges(check({ findings: [] }), check({ findings: [], ...edit })))
    expect(lines).toEqual([])
    expect(changeLines(checkChanges(check({ findings: [], ...edit }), check({ findings: [] })))).toEqual([])
  })

  it('a domain that is gone is one change, and so is its return', () => {
    const gone = check({ ...NO_SPF, ...NO_DMARC, mx: [], 'domain_role.name': 'no_such_domain', score: 0 })
    expect(checkChanges(check(), gone)).toEqual([
      { id: 'domain.gone', area: 'Domain', effect: 'worse', text: 'healthy.test no longer exists' },
    ])
    expect(checkChanges(gone, check()).map(({ id }) => id)).toEqual(['domain.exists'])
    expect(checkChanges(gone, gone)).toEqual([])
  })
  it('text from outside is cleaned', () =>
    expect(changeLines(checkChanges(check(), check({ 'spf.records': ['v=spf1 \u001b[31m\u202e'] })))[0]).not.toMatch(
      /[\u001b\u202e]/,
    ))
})

const lists = (edit: Edit = {}): BlacklistAnswer =>
  blacklistAnswer.parse(
    edited(blacklistExample, { 'results.0.status': 'not_listed', 'results.0.listed': false, ...edit }),
  )
const first = blacklistExample.results[0]!

it.each<[string, Edit, Edit, string | undefined]>([
  [
    'blacklist.listed',
    {},
    { 'results.0.status': 'listed', 'results.0.listed': true, 'results.0.meaning': ['spam source'] },
    `Blacklists: ${blacklistExample.ip} is now on ${first.blacklist} (spam source)`,
  ],
  [
    'blacklist.delisted',
    { 'results.0.status': 'listed' },
    {},
    `Blacklists: ${blacklistExample.ip} is no longer on ${first.blacklist}`,
  ],
  ['a list that gave no answer', { 'results.0.status': 'listed' }, { 'results.0.status': 'timeout' }, undefined],
  ['a list that gave no answer before', { 'results.0.status': 'blocked' }, { 'results.0.status': 'listed' }, undefined],
])('of lists: %s', (id, before, after, line) => {
  const found = blacklistChanges(lists(before), lists(after))
  expect(changeLines(found)).toEqual(line === undefined ? [] : [line])
  if (line !== undefined) expect(BLACKLIST_ROWS.map((row) => row.id)).toContain(id)
})

it.each<[string, Edit, Edit, RegExp]>([
  [
    'blacklist.listed',
    { 'blacklists.0.results.0.status': 'not_listed' },
    { 'blacklists.0.results.0.status': 'listed' },
    /^Blacklists: .+ is now on /,
  ],
  [
    'blacklist.delisted',
    { 'blacklists.0.results.0.status': 'listed' },
    { 'blacklists.0.results.0.status': 'not_listed' },
    /is no longer on /,
  ],
  [
    'blacklist.new_address',
    { blacklists: [] },
    { 'blacklists.0.listed': 1, 'blacklists.0.results.0.listed': true },
    /^Blacklists: .+, a new address of a mail host, is on /,
  ],
])('of a report: %s', (id, before, after, line) => {
  const report = (edit: Edit) => reportAnswer.parse(edited(reportExample, edit))
  const found = reportChanges(report(before), report(after))
  expect(found.map((one) => one.id)).toContain(id)
  expect(changeLines(found).join('\n')).toMatch(line)
  expect(REPORT_ROWS.map((row) => row.id)).toContain(id)
})

it('an address of a host whose addresses were not all known is not told as new', () => {
  const { mx_hosts = [] } = reportExample.blacklists[0] ?? {}
  const unknown = { blacklists: [], 'blacklist_summary.unknown_hosts': mx_hosts }
  const report = (edit: Edit) => reportAnswer.parse(edited(reportExample, edit))
  const listed = { 'blacklists.0.listed': 1, 'blacklists.0.results.0.listed': true }
  const ids = reportChanges(report(unknown), report(listed)).map(({ id }) => id)
  expect(ids).not.toContain('blacklist.new_address')
})

const verify = (edit: Edit = {}) => verifyAnswer.parse(edited(verifyExample, edit))
const VERIFIED: readonly (readonly [string, Edit, Edit, readonly string[]])[] = [
  [
    'verify.result',
    {},
    { result: 'rejected', reason: 'mailbox_not_found' },
    ['Mailbox: rejected (mailbox_not_found), was accepted (mailbox_exists)'],
  ],
  [
    'verify.reason',
    { result: 'rejected', reason: 'mailbox_disabled' },
    { result: 'rejected', reason: 'mailbox_not_found' },
    ['Mailbox: rejected with mailbox_not_found instead of mailbox_disabled'],
  ],
  ['verify.provider', { provider: 'a' }, { provider: 'b' }, ['Mailbox: the provider is b instead of a']],
  [
    'verify.disposable',
    { checked: ['disposable'] },
    { checked: ['disposable'], disposable: true },
    ['Mailbox: the domain is now a disposable-mail provider'],
  ],
  ['verify.free', {}, { free: true }, ['Mailbox: the domain is now a free-mail provider']],
  ['deferred is no change', {}, { result: 'deferred', reason: 'greylisted' }, []],
  ['unreachable is no change', { result: 'unreachable', reason: 'connect_timeout' }, {}, []],
  ['what was not looked up is no change', { checked: [] }, { free: true }, []],
]
it.each(VERIFIED)('of a mailbox: %s', (_, before, after, lines) =>
  expect(changeLines(verifyChanges(verify(before), verify(after)))).toEqual(lines),
)
it('every kind of change of a mailbox has a row here', () =>
  expect(VERIFIED.map(([id]) => id)).toEqual(expect.arrayContaining(VERIFY_ROWS.map(({ id }) => id))))

describe('the last known state', () => {
  const gap: Edit = {
    ...NO_SPF,
    'spf.status': 'unknown',
    mx_status: 'unknown',
    mx: [],
    'ns.servers.1.lame': null,
    'dkim.keys': [],
    findings: [finding('dkim.not_asked', 'info')],
    complete: false,
    score: 5,
  }
  it('survives what could not be determined, so that a gap is no change on either side', () => {
    const known = rememberCheck(check(), check(gap))
    expect(checkChanges(check(), known).filter(({ area }) => area !== 'Solved')).toEqual([])
    expect(known).toMatchObject({ mx: check().mx, spf: check().spf, score: 100, dkim: check().dkim })
    expect(checkAnswer.safeParse(known).success).toBe(true)
  })
  it('a change behind a gap is seen', () => {
    const known = rememberCheck(check(), check(gap))
    expect(checkChanges(known, check({ 'spf.all': '~' })).map(({ id }) => id)).toContain('spf.all')
  })
  it.each<[string, Edit, string]>([
    ['better where it is not known', { complete: false, status: 'unknown' }, 'warn'],
    ['worse, whatever else is not known', { complete: false, status: 'fail' }, 'fail'],
    ['better where the score is known', { complete: false, score_min: 90, score_max: 90, status: 'pass' }, 'pass'],
  ])('has the status that is known: %s', (_, edit, status) =>
    expect(rememberCheck(check({ status: 'warn' }), check(edit)).status).toBe(status),
  )
  it.each<[string, Edit, Edit, number]>([
    ['is told', {}, { report_score: 40 }, 40],
    ['is kept where it is a range', {}, { report_score: 40, complete: false, score_min: 20, score_max: 90 }, 77],
    ['is told where lists alone are open', {}, { report_score: 40, complete: false, score_min: 90, score_max: 90 }, 40],
    [
      'is kept where a list that had it gave no answer',
      { 'blacklists.0.results.0.status': 'listed' },
      { 'blacklists.0.results.0.status': 'timeout', report_score: 92 },
      77,
    ],
  ])('the score of a report %s', (_, before, after, score) => {
    const known = { complete: true, score_min: undefined, score_max: undefined, report_score: 77 }
    const report = (edit: Edit) => reportAnswer.parse(edited(reportExample, { ...known, ...edit }))
    expect(rememberReport(report(before), report(after)).report_score).toBe(score)
  })
  it('of lists and mailboxes', () => {
    expect(
      rememberLists(lists({ 'results.0.status': 'listed' }), lists({ 'results.0.status': 'timeout' })).results[0]!
        .status,
    ).toBe('listed')
    expect(rememberVerify(verify(), verify({ result: 'deferred' })).result).toBe('accepted')
  })
})
