import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DmarcRecord, formatDmarc, parseDmarc, policiesOf, resemblesDmarc } from './parse.ts'
import { parseReportUris } from './uri.ts'

function read(text: string) {
  const parsed = parseDmarc(text)
  if (!parsed.ok) throw new Error(parsed.problem.text)
  return parsed.value
}

describe('the version (RFC 9989 §4.7 v)', () => {
  it.each([
    ['v=DMARC1', true, 'all other tags are optional'],
    ['v=DMARC1;', true, 'one ";" may end the record'],
    ['v = DMARC1 ; p=none', true, 'white space around "=" and before ";" (§4.8)'],
    ['V=DMARC1; p=none', true, 'an ABNF string has no case (RFC 5234 §2.3)'],
    ['v=dmarc1; p=none', false, 'the value is matched exactly'],
    ['v=DMARC12', false, 'not this version'],
    ['v=DMARC1 p=none', false, 'no ";": the value is "DMARC1 p=none"'],
    ['p=none; v=DMARC1', false, 'not the first tag'],
    [' v=DMARC1; p=none', false, 'nothing may stand before it (§4.8)'],
    ['v=DMARC1\u00a0; p=none', false, 'a no-break space is no white space'],
    ['', false, 'empty'],
    ['v=spf1 -all', false, 'another kind of record'],
  ])('%j is a record: %j (%s)', (text, ok) => expect(parseDmarc(text).ok).toBe(ok))

  it.each([
    ['v=dmarc1; p=none', true],
    ['v=DMARC1 p=none', true],
    ['\u00a0v\u00a0= DMARC1; p=none', true],
    ['"v=DMARC1; p=none"', true],
    ['\u201cv=DMARC1; p=none\u201d', true],
    ['v=spf1 -all', false],
    ['dmarc', false],
  ])('%j was meant to be one: %j', (text, meant) => expect(resemblesDmarc(text)).toBe(meant))
})

describe('policies (RFC 9989 §4.10.1)', () => {
  it.each([
    ['v=DMARC1; p=reject', 'reject/reject/reject', 'sp and np come from p'],
    ['v=DMARC1; p=reject; sp=none', 'reject/none/none', 'np comes from sp (§4.7 np)'],
    ['v=DMARC1; p=reject; sp=quarantine; np=none', 'reject/quarantine/none', 'each its own'],
    ['v=DMARC1; p=None', 'none/none/none', 'values have no case'],
    ['v=DMARC1', 'none/none/none', 'a missing p is none (§4.7)'],
    ['v=DMARC1; p=block', 'invalid', 'no valid rua: no DMARC'],
    ['v=DMARC1; p=block; rua=bogus', 'invalid', 'that rua is none'],
    ['v=DMARC1; p=block; rua=mailto:r@a.example', 'none/none/none', 'a valid rua keeps it as p=none'],
    ['v=DMARC1; p=reject; sp=block; rua=mailto:r@a.example', 'none/none/none', 'a bad sp spoils p too'],
    ['v=DMARC1; p=reject; np=block', 'invalid', 'a bad np as well'],
    ['v=DMARC1; p=none; p=reject', 'duplicate', 'a tag twice (RFC 6376 §3.2)'],
    ['v=DMARC1; P=reject; Sp=none', 'reject/none/none', 'names of tags in any case, as deployed receivers read them'],
    ['v=DMARC1; p=none; P=reject', 'duplicate', 'one tag twice'],
    ['v=DMARC1;\u00a0p=reject', 'none/none/none', 'a no-break space is part of the name: no p'],
    ['v=DMARC1; p=reject\u00a0', 'invalid', 'a no-break space is part of the value'],
    ['v=DMARC1;\tp\t=\treject\t; sp=none', 'reject/none/none', 'a tab is white space'],
  ])('%j gives %s (%s)', (text, expected) => {
    const policies = policiesOf(read(text))
    expect(typeof policies === 'string' ? policies : `${policies.p}/${policies.sp}/${policies.np}`).toBe(expected)
  })
})

describe('faults leave the default (RFC 9989 §4.7)', () => {
  it.each([
    ['v=DMARC1; p=none; adkim=x', ['value adkim 18']],
    ['v=DMARC1; p=none; t=x; psd=x', ['value t 18', 'value psd 23']],
    ['v=DMARC1; p=none; fo=2', ['value fo 18']],
    ['v=DMARC1; p=none; bogus;', ['item  18']],
    ['v=DMARC1;; p=none', ['item  9']],
    ['v=DMARC1; p=none; rua=mailto:r@a.example,', ['item rua 18']],
    ['v=DMARC1; p=none; rua=', []],
    ['v=DMARC1; p=none; fo=0:d; x=1', []],
  ])('%j: %j', (text, faults) => {
    expect(read(text).faults.map((fault) => `${fault.kind} ${fault.tag} ${fault.at}`)).toEqual(faults)
  })

  it('keeps removed tags and names unknown ones', () => {
    const { record, unknown } = read('v=DMARC1; p=none; pct=50; rf=afrf; ri=3600; x=1')
    expect([record.removed, unknown]).toEqual([{ pct: '50', rf: 'afrf', ri: '3600' }, ['x']])
  })
})

