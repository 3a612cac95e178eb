import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'

it('a connection that breaks between two statements of a transaction ends no process: the next statement rejects', async () => {
  const { db, pool } = await labDatabase()
  const work = db.transaction().execute(async (tx) => {
    const { rows } = await tx.executeQuery<{ pid: number }>(pidOf.compile(tx))
    await pool.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid])
    await new Promise((resolve) => setTimeout(resolve, 200)) // the loss is told meanwhile
    await tx.executeQuery(pidOf.compile(tx))
  })
  await expect(work).rejects.toThrow()
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

const pidOf = sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
