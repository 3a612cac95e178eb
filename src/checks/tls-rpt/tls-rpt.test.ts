import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { corpus } from '../../../test/lab/corpora.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { tellArgs } from '../finding.ts'
import { runInContext } from '../run.ts'
import { findings as table } from './findings.ts'
import { formatTlsRpt, parseTlsRpt, resemblesTlsRpt, tlsRpt } from './index.ts'

const GOOD = 'v=TLSRPTv1; rua=mailto:r@a.example'
const zone = (...TXT: string[]): LabZone => ({
  '_smtp._tls.a.example': { TXT },
  'a.example': { MX: [[10, 'm.a.example']] },
  'm.a.example': { A: ['45.53.5.1'] },
})
const run = (records: LabZone, name = 'a.example') => runInContext('tls_rpt', labCtx(records), domain(name))

const rows: [string, LabZone, string][] = [
  ['tls_rpt.no_record', zone('hello'), 'warn'],
  ['tls_rpt.no_mail', { 'a.example': { MX: [[0, '.']] } }, 'not_applicable'],
  ['tls_rpt.no_mail', { 'a.example': { TXT: ['v=spf1 -all'] } }, 'not_applicable'],
  ['tls_rpt.no_mail', {}, 'not_applicable'],
  ['tls_rpt.several_records', zone(GOOD, 'v=TLSRPTv1;rua=mailto:s@a.example'), 'fail'],
  ['tls_rpt.version', zone('v=TLSRPT1; rua=mailto:r@a.example'), 'fail'],
  ['tls_rpt.syntax', zone('v=TLSRPTv1; rua=r@a.example'), 'fail'],
  ['tls_rpt.syntax', zone('v=TLSRPTv1; bad'), 'fail'],
  ['tls_rpt.report_uri', zone(`${GOOD},s@a.example`), 'warn'],
  ['tls_rpt.report_uri', zone(`${GOOD},http://a.example/x`), 'warn'],
]

describe('findings', () => {
  it.each(rows)('%s (row %#)', async (id, records, status) => {
    const outcome = await run(records)
    expect([outcome.status, outcome.findings.map((found) => found.id)]).toEqual([status, [id]])
    expect(table[id as keyof typeof table].detail(tellArgs(outcome.findings[0]!.args))).not.toMatch(/undefined/)
    const fix = outcome.findings[0]!.fix
    if (fix) expect((await run({ ...records, [fix.name]: { TXT: [fix.value] } })).status).toBe('pass')
    expect(fix !== undefined).toBe(id !== 'tls_rpt.no_mail')
    const { valid, reason } = tlsRpt.present(outcome)
    expect(reason).toBe(valid ? undefined : table[id as keyof typeof table].title)
  })

  it('covers the whole table', () =>
    expect([...new Set(rows.map(([id]) => id))].sort()).toEqual(Object.keys(table).sort()))

  it.each([[zone(GOOD)], [zone(GOOD, 'other')], [zone('v=TLSRPTv1;rua=https://a.example/tls;')]])(
    'none (row %#)',
    async (records) => {
      const outcome = await run(records)
      expect([outcome.status, outcome.findings]).toEqual(['pass', []])
    },
  )

  it('no answer is unknown and never "no record"', async () => {
    const outcome = await run({ '_smtp._tls.a.example': 'SERVFAIL' })
    expect([outcome.status, outcome.findings]).toEqual(['unknown', []])
    expect(tlsRpt.present(outcome)).toEqual({ valid: false, reason: expect.any(String), record: undefined, rua: [] })
    expect((await run({ ...zone(GOOD), 'a.example': 'SERVFAIL' })).status).toBe('pass')
  })

  it('shows the record', async () =>
    expect(tlsRpt.present(await run(zone(GOOD)))).toEqual({ valid: true, record: GOOD, rua: ['mailto:r@a.example'] }))
})

describe('hostile text', () => {
  it('never throws', () => {
    const small = fc.string({ unit: fc.constantFrom(...'v=TLSRPTv1; rua,mailto:@x!%'.split('')), maxLength: 100 })
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), small),
        (text) => void [parseTlsRpt(text), parseTlsRpt(`v=TLSRPTv1;${text}`), resemblesTlsRpt(text)],
      ),
    )
  })

  it('reads back what it prints', () => {
    const uri = fc.stringMatching(/^[a-z]{1,9}$/).map((name) => `mailto:${name}@a.example`)
    const text = fc.tuple(
      fc.array(uri, { minLength: 1, maxLength: 5 }),
      fc.array(fc.stringMatching(/^[a-q][a-z0-9]{0,5}=[a-z0-9]{1,5}$/), { maxLength: 3 }),
    )
    fc.assert(
      fc.property(text, ([uris, more]) => {
        const first = parseTlsRpt(['v=TLSRPTv1', `rua=${uris.join()}`, ...more].join(';'))
        if (!first.ok) throw new Error(first.problem.text)
        expect(parseTlsRpt(formatTlsRpt(first.value))).toEqual(first)
      }),
    )
  })

  it.each([
    [`v=TLSRPTv1; rua=${'mailto:r@a.example,'.repeat(3_400)}`],
    [`v=TLSRPTv1;${'x=1;'.repeat(16_000)}`],
    [`v=TLSRPTv1${' '.repeat(65_000)}`],
  ])('is bounded on 64 KiB (row %#)', (text) => {
    const parsed = parseTlsRpt(text)
    expect(parsed.ok ? parsed.value.rua.length : 0).toBeLessThanOrEqual(50)
  })
})

// biome-ignore lint/suspicious/noExplicitAny: each file has its own shape
type Case = any
const records: Case[] = corpus('mta_sts/tlsrpt-records.json')?.cases ?? []
const lookups: Case[] = (corpus('mta_sts/lookup.json')?.cases ?? []).filter((row: Case) => row.kind === 'tlsrpt-lookup')

describe.runIf(records.length > 0)('public records', () => {
  it.each(records.map((row): [string, Case] => [row.id, row]))('%s', (_, row) => {
    const parsed = parseTlsRpt(row.record)
    expect(parsed.ok).toBe(row.valid)
    if (parsed.ok && row.parsed) expect(parsed.value.rua.map((uri) => uri.uri)).toEqual(row.parsed.rua)
  })

  it.each(lookups.map((row): [string, Case] => [row.id, row]))('%s', async (_, row) => {
    const outcome = await run(row.zone, row.domain)
    const words: Record<string, string[]> = { 'no record': ['tls_rpt.no_record'], syntax: ['tls_rpt.syntax'], dns: [] }
    // A zone of the corpus without any mail host needs none, which is told apart here.
    const ids = outcome.findings.map(({ id }) => id.replace('no_mail', 'no_record'))
    expect(ids).toEqual(row.expect.error ? words[row.expect.error] : [])
    expect(outcome.status === 'unknown').toBe(row.expect.error === 'dns')
    if (row.expect.rua) expect(tlsRpt.present(outcome).rua).toEqual(row.expect.rua)
  })
})
