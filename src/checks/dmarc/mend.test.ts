import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DmarcFacts } from './facts.ts'
import { isHarmless } from './harmless.ts'
import { mendDmarc } from './mend.ts'
import { formatDmarc, parseDmarc } from './parse.ts'

describe('what the owner of a faulty record meant', () => {
  it.each<[string, string, string]>([
    // quotes and backslashes
    ['"v=DMARC1; p=reject; rua=mailto:r@a.example"', 'v=DMARC1; p=reject; rua=mailto:r@a.example', 'quotes'],
    ['\u201cv=DMARC1; p=none\u201d', 'v=DMARC1; p=none', 'hidden_character,quotes'],
    ['v=DMARC1; p="reject"', 'v=DMARC1; p=reject', 'quotes'],
    ["v=DMARC1; p=none; rua='mailto:r@a.example'", 'v=DMARC1; p=none; rua=mailto:r@a.example', 'quotes'],
    ["v=DMARC1; p=none; rua=mailto:o'brien@a.example", "v=DMARC1; p=none; rua=mailto:o'brien@a.example", ''],
    ['v=DMARC1\\; p=reject\\;', 'v=DMARC1; p=reject', 'backslashes'],
    // white space and what looks like it
    [' v=DMARC1; p=reject', 'v=DMARC1; p=reject', 'leading_space'],
    ['v=DMARC1;\u00a0p=reject;\u00a0sp=none', 'v=DMARC1; p=reject; sp=none', 'hidden_character'],
    ['v=DMARC1;\u00c2\u00a0p=reject', 'v=DMARC1; p=reject', 'hidden_character'], // UTF-8 read one octet a character
    ['\ufeffv=DMARC1; p=rej\u00adect', 'v=DMARC1; p=reject', 'hidden_character'],
    ['v=DMARC1;\u200bp=quarantine', 'v=DMARC1; p=quarantine', 'hidden_character'],
    // the version
    ['v=dmarc1; p=none', 'v=DMARC1; p=none', 'version'],
    ['v=DMARC; p=none', 'v=DMARC1; p=none', 'version'],
    ['V=DMARC1; p=none', 'v=DMARC1; p=none', ''],
    ['p=none; v=DMARC1; sp=reject', 'v=DMARC1; p=none; sp=reject', 'version'],
    // separators
    ['v=DMARC1 p=reject rua=mailto:r@a.example', 'v=DMARC1; p=reject; rua=mailto:r@a.example', 'separator'],
    [
      'v=DMARC1, p=none, rua=mailto:r@a.example, mailto:s@a.example',
      'v=DMARC1; p=none; rua=mailto:r@a.example,mailto:s@a.example',
      'separator',
    ],
    ['v=DMARC1: p=none', 'v=DMARC1; p=none', 'separator'],
    ['v=DMARC1p=none', 'v=DMARC1; p=none', 'separator'],
    ['v=DMARC1; p=rejectrua=mailto:r@a.example', 'v=DMARC1; p=reject; rua=mailto:r@a.example', 'separator'],
    ['v=DMARC1; p=nonesp=rejectpct=100adkim=s', 'v=DMARC1; p=none; sp=reject; adkim=s; pct=100', 'separator'],
    [
      'v=DMARC1; p=none; rua=mailto:r@a.comruf=mailto:f@a.com',
      'v=DMARC1; p=none; rua=mailto:r@a.com; ruf=mailto:f@a.com',
      'separator',
    ],
    ['v=DMARC1; p=none; rua=mailto:r@a.com?subject=ruf=1', 'v=DMARC1; p=none; rua=mailto:r@a.com?subject=ruf=1', ''],
    [
      'v=DMARC1; p=none; rua=mailto:r@a.example; mailto:s@a.example',
      'v=DMARC1; p=none; rua=mailto:r@a.example,mailto:s@a.example',
      '',
    ],
    // policies and addresses
    ['v=DMARC1; p=rejct; sp=non', 'v=DMARC1; p=reject; sp=none', ''],
    ['v=DMARC1; p=monitor', 'v=DMARC1; p=none', ''],
    ['v=DMARC1; p=none; adkim=s; adkim=r', 'v=DMARC1; p=none; adkim=s', ''], // the first of a name
    [`${'v=DMARC1; p=none;'.padEnd(4_091)}pct=50`, 'v=DMARC1; p=none; pct=5', ''], // 4,096 characters are read
    [
      'v=DMARC1; p=none; rua=r@nomailto.example, <s@a.example>, mailto://t@a.example, mailto:',
      'v=DMARC1; p=none; rua=mailto:r@nomailto.example,mailto:s@a.example,mailto:t@a.example',
      '',
    ],
    [
      'v=DMARC1; p=none; rua=mailto:d\u2013r@a.example',
      'v=DMARC1; p=none; rua=mailto:d-r@a.example',
      'hidden_character',
    ],
    // nobody knows which mailbox
    ['v=DMARC1; p=none; rua=mailto:d\u00e9@a.example', 'v=DMARC1; p=none', 'hidden_character'],
    // two in one
    [
      'v=DMARC1; p=reject; rua=mailto:r@a.example; v=DMARC1; p=none; rua=mailto:s@a.example',
      'v=DMARC1; p=none; rua=mailto:r@a.example,mailto:s@a.example',
      'two_records',
    ],
    ['v=DMARC1; p=quarantine v=DMARC1; p=reject; sp=none', 'v=DMARC1; p=quarantine; sp=none', 'separator,two_records'],
    ['v=DMARC1; p=reject; sp=none v=DMARC1; p=reject', 'v=DMARC1; p=reject; sp=none', 'separator,two_records'],
  ])('%j: %j (%s)', (text, meant, slips) => {
    const mended = mendDmarc(text)!
    expect([formatDmarc(mended.record), mended.slips.join()]).toEqual([meant, slips])
  })
  it.each(['', 'hello', 'v=spf1 -all', 'dmarc'])('%j is none', (text) => expect(mendDmarc(text)).toBeUndefined())
  it('tells the first hidden character and where it stands', () =>
    expect(mendDmarc('v=DMARC1;\u00a0p=none')!.hidden).toEqual({ code: 'U+00A0', at: 9 }))

  const pieces = fc.constantFrom(
    'v=DMARC1',
    'v=dmarc1',
    'p=reject',
    'p=none',
    'sp=x',
    ';',
    ';',
    ' ',
    ',',
    '"',
    '\u00a0',
    '\\',
    'rua=',
    'mailto:',
    'r@a.example',
    'ruf=',
    'pct=50',
    't=y',
    'x=',
    '\ud83d',
  )
  it('never throws, and gives a record that has its policies', () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces, { maxLength: 20 }).map((all) => `v=DMARC1${all.join('')}`),
          fc.string(),
        ),
        (text) => {
          const mended = mendDmarc(text)
          if (!mended) return
          const reading = parseDmarc(formatDmarc(mended.record))
          expect(reading.ok && reading.value.faults.filter(({ tag }) => /^[sn]?p$/.test(tag))).toEqual([])
        },
      ),
    ))
  it('reads a hostile text at once', () => {
    const long = ['rua=mailto:r@a.b', '.aa'].map((part) => part.repeat(20_000))
    expect(mendDmarc(`v=DMARC1; ${long.join('')}`)).toBeDefined()
    expect(mendDmarc('v=DMARC1 p=none '.repeat(2_000))!.slips).toContain('two_records')
  })
})

