import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { labProblem } from '../../test/lab/problem.ts'
import { boundAnswer, MAX_ANSWER, MAX_TEXT, readKnown, readOpen, readStrict } from './read-answer.ts'

const node = z.strictObject({
  name: z.string(),
  get below() {
    return z.array(node)
  },
})
const schema = z.strictObject({ id: z.int(), tags: z.array(z.string()).max(2), tree: node.optional() })
const LEAF = { name: 'a', below: [] }

describe('reads', () => {
  it.each<[why: string, value: unknown, strict: boolean, open: boolean]>([
    ['what is declared', { id: 1, tags: [] }, true, true],
    ['an undeclared field', { id: 1, tags: [], more: 2 }, false, true],
    [
      'an undeclared field deep inside',
      { id: 1, tags: [], tree: { name: 'a', below: [{ ...LEAF, x: 1 }] } },
      false,
      true,
    ],
    ['a field that is missing', { id: 1 }, false, false],
    ['a field of another type', { id: '1', tags: [] }, false, false],
    ['a list that is too long, beside an undeclared field', { id: 1, tags: ['a', 'b', 'c'], more: 2 }, false, false],
    [
      'another type deep inside, beside an undeclared field',
      { id: 1, tags: [], tree: { name: 1, below: [], x: 1 } },
      false,
      false,
    ],
    ['no object', 'x', false, false],
    ['null', null, false, false],
  ])('%s', (_, value, strict, open) => {
    expect([readStrict(schema, value).ok, readOpen(schema, value).ok, readKnown(schema, value).ok]).toEqual([
      strict,
      open,
      open,
    ])
  })
})

const NEWER = { id: 1, tags: [], more: 2, tree: { name: 'a', below: [{ ...LEAF, x: { y: 1 } }], z: null } }

it('the open form passes undeclared fields through', () => {
  expect(readOpen(schema, NEWER)).toEqual({ ok: true, value: NEWER })
})

it('the known form leaves them out, and the value that was given alone', () => {
  const given = structuredClone(NEWER)
  expect(readKnown(schema, given)).toEqual({ ok: true, value: { id: 1, tags: [], tree: { name: 'a', below: [LEAF] } } })
  expect(given).toEqual(NEWER)
})

