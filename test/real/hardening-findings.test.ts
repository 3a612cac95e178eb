import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as checks from '../../src/checks/registry.ts'
import { type Program, startProgram } from './program.ts'

/**
 * MTA-STS, TLS-RPT, BIMI, CAA, NS and SOA over real name servers and HTTPS hosts: every finding has a domain that shows
 * it and one that does not.
 */
let program: Program
beforeAll(async () => {
  program = await startProgram()
})
afterAll(async () => void (await program?.stop()))

type Found = { readonly id: string; readonly severity: string; readonly detail: string }
type Answer = { readonly findings: readonly Found[] } & Readonly<Record<string, unknown>>
async function check(name: string, timeout = '6s'): Promise<Answer> {
  const got = await program.get(`/v1/check?domain=${name}.test&timeout=${timeout}`)
  expect(got.status, JSON.stringify(got.body)).toBe(200)
  return got.body as Answer
}

const KEYS = ['mta_sts', 'tls_rpt', 'bimi', 'caa', 'ns', 'soa'] as const
type Key = (typeof KEYS)[number]
const idsOf = (answer: Answer, key: Key): string[] =>
  answer.findings.map(({ id }) => id).filter((id) => id.startsWith(`${key}.`))

/** A domain, the status of the check, and all findings of it. */
type Row = readonly [name: string, status: string, ids: readonly string[]]
const SHOWN: Readonly<Record<Key, readonly Row[]>> = {
  mta_sts: [
    ['healthy', 'pass', []],
    ['stsgood', 'pass', []],
    ['accept', 'warn', ['mta_sts.no_record']],
    ['parked', 'not_applicable', ['mta_sts.no_mail']],
    ['ststwo', 'fail', ['mta_sts.several_records']],
    ['stsversion', 'fail', ['mta_sts.version']],
    ['stssyntax', 'fail', ['mta_sts.syntax']],
    ['stsrefuses', 'warn', ['mta_sts.no_policy']],
    ['stsdrip', 'unknown', ['mta_sts.policy_unknown']],
    ['stsmissing', 'warn', ['mta_sts.no_policy']],
    ['stshtml', 'fail', ['mta_sts.policy_type']],
    ['stswrongname', 'warn', ['mta_sts.no_policy']],
    ['stsexpired', 'warn', ['mta_sts.no_policy']],
    ['stsself', 'warn', ['mta_sts.no_policy']],
    ['stsredirect', 'warn', ['mta_sts.no_policy']],
    ['stsprivate', 'warn', ['mta_sts.no_policy']],
    ['stsbroken', 'fail', ['mta_sts.policy_syntax']],
    ['stsother', 'fail', ['mta_sts.uncovered_mx', 'mta_sts.unused_mx']],
    ['stsothertesting', 'warn', ['mta_sts.uncovered_mx_testing', 'mta_sts.testing', 'mta_sts.unused_mx']],
    ['ststesting', 'warn', ['mta_sts.testing']],
    ['stsnone', 'warn', ['mta_sts.none']],
    ['stsshort', 'warn', ['mta_sts.short_max_age']],
    ['stslong', 'warn', ['mta_sts.long_max_age']],
    ['stsunused', 'pass', ['mta_sts.unused_mx']],
    ['stsmx', 'unknown', ['mta_sts.mx_unknown']],
  ],
  tls_rpt: [
    ['healthy', 'pass', []],
    ['accept', 'warn', ['tls_rpt.no_record']],
    ['parked', 'not_applicable', ['tls_rpt.no_mail']],
    ['rpttwo', 'fail', ['tls_rpt.several_records']],
    ['rptversion', 'fail', ['tls_rpt.version']],
    ['rptsyntax', 'fail', ['tls_rpt.syntax']],
    ['rpturi', 'warn', ['tls_rpt.report_uri']],
  ],
  bimi: [
    ['bimigood', 'pass', []],
    ['bimisvgz', 'pass', []],
    ['accept', 'not_applicable', ['bimi.no_record']],
    ['bimideclined', 'pass', ['bimi.declined']],
    ['news.bimigood', 'pass', ['bimi.inherited']],
    ['bimitwo', 'fail', ['bimi.several_records']],
    ['bimiversion', 'fail', ['bimi.version']],
    ['bimisyntax', 'fail', ['bimi.syntax']],
    ['bimihttp', 'fail', ['bimi.location']],
    ['bimimark', 'warn', ['bimi.no_logo']],
    ['bimipng', 'fail', ['bimi.not_svg']],
    ['bimimissing', 'fail', ['bimi.logo_unavailable']],
    ['bimiexpired', 'fail', ['bimi.logo_unavailable']],
    ['bimiprivate', 'fail', ['bimi.logo_unavailable']],
    ['bimihuge', 'fail', ['bimi.logo_unavailable']],
    ['bimibomb', 'fail', ['bimi.logo_unavailable']],
    ['bimirefuses', 'unknown', ['bimi.logo_unknown']],
    ['bimiscript', 'fail', ['bimi.logo_profile']],
    ['bimientities', 'fail', ['bimi.logo_profile']],
    ['bimioutside', 'fail', ['bimi.logo_profile']],
    ['bimilarge', 'warn', ['bimi.logo_large']],
    ['bimiwide', 'warn', ['bimi.logo_not_square']],
    ['biminone', 'warn', ['bimi.dmarc_not_enforced', 'bimi.no_certificate']],
    ['bimidmarc', 'unknown', ['bimi.dmarc_unknown', 'bimi.no_certificate']],
    ['bimibare', 'pass', ['bimi.no_certificate']],
  ],
  caa: [
    ['healthy', 'pass', []],
    ['caagood', 'pass', []],
    ['accept', 'warn', ['caa.none']],
    ['parked', 'not_applicable', ['caa.no_mail']],
    ['caaiodef', 'warn', ['caa.no_issue']],
    ['caanobody', 'pass', ['caa.nobody']],
    ['www.caagood', 'pass', ['caa.inherited']],
    ['caacritical', 'warn', ['caa.unknown_critical']],
    ['caabroken', 'warn', ['caa.syntax', 'caa.nobody']],
  ],
  ns: [
    ['healthy', 'pass', ['ns.no_ipv6']], // no name server of the test network has an IPv6 address
    ['nic', 'fail', ['ns.none']], // a name in the zone above, and no zone
    ['missing', 'not_applicable', []],
    ['nssingle', 'warn', ['ns.delegation', 'ns.single', 'ns.no_ipv6']],
    ['nsnetwork', 'warn', ['ns.delegation', 'ns.one_network', 'ns.no_ipv6']],
    ['nsgone', 'warn', ['ns.delegation', 'ns.unresolvable', 'ns.no_ipv6']],
    ['nscname', 'warn', ['ns.delegation', 'ns.cname', 'ns.no_ipv6']],
    ['nslame', 'warn', ['ns.delegation', 'ns.lame', 'ns.no_ipv6']],
    ['nssilent', 'warn', ['ns.delegation', 'ns.silent', 'ns.no_ipv6']],
    ['nsstale', 'warn', ['ns.delegation', 'ns.differs', 'ns.serial', 'ns.no_ipv6']],
    ['nsmany', 'warn', ['ns.delegation', 'ns.too_many', 'ns.silent', 'ns.no_ipv6']],
    ['nsprivate', 'warn', ['ns.delegation', 'ns.not_public']],
    ['nsudp', 'warn', ['ns.delegation', 'ns.no_tcp', 'ns.no_ipv6']],
    ['nsglue', 'warn', ['ns.glue', 'ns.no_ipv6']],
    ['nsnoglue', 'warn', ['ns.glue_missing', 'ns.no_ipv6']],
  ],
  soa: [
    ['healthy', 'pass', []],
    ['nic', 'fail', ['soa.none']],
    ['missing', 'not_applicable', []],
    ['soabad', 'warn', ['soa.primary', 'soa.contact', 'soa.retry', 'soa.expire', 'soa.minimum']],
  ],
}

