import { expect, it } from 'vitest'
import { labDatabase, labDatabaseUrl } from '../../test/lab/database.ts'
import { configOf } from '../config.ts'
import { databaseState } from './database.ts'
import { manageDatabase } from './database-commands.ts'

/** What `db status` says of the database. */
async function status(url: string): Promise<readonly string[]> {
  const printed: string[] = []
  expect(await manageDatabase({ kind: 'status' }, configOf({ databaseUrl: url }), (text) => printed.push(text))).toBe(0)
  return printed.join('\n').split('\n')
}

it('db status tells what waits in the queue and who holds connections', async () => {
  const url = await labDatabaseUrl()
  expect((await status(url)).filter((line) => /^(?:queue|due|leases)/.test(line))).toEqual([])
  const { pool } = await labDatabase(url)
  expect((await status(url)).slice(-3)).toEqual([
    'queue     0 rows without a result, 0 of them at providers that are due',
    'due       0 providers of running jobs, the first since 0 s; 0 wait for a later time',
    'leases    0 nodes hold 0 connections at 0 providers and mail hosts',
  ])
  await pool.query(`
    INSERT INTO mailsonde.jobs (id, kind, name, owner, state, options, expires_at, rows)
    VALUES ('job_1', 'verify', '', '', 'running', '{}', now() + interval '1 day', 12), ('job_2', 'verify', '', '', 'paused', '{}', now() + interval '1 day', 50);
    INSERT INTO mailsonde.job_providers (job, provider, rows, done, next_due)
    SELECT number, provider, made.rows, done, now() + due::interval FROM mailsonde.jobs JOIN (VALUES
      ('job_1', 'late', 7, 3, '-90 s'), ('job_1', 'later', 5, 0, '1 hour'), ('job_2', 'paused', 50, 0, '-1 day')) AS made (id, provider, rows, done, due) USING (id);
    INSERT INTO mailsonde.provider_leases (provider, tokens, at, holders)
    SELECT provider, 1, now(), jsonb_build_object('a', jsonb_build_array(2, 2, ms, 2, 0), 'dead', jsonb_build_array(9, 9, 1, 9, 0))
    FROM (VALUES ('late'), ('later')) AS p (provider), (SELECT (extract(epoch FROM now()) * 1000)::bigint + 60000 AS ms) t`)
  const lines = await status(url)
  expect(lines).toContain('jobs      running: 1, with 12 rows, 3 done')
  expect(lines.slice(-3)).toEqual([
    'queue     9 rows without a result, 4 of them at providers that are due',
    expect.stringMatching(
      /^due {7}1 providers of running jobs, the first since (?:9\d|1\d\d) s; 1 wait for a later time$/,
    ),
    'leases    1 nodes hold 4 connections at 2 providers and mail hosts',
  ])
})

it('a database that cannot be reached is not said to be ready', async () => {
  const databaseUrl = 'postgres://nobody:secret@127.0.0.1:1/none'
  expect(await databaseState(configOf({ databaseUrl }))).toEqual({
    ...{ kind: 'given', ready: false },
    detail: 'postgres://nobody:***@127.0.0.1:1/none: the connection was refused (ECONNREFUSED)',
  })
})

it('a private database whose folder cannot be written is not said to be ready', async () => {
  const state = await databaseState(configOf({ dataDir: '/dev/null/data' }))
  expect(state).toEqual({ kind: 'private', ready: false, detail: expect.stringMatching(/^ENOTDIR/) })
})
