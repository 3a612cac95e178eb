import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import type { Database } from './connect.ts'
import { type IdempotencyKeys, idempotencyKeysOf, MAX_KEYS } from './idempotency-keys.ts'

let database: Database
let keys: IdempotencyKeys
beforeAll(async () => {
  database = await labDatabase()
  keys = idempotencyKeysOf(async () => database.db)
})

const of = (key: string, owner = 'me') => ({ owner, key })
async function mine(key: string, request = 'r') {
  const claim = await keys.claim(of(key), request)
  if (claim.is !== 'mine') throw new Error(`the key is ${claim.is}`)
  return claim
}
const age = (key: string, column: string) =>
  sql`UPDATE mailsonde.idempotency_keys SET ${sql.raw(column)} = now() - interval '1 s' WHERE key = ${key}`.execute(
    database.db,
  )
const KEPT = { status: 202, answer: '{"id":1}', body: { sha256: 'ab', octets: 3 } }

it('of many calls at once one is let in', async () => {
  const claims = await Promise.all(Array.from({ length: 8 }, () => keys.claim(of('race'), 'r')))
  expect(claims.map(({ is }) => is).toSorted()).toEqual(['mine', ...Array.from({ length: 7 }, () => 'running')])
})

it('keeps an answer for a day', async () => {
  const { claim } = await mine('kept')
  await keys.keep(claim, KEPT)
  expect(await keys.claim(of('kept'), 'r')).toEqual({ is: 'answered', ...KEPT })
  expect(await keys.claim(of('kept'), 'another')).toEqual({ is: 'other_request' })
  await age('kept', 'expires_at')
  expect((await keys.claim(of('kept'), 'another')).is).toBe('mine')
})

it('a claim that lapsed goes to the next call with its seed, and the first can keep nothing any more', async () => {
  const first = await mine('lapsed')
  await age('lapsed', 'leased_until')
  expect(await keys.claim(of('lapsed'), 'another')).toEqual({ is: 'other_request' })
  const second = await mine('lapsed')
  expect([second.seed, second.claim === first.claim]).toEqual([first.seed, false])
  expect([await keys.hold(first.claim), await keys.hold(second.claim)]).toEqual([false, true])
  await keys.keep(first.claim, KEPT)
  await keys.release(first.claim)
  expect((await keys.claim(of('lapsed'), 'r')).is).toBe('running')
})

it('a claim that is held does not lapse', async () => {
  const { claim } = await mine('held')
  await age('held', 'leased_until')
  await keys.hold(claim)
  expect((await keys.claim(of('held'), 'r')).is).toBe('running')
})

// Bound: src/store/postgres/idempotency-keys.ts MAX_KEYS
it('a caller has so many keys and no more; those that have expired make room', async () => {
  const add = (from: number, to: number, expires: string) =>
    sql`
      INSERT INTO mailsonde.idempotency_keys (owner, key, request, seed, leased_until, expires_at)
      SELECT 'full', 'k' || i, 'r', 's', now(), now() + ${expires}::interval FROM generate_series(${from}::int, ${to}::int) i`.execute(
      database.db,
    )
  await add(2, MAX_KEYS, '1 h')
  expect((await keys.claim(of('new', 'full'), 'r')).is).toBe('mine')
  expect((await keys.claim(of('one more', 'full'), 'r')).is).toBe('full')
  expect((await keys.claim(of('k2', 'full'), 'r')).is).toBe('mine') // known: its claim has lapsed
  await age('k3', 'expires_at')
  expect((await keys.claim(of('one more', 'full'), 'r')).is).toBe('mine')
})

it('expired keys are removed until none is left', async () => {
  for (let n = 0; n < 3; n++) await mine(`old ${n}`)
  await sql`UPDATE mailsonde.idempotency_keys SET expires_at = now() - interval '1 s'`.execute(database.db)
  while (await keys.sweep());
  const { rows } = await sql<{ n: string }>`SELECT count(*) AS n FROM mailsonde.idempotency_keys`.execute(database.db)
  expect(rows[0]!.n).toBe(0)
})
