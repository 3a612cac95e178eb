import { describe, expect, it } from 'vitest'
import { agreementOf, hasQuorum, type Vote } from './vantage.ts'

/** One letter a node: what it said, `-` for a node that failed or was not heard in time. */
const votes = (said: string): Vote[] =>
  [...said].map((letter, i) => ({ node: `n${i}`, verdict: letter === '-' ? undefined : letter }))

it.each<[string, string, string, string | undefined, string]>([
  ['alone: one voice agrees with nobody', 'a', 'insufficient', undefined, '1/1'],
  ['alone and failed', '-', 'insufficient', undefined, '0/1'],
  ['two that agree', 'aa', 'consistent', 'a', '2/2'],
  ['two that differ: either could be the liar', 'ab', 'split', undefined, '1/2'],
  ['two, one dead', 'a-', 'insufficient', undefined, '1/2'],
  ['three that agree', 'aaa', 'consistent', 'a', '3/3'],
  ['three, one lies', 'aab', 'consistent', 'a', '2/3'],
  ['three, the asking one lies', 'baa', 'consistent', 'a', '2/3'],
  ['three, one dead or slow', 'aa-', 'consistent', 'a', '2/3'],
  ['three, one lies and one is dead', 'ab-', 'split', undefined, '1/3'],
  ['three, two dead', 'a--', 'insufficient', undefined, '1/3'],
  ['three that all differ', 'abc', 'split', undefined, '1/3'],
  ['four, one lies', 'aaba', 'consistent', 'a', '3/4'],
  ['four, one dead', 'aa-a', 'consistent', 'a', '3/4'],
  ['four, one lies and one is dead', 'aab-', 'split', undefined, '2/4'],
  ['four, two against two', 'aabb', 'split', undefined, '2/4'],
  ['four, two dead', 'aa--', 'insufficient', undefined, '2/4'],
  ['five, one lies', 'aaaab', 'consistent', 'a', '4/5'],
  ['five, two lie alike', 'aaabb', 'split', undefined, '3/5'],
  ['five, one lies and one is dead', 'aaab-', 'split', undefined, '3/5'],
  ['five, two dead', 'aaa--', 'insufficient', undefined, '3/5'],
  ['six, two lie alike', 'aaaabb', 'consistent', 'a', '4/6'],
  ['six, one lies and one is dead', 'aaaab-', 'consistent', 'a', '4/6'],
  ['six, three apart', 'aaabb-', 'split', undefined, '3/6'],
  ['six, three dead', 'aaa---', 'insufficient', undefined, '3/6'],
  ['seven, two lie', 'aaaaabb', 'consistent', 'a', '5/7'],
  ['seven, two dead', 'aaaaa--', 'consistent', 'a', '5/7'],
  ['seven, three apart', 'aaaabbb', 'split', undefined, '4/7'],
])('%s', (_, said, verdict, value, agree) => {
  const agreement = agreementOf(votes(said))
  expect([agreement.verdict, agreement.value, agreement.agree]).toEqual([verdict, value, agree])
  expect(agreement.disagreeing).toHaveLength(Number(agree.split('/')[1]) - Number(agree.split('/')[0]))
})

describe('up to two faults of up to seven nodes', () => {
  const CASES = [3, 4, 5, 6, 7].flatMap((nodes) =>
    ['b', '-'].flatMap((fault) => Array.from({ length: nodes }, (_, at) => [nodes, fault, at] as const)),
  )
  it.each(CASES)('of %d one says %j at place %d: it is disagreeing, and never the value', (nodes, fault, at) => {
    const said = [...'a'.repeat(nodes)].with(at, fault).join('')
    const { verdict, value, disagreeing } = agreementOf(votes(said))
    expect([verdict, value]).toEqual(['consistent', 'a'])
    expect(disagreeing).toEqual([{ node: `n${at}`, verdict: fault === '-' ? null : fault }])
  })
})

it.each([
  ['a', 2, false],
  ['aa', 3, true],
  ['ab', 3, false], // the third will decide
  ['aa', 4, false],
  ['aaa', 4, true],
  ['aab', 4, false],
  ['aaa', 6, false],
  ['aaaa', 6, true],
  ['a--', 3, false],
])('%j of %d that were asked: a quorum is %s', (said, nodes, expected) =>
  expect(hasQuorum(votes(said), nodes)).toBe(expected),
)
