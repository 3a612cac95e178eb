import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { readSources } from '../scripts/layers.ts'
import { type AnySentence, allSentences, type Samples, sampleValues } from '../scripts/sentences.ts'
import type { Say } from '../src/base/problem.ts'
import { notApplicable } from '../src/checks/check.ts'
import { contextOf } from '../src/checks/domain-context.ts'
import { tellArgs } from '../src/checks/finding.ts'
import { findings as tlsRpt } from '../src/checks/tls-rpt/findings.ts'
import { parseTlsRpt } from '../src/checks/tls-rpt/index.ts'
import { DnsError } from '../src/net/dns/resolver.ts'
import { parseZone } from '../src/net/dns/zone-text.ts'
import { fetchError } from '../src/net/fetch.ts'
import { connectError } from '../src/net/smtp/dial.ts'

const ROOT = resolve(import.meta.dirname, '..')
const sentences = await allSentences(ROOT)
const sources = [...readSources(resolve(ROOT, 'src'))].map(([file, text]) => ({ file: `src/${file}`, text }))
const isTable = (file: string): boolean => file.endsWith('problems.ts')
const code = sources.filter(({ file }) => !isTable(file))
const nameOf = ({ subject, id }: AnySentence): string => `${subject}.${id}`

/** Controls, bidirectional overrides, a tag of HTML, a line end and a quote, far longer than any bound. */
const HOSTILE = '\u001b[31m\u202e<b>"\r\n\u0000\u{e0041}'.repeat(1_000)
const hostile = (count: number): Samples => ({
  text: () => HOSTILE,
  number: () => count,
  list: (name) => (name === 'faults' ? [HOSTILE, HOSTILE] : ['one', 'two']),
})
/** Each count is one. */
const plain: Samples = {
  text: (name) => name,
  number: (name) => (/^(?:count|received)$/.test(name) ? 1 : 5),
  list: () => ['one'],
}
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u{e0000}-\u{e0fff}]/u
/** What programs and pages show of a sentence (http/problem.ts). */
const MOST_CHARACTERS = 1_000

it.each(sentences.map((one) => [nameOf(one), one] as const))('%s', (_, one) => {
  const tell = (samples: Samples): string => one.tell(sampleValues(one.subject, one.id, samples))
  for (const count of [1, Number.MAX_SAFE_INTEGER]) {
    const text = tell(hostile(count))
    expect(text.length).toBeLessThanOrEqual(MOST_CHARACTERS)
    expect(text).not.toMatch(UNSAFE)
    expect(text).not.toMatch(/undefined|NaN|\[object/)
  }
  // It can follow a colon: it begins in lower case, or with a word that has capitals, and has no full stop.
  const text = tell(plain)
  expect(text).not.toMatch(/^[A-Z][a-z]+ |^$| {2}|\.$/)
  expect(text).not.toMatch(/\b1 [a-z]+s (?:are|were|of)\b/)
})

it('has each id once', () => {
  expect(sentences.map(nameOf)).toEqual([...new Set(sentences.map(nameOf))])
  expect(sentences.length).toBeGreaterThan(250)
})

it('uses every sentence', () => {
  const folderOf = (file: string): string => file.slice(0, file.lastIndexOf('/'))
  const isUsed = ({ file, maker, id }: AnySentence): boolean =>
    code.some(
      (one) =>
        new RegExp(`\\b${maker}\\(\\s*'${id}'`).test(one.text) ||
        one.text.includes(`${maker}.table`) || // all of them, by their ids
        (one.file.startsWith(`${folderOf(file)}/`) && one.text.includes(`'${id}'`)),
    )
  expect(sentences.filter((one) => !isUsed(one)).map(nameOf)).toEqual([])
})

it('carries all that another language needs', () => {
  const words = new Map(sentences.map((one) => [nameOf(one), one]))
  // Another language is the same ids with other functions: here each sentence stands in brackets.
  const inBrackets: Say = ({ id, values }) => `[${words.get(id)!.tell(values, inBrackets)}]`
  const read = parseZone('@ A 192.0.2.1\n@ MX mail', 'example.org')
  const why = read.ok ? undefined : structuredClone(read.problem)
  expect(why && inBrackets(why)).toBe('[line 2: [MX data is a preference and a host (10 mail.example.org.)]]')
})

it('carries them up to the text of a finding', () => {
  const inUpperCase: Say = ({ id, values }) => words.get(id)!.tell(values, inUpperCase).toUpperCase()
  const words = new Map(sentences.map((one) => [nameOf(one), one]))
  const read = parseTlsRpt('v=TLSRPTv1; rua=a.example')
  const args = { at: 0, ...(read.ok ? {} : { problem: structuredClone(read.problem) }) }
  expect(tlsRpt['tls_rpt.syntax'].detail(tellArgs(args, inUpperCase))).toBe(
    'RUA HAS NO USABLE ADDRESS: "A.EXAMPLE": NOT A URI (at character 0).',
  )
})

it('carries what happened on the network', () => {
  const inBrackets: Say = ({ id, values }) => `[${words.get(id)!.tell(values, inBrackets)}]`
  const words = new Map(sentences.map((one) => [nameOf(one), one]))
  const ede = [{ code: 22, text: 'at delegation a.example' }]
  const silent = new DnsError('timeout', { name: 'a.example', type: 'A' }, { server: '192.0.2.1:53', ede })
  const refused = connectError(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), false)
  const late = fetchError(undefined, AbortSignal.abort(new DOMException('', 'TimeoutError')))
  for (const { problem, message } of [silent, refused, late]) {
    expect(inBrackets(structuredClone(problem))).toBe(`[${message}]`)
  }
})