describe('a harmless change', () => {
  const read = (text: string) => {
    const parsed = parseDmarc(text)
    return (parsed.ok ? { applied: { reading: parsed.value, inherited: false } } : {}) as DmarcFacts
  }
  it.each<[string, string, boolean, string]>([
    ['', 'v=DMARC1; p=none', true, 'nothing is asked'],
    ['', 'v=DMARC1; p=quarantine', true, 'one step'],
    ['', 'v=DMARC1; p=reject', false, 'two steps'],
    ['', 'v=DMARC1; p=reject; t=y', false, 'receivers of RFC 7489 do not know t'],
    ['', 'v=DMARC1; p=reject; pct=0', false, 'receivers of RFC 9989 do not know pct'],
    ['', 'v=DMARC1; p=reject; t=y; pct=0', true, 'quarantine for both'],
    ['v=DMARC1; p=none', 'v=DMARC1; p=quarantine', true, 'one step'],
    ['v=DMARC1; p=none; pct=10', 'v=DMARC1; p=quarantine; pct=10', true, 'the share stays'],
    ['v=DMARC1; p=none; pct=10', 'v=DMARC1; p=quarantine', false, 'the share grows'],
    ['v=DMARC1; p=quarantine; pct=0', 'v=DMARC1; p=quarantine', false, 'full quarantine for receivers of RFC 7489'],
    ['v=DMARC1; p=reject; pct=50', 'v=DMARC1; p=reject; pct=60', false, 'the share grows'],
    ['v=DMARC1; p=reject; pct=50', 'v=DMARC1; p=reject; pct=50; rua=mailto:r@a.example', true, 'as it was'],
    ['v=DMARC1; p=quarantine', 'v=DMARC1; p=reject', false, 'mail would be refused'],
    ['v=DMARC1; p=reject; t=y', 'v=DMARC1; p=reject', false, 'mail would be refused'],
    ['v=DMARC1; p=reject; sp=none', 'v=DMARC1; p=reject', false, 'two steps for subdomains'],
    ['v=DMARC1; p=reject; np=none', 'v=DMARC1; p=reject', false, 'two steps for names that do not exist'],
    ['v=DMARC1; p=reject', 'v=DMARC1; p=none', false, 'the protection would be lost'],
    ['v=DMARC1; p=reject; p=reject', 'v=DMARC1; p=reject', false, 'nobody applied it'],
  ])('%j to %j: %s (%s)', (before, after, expected) => {
    expect(isHarmless(read(before), read(after), { role: 'sends_and_accepts_mail', canPass: true })).toBe(expected)
  })
})
