import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runCheck } from '../../../test/lab/checks.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labProblem } from '../../../test/lab/problem.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import { type Fetch, FetchError } from '../../net/fetch.ts'
import { tellArgs } from '../finding.ts'
import { findings as table } from './findings.ts'
import { bimi } from './index.ts'
import { formatBimi, isBimi, locationProblem, parseBimi, resemblesBimi } from './parse.ts'
import { readSvg } from './svg.ts'

const GOOD = 'v=BIMI1; l=https://a.example/logo.svg; a=https://a.example/vmc.pem'
const DMARC: LabZone = { '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject'] } }
const zone = (...TXT: string[]): LabZone => ({ ...DMARC, 'default._bimi.a.example': { TXT } })
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps" viewBox="0 0 64 64"><title>A</title><path d="M0 0h64v64z"/></svg>'
const serving =
  (text: string | Uint8Array | FetchError, status = 200): Fetch =>
  async (url) => {
    if (text instanceof FetchError) throw text
    return {
      status,
      contentType: 'image/svg+xml',
      body: typeof text === 'string' ? new TextEncoder().encode(text) : text,
      url,
    }
  }
const faultsOf = (text: string) => readSvg(text).faults.map((fault) => fault.text)
const UNANSWERED = new DnsError('timeout', { name: 'a.example', type: 'A' })
const run = (records: LabZone, name = 'a.example', fetch = serving(SVG)) =>
  runCheck(bimi, labCtx(records, { fetch }), domain(name))
const dmarc = (record: string): LabZone => ({ ...zone(GOOD), '_dmarc.a.example': { TXT: [record] } })

const rows: [string, string, LabZone][] = [
  ['bimi.no_record', 'not_applicable', DMARC],
  ['bimi.declined', 'pass', zone('v=BIMI1; l=; a=')],
  ['bimi.several_records', 'fail', zone(GOOD, 'v=BIMI1; l=')],
  ['bimi.version', 'fail', zone('v=bimi1; l=https://a.example/logo.svg; a=https://a.example/vmc.pem')],
  ['bimi.syntax', 'fail', zone('v=BIMI1; a=https://a.example/vmc.pem')],
  ['bimi.syntax', 'fail', zone('v=BIMI1; l=; l=')],
  ['bimi.location', 'fail', zone('v=BIMI1; l=http://a.example/logo.svg')],
  ['bimi.location', 'fail', zone('v=BIMI1; l=https://a.example/logo.svg; a=self')],
  ['bimi.no_logo', 'warn', zone('v=BIMI1; l=; a=https://a.example/vmc.pem')],
  ['bimi.not_svg', 'fail', zone('v=BIMI1; l=https://a.example/logo.png; a=https://a.example/vmc.pem')],
  ['bimi.dmarc_not_enforced', 'warn', dmarc('v=DMARC1; p=none')],
  ['bimi.dmarc_not_enforced', 'warn', dmarc('v=DMARC1; p=reject; sp=none')],
  ['bimi.dmarc_not_enforced', 'warn', dmarc('v=DMARC1; p=quarantine; pct=50')],
  ['bimi.dmarc_not_enforced', 'warn', dmarc('hello')],
  ['bimi.dmarc_unknown', 'unknown', { ...zone(GOOD), '_dmarc.a.example': 'SERVFAIL' }],
  ['bimi.no_certificate', 'pass', zone('v=BIMI1; l=https://a.example/logo.svg;')],
  ['bimi.inherited', 'pass', zone(GOOD)],
]

const logos: [string, string, Fetch][] = [
  ['bimi.logo_unavailable', 'fail', serving('', 404)],
  ['bimi.logo_unavailable', 'fail', serving(new FetchError('certificate', labProblem('the certificate has expired')))],
  ['bimi.logo_unavailable', 'fail', serving(gzipSync(Buffer.alloc(10_000_000)))], // a bomb
  // nobody can get it
  ['bimi.logo_unavailable', 'fail', serving(new FetchError('dns', labProblem('a.example has no address')))],
  ['bimi.logo_unknown', 'unknown', serving(new FetchError('timeout', labProblem('no answer in time')))],
  [
    'bimi.logo_unknown',
    'unknown',
    serving(new FetchError('dns', labProblem('no answer in time'), { cause: UNANSWERED })),
  ],
  ['bimi.logo_profile', 'fail', serving('<html></html>')],
  ['bimi.logo_profile', 'fail', serving(SVG.replace('<path', '<script>alert(1)</script><path'))],
  ['bimi.logo_large', 'warn', serving(SVG.replace('<path', `<desc>${'x'.repeat(40_000)}</desc><path`))],
  ['bimi.logo_not_square', 'warn', serving(SVG.replace('0 0 64 64', '0 0 64 32'))],
  ['bimi.logo_not_square', 'warn', serving(SVG.replace('viewBox="0 0 64 64"', 'width="64" height="32px"'))],
]

