import { describe, expect, it } from 'vitest'
import { type CheckAnswer, checkAnswer } from '../answers/check.ts'
import example from '../operations/examples/check.json' with { type: 'json' }
import { DOMAIN_PROFILES } from './domain.ts'
import { judgeProfile } from './profile.ts'

const answer = checkAnswer.parse(example)
const with_ = <Name extends keyof CheckAnswer>(name: Name, over: object) => ({
  [name]: { ...(answer[name] as object), ...over },
})
const host = { ...answer.mx[0]!, host: 'mx.a.example', resolvable: true }
const over6 = { address: '2001:db8::1', ptr: [], forward_confirmed: null }
const over4 = { address: '192.0.2.1', ptr: [], forward_confirmed: null }
const parked = { domain_role: { name: 'parked', because: '' } } as const
const noMx = { mx: [], mx_status: 'not_applicable', mx_kind: 'none' } as const
const tls = (over: object) => ({
  starttls: { status: 'pass', hosts: [{ host: 'mx.a.example', offered: true, protocol: 'TLSv1.3', ...over }] },
})
const tlsa = (over: object) =>
  with_('dane', {
    status: 'pass',
    reason: undefined,
    hosts: [{ host: 'mx.a.example', secure: true, records: [{ usable: true }], ...over }],
  })
const dmarc = (over: object) => with_('dmarc', { status: 'pass', valid: true, pct: undefined, ...over })
const UNKNOWN = { status: 'unknown', reason: 'no answer in time', valid: false }

type Cases = Readonly<
  Record<
    string,
    Readonly<Record<string, { met?: object; not_met?: object; unknown?: object; not_applicable?: object }>>
  >
>
const spfRule = {
  met: with_('spf', { status: 'pass', valid: true }),
  not_met: with_('spf', { status: 'fail', valid: false }),
  unknown: with_('spf', UNKNOWN),
}
const spfEnd = {
  met: with_('spf', { status: 'pass', valid: true, all: '~' }),
  not_met: with_('spf', { status: 'pass', valid: true, all: '?' }),
  unknown: with_('spf', UNKNOWN),
}
const spfNobody = {
  met: with_('spf', { status: 'pass', valid: true, record: 'v=spf1 -all' }),
  not_met: with_('spf', { status: 'pass', valid: true, record: 'v=spf1 ~all' }),
  unknown: with_('spf', UNKNOWN),
}
const dmarcRule = { met: dmarc({}), not_met: dmarc({ valid: false, status: 'fail' }), unknown: dmarc(UNKNOWN) }
const reject = {
  met: dmarc({ policy: 'reject', effective_policy: 'reject' }),
  not_met: dmarc({ policy: 'reject', effective_policy: 'reject', pct: 50 }),
  unknown: dmarc(UNKNOWN),
}
const enforced = {
  met: dmarc({ policy: 'quarantine', effective_policy: 'quarantine' }),
  not_met: dmarc({ policy: 'quarantine', effective_policy: 'none' }),
  unknown: dmarc(UNKNOWN),
}
const dkimKey = {
  met: with_('dkim', { keys: [{ ...answer.dkim.keys[0], usable: true }] }),
  not_met: with_('dkim', { keys: [], discovery: 'proven_absent' }),
  unknown: with_('dkim', { keys: [], discovery: 'none_found' }),
  not_applicable: parked,
}
const startTls = {
  met: tls({}),
  not_met: tls({ offered: false }),
  unknown: tls({ offered: null }),
  not_applicable: noMx,
}

