import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { corpus } from '../../../test/lab/corpora.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labProblem } from '../../../test/lab/problem.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import { type Fetch, FetchError, type FetchReason } from '../../net/fetch.ts'
import { tellArgs } from '../finding.ts'
import { runInContext } from '../run.ts'
import { findings as table } from './findings.ts'
import { mtaSts } from './index.ts'
import { formatStsRecord, parseStsRecord, resemblesStsRecord } from './parse.ts'
import { formatStsPolicy, isPlainText, matchesMx, parseStsPolicy } from './policy.ts'

const DNS: LabZone = {
  '_mta-sts.a.example': { TXT: ['v=STSv1; id=1'] },
  'mta-sts.a.example': { A: ['45.53.80.1'] },
  'a.example': { MX: [[10, 'm.a.example']] },
}
const policy = (mode = 'enforce', mx = ['m.a.example'], age = 1_209_600): string =>
  ['version: STSv1', `mode: ${mode}`, ...mx.map((name) => `mx: ${name}`), `max_age: ${age}`].join('\n')

/** A policy host that answers with this text, or with an error. */
function serving(body: string | FetchReason | FetchError, status = 200, contentType = 'text/plain') {
  const got: string[] = []
  const fetch: Fetch = async (url, _signal, options) => {
    got.push(`${url} ${options.maxBytes} ${options.redirects}`)
    if (body instanceof FetchError) throw body
    if (/^[a-z_]+$/.test(body)) throw new FetchError(body as FetchReason, labProblem(`the lab says ${body}`))
    return { status, contentType, body: new TextEncoder().encode(body), url }
  }
  return { fetch, got }
}
const run = (fetch: Fetch | undefined, zone: LabZone = DNS, name = 'a.example') =>
  runInContext('mta_sts', labCtx(zone, fetch ? { fetch } : {}), domain(name))
const ids = (outcome: { readonly findings: readonly { readonly id: string }[] }) =>
  outcome.findings.map((found) => found.id)

const rows: [string, string, LabZone, Fetch | undefined][] = [
  ['mta_sts.no_record', 'warn', { 'a.example': { MX: [[10, 'm.a.example']] } }, undefined],
  ['mta_sts.no_mail', 'not_applicable', { 'a.example': { MX: [[0, '.']] } }, undefined],
  ['mta_sts.no_mail', 'not_applicable', { 'a.example': { TXT: ['v=spf1 -all'] } }, undefined],
  ['mta_sts.no_mail', 'not_applicable', {}, undefined],
  [
    'mta_sts.several_records',
    'fail',
    { ...DNS, '_mta-sts.a.example': { TXT: ['v=STSv1; id=1', 'v=STSv1; id=2'] } },
    undefined,
  ],
  ['mta_sts.version', 'fail', { ...DNS, '_mta-sts.a.example': { TXT: ['v=STS1; id=1'] } }, undefined],
  ['mta_sts.syntax', 'fail', { ...DNS, '_mta-sts.a.example': { TXT: ['v=STSv1; id=2026-01-01'] } }, undefined],
  ['mta_sts.policy_unknown', 'unknown', DNS, serving('timeout').fetch],
  ['mta_sts.policy_unknown', 'unknown', DNS, serving('connect').fetch],
  [
    'mta_sts.policy_unknown',
    'unknown',
    DNS,
    serving(new FetchError('dns', labProblem('x'), { cause: new DnsError('servfail', { name: 'x', type: 'A' }) }))
      .fetch,
  ],
  ['mta_sts.no_policy', 'warn', DNS, serving(policy(), 404).fetch],
  [
    'mta_sts.no_policy',
    'warn',
    { ...DNS, 'mta-sts.a.example': {} },
    serving(new FetchError('connect', labProblem('x'))).fetch,
  ],
  ['mta_sts.policy_type', 'fail', DNS, serving(policy(), 200, 'text/html').fetch],
  ['mta_sts.no_policy', 'warn', DNS, serving('certificate').fetch],
  ['mta_sts.no_policy', 'warn', DNS, serving('redirect').fetch],
  ['mta_sts.no_policy', 'warn', DNS, serving(policy(), 301).fetch],
  ['mta_sts.no_policy', 'warn', DNS, serving('too_large').fetch],
  ['mta_sts.no_policy', 'warn', DNS, serving('unsafe_address').fetch],
  ['mta_sts.no_policy', 'warn', DNS, serving('dns').fetch],
  ['mta_sts.policy_syntax', 'fail', DNS, serving('hello: world').fetch],
  ['mta_sts.uncovered_mx', 'fail', DNS, serving(policy('enforce', ['*.m.a.example'])).fetch],
  ['mta_sts.uncovered_mx_testing', 'warn', DNS, serving(policy('testing', ['b.example'])).fetch],
  ['mta_sts.testing', 'warn', DNS, serving(policy('testing')).fetch],
  ['mta_sts.none', 'warn', DNS, serving(policy('none', [])).fetch],
  ['mta_sts.short_max_age', 'warn', DNS, serving(policy('enforce', ['m.a.example'], 3_600)).fetch],
  ['mta_sts.long_max_age', 'warn', DNS, serving(policy('enforce', ['m.a.example'], 99_999_999)).fetch],
  ['mta_sts.unused_mx', 'pass', DNS, serving(policy('enforce', ['m.a.example', 'old.a.example'])).fetch],
  ['mta_sts.mx_unknown', 'unknown', { ...DNS, 'a.example': 'SERVFAIL' }, serving(policy()).fetch],
]