describe('the profile', () => {
  it.each([
    ['kept', SVG, []],
    ['no title', SVG.replace('<title>A</title>', ''), ['it has no title']],
    ['another profile', SVG.replace('tiny-ps', 'full'), ['baseProfile is not "tiny-ps"']],
    ['a raster image', SVG.replace('<path', '<image href="#a"/><path'), ['the element image is not allowed']],
    [
      'a link outside',
      SVG.replace('<path', '<use xmlns:xlink="x" xlink:href="http://b.example/#a"/><path'),
      ['xlink:href points outside the file'],
    ],
    ['an event', SVG.replace('<path', '<path onclick="x()"/><path'), ['the attribute onclick is a script']],
    [
      'a style that loads',
      SVG.replace('<path', '<path fill="url(http://b.example)"/><path'),
      ['fill points outside the file'],
    ],
    [
      'an entity of its own',
      `<!DOCTYPE svg [<!ENTITY a "b">]>${SVG.replace('>A<', '>&a;<')}`,
      ['it has a document type declaration', expect.stringMatching(/^it is not well-formed XML/)],
    ],
    ['no XML', 'hello', [expect.stringMatching(/^it is not well-formed XML/)]],
  ])('%s', (_, text, faults) => expect(faultsOf(text as string)).toEqual(faults))
  it.each([
    ['url(#a)', []],
    ['url( #a )', []],
    ["url('#a')", []],
    ['url(&quot;#a&quot;)', []],
    ['none', []],
    ['url( b.svg#a)', ['fill points outside the file']],
    ["url( 'b.svg#a')", ['fill points outside the file']],
    ['none url(b.svg)', ['fill points outside the file']],
    [`url(${' '.repeat(500)}b.svg)`, ['fill points outside the file']],
  ])('a reference (row %#): %s', (fill, faults) =>
    expect(faultsOf(SVG.replace('<path', `<path fill="${fill}"/><path`))).toEqual(faults),
  )
  it('never throws', () =>
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'<svg>/="!&; ') }), (text) => void readSvg(text))))
  it('stops at a deep and a wide file', () => {
    expect(faultsOf('<a>'.repeat(30_000))).toContain('it has too many elements or attributes')
    expect(faultsOf(`<svg>${'<g/>'.repeat(30_000)}</svg>`)).toContain('it has too many elements or attributes')
    const attributes = Array.from({ length: 43_000 }, (_, i) => `a${i}="1"`).join(' ')
    expect(faultsOf(`<svg ${attributes}/>`)).toContain('it has too many elements or attributes')
  })
})

