import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import type { Database } from './connect.ts'
import { forgetPattern, forgetRows, forgetTexts } from './forget.ts'
import { idempotencyKeysOf } from './idempotency-keys.ts'
import { jobsOf } from './jobs.ts'
import { monitorsOf } from './monitors.ts'
import { portfolioOf } from './portfolio.ts'
import { storedAnswersOf } from './stored-answers.ts'
import { webhooksOf } from './webhooks.ts'

let database: Database
beforeAll(async () => {
  database = await labDatabase()
})

/** What is left of a text, in both forms. */
async function left(name: 'email' | 'domain', value: string, text: string): Promise<readonly [string, string]> {
  const pattern = (form: 'text' | 'json') => forgetPattern({ name, value }, form)
  const { rows } = await sql<{ text: string; json: string }>`
    SELECT regexp_replace(${text}, ${pattern('text')}, '_', 'gi') AS text,
      regexp_replace(${JSON.stringify([text])}::jsonb::text, ${pattern('json')}, '_', 'gi')::jsonb ->> 0 AS json`.execute(
    database.db,
  )
  return [rows[0]!.text, rows[0]!.json]
}

describe('a mailbox', () => {
  it.each<[value: string, text: string, left: string]>([
    ['joe@a.example', 'joe@a.example', '_'],
    ['joe@a.example', 'to Joe@A.example.', 'to _.'],
    ['joe@a.example', 'joe@a.example,joe@a.example joe@a.example', '_,_ _'],
    [
      'joe@a.example',
      'xjoe@a.example joe@a.example.org x+joe@a.example joe@xa.example',
      'xjoe@a.example joe@a.example.org x+joe@a.example joe@xa.example',
    ],
    ['joe@a.example', '"joe"@a.example', '_'],
    ['joe@a.example', '<joe@a.example> "Joe" <joe@a.example>', '<_> "Joe" <_>'],
    ['joe@a.example', 'https://x.example/?to=joe%40a.example&b=1', 'https://x.example/?to=_&b=1'],
    ['joe@a.example', 'mailto%3Ajoe%40a%2Eexample%20', 'mailto%3A_%20'],
    ['joe@a.example', '%6aoe%40a.example', '_'],
    ['joe@a.example', 'a%2Bjoe%40a.example', 'a%2Bjoe%40a.example'],
    ['joe@a.example', 'two\njoe@a.example\tlines', 'two\n_\tlines'],
    ['"joe smith"@a.example', '"joe smith"@a.example', '_'],
    ['"joe smith"@a.example', 'see "joe\\ smith"@a.example, please', 'see _, please'],
    ['"joe smith"@a.example', '?to=%22joe+smith%22%40a.example', '?to=_'],
    ['"joe smith"@a.example', '?to=%22joe%20smith%22@a.example', '?to=_'],
    ['"a\\"b"@a.example', '"a\\"b"@a.example', '_'],
    ['"a\\\\b"@a.example', '"a\\\\b"@a.example', '_'],
    ['jörg@a.example', 'JÖRG@a.example j%C3%B6rg%40a.example', '_ _'],
    ['joe@xn--bcher-kva.example', 'joe@bücher.example joe@xn--bcher-kva.example', '_ _'],
    ['a.b+c@a.example', 'a.b+c@a.example axb+c@a.example', '_ axb+c@a.example'],
  ])('%s leaves nothing of it in %j', async (value, text, rest) => {
    expect(await left('email', value, text)).toEqual([rest, rest])
  })
})

describe('a domain', () => {
  it.each<[value: string, text: string, left: string]>([
    ['a.example', 'joe@a.example a.example. A.EXAMPLE', 'joe@_ _. _'],
    ['a.example', 'b.a.example xa.example a.example.org', 'b.a.example xa.example a.example.org'],
    ['a.example', 'https%3A%2F%2Fa%2Eexample', 'https%3A%2F%2F_'],
    ['xn--bcher-kva.example', 'bücher.example', '_'],
  ])('%s leaves nothing of it in %j', async (value, text, rest) => {
    expect(await left('domain', value, text)).toEqual([rest, rest])
  })
})