/** Shown in report/arrival.test.ts, with mail hosts. */
const IN_ARRIVAL = ['mta_sts.mx_tls', 'mta_sts.mx_tls_testing']

describe('findings', () => {
  it.each(rows)('%s: %s (row %#)', async (id, status, zone, fetch) => {
    const outcome = await run(fetch, zone)
    expect(outcome.status).toBe(status)
    expect(ids(outcome)).toContain(id)
    const found = outcome.findings.find((candidate) => candidate.id === id)!
    expect(table[id as keyof typeof table].detail(tellArgs(found.args))).not.toMatch(/undefined/)
    const { valid, reason } = mtaSts.present(outcome)
    if (valid) expect(reason).toBe(undefined)
    else expect(reason).toBe(outcome.status === 'unknown' ? outcome.reason.text : table[id as keyof typeof table].title)
    if (!found.fix) return
    const after = await run(serving(policy()).fetch, { ...zone, [found.fix.name]: { TXT: [found.fix.value] } })
    expect([after.status, ids(after)]).toEqual(['pass', []])
  })

  it('covers the whole table', () =>
    expect([...new Set([...rows.map(([id]) => id), ...IN_ARRIVAL])].sort()).toEqual(Object.keys(table).sort()))

  it.each([[['m.a.example']], [['*.a.example']], [['M.A.Example.'.slice(0, -1)]]])(
    'none for a policy that names %j',
    async (mx) => {
      const outcome = await run(serving(policy('enforce', mx)).fetch)
      expect([outcome.status, outcome.findings]).toEqual(['pass', []])
    },
  )

  it('no answer is unknown and never "no record"', async () => {
    const outcome = await run(undefined, { '_mta-sts.a.example': 'SERVFAIL' })
    expect([outcome.status, ids(outcome)]).toEqual(['unknown', []])
  })

  it('gets the policy once, small and without redirects', async () => {
    const { fetch, got } = serving(policy())
    const outcome = await run(fetch)
    expect(got).toEqual(['https://mta-sts.a.example/.well-known/mta-sts.txt 65536 0'])
    expect(mtaSts.present(outcome)).toEqual({
      valid: true,
      record: 'v=STSv1; id=1',
      id: '1',
      policy: { mode: 'enforce', max_age: 1_209_600, mx: ['m.a.example'] },
      uncovered_mx: [],
    })
  })
})

describe('the text of a policy (RFC 8461 §3.2)', () => {
  it.each([
    [`${policy()}\n`, true, 'a newline may end it'],
    [policy().replaceAll('\n', '\r\n'), true, 'CRLF'],
    [`${policy()}\nmode: none`, true, 'of a key given twice the first counts'],
    [policy('enforce', []), false, 'enforce needs an mx'],
    [policy('none', []), true, 'none does not'],
    [policy('enforce', ['mx1.a.example, mx2.a.example']), false, 'one name a line'],
    [policy('Enforce'), false, 'modes have case'],
    [`${policy()}\u0000`, false, 'a NUL'],
    [policy().replaceAll('\n', '\r'), false, 'CR alone ends no line'],
    [`\n${policy()}`, false, 'an empty line'],
    ['', false, 'empty'],
    ['a: b\n'.repeat(2_000) + policy(), false, 'too many lines'],
    [
      policy(
        'enforce',
        Array.from({ length: 101 }, (_, i) => `m${i}.a.example`),
      ),
      false,
      'too many mx',
    ],
  ])('row %#: %j', (text, ok) => expect(parseStsPolicy(text).ok).toBe(ok))

  it('keeps the first mode', () =>
    expect(parseStsPolicy(`${policy()}\nmode: none`)).toMatchObject({ value: { mode: 'enforce' } }))

  it.each([
    ['*.a.example', 'm.a.example', true],
    ['*.a.example', 'x.m.a.example', false],
    ['*.a.example', 'a.example', false],
    ['m.a.example', 'M.A.Example.', true],
    ['m.a.example', 'n.a.example', false],
  ])('%s matches %s: %j', (pattern, host, expected) => expect(matchesMx(pattern, host)).toBe(expected))
})