describe('findings', () => {
  it.each(rows)('%s: %s (row %#)', async (id, status, records) => {
    const outcome = await run(records, id === 'bimi.inherited' ? 'news.a.example' : 'a.example')
    expect([outcome.status, outcome.findings.map((found) => found.id)]).toEqual([status, [id]])
    const [found] = outcome.findings
    expect(table[id as keyof typeof table].detail(tellArgs(found!.args))).not.toMatch(/undefined/)
    const { valid, reason } = bimi.present(outcome)
    expect(reason).toBe(valid ? undefined : table[id as keyof typeof table].title)
    if (!found!.fix) return
    expect((await run({ ...records, [found!.fix.name]: { TXT: [found!.fix.value] } })).findings).toEqual([])
  })

  it('covers the whole table', () =>
    expect([...new Set([...rows, ...logos].map(([id]) => id))].sort()).toEqual(Object.keys(table).sort()))

  it.each(logos)('%s: %s (logo %#)', async (id, status, fetch) => {
    const outcome = await run(zone(GOOD), 'a.example', fetch)
    expect([outcome.status, outcome.findings.map((found) => found.id)]).toEqual([status, [id]])
  })

  it('reads a packed logo', async () =>
    expect((await run(zone(GOOD), 'a.example', serving(gzipSync(SVG)))).findings).toEqual([]))

  it('none for a good record beside other texts', async () => {
    const outcome = await run(zone('other', GOOD))
    expect([outcome.status, outcome.findings]).toEqual(['pass', []])
    expect(bimi.present(outcome)).toEqual({
      valid: true,
      record: GOOD,
      logo: 'https://a.example/logo.svg',
      authority: 'https://a.example/vmc.pem',
    })
  })

  it.each([
    [{ ...zone(), 'default._bimi.news.a.example': { TXT: [GOOD] } }, [], 'its own'],
    [
      { ...zone(GOOD), 'default._bimi.news.a.example': { TXT: ['v=bimi1; l='] } },
      ['bimi.inherited'],
      'its own is none (§7.2 step 4)',
    ],
    [
      { ...zone(), 'default._bimi.news.a.example': { TXT: ['v=bimi1; l='] } },
      ['bimi.version'],
      'its own is none, nor is there another',
    ],
    [
      { ...zone(GOOD), 'default._bimi.news.a.example': { TXT: [GOOD, GOOD] } },
      ['bimi.several_records'],
      'several end it (§7.2)',
    ],
    [
      { ...dmarc('v=DMARC1; p=none'), '_dmarc.news.a.example': { TXT: ['v=DMARC1; p=reject'] } },
      ['bimi.dmarc_not_enforced', 'bimi.inherited'],
      'the organizational domain has to enforce too (§7.1 step 7)',
    ],
    [dmarc('v=DMARC1; p=reject; pct=50'), ['bimi.inherited'], 'pct counts for quarantine (§7.1 step 9)'],
  ] as [LabZone, string[], string][])('below the organizational domain (row %#): %j', async (records, ids) => {
    expect((await run(records, 'news.a.example')).findings.map((found) => found.id)).toEqual(ids)
  })

  it('no answer is unknown and never "no record"', async () => {
    const outcome = await run({ ...DMARC, 'default._bimi.a.example': 'TIMEOUT' })
    expect([outcome.status, outcome.findings]).toEqual(['unknown', []])
    expect(bimi.present(outcome)).toEqual({
      valid: false,
      reason: expect.any(String),
      record: undefined,
      logo: '',
      authority: '',
    })
  })
})

describe('addresses (draft-brand-indicators §4.3)', () => {
  it.each([
    ['https://a.example/logo.svg', undefined],
    ['http://a.example/logo.svg', 'not an https URL'],
    ['a.example/logo.svg', 'not a URL'],
    ['https://a.example/logo.svg,https://b.example/logo.svg', 'only one URL is allowed; write a comma in it as %2C'],
    ['https://u:p@a.example/logo.svg', 'it contains a user name'],
    ['https://localhost/logo.svg', 'not a full host name'],
    ['javascript:alert(1)', 'not an https URL'],
    // Bound: src/checks/bimi/parse.ts MAX_URL
    [`https://a.example/${'x'.repeat(2_000 - 18)}`, undefined],
    [`https://a.example/${'x'.repeat(2_000 - 17)}`, 'longer than 2000 characters'],
  ])('%j: %j', (text, problem) => expect(locationProblem(text)?.text).toBe(problem))
})

describe('hostile text', () => {
  it('never throws', () => {
    const small = fc.string({ unit: fc.constantFrom(...'v=BIMI1; la:/https.'.split('')), maxLength: 100 })
    fc.assert(
      fc.property(fc.oneof(fc.string(), small), (text) => {
        void [parseBimi(text), parseBimi(`v=BIMI1;${text}`), isBimi(text), resemblesBimi(text), locationProblem(text)]
      }),
    )
  })

  it('reads back what it prints', () => {
    const url = fc.stringMatching(/^[a-z]{0,8}$/).map((name) => (name === '' ? '' : `https://a.example/${name}=1.svg`))
    fc.assert(
      fc.property(fc.record({ logo: url, authority: url }), (x) => {
        expect(parseBimi(formatBimi(x))).toEqual({ ok: true, value: { ...x, others: [] } })
      }),
    )
  })

  it.each([
    [`v=BIMI1;${'l=;'.repeat(21_000)}`],
    [`v=BIMI1${' '.repeat(65_000)}`],
    [`v=BIMI1; x${' '.repeat(65_000)}y`],
  ])('is bounded on 64 KiB (row %#)', (text) => expect(parseBimi(text).ok).toBe(false))
})