it('carries why a check is open, or does not apply', () => {
  const inUpperCase: Say = ({ id, values }) => words.get(id)!.tell(values, inUpperCase).toUpperCase()
  const words = new Map(sentences.map((one) => [nameOf(one), one]))
  const error = new DnsError('servfail', { name: 'a.example', type: 'MX' })
  const { role, because } = contextOf({ mx: error })
  const { reason } = notApplicable({}, { role: 'parked', because })
  expect([role, reason && inUpperCase(structuredClone(reason))]).toEqual([
    'sends_and_accepts_mail',
    'A DOMAIN WITHOUT MAIL (PARKED): THE MX RECORDS COULD NOT BE LOOKED UP',
  ])
})

it('has the reasons of outcomes and findings in tables only', () => {
  // A sentence has a space; the name of a reason has none.
  const inPlace = /\b(?:reason|because|noMail|note): (['`])[^'`\n]* [^\n]*\1/
  const found = code.filter(({ file, text }) => /^src\/(?:checks|mailhosts)\//.test(file) && inPlace.test(text))
  expect(found.map(({ file }) => file)).toEqual([])
  expect(inPlace.test("return { takesMail: false, reason: 'it has a null MX' }")).toBe(true)
})

it('has what parsers find wrong in tables only', () => {
  const inPlace = /\bproblem\(\s*['"`]|\bParsed<[^=\n]*, string>(?!>)/
  expect(code.filter(({ text }) => inPlace.test(text)).map(({ file }) => file)).toEqual([])
  expect(inPlace.test("return problem('the domain is empty', 0)")).toBe(true)
  expect(inPlace.test('): Parsed<Domain, string> {')).toBe(true)
})

it('has the sentences of errors in tables only', () => {
  // An error that is made in place has a problem that a parser or a table gave.
  const inPlace = /new (?:App|Store|Fetch|Dial)Error\([^,()]*,\s*(?:['"`{]|problemWith)/
  const found = code
    .filter(({ file }) => !file.startsWith('src/base/'))
    .filter(({ text }) => inPlace.test(text) || /\bproblemWith\(/.test(text))
  expect(found.map(({ file }) => file)).toEqual([])
  expect(inPlace.test("throw new AppError('bad_list', `the line is too long`)")).toBe(true)
  expect(inPlace.test("new DialError('timeout', 'no answer in time')")).toBe(true)
})
