import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readKnown, readOpen, readStrict } from './read-answer.ts'

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
