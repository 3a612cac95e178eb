import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { FAR_RESOLVER } from './addresses.ts'
import { type DebianPostgres, debianPostgres } from './postgres.ts'
import { type Clock, drivenClock, type Program, startProgram } from './program.ts'
import { mailOf, SUBMISSION_HOST, SUBMITTER, startSubmission } from './smtp/submission.ts'

/**
 * Digests through a real submission server: the service is killed while it sends them, and the server is away at first.
 * Each owner has one in the end, but for those that were taken as the service died: these may come twice, with one
 * Message-ID.
 */
const MONDAY = Date.parse('2026-03-09T06:00:05Z')
const OWNERS = 120
const LOGIN = `${encodeURIComponent(SUBMITTER.user)}:${encodeURIComponent(SUBMITTER.password)}`

let postgres: DebianPostgres
let database: Client
let endSubmission: (() => void) | undefined
let clock: Clock
let program: Program
vi.setConfig({ testTimeout: 240_000 })

const start = () =>
  startProgram(
    [
      ...['--database-url', postgres.url, '--resolver', FAR_RESOLVER, '--trust-ad'],
      ...['--smtp-url', `smtp://${LOGIN}@${SUBMISSION_HOST}:587`, '--notify-from', 'watch@notify.test'],
      ...['--public-url', 'https://watch.notify.test', '--mail-recipients', 'inbox.test'],
    ],
    clock,
  )
beforeAll(async () => {
  clock = drivenClock(MONDAY - 86_400_000)
  postgres = await debianPostgres('45.53.3.92')
  database = new Client({ connectionString: postgres.url })
  await database.connect()
  program = await start()
}, 90_000)
afterAll(async () => {
  await program?.stop()
  await database?.end()
  endSubmission?.()
  await postgres?.kill()
})

const put = (path: string, body: unknown) =>
  fetch(`${program.url}${path}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const count = async (where: string): Promise<number> =>
  (await database.query(`SELECT count(*)::int AS n FROM mailsonde.deliveries WHERE type = 'mail.digest' AND ${where}`))
    .rows[0].n
/** The mail to all owners, which go to one mailbox. */
const digests = () => mailOf('user').filter((mail) => /^Subject: Mail checks: d\d+\.digest\.test changed/m.test(mail))
const ownerOf = (mail: string): string => /^To: (.*)$/m.exec(mail)![1]!
const idOf = (mail: string): string => /^Message-I[dD]: <(.*)>$/m.exec(mail)![1]!

it('each owner gets one, though the server is away and the service is killed in the middle', async () => {
  const rows = Array.from({ length: OWNERS }, (_, n) => `d${n}.digest.test,user+${n}@inbox.test`)
  const imported = await fetch(`${program.url}/v1/monitors?kind=check&every=7d`, {
    ...{ method: 'POST', headers: { 'content-type': 'text/csv' }, body: `domain,owner\n${rows.join('\n')}\n` },
  })
  expect(await imported.json()).toMatchObject({ created: OWNERS, bad_rows: [] })
  await database.query(`
    INSERT INTO mailsonde.monitor_points (monitor, at, status, changes)
    SELECT number, '2026-03-08T12:00:00Z', 'pass', '[{"id":"spf.all","area":"SPF","effect":"worse","text":"the record ends in ~all"}]' FROM mailsonde.monitors`)
  await database.query(`UPDATE mailsonde.monitors SET enabled = false, fence = fence + 1`)
  const armed = await put('/v1/monitors/digest', { every: 'week' })
  expect([armed.status, await armed.json()]).toEqual([
    200,
    expect.objectContaining({ next_at: '2026-03-09T06:00:00.000Z', owners: OWNERS }),
  ])
  await clock.set(MONDAY)
  await expect.poll(() => count('tries >= 1'), { timeout: 60_000 }).toBe(OWNERS)
  expect(await count(`state = 'pending'`)).toBe(OWNERS)

  endSubmission = await startSubmission()
  await clock.set(MONDAY + 6 * 60_000)
  await expect.poll(() => digests().length, { timeout: 60_000, interval: 20 }).toBeGreaterThan(10)
  process.kill(program.pid, 'SIGKILL')
  program = await start()
  await clock.set(MONDAY + 12 * 60_000)
  await expect.poll(() => count(`state = 'delivered'`), { timeout: 90_000 }).toBe(OWNERS)
  await expect.poll(() => new Set(digests().map(ownerOf)).size, { timeout: 60_000 }).toBe(OWNERS)
  const mails = digests()
  expect(new Set(mails.map(idOf)).size).toBe(OWNERS)
  expect(mails.length).toBeLessThanOrEqual(OWNERS + 16)
})

it('doctor logs in to the submission server and says who mail is from', async () => {
  const { body } = await program.get('/v1/doctor')
  const about = { server: `${SUBMISSION_HOST}:587`, from: 'watch@notify.test' }
  expect((body as { mail: unknown }).mail).toMatchObject({ ...about, ready: true, one_click: null })
}, 60_000)

it('one click ends them for that owner', async () => {
  const mail = digests()[0]!
  expect(mail).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m)
  expect(mail).toContain('2026-03-08: SPF: the record ends in ~all')
  const path = /<https:\/\/watch\.notify\.test(\/u\/dig_[^>]+)>/.exec(mail)![1]!
  expect((await program.get(path)).status).toBe(200)
  const clicked = await fetch(`${program.url}${path}`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    body: 'List-Unsubscribe=One-Click',
  })
  expect(await clicked.json()).toEqual({ unsubscribed: true })
  const { body } = await program.get(`/v1/monitors/digest?limit=500`)
  const states = (body as { data: { address: string; state: string }[] }).data.filter((one) => one.state !== 'ready')
  expect(states).toEqual([expect.objectContaining({ address: ownerOf(mail), state: 'unsubscribed' })])
})