it('a mailbox is erased from all texts that callers chose, and nothing else is', async () => {
  const { db } = database
  const expiresAt = new Date(Date.now() + 1e9)
  const about = { kind: 'verify', owner: '', expiresAt } as const
  await jobsOf(db).create({ ...about, id: 'job_1', name: 'for joe@a.example', options: { selector: 'joe@a.example' } })
  await jobsOf(db).create({ ...about, id: 'job_2', name: 'for ann@a.example', options: {} })
  const monitor = {
    ...{
      owner: '',
      kind: 'check',
      domain: 'b.example',
      target: 'b.example',
      every_ms: 1e9,
      options: '{}',
      quiet: null,
    },
    ...{ conditions: '[]', is_public: false, enabled: true, created_at: new Date(), next_run: new Date() },
  }
  const notify = JSON.stringify([
    { type: 'mail', to: 'Joe@a.example' },
    { type: 'mail', to: 'ann@a.example' },
    { type: 'slack', url: 'https://hooks.example/?to=joe%40a.example' },
  ])
  const made = await monitorsOf(db).add({ ...monitor, id: 'mon_1', name: 'of joe@a.example', notify }, 10)
  await monitorsOf(db).edit(made!.number, { unsubscribed: JSON.stringify(['ann@a.example', 'joe@a.example']) })
  const urls = ['https://hooks.example/joe%40a.example', 'https://hooks.example/ann']
  for (const [i, url] of urls.entries())
    await webhooksOf(db).ensure({ id: `wh_${i}`, owner: '', url, secret: 's', created_at: new Date() }, 10)
  const keys = idempotencyKeysOf(async () => db)
  for (const name of ['joe', 'ann']) {
    const claim = await keys.claim({ owner: '', key: `key of ${name}` }, 'r')
    if (claim.is === 'mine')
      await keys.keep(claim.claim, {
        status: 202,
        answer: JSON.stringify({ to: `"${name}"@a.example` }),
        body: undefined,
      })
  }
  // What others publish names mailboxes, too: the receivers of reports in a DMARC record.
  const seen = JSON.stringify({ rua: ['mailto:JOE@a.example', 'mailto:ann@a.example'] })
  await sql`UPDATE mailsonde.monitors SET known = ${seen}, last = '{"reason": "joe%40a.example"}'`.execute(db)
  await sql`INSERT INTO mailsonde.monitor_points (monitor, at, status, changes) VALUES (${made!.number}, now(), 'pass', ${JSON.stringify([seen])}::jsonb)`.execute(
    db,
  )
  const saved = {
    kind: 'check',
    owner: '',
    email: null,
    ip: null,
    status: 'pass',
    score: null,
    saved_at: new Date(),
  } as const
  const names = { subject: 'b.example', domain: 'b.example', expires_at: expiresAt, answer: seen }
  await storedAnswersOf(db).add({ ...saved, ...names, id: 'r1' }, 9)
  const what = { name: 'email', value: 'joe@a.example' } as const
  expect(await forgetTexts(db, what)).toMatchObject({
    job_texts: 1,
    monitor_texts: 1,
    webhooks: 1,
    idempotency_keys: 1,
    texts_of_others: 2,
  })
  const { rows } = await sql<{ text: string }>`
    SELECT known || last::text AS text FROM mailsonde.monitors UNION ALL SELECT changes::text FROM mailsonde.monitor_points
    UNION ALL SELECT answer FROM mailsonde.stored_answers`.execute(db)
  expect(
    rows.map(({ text }) => [/joe/i.test(text), text.includes('ann@a.example'), text.includes('[removed]')]),
  ).toEqual(Array(3).fill([false, true, true]))
  expect(await monitorsOf(db).forget(what.name, what.value)).toEqual({ monitors: 0, receivers: 1 })
  const [row] = await portfolioOf(db).list({ facts: {} }, { sort: 'newest', limit: 1 })
  expect(row).toMatchObject({
    name: 'of [removed]',
    notify: [{ type: 'mail', to: 'ann@a.example' }],
    unsubscribed: ['ann@a.example'], // others still get no mail
  })
  expect((await jobsOf(db).list({ limit: 9 })).map(({ name, options }) => [name, options])).toEqual([
    ['for ann@a.example', {}],
    ['for [removed]', { selector: '[removed]' }],
  ])
  expect(await keys.claim({ owner: '', key: 'key of ann' }, 'r')).toMatchObject({ is: 'answered' })
  expect(await forgetTexts(db, what)).toEqual({
    ...{ job_texts: 0, monitor_texts: 0, webhooks: 0, deliveries: 0, idempotency_keys: 0, texts_of_others: 0 },
  })
})

it('a job that is removed meanwhile does not stop the rest', async () => {
  const { db } = database
  const jobs = await jobsOf(db).list({ limit: 9 })
  const erased = Array.from({ length: 4 }, () => forgetRows(db, { name: 'email', value: 'zoe@a.example' }))
  for (const { id } of jobs) await jobsOf(db).remove(id)
  await expect(Promise.all(erased)).resolves.toHaveLength(4)
})
