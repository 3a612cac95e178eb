import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { labDatabase } from '../../test/lab/database.ts'
import type { Database } from '../store/postgres/connect.ts'
import { jobsOf } from '../store/postgres/jobs.ts'
import { type StorageBounds, storageGuard } from './storage.ts'

let database: Database
beforeAll(async () => {
  database = await labDatabase()
  const jobs = jobsOf(database.db)
  for (const [id, state] of [
    ['job_1', 'running'],
    ['job_2', 'done'],
  ] as const) {
    await jobs.create({ id, kind: 'verify', name: '', owner: 'me', options: {}, expiresAt: new Date(Date.now() + 1e9) })
    await sql`UPDATE mailsonde.jobs SET state = ${state}, received = 1000, octets = 50000 WHERE id = ${id}`.execute(
      database.db,
    )
  }
})

const MUCH: StorageBounds = {
  ...{ maxOpenRows: 1e9, maxKeyStorage: 1e12, maxStorage: 1e15, minFreeDisk: 1e6 },
  freeDisk: async () => 1e9,
}
const OF_KEY = 2 * 50_000 + 2_000 * 1_024

it.each<[why: string, bounds: Partial<StorageBounds>, owner: string, more: number, code: string | undefined]>([
  ['room enough', {}, 'me', 1_000, undefined],
  ['the open rows of the key', { maxOpenRows: 1_500 }, 'me', 501, 'too_many_rows'],
  ['the last of its open rows', { maxOpenRows: 1_500 }, 'me', 500, undefined],
  ['the storage of the key, in which ended jobs count', { maxKeyStorage: OF_KEY + 1_024 }, 'me', 2, 'too_much_stored'],
  ['the last of its storage', { maxKeyStorage: OF_KEY + 1_024 }, 'me', 1, undefined],
  ['another key', { maxOpenRows: 1_500, maxKeyStorage: OF_KEY }, 'other', 1_000, undefined],
  ['the storage of all', { maxStorage: 1_000_000 }, 'me', 1, 'storage_full'],
  ['the free disk', { freeDisk: async () => 999_999 }, 'me', 1, 'storage_full'],
  ['a database elsewhere', { freeDisk: async () => undefined }, 'me', 1, undefined],
])('%s', async (_, bounds, owner, more, code) => {
  const admitted = storageGuard(database.db, { ...MUCH, ...bounds }).admit(owner, more)
  if (code === undefined) await admitted
  else await expect(admitted).rejects.toMatchObject({ code })
})
