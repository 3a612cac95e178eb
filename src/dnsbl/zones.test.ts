import { expect, it } from 'vitest'
import { parseDomain } from '../names/domain.ts'
import { parseLists } from './parse-lists.ts'
import { LIST_COUNT } from './zone-type.ts'
import { BUILT_IN, BUILT_IN_LISTS } from './zones.ts'

const asFile = (lists: readonly unknown[], more: object = {}): string =>
  JSON.stringify({ version: 'ours-1', lists, ...more })
const withRow = (index: number, change: object): string =>
  asFile(BUILT_IN_LISTS.map((list, i) => (i === index ? { ...list, ...change } : list)))

it('has 29 rows with names, zones and https pages of their own', () => {
  expect(BUILT_IN_LISTS).toHaveLength(LIST_COUNT)
  expect(new Set(BUILT_IN_LISTS.map(({ name }) => name)).size).toBe(LIST_COUNT)
  for (const { zone, delistUrl } of BUILT_IN_LISTS) {
    expect(parseDomain(zone)).toEqual({ ok: true, value: zone })
    expect(new URL(delistUrl).protocol).toBe('https:')
  }
})

it('reads its own rows back as an operator would write them', () => {
  const read = parseLists(asFile(BUILT_IN_LISTS))
  expect(read.ok && read.value.lists).toEqual(BUILT_IN.lists)
})

it('fills in what a row leaves out', () => {
  const read = parseLists(
    withRow(28, { name: 'Ours', zone: 'rbl.abuse.ro', tier: 'C', codes: undefined, notes: undefined }),
  )
  expect(read.ok && read.value.lists[28]).toMatchObject({
    zone: 'rbl.abuse.ro',
    strict: false,
    codes: [{ code: '127.0.0.2' }],
  })
})

const codes = (n: number) => Array.from({ length: n }, (_, i) => ({ code: `127.0.1.${i}`, meaning: 'x' }))

it('reads a row at its bounds', () => {
  const whole = { name: 'x'.repeat(64), codes: codes(64), ignored: codes(64) }
  expect(parseLists(withRow(2, whole))).toMatchObject({ ok: true })
  expect(parseLists(withRow(2, { name: 'x' }))).toMatchObject({ ok: true })
})

it.each([
  ['{', /not JSON/],
  ['[]', /the file/],
  [asFile([]), /^lists: the file must have 29 lists: replace lists/],
  [asFile(BUILT_IN_LISTS.slice(1)), /29 lists/],
  [asFile([...BUILT_IN_LISTS, BUILT_IN_LISTS[0]]), /29 lists/],
  [asFile(BUILT_IN_LISTS, { extra: 1 }), /extra/],
  [asFile(BUILT_IN_LISTS, { version: '' }), /version/],
  [withRow(2, { zone: 'x' }), /row 3 \(SpamCop\) zone/],
  [withRow(2, { zone: '192.0.2.1' }), /row 3 \(SpamCop\) zone.*IP address/],
  [withRow(2, { zone: 'psbl.surriel.com' }), /"psbl\.surriel\.com" occurs twice/],
  [withRow(2, { name: 'PSBL' }), /"PSBL" occurs twice/],
  [withRow(2, { zone: 'dnsbl.sorbs.net' }), /dnsbl\.sorbs\.net is dead/],
  [withRow(2, { zone: 'list.dnswl.org' }), /allow list/],
  [withRow(2, { zone: 'multi.surbl.org' }), /domains/],
  [withRow(2, { zone: 'dbl.spamhaus.org' }), /domains/],
  [withRow(2, { name: '' }), /row 3 .*name/],
  [withRow(2, { name: 'x'.repeat(65) }), /row 3 .*name/],
  [withRow(2, { codes: codes(65) }), /row 3 \(SpamCop\) codes/],
  [withRow(2, { ignored: codes(65) }), /row 3 \(SpamCop\) ignored/],
  [withRow(2, { tier: 'E' }), /row 3 \(SpamCop\) tier/],
  [withRow(2, { codes: [{ code: '10.0.0.1', meaning: 'x' }] }), /row 3 \(SpamCop\) codes\[0\]\.code: "10\.0\.0\.1"/],
  [withRow(2, { codes: [{ code: '127.0.0.9-2', meaning: 'x' }] }), /127\.0\.0\.9-2/],
  [withRow(2, { codes: [{ code: '127.0.0.2-256', meaning: 'x' }] }), /codes/],
  [withRow(2, { codes: [{ code: '0.0.0.0/0', meaning: 'x' }] }), /codes/],
  [withRow(2, { codes: [{ code: 'listed', meaning: 'x' }] }), /codes\[0\]\.code: "listed"/],
  [withRow(2, { codes: [] }), /codes/],
  [withRow(2, { delistUrl: 'http://a.example' }), /https/],
  [withRow(2, { delistUrl: 'javascript:alert(1)' }), /https/],
  [withRow(2, { allowance: { perSecond: 0 } }), /perSecond/],
  [withRow(2, { allowance: {} }), /allowance/],
  [withRow(2, { keyForm: { key: 'dqs', zone: 'a.{key}.example' } }), /keyForm\.zone/],
  [withRow(2, { surprise: true }), /surprise/],
  [withRow(2, { name: 'a\u001b[31m' }), /control/],
  [' '.repeat(300 * 1024), /larger than 256 KiB/],
])('refuses %.60s, saying where', (text, problem) => {
  const read = parseLists(text)
  expect(read.ok ? 'read' : read.problem.text).toMatch(problem)
})
