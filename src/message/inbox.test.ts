import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import type { MessageAnswer } from '../answers/message.ts'
import { domain } from '../names/domain.ts'
import example from '../operations/examples/message.json' with { type: 'json' }
import { inbox, LIFE } from './inbox.ts'

const MIB = 1_048_576
const owner = (id: string) => ({ id, isAdmin: false })
/**
 * An answer that takes some more than so many octets when it is kept: base64 is packed to the octets that it stands
 * for.
 */
const answerOf = (octets: number): MessageAnswer =>
  ({ ...example, filler: randomBytes(octets).toString('base64') }) as unknown as MessageAnswer

const LARGE = answerOf(MIB - 50_000)

function labInbox() {
  let nowMs = 0
  const box = inbox({ now: () => nowMs, monotonic: () => nowMs })
  box.open(domain('in.example'))
  return { box, pass: (ms: number) => void (nowMs += ms) }
}
function isTaken(make: () => unknown): boolean {
  try {
    make()
    return true
  } catch {
    return false
  }
}

// Bounds: src/message/inbox.ts MAX_OF_OWNER, MAX_ADDRESSES
it('an owner has at most 2,000 addresses, and those that have expired make room', () => {
  const { box, pass } = labInbox()
  const make = (id: string, lifeMs: number = LIFE.least): boolean => isTaken(() => box.create(owner(id), lifeMs))
  for (let i = 0; i < 2_000; i++) make('a')
  expect([make('a'), make('b')]).toEqual([false, true])
  // As often as they expire: no more than 2,000 of them are ever told from those that never were.
  for (let round = 0; round < 8; round++) {
    pass(LIFE.least)
    expect(Array.from({ length: 2_000 }, () => make('a')).every(Boolean)).toBe(true)
  }
  for (const id of ['c', 'd', 'e', 'f'])
    expect(Array.from({ length: 1_999 }, () => make(id, LIFE.most)).every(Boolean)).toBe(true)
  expect([make('g'), make('g'), make('g'), make('g')]).toEqual([true, true, true, true])
  pass(LIFE.least)
  expect(make('h')).toBe(true) // in place of one that has expired
})

/** Takes messages for new addresses of an owner while they are taken; returns their number. */
function fill(box: ReturnType<typeof inbox>, id: string): number {
  for (let n = 0; ; n++) {
    const { address } = box.create(owner(id), LIFE.most)
    if (box.accepts(address) !== 'yes') return n
    box.take(address)?.(LARGE)
  }
}

// Bounds: src/message/inbox.ts MAX_KEPT, MAX_KEPT_OF_OWNER
it('the answers of an owner take at most 16 MiB, and all of them 64', { timeout: 60_000 }, () => {
  const { box, pass } = labInbox()
  const first = fill(box, 'a')
  expect(first).toBeGreaterThanOrEqual(15)
  expect(first).toBeLessThanOrEqual(17)
  for (const id of ['b', 'c', 'd']) expect(fill(box, id)).toBeGreaterThanOrEqual(14)
  pass(LIFE.most)
  expect(fill(box, 'a')).toBe(first) // what has expired is gone
})

it('what was taken while there was room, and has none when it is analysed, waits again', () => {
  const { box } = labInbox()
  const waiting = Array.from({ length: 40 }, () => box.create(owner('a'), LIFE.most))
  const keeps = waiting.map(({ address }) => box.take(address)!)
  for (const keep of keeps) keep(LARGE)
  const states = waiting.map(({ id }) => box.show(id, owner('a')).state)
  const kept = states.filter((state) => state === 'received').length
  expect(kept).toBeGreaterThanOrEqual(14)
  expect(kept).toBeLessThanOrEqual(16)
  expect(states.at(-1)).toBe('waiting')
})
