import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import { sequence } from '../../base/random.ts'
import type { Database } from './connect.ts'
import { type SharedSlots, sharedSlots } from './shared-slots.ts'

let database: Database
beforeAll(async () => {
  database = await labDatabase()
}, 60_000)
const opened: SharedSlots[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((slots) => slots.close()))
})

function slotsOfNode(): SharedSlots {
  const log = { warn: () => {}, info: () => {} }
  const slots = sharedSlots(async () => database, { now: () => performance.now(), log, answerMs: 10_000 })
  opened.push(slots)
  return slots
}
/** The advisory locks that sessions of this database hold: one for each slot. */
async function locks(): Promise<number> {
  const { rows } = await database.pool.query<{ count: string }>(
    `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  return Number(rows[0]?.count)
}
async function taken(slots: SharedSlots, key: string, limit: number): Promise<() => void> {
  const answer = await slots.take([{ key, limit }])
  if (typeof answer === 'string') throw new Error(answer)
  return answer
}

describe('a slot', () => {
  it('that is taken while the last one of its key is freed is freed as well', async () => {
    const slots = slotsOfNode()
    const first = await taken(slots, 'k', 2)
    first()
    const second = await taken(slots, 'k', 2)
    second()
    await expect.poll(locks).toBe(0)
  })
  it('is freed if one that is taken with it cannot be', async () => {
    const slots = slotsOfNode()
    const refused = slots.take([
      { key: 'k', limit: 2 },
      { key: 'a text that the database refuses: \0', limit: 2 },
    ])
    await expect(refused).rejects.toThrow(/invalid byte sequence/)
    await expect.poll(locks).toBe(0)
  })
  it('is never given to two callers of one node, and none is left behind', async () => {
    const random = sequence(7)
    const slots = [slotsOfNode(), slotsOfNode()]
    const LIMIT = 3
    let inside = 0
    let most = 0
    const caller = async (node: SharedSlots): Promise<void> => {
      for (let i = 0; i < 60; i++) {
        const answer = await node.take([
          { key: 'a', limit: LIMIT },
          { key: `b${i % 2}`, limit: LIMIT },
        ])
        if (answer === 'away') throw new Error(answer)
        if (answer === 'full') continue
        most = Math.max(most, ++inside)
        await new Promise((resolve) => setTimeout(resolve, random() * 3))
        inside--
        answer()
      }
    }
    await Promise.all(slots.flatMap((node) => Array.from({ length: 4 }, () => caller(node))))
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(LIMIT)
    await expect.poll(locks).toBe(0)
  })
})