const ofNobody = { domain_role: { name: 'accepts_mail_only', because: '' } }
const CASES: Cases = {
  'bulk-sender': {
    spf: { ...spfRule, not_applicable: ofNobody },
    dkim: dkimKey,
    dkim_key: {
      met: with_('dkim', { keys: [{ ...answer.dkim.keys[0], usable: true, key_type: 'rsa', key_bits: 2048 }] }),
      not_met: with_('dkim', { keys: [{ ...answer.dkim.keys[0], usable: true, key_type: 'rsa', key_bits: 512 }] }),
      unknown: with_('dkim', { keys: [] }),
      not_applicable: parked,
    },
    dmarc: { ...dmarcRule, not_applicable: parked },
    ptr: {
      met: with_('ptr', { status: 'pass', forward_confirmed: true }),
      not_met: with_('ptr', { status: 'warn', forward_confirmed: false }),
      unknown: with_('ptr', { status: 'unknown', reason: 'no answer in time', forward_confirmed: false }),
      not_applicable: noMx,
    },
  },
  'bod-18-01': {
    starttls: startTls,
    spf: spfRule,
    dmarc: dmarcRule,
    dmarc_reject: reject,
    dmarc_reports: {
      met: dmarc({ rua: [{ uri: 'mailto:Reports@dmarc.cyber.dhs.gov', authorized: null }] }),
      not_met: dmarc({ rua: [] }),
      unknown: dmarc(UNKNOWN),
    },
  },
  'uk-gov': {
    tls: { ...startTls, unknown: { starttls: undefined } },
    mta_sts: {
      met: with_('mta_sts', { status: 'pass', policy: { mode: 'enforce', max_age: 1, mx: [] } }),
      not_met: with_('mta_sts', { status: 'warn', policy: { mode: 'testing', max_age: 1, mx: [] } }),
      unknown: with_('mta_sts', UNKNOWN),
    },
    tls_rpt: {
      met: with_('tls_rpt', { status: 'pass', valid: true }),
      not_met: with_('tls_rpt', { status: 'warn', valid: false }),
      unknown: with_('tls_rpt', UNKNOWN),
    },
    spf: spfEnd,
    dkim: dkimKey,
    dmarc: dmarcRule,
    dmarc_reports: {
      met: dmarc({ rua: [{ uri: 'mailto:a@b.example', authorized: null }] }),
      not_met: dmarc({ rua: [] }),
      unknown: dmarc(UNKNOWN),
    },
    dmarc_enforced: enforced,
    no_mail: {
      met: { ...parked, ...spfNobody.met, ...reject.met, mx_status: 'not_applicable', mx_kind: 'null' },
      not_met: { ...parked, ...spfNobody.not_met },
      unknown: { ...parked, ...spfNobody.unknown },
      not_applicable: { domain_role: { name: 'sends_only', because: '' } },
    },
  },
  parked: {
    spf: spfNobody,
    dmarc: reject,
    dkim: {
      met: with_('dkim', { status: 'not_applicable', keys: [], discovery: 'none_found' }),
      not_met: with_('dkim', { status: 'pass', keys: [{ ...answer.dkim.keys[0], usable: true }], discovery: 'found' }),
      unknown: with_('dkim', { status: 'unknown', keys: [], discovery: 'unknown' }),
    },
    mx: {
      met: { mx_status: 'pass', mx_kind: 'null' },
      not_met: { mx_status: 'pass', mx_kind: 'explicit' },
      unknown: { mx_status: 'unknown' },
    },
  },
  'internet-nl': {
    ipv6_ns: {
      met: with_('ns', { servers: [1, 2].map(() => ({ addresses: ['2001:db8::1'] })) }),
      not_met: with_('ns', { servers: [{ addresses: ['2001:db8::1'] }, { addresses: ['192.0.2.1'] }] }),
      unknown: with_('ns', { status: 'unknown', servers: [] }),
    },
    ipv6_mx: {
      met: { mx: [{ ...host, addresses: [over6] }] },
      not_met: { mx: [{ ...host, addresses: [over4] }] },
      unknown: { mx: [{ ...host, addresses: [], resolvable: null }] },
      not_applicable: noMx,
    },
    dnssec: {
      met: with_('dnssec', { signed: true, bogus: false }),
      not_met: with_('dnssec', { signed: false, bogus: false }),
      unknown: with_('dnssec', { signed: null, bogus: null }),
    },
    dnssec_mx: {
      met: tlsa({}),
      not_met: tlsa({ secure: false }),
      unknown: tlsa({ secure: null }),
      not_applicable: noMx,
    },
    dmarc: dmarcRule,
    dmarc_policy: enforced,
    dkim: dkimKey,
    spf: spfRule,
    spf_policy: spfEnd,
    starttls: startTls,
    tls_version: {
      met: tls({}),
      not_met: tls({ outdated_protocol: 'TLSv1' }),
      unknown: tls({ protocol: null }),
      not_applicable: noMx,
    },
    dane: { met: tlsa({}), not_met: tlsa({ records: [] }), unknown: with_('dane', UNKNOWN), not_applicable: noMx },
  },
}

describe.each(DOMAIN_PROFILES)('$name', (profile) => {
  it('has a page that each rule was taken from, and each id once', () => {
    expect(profile.rules.filter(({ reference }) => !reference.startsWith('https://'))).toEqual([])
    expect(new Set(profile.rules.map(({ id }) => id)).size).toBe(profile.rules.length)
  })
  it.each(profile.rules.map(({ id }) => [id] as const))(
    '%s has a domain that meets it, one that does not, and one unknown',
    (id) => {
      const ruling = (over: object) =>
        judgeProfile(profile, { ...answer, ...over } as CheckAnswer).rules.find((rule) => rule.id === id)
      const cases = CASES[profile.name]?.[id]
      if (ruling({})?.status === 'not_observable') return expect(cases).toBeUndefined()
      const statuses = Object.entries(cases ?? {})
      expect(statuses.map(([status]) => status)).toEqual(expect.arrayContaining(['met', 'not_met', 'unknown']))
      for (const [status, over] of statuses)
        expect([status, ruling(over!)?.status, ruling(over!)?.because]).toEqual([
          status,
          status,
          expect.stringMatching(/./),
        ])
    },
  )
})

const ACCEPTED = { by: 'joe', reason: 'pilot', until: '2026-06-30T23:59:59.999Z' }
const fault = (id: string, severity: string, accepted = false) => ({
  id,
  severity,
  ...(accepted && { accepted: ACCEPTED }),
})
it.each<[what: string, findings: readonly object[], finding: string | undefined, accepted: boolean]>([
  ['nothing that says why', [], undefined, false],
  ['an open finding', [fault('dmarc.no_rua', 'low'), fault('dmarc.policy_none', 'medium')], 'dmarc.policy_none', false],
  ['an accepted finding', [fault('dmarc.policy_none', 'medium', true)], 'dmarc.policy_none', true],
  [
    'another accepted finding',
    [fault('dmarc.no_rua', 'low', true), fault('dmarc.policy_none', 'medium')],
    'dmarc.policy_none',
    false,
  ],
  [
    'one of two accepted',
    [fault('dmarc.policy_none', 'medium', true), fault('dmarc.malformed', 'high')],
    'dmarc.malformed',
    false,
  ],
])('an unmet rule has %s', (_, findings, finding, accepted) => {
  const over = { ...dmarc({ policy: 'none', effective_policy: 'none' }), findings }
  const { rules } = judgeProfile(DOMAIN_PROFILES.find(({ name }) => name === 'bod-18-01')!, {
    ...answer,
    ...over,
  } as CheckAnswer)
  const rule = rules.find(({ id }) => id === 'dmarc_reject')
  expect([rule?.status, rule?.finding, rule?.accepted !== undefined]).toEqual(['not_met', finding, accepted])
})
