import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type JobAnswer, jobAnswer, jobResultsAnswer } from '../../src/answers/jobs.ts'
import { CA_FILE, STATE } from './addresses.ts'
import { type Database, startDatabase } from './database.ts'
import { dataFolder, type Machine, type Node, plugIn, startNode, unplug } from './nodes.ts'
import { type Clock, drivenClock, type Program, startProgram } from './program.ts'
import { startReceiver } from './receiver.ts'

/** Bulk jobs as their users see them: who is told, what waits and until when, what is removed, and Ctrl-C. */
const DAY_MS = 86_400_000
/** A row that a server without a time to wait has greylisted is due after 5 minutes, by the clock of the database. */
const GREYLISTED_MS = 300_000
vi.setConfig({ testTimeout: 120_000 })

let clock: Clock
let program: Program
let database: Database
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeAll(async () => {
  clock = drivenClock(Date.now())
  database = await startDatabase()
  receiver = await startReceiver()
  // postgrey remembers the senders that other tests used
  program = await startProgram(['--mail-from', 'jobs@lab.test', '--database-url', database.url], clock)
}, 60_000)
afterAll(async () => {
  await program?.stop()
  await database?.stop()
  receiver?.close()
})

async function submit(rows: readonly string[], query = ''): Promise<JobAnswer> {
  const headers = { 'content-type': 'text/plain' }
  const response = await fetch(`${program.url}/v1/jobs?${query}`, { method: 'POST', headers, body: rows.join('\n') })
  const body = await response.json()
  expect([response.status, body]).toEqual([202, expect.anything()])
  return jobAnswer.parse(body)
}
type Get = (path: string) => Promise<{ readonly status: number; readonly body: unknown }>
const show = async (id: string, get: Get = program.get): Promise<JobAnswer> =>
  jobAnswer.parse((await get(`/v1/jobs/${id}`)).body)
const results = async (id: string) =>
  jobResultsAnswer
    .parse((await program.get(`/v1/jobs/${id}/results`)).body)
    .data.map(({ input, result, reason }) => [input, result, reason])
/** Makes all rows that wait due in some seconds; returns when. */
async function dueIn(seconds: number): Promise<number> {
  const client = new pg.Client(database.url)
  await client.connect()
  const due = `now() + interval '${seconds} s'`
  await client.query(`UPDATE mailsonde.job_rows SET due = ${due} WHERE state = 'ready' AND due > now()`)
  await client.query(`UPDATE mailsonde.job_providers SET next_due = ${due} WHERE next_due < 'infinity'`)
  await client.end()
  return Date.now() + seconds * 1_000
}
const done = (id: string): Promise<void> =>
  expect.poll(async () => (await show(id)).state, { timeout: 60_000, interval: 200 }).toBe('done')

it('a greylisted row comes back when it is due, and the webhook is told at the end, signed', async () => {
  const url = 'https://hooks.notify.test/jobs'
  const job = await submit(
    ['user@grey.test', 'user@accept.test', 'not an address'],
    `callback=${encodeURIComponent(url)}`,
  )
  const secret = job.callback?.secret
  if (secret === undefined) throw new Error('no secret was told')
  // The row that is deferred may have its answer after the other two.
  const deferred = /^rows of grey\.test were deferred or limited until (\S+)$/
  await expect
    .poll(() => show(job.id), { timeout: 20_000 })
    .toMatchObject({ state: 'running', done: 2, eta_reason: expect.stringMatching(deferred) })
  const [, until] = deferred.exec((await show(job.id)).eta_reason!)!
  expect(Date.parse(until!) - Date.now()).toBeGreaterThan(GREYLISTED_MS - 60_000)
  expect(Date.parse(until!) - Date.now()).toBeLessThanOrEqual(GREYLISTED_MS)
  expect(receiver.received).toEqual([])
  const dueAtMs = await dueIn(3)
  await done(job.id)
  expect(Date.parse((await show(job.id)).finished_at!)).toBeGreaterThanOrEqual(dueAtMs - 1_000)
  expect(await results(job.id)).toEqual([
    ['user@grey.test', 'accepted', 'mailbox_exists'],
    ['user@accept.test', 'accepted', 'mailbox_exists'],
    ['not an address', 'invalid', 'bad_syntax'],
  ])
  await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBe(1)
  const [{ body, headers, host, path }] = receiver.received as [(typeof receiver.received)[number]]
  expect(`https://${host}${path}`).toBe(url)
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({
    type: 'job.finished',
    data: { id: job.id, state: 'done', rows: 3, done: 3, counts: { accepted: 2, invalid: 1 } },
  })
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow()
})

