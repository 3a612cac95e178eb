import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { labCtx } from '../../test/lab/world.ts'
import { readJsonText } from '../base/json-text.ts'
import { acceptancesFor, parseAccepted, parseUntil } from './accept.ts'

const item = (over: object = {}) => ({ finding: 'dmarc.no_record', domain: 'a.example', reason: 'known', ...over })
const file = (...items: readonly object[]) => `[\n${items.map((one) => JSON.stringify(one)).join(',\n')}\n]`

describe('a file of accepted findings', () => {
  it.each<[what: string, text: string, words: string]>([
    ['an unfinished list', '[\n{"finding": "dmarc.no_record",\n', 'line 3: this is not JSON'],
    ['a word without quotes', '[\n{"finding": yes}]', 'line 2: this is not JSON'],
    ['no list', '{"accept": []}', 'line 1: the value is not a list; expected is a list such as [{"finding"'],
    [
      'a missing reason',
      file(item(), { finding: 'dmarc.no_record', domain: 'a.example' }),
      'line 3: reason: the field is missing',
    ],
    ['an unknown field', file(item(), item({ severity: 'low' })), 'line 3: "severity" is not a known field'],
    [
      'an unknown finding',
      `[{"domain": "a.example",\n"reason": "x",\n\n"finding": "dmarc.no_recrod"}]`,
      'line 4: "dmarc.no_recrod" is not the id of a finding (did you mean dmarc.no_record?)',
    ],
    ['everything', file(item({ finding: '*' })), 'line 2: "*" is not the id of a finding'],
    ['no domain', file(item(), item(), item({ domain: '*.example' })), 'line 4: "*.example" is not a domain name'],
    ['no day', file(item({ until: 'June' })), 'line 2: "June" is neither a day'],
    [
      'too long a reason',
      file(item({ reason: 'x'.repeat(1_001) })),
      'line 2: reason: the text is longer than 1000 characters',
    ],
    ['too long a file', ' '.repeat(262_145), 'longer than 262144 characters'],
  ])('with %s is refused with its line and what was expected', (_, text, words) => {
    const read = parseAccepted(text)
    expect(read.ok ? '' : read.problem.text).toContain(words)
  })

  const NOW_MS = Date.UTC(2026, 0, 10, 12)
  const none = { acceptedHere: async () => new Map() }
  const of = (text: string) => {
    const read = parseAccepted(text)
    if (!read.ok) throw new Error(read.problem.text)
    return acceptancesFor({ ...labCtx({}, { now: () => NOW_MS }) }, none, 'a.example', read.value)
  }
  it.each<[what: string, items: readonly object[], accepted: readonly string[]]>([
    ['until a day', [item({ until: '2026-01-10' })], ['dmarc.no_record until 2026-01-10T23:59:59.999Z by file']],
    ['until yesterday', [item({ until: '2026-01-09' })], []],
    ['of another domain', [item({ domain: 'b.a.example' })], []],
    ['without an end', [item({ by: 'joe' })], ['dmarc.no_record until 2031-01-10T23:59:59.999Z by joe']],
    [
      'of a critical finding',
      [item({ finding: 'spf.plus_all', until: '2027-01-10' })],
      ['spf.plus_all until 2027-01-10T23:59:59.999Z by file'],
    ],
  ])('holds %s', async (_, items, accepted) => {
    const all = await of(file(...items))
    expect([...all].map(([id, { until, by }]) => `${id} until ${until} by ${by}`)).toEqual(accepted)
  })
  it.each([
    ['without an end', item({ finding: 'spf.plus_all' }), 'until_required'],
    ['for longer than a year', item({ finding: 'spf.plus_all', until: '2027-01-11' }), 'until_required'],
    ['for longer than five years', item({ until: '2031-01-11' }), 'invalid_parameter'],
  ])('is refused %s, with its line', async (_, one, code) => {
    await expect(of(file(item(), one))).rejects.toMatchObject({ code, message: expect.stringContaining('line 3: ') })
  })
})

it.each([
  ['2028-02-29', '2028-02-29T23:59:59.999Z'],
  ['2026-06-30T12:00:00+02:00', '2026-06-30T10:00:00.000Z'],
  ['2026-02-29', undefined],
  ['30.6.2026', undefined],
])('the end %s is %s', (text, end) => expect(parseUntil(text)?.toISOString()).toBe(end))

const shape = z.strictObject({
  name: z.string(),
  rules: z.array(z.strictObject({ id: z.string(), in: z.array(z.number()) })),
})
it.each<[text: string, line: number]>([
  ['{\n"name": 1}', 2],
  ['{\n\n"rules": []}', 1], // what is missing is where it should stand in
  ['{"name": "x",\n"rules": [\n{"id": "a", "in": [1]},\n{"id":\n"b", "in": [1,\n"two"]}]}', 6],
  ['{"name": "}],\\"{",\n"rules": [{"id": "a"}]}', 2],
  ['{"name": "x", "rules": [],\n"more": {"name": 1}}', 2],
  ['{"rules": [{"in": [1], "id": "a"}],\n"name": [\n]}', 2],
  ['[', 1],
  ['', 1],
])('the fault of %j is on line %i', (text, line) => {
  const read = readJsonText(text, shape)
  expect(read.ok ? 0 : read.line).toBe(line)
})