const rows = KEYS.flatMap((key) => SHOWN[key].map((row) => [key, ...row] as const))

describe.each(rows)('%s of %s.test', (key, name, status, ids) => {
  it(`is ${status}: ${ids.join(', ') || 'nothing found'}`, async () => {
    const answer = await check(name)
    expect([answer[key], new Set(idsOf(answer, key))]).toMatchObject([{ status }, new Set(ids)])
    const { valid, reason } = answer[key] as { valid?: boolean; reason?: string }
    if (valid === false) expect(reason).toMatch(/\w/)
  })
})

/** What is known only where the mail hosts are looked at too. */
const WITH_TLS: readonly Row[] = [
  ['stsgood', 'fail', ['mta_sts.mx_tls']], // senders that keep to the policy cannot deliver
  ['ststesting', 'warn', ['mta_sts.mx_tls_testing', 'mta_sts.testing']],
]
it.each(WITH_TLS)('MTA-STS of %s.test with starttls=true is %s: %j', async (name, status, ids) => {
  const answer = await check(name, '20s&starttls=true')
  expect([answer.mta_sts, new Set(idsOf(answer, 'mta_sts'))]).toMatchObject([{ status }, new Set(ids)])
})

it.each(KEYS)('%s: every finding of its table has a domain that shows it', (key) => {
  // What a resolver remembers is a matter of time: name-servers.test.ts changes a zone for it.
  const tls = WITH_TLS.flatMap(([, , ids]) => ids).filter((id) => id.startsWith(`${key}.`))
  const elsewhere = key === 'ns' ? ['ns.resolver'] : tls
  const shown = new Set([...SHOWN[key].flatMap(([, , ids]) => ids), ...elsewhere])
  expect([...shown].toSorted()).toEqual(Object.keys(checks[key].table).toSorted())
})

/**
 * Whole domains with all checks on: everything that is found, the most severe first, without what is for information.
 */
const WHOLE: readonly (readonly [
  name: string,
  score: number,
  told: readonly string[],
  forInformation: readonly string[],
])[] = [
  ['healthy', 100, [], ['bimi.no_record', 'dane.rollover', 'mx.no_ipv6', 'ns.no_ipv6']],
  [
    'parked',
    96,
    ['low dnssec.unsigned'],
    [
      'bimi.no_record',
      'caa.no_mail',
      'mta_sts.no_mail',
      'mx.null',
      'ns.no_ipv6',
      'spf.sends_no_mail',
      'tls_rpt.no_mail',
    ],
  ],
]

it.each(WHOLE)('%s.test, all of it', async (name, score, told, info) => {
  const got = (await program.get(`/v1/check?domain=${name}.test&starttls=true`)).body as Answer
  expect(got).toMatchObject({ score })
  const found = got.findings.map(({ id, severity }) => `${severity} ${id}`)
  expect(found.filter((one) => !one.startsWith('info '))).toEqual(told)
  expect(new Set(found.filter((one) => one.startsWith('info ')))).toEqual(new Set(info.map((id) => `info ${id}`)))
})