it('a mailbox that is forgotten is in no list and no result any more', async () => {
  const { id } = await submit(['user@accept.test', 'nobody@accept.test'])
  await done(id)
  const { status, body } = await program.post('/v1/forget', { email: 'USER@accept.test' })
  expect([status, body]).toEqual([200, expect.anything()])
  expect(body).toMatchObject({
    subject: expect.stringMatching(/^user@accept\.test$/i),
    places: { rows: 2, results: 2 },
  })
  expect(await results(id)).toEqual([['nobody@accept.test', 'rejected', 'mailbox_not_found']])
  expect(await show(id)).toMatchObject({ rows: 1, done: 1, counts: { rejected: 1 } })
})

it('Ctrl-C leaves the job running and says how to come back', async () => {
  const list = `${mkdtempSync(`${STATE}/list-`)}/list.csv`
  // the banner of slow.test comes after 4 s
  writeFileSync(list, 'name,email\nJoe,user@slow.test\nAnn,user@accept.test\n')
  const server = ['--server', program.url]
  const first = command('jobs', 'submit', list, '--wait', ...server)
  const newest = async () => jobAnswer.parse(((await program.get('/v1/jobs')).body as { data: unknown[] }).data[0])
  await expect.poll(first.said, { timeout: 30_000 }).toMatch(/0 of 2/)
  await expect.poll(async () => (await newest()).done, { timeout: 30_000 }).toBe(1)
  first.child.kill('SIGINT')
  expect(await first.ended).toBe(130)
  const [, back] = /to follow it: mailsonde (.*)/.exec(first.said()) ?? []
  expect(back).toMatch(/^jobs show job_\S+ --wait --server \S+$/)
  const second = command(...back!.split(' '))
  expect([await second.ended, second.said()]).toEqual([0, expect.stringContaining('2')])
  const third = command('jobs', 'results', back!.split(' ')[2]!, '--format', 'csv', ...server)
  expect(await third.ended).toBe(0)
  expect(third.said()).toMatch(
    /^name,email,line,.*\r\nJoe,user@slow\.test,2,accepted,.*\r\nAnn,user@accept\.test,3,accepted,.*\r\n$/,
  )
})

it('a job is removed with its rows when it expires', async () => {
  const { id, expires_at } = await submit(['user@accept.test'], 'expires_in=2d')
  expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(1.9 * DAY_MS)
  await done(id)
  await clock.set(Date.now() + 2 * DAY_MS + 60_000)
  await expect.poll(async () => (await program.get(`/v1/jobs/${id}`)).status, { timeout: 20_000 }).toBe(404)
  expect((await program.get(`/v1/jobs/${id}/results?format=ndjson`)).status).toBe(404)
})

const MACHINE: Machine = { name: 'paced', addresses: ['45.53.3.61'] }
it('the time left says which provider is limited, and to what', async () => {
  plugIn(MACHINE)
  let node: Node | undefined
  try {
    node = await startNode(MACHINE, { data: dataFolder(), isCourteous: true })
    const { url, id: name, get } = node
    const body = Array.from({ length: 60 }, (_, i) => `u${i}@accept.test`).join('\n')
    const headers = { authorization: `Bearer key-of-${name}`, 'content-type': 'text/plain' }
    const response = await fetch(`${url}/v1/jobs`, { method: 'POST', body, headers })
    const { id } = jobAnswer.parse(await response.json())
    let job = await show(id, get)
    await expect
      .poll(async () => (job = await show(id, get)).eta_reason, { timeout: 60_000, interval: 200 })
      .toBe('accept.test is limited to 120 rows a minute')
    const leastMs = (60 - job.done) * 500
    expect(job.eta_ms!).toBeGreaterThanOrEqual(leastMs * 0.95)
    expect(job.eta_ms!).toBeLessThan(leastMs * 2)
  } finally {
    await node?.end('SIGTERM')
    unplug(MACHINE)
  }
})

/** A command in the lab: what it said so far on both its outputs, and its exit status. */
function command(...words: readonly string[]) {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: CA_FILE }
  const child = spawn(process.execPath, ['src/main.js', ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  return { child, ended, said: () => said }
}