describe('report addresses (RFC 9989 §4.8)', () => {
  it.each([
    ['mailto:r@a.example', 'a.example', undefined],
    ['MAILTO:r@A.Example', 'a.example', undefined],
    ['mailto:r%40x@a.example?subject=x', 'a.example', undefined],
    ['https://a.example:8443/x', 'a.example', undefined],
    ['mailto:r@a.example!10m', 'a.example', undefined],
    ['r@a.example', undefined, 'not a URI: the prefix "mailto:" is missing'],
    ['bogus', undefined, 'not a URI'],
    ['', undefined, 'empty'],
    ['mailto:r@a.example!', undefined, 'a "!" must be written as %21'],
    ['mailto:', undefined, 'not a mailbox with a full domain name'],
    ['mailto://a.example', undefined, 'not a mailbox with a full domain name'],
    ['mailto:r@[192.0.2.1]', undefined, 'not a mailbox with a full domain name'],
    ['https:///x', undefined, 'no host name'],
    ['mailto:r r@a.example', undefined, 'contains characters that are not allowed in a URI'],
    ['mailto:r%4@a.example', undefined, 'contains characters that are not allowed in a URI'],
  ])('%j: host %j, problem %j', (text, host, problem) => {
    const [uri] = parseReportUris(text).uris
    expect([uri!.host, uri!.problem?.text]).toEqual([host, problem])
  })

  it('keeps the size of RFC 7489 apart', () => {
    const { uris } = parseReportUris('mailto:a@a.example!10 K , mailto:b@a.example ! 2G')
    expect(uris.map((uri) => [uri.uri, uri.size])).toEqual([
      ['mailto:a@a.example', '!10K'],
      ['mailto:b@a.example', '!2G'],
    ])
  })
})

describe('hostile text', () => {
  const small = fc.string({ unit: fc.constantFrom(...'v=DMARC1;: p,@!%s\trua\u0000ü'.split('')), maxLength: 200 })

  it('never throws', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), small), (text) => void [parseDmarc(text), resemblesDmarc(text)]))
    fc.assert(fc.property(fc.oneof(fc.string(), small), (text) => void parseDmarc(`v=DMARC1;${text}`)))
  })

  const policy = fc.constantFrom('none', 'quarantine', 'reject')
  const uri = fc
    .record({
      local: fc.stringMatching(/^[a-z][a-z0-9.+-]{0,9}$/),
      size: fc.option(fc.constantFrom('!10m', '!1', '!5K')),
    })
    .map(({ local, size }) => parseReportUris(`mailto:${local}@r.example${size ?? ''}`).uris[0]!)
  const record = fc.record(
    {
      p: policy,
      sp: policy,
      np: policy,
      adkim: fc.constantFrom('r', 's'),
      aspf: fc.constantFrom('r', 's'),
      fo: fc.array(fc.constantFrom('0', '1', 'd', 's'), { minLength: 1, maxLength: 4 }),
      psd: fc.constantFrom('y', 'n', 'u'),
      testing: fc.boolean(),
      rua: fc.array(uri, { maxLength: 4 }),
      ruf: fc.array(uri, { maxLength: 4 }),
      removed: fc.record({ pct: fc.constantFrom('0', '50'), ri: fc.constant('3600') }, { requiredKeys: [] }),
    },
    { requiredKeys: ['adkim', 'aspf', 'fo', 'psd', 'testing', 'rua', 'ruf', 'removed'] },
  )

  it('reads back what it prints', () => {
    fc.assert(
      fc.property(record, (x) => {
        const { record: again, faults } = read(formatDmarc(x as DmarcRecord))
        expect([again, faults]).toEqual([x, []])
      }),
    )
  })

  it.each([
    [`v=DMARC1; rua=${Array.from({ length: 200 }, (_, i) => `mailto:r@d${i}.example`).join(',')}`],
    [`v=DMARC1;${'x=1;'.repeat(16_000)}`],
    [`v=DMARC1;${' '.repeat(65_000)}p=none`],
    [`v=DMARC1; rua=${'!1'.repeat(32_000)}`],
    [`v${' '.repeat(65_000)}x`],
  ])('is bounded on 64 KiB (row %#)', (text) => {
    const parsed = parseDmarc(text)
    resemblesDmarc(text)
    expect(parsed.ok ? parsed.value.record.rua.length : 0).toBeLessThanOrEqual(50)
    expect(parsed.ok ? parsed.value.faults.length : 0).toBeLessThanOrEqual(102)
  })

  it('tells that a list or a record was cut', () => {
    const uris = Array.from({ length: 200 }, () => 'mailto:r@a.example').join(',')
    expect(read(`v=DMARC1; p=none; rua=${uris}`).faults).toMatchObject([{ kind: 'limit', tag: 'rua', value: '200' }])
    const tags = Array.from({ length: 26 * 26 }, (_, i) => `x${String.fromCharCode(97 + (i % 26), 97 + i / 26)}=1`)
    expect(read(`v=DMARC1; p=none; ${tags.join(';')}`).faults).toMatchObject([{ kind: 'limit', tag: '' }])
  })
})
