import { expect, it } from 'vitest'
import { labStore } from '../../../test/lab/world.ts'
import { sharedVerification } from './verification.ts'

function shared() {
  let nowMs = 0
  const { of, drop } = sharedVerification(() => nowMs, labStore().sources)
  return { a: of('1'), b: of('2'), drop, pass: (ms: number) => (nowMs += ms) }
}
const WANT = { key: 'gmail', used: 0, want: 0, most: 5, tokens: 0, perSecond: 2, capacity: 10 }

it('connections of a provider are shared by all processes', () => {
  const { a, b, drop, pass } = shared()
  const may = (of: typeof a, want: number, used = 0) => of.lease([{ ...WANT, want, used }])[0]![1].connections
  expect([may(a, 5), may(b, 5)]).toEqual([5, 0])
  expect(may(a, 5, 5)).toBeLessThan(5) // the other wants some too
  pass(5_001) // one that does not say anything any more has none
  expect(may(b, 5)).toBe(5)
  drop('2') // and so has one that has ended
  expect(may(a, 5)).toBe(5)
})

it('recipients of a provider are those of one bucket', () => {
  const { a, b, pass } = shared()
  const given = (of: typeof a, tokens: number) => of.lease([{ ...WANT, tokens }])[0]![1]
  expect([given(a, 6).tokens, given(b, 6).tokens, given(a, 1)]).toEqual([
    6,
    4,
    { connections: 0, tokens: 0, waitMs: 500 },
  ])
  pass(1_500)
  expect(given(b, 6).tokens).toBe(3)
})

it('one process asks a question, and its facts are for all', async () => {
  const { a, b, pass } = shared()
  expect([await a.claimQuestion('q'), await b.claimQuestion('q'), await a.claimQuestion('q')]).toEqual([
    true,
    false,
    true,
  ])
  b.releaseQuestion('q') // it is not its own
  expect(await b.claimQuestion('q')).toBe(false)
  pass(3_001) // the process that asked has ended
  expect(await b.claimQuestion('q')).toBe(true)
  await a.put('answer', 'q', '', '{"email":"Joe@a.example"}', 60_000)
  for (const one of [a, b, a]) one.count('unknown', 'a.example', 3_600_000)
  await b.put('pause', 'gmail', '', '', 600_000)
  expect(await b.get('answer', 'q')).toMatchObject({ leftMs: 60_000 })
  expect(await a.about('a.example', 'gmail')).toMatchObject([
    { kind: 'unknown', value: '3' },
    { kind: 'pause', leftMs: 600_000 },
  ])
  expect([await a.forget('email', 'joe@a.example'), await a.forget('domain', 'a.example')]).toEqual([1, 1])
  expect(await b.about('a.example', 'gmail')).toMatchObject([{ kind: 'pause' }])
})

it('the states of sources come to each process once', async () => {
  const { a, b } = shared()
  await a.putSources([{ key: '192.0.2.1 gmail', value: { n: 1 } }])
  expect([await b.changedSources(), await b.changedSources()]).toEqual([[{ n: 1 }], []])
})