it('the prototype cannot be reached', () => {
  const hostile: unknown = JSON.parse(
    '{"id":1,"tags":[],"__proto__":{"polluted":1},"tree":{"name":"a","below":[],"constructor":1}}',
  )
  expect(readKnown(schema, hostile)).toEqual({ ok: true, value: { id: 1, tags: [], tree: LEAF } })
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

it('says in words what is wrong, the first three faults, harmless on a terminal', () => {
  const read = readOpen(z.strictObject({ a: z.int(), b: z.int(), c: z.int(), d: z.int() }), { a: '\u001b[31m' })
  expect(read).toMatchObject({
    ok: false,
    problem: { text: expect.stringMatching(/^a: .*; b: .*; c: .* and 1 more$/) },
  })
})

/** Of values without a schema. */
const boundOf = <T>(answer: T): T => boundAnswer(answer, (copy) => ({ ok: true, value: copy as T }))
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
const list = (length: number, text: string): string[] => Array.from({ length }, () => text)

describe('a text', () => {
  // Bound: src/answers/read-answer.ts MAX_TEXT
  it.each([
    ['at the bound', 'a'.repeat(MAX_TEXT), 'a'.repeat(MAX_TEXT)],
    ['one beyond', 'a'.repeat(MAX_TEXT + 1), `${'a'.repeat(MAX_TEXT - 3)}…`],
    ['of 63 kB', 'a=b '.repeat(16_000), `${'a=b '.repeat(1_100).slice(0, MAX_TEXT - 3)}…`],
    ['of two bytes a letter at the bound', 'é'.repeat(MAX_TEXT / 2), 'é'.repeat(MAX_TEXT / 2)],
    ['of two bytes a letter beyond', 'é'.repeat(MAX_TEXT), `${'é'.repeat(MAX_TEXT / 2 - 2)}…`],
    ['of four bytes a letter, never cut within one', '😀'.repeat(MAX_TEXT), `${'😀'.repeat(MAX_TEXT / 4 - 1)}…`],
  ])('%s', (_, text, cut) => {
    expect(boundOf({ a: { b: [text] } })).toEqual({ a: { b: [cut] } })
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(MAX_TEXT)
  })
})

it.each([
  ['small', { domain: 'a.example', list: list(100, 'a'), n: 1.5, none: null, un: undefined }],
  ['of 900 kB of texts without escapes', { list: list(8_700, 'a'.repeat(100)) }],
  ['of 170 kB of escapes', { list: list(170, '"'.repeat(1_000)) }],
])('is the very same value where it fits: %s', (_, answer) => {
  expect(boundOf(answer)).toBe(answer)
})

it.each([
  ['at the bound', Math.floor((MAX_ANSWER - '{"findings":[]}'.length - 1) / 103), false],
  ['one beyond', Math.floor((MAX_ANSWER - '{"findings":[]}'.length - 1) / 103) + 1, true],
])('a list %s', (_, length, isCut) => {
  const answer: { findings: string[]; findings_left_out?: number } = { findings: list(length, 'a'.repeat(100)) }
  const bound = boundOf(answer)
  expect(bytes(bound)).toBeLessThanOrEqual(MAX_ANSWER)
  expect(bound).toEqual(
    isCut ? { findings: answer.findings.slice(0, 1_000), findings_left_out: length - 1_000 } : answer,
  )
})

it('cuts the longest lists alone while that is enough', () => {
  const answer = {
    results: list(29, 'a'),
    deep: [{ findings: list(20_000, 'a'.repeat(60)) }],
  }
  expect(boundOf(answer)).toEqual({
    results: answer.results,
    deep: [{ findings: answer.deep[0]!.findings.slice(0, 1_000), findings_left_out: 19_000 }],
  })
})

it.each<[string, unknown]>([
  [
    'an SPF record of 63 kB of `a=b `',
    { spf: { record: 'a=b '.repeat(16_000), findings: list(16_000, 'a=b '.repeat(500)) } },
  ],
  ['many lists of many', { a: Array.from({ length: 2_000 }, () => ({ b: list(2_000, 'a') })) }],
  ['escapes', { a: list(100_000, '\u0000\u0001"\\') }],
  [
    'many names',
    {
      a: Array.from({ length: 50 }, () =>
        Object.fromEntries(list(500, '').map((_, n) => [`${'n'.repeat(50)}${n}`, n])),
      ),
    },
  ],
])('is within the bound: %s', (_, answer) => {
  const bound = boundOf(answer)
  expect(bytes(bound)).toBeLessThanOrEqual(MAX_ANSWER)
})

it('any answer: within the bound, and what fits is as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (answer) => {
      expect(bytes(boundOf(answer))).toBeLessThanOrEqual(MAX_ANSWER)
      expect(boundOf(answer)).toEqual(answer)
    }),
  )
})

it('keeps to the strict schema, which need not name what tells of the rest', () => {
  const schema = z.strictObject({ findings: z.array(z.string()) })
  const bound = boundOf({ findings: list(20_000, 'a'.repeat(100)) })
  expect(readStrict(schema, bound)).toMatchObject({ ok: true })
  expect(readStrict(schema, { ...bound, other: 1 })).toMatchObject({ ok: false })
})

it('a cut that the schema does not take is a fault of ours', () => {
  const answer = { findings: list(20_000, 'a'.repeat(100)) }
  expect(() => boundAnswer(answer, () => ({ ok: false, problem: labProblem('findings: too few') }))).toThrow(
    'findings: too few',
  )
})
