import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { sendQueue } from './udp.ts'
import { giveUp, type Wait } from './wait.ts'

const waits = (count: number): Wait[] =>
  Array.from({ length: count }, () => ({
    bytes: Buffer.alloc(0),
    start: 0,
    questionEnd: 0,
    end: 0,
    wireName: '',
    expiresAtMs: 0,
    holder: undefined,
    id: 0,
    overTcp: false,
  }))

/** A queue whose clock moves a ms at each look, so that it may send 96 a turn. */
function lab() {
  const turns: (readonly Wait[])[] = []
  let nowMs = 0
  const box = sendQueue<Wait>(
    (sent) => turns.push(sent),
    () => ++nowMs,
  )
  return { ...box, turns }
}

it('what is asked in one turn goes out together, in order, and not before its end', async () => {
  const { add, turns } = lab()
  const asked = waits(5)
  for (const wait of asked) add(wait)
  expect(turns).toEqual([])
  await sleep(20)
  expect(turns).toHaveLength(1)
  expect(turns[0]!.every((wait, i) => wait === asked[i])).toBe(true)
})

it.each([
  [200, 'more than one burst'],
  [6_000, 'places are given back on the way'], // 4,096
])('of %i questions each goes once but those given up, however late (%s)', async (count) => {
  const { add, turns, size } = lab()
  const asked = waits(count)
  for (const wait of asked) add(wait)
  const given = new Set<Wait>()
  const give = (i: number): void => {
    giveUp(asked[i]!)
    given.add(asked[i]!)
  }
  give(3)
  while (turns.flat().length < count / 1.3) await sleep(1)
  if (!turns.flat().includes(asked[count - 2]!)) give(count - 2)
  while (size() > 0) await sleep(1)
  const sent = turns.flat()
  expect(sent).toHaveLength(count - given.size)
  const expected = asked.filter((wait) => !given.has(wait))
  expect(sent.every((wait, i) => wait === expected[i])).toBe(true)
  expect(new Set(sent).size).toBe(sent.length)
  expect(sent.some((wait) => given.has(wait))).toBe(false)
  expect(Math.max(...turns.map((turn) => turn.length))).toBe(96)
})

it('what is taken out is not sent', async () => {
  const { add, turns, empty, size } = lab()
  const asked = waits(3)
  for (const wait of asked) add(wait)
  giveUp(asked[1]!)
  expect(empty()).toHaveLength(2)
  expect(size()).toBe(0)
  await sleep(10)
  expect(turns).toEqual([])
})