describe('hostile text', () => {
  const small = fc.string({ unit: fc.constantFrom(...'v=STSv1; id:mxode\n\r\t.*'.split('')), maxLength: 200 })
  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), small), (text) => {
        void [parseStsRecord(text), parseStsRecord(`v=STSv1;${text}`), resemblesStsRecord(text)]
        void [
          parseStsPolicy(text),
          parseStsPolicy(`version: STSv1\n${text}`),
          matchesMx(text, 'a.example'),
          isPlainText(text),
        ]
      }),
    )
  })

  it('reads back what it prints', () => {
    const name = fc.stringMatching(/^[a-z]{1,8}$/).map((label) => `${label}.a.example`)
    const value = fc.record({
      mode: fc.constantFrom('enforce', 'testing', 'none'),
      maxAgeSeconds: fc.nat(99_999_999),
      mx: fc.array(
        fc.oneof(
          name,
          name.map((at) => `*.${at}`),
        ),
        { minLength: 1, maxLength: 5 },
      ),
    })
    fc.assert(
      fc.property(
        value,
        (x) => void expect(parseStsPolicy(formatStsPolicy(x as never))).toEqual({ ok: true, value: x }),
      ),
    )
    const record = fc.record({
      id: fc.stringMatching(/^[A-Za-z0-9]{1,32}$/),
      extensions: fc.array(fc.stringMatching(/^[a-h][a-z0-9]{0,5}=[a-z0-9]{1,9}$/)),
    })
    fc.assert(
      fc.property(record, (x) => void expect(parseStsRecord(formatStsRecord(x))).toEqual({ ok: true, value: x })),
    )
  })

  it.each([
    ['mx: a.example\n'.repeat(4_600)],
    ['x'.repeat(65_536)],
    [`mx:${'a.'.repeat(32_000)}`],
    [`mode:${' '.repeat(65_000)}enforce`],
  ])('is bounded on 64 KiB (row %#)', (text) => expect(parseStsPolicy(`version: STSv1\n${text}`).ok).toBe(false))
})

// biome-ignore lint/suspicious/noExplicitAny: each file has its own shape
type Case = any
const casesOf = (file: string): [string, Case][] =>
  (corpus(`mta_sts/${file}.json`)?.cases ?? []).map((row: Case, i: number) => [row.id ?? String(i), row])
/** Cases that are answered otherwise on purpose. */
const SKIP: Record<string, string> = {
  'sts/postfix-mta-sts-resolver#27':
    'RFC 8461 §3.1: one ";" may end the record, three may not; the same corpus has it the other way for RFC 8460',
}
const ERRORS: Record<string, string[]> = {
  syntax: ['mta_sts.syntax'],
  'multiple records': ['mta_sts.several_records'],
  dns: [],
  'policy syntax': ['mta_sts.policy_syntax'],
  'policy syntax (too large)': ['mta_sts.no_policy'],
}

describe.runIf(casesOf('records').length > 0)('public cases', () => {
  it.each(casesOf('records').filter(([id]) => !(id in SKIP)))('%s', (_, row) => {
    const parsed = parseStsRecord(row.record)
    expect(parsed.ok).toBe(row.valid)
    if (parsed.ok) expect(parsed.value.id).toBe(row.parsed.id)
  })

  it.each(casesOf('policies'))('%s', (_, row) => {
    const parsed = parseStsPolicy(row.policy)
    expect(parsed.ok).toBe(row.valid)
    if (parsed.ok)
      expect({ mode: parsed.value.mode, mx: parsed.value.mx, max_age: parsed.value.maxAgeSeconds }).toEqual(row.parsed)
  })

  it.each(casesOf('content-type'))('%s', (_, row) => expect(isPlainText(row.content_type)).toBe(row.acceptable))

  it.each(casesOf('mx-match'))('%s', (_, row) =>
    expect(row.policy_mx.some((pattern: string) => matchesMx(pattern, row.host))).toBe(row.match),
  )

  it.each(casesOf('lookup').filter(([, row]) => row.kind.startsWith('mta-sts')))('%s', async (_, row) => {
    const { https } = row
    const tooLarge = https?.body.includes('64 KiB')
    const { fetch } =
      https?.certificate === 'bad'
        ? serving('certificate')
        : tooLarge
          ? serving('too_large')
          : serving(https?.body === 'bogus' ? 'bogus!' : (https?.body ?? policy()), https?.status, https?.content_type)
    const outcome = await run(fetch, row.zone, row.domain)
    const seen = mtaSts.present(outcome) as Case
    if (row.expect.error) return void expect(ids(outcome)).toEqual(ERRORS[row.expect.error])
    if (row.expect.id) expect(seen.id).toBe(row.expect.id)
    if (row.expect.mode) expect(seen.policy).toMatchObject({ mode: row.expect.mode, max_age: row.expect.max_age })
    if (row.kind === 'mta-sts-site')
      expect(seen.policy?.mode === 'enforce').toBe(/^OK/.test(row.expect.postfix_policy ?? ''))
  })
})
