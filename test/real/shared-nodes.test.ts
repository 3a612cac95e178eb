import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { REFUSING_HOST } from './addresses.ts'
import { dataFolder, type Machine, type Node, plugIn, startNode, unplug } from './nodes.ts'
import { type DebianPostgres, debianPostgres } from './postgres.ts'

/** Three nodes on three machines with Debian's PostgreSQL and nothing else in common: no node joins another. */
const MACHINES: readonly Machine[] = [1, 2, 3].map((n) => ({ name: `shared${n}`, addresses: [`45.53.3.5${n}`] }))
const DATABASE = '45.53.3.90'
/** Time that the mail host takes for its answer about a mailbox, ms. */
const HOLD_MS = 800

let postgres: DebianPostgres
let nodes: readonly Node[] = []
let host: Server
/**
 * Connections to the mail host of refusedhost.test, counted where they arrive. One ends with its QUIT: the place is
 * given back after it, and a further connection may be accepted before the end of this one is read.
 */
const seen = { now: 0, most: 0, all: 0 }

/** Mailboxes whose name begins with `known` are there. */
const answerTo = (rcpt: string): string => (/<known/i.test(rcpt) ? '250 2.1.5 ok' : '550 5.1.1 User unknown')

function play(socket: Socket): void {
  seen.all++
  seen.now++
  // A QUIT that came before this connection may be read after it, in the same turn.
  setImmediate(() => {
    seen.most = Math.max(seen.most, seen.now)
  })
  let isOpen = true
  const gone = (): void => {
    if (isOpen) seen.now--
    isOpen = false
  }
  socket.on('close', gone).on('error', () => {})
  const say = (line: string): void => void (socket.writable && socket.write(`${line}\r\n`))
  say('220 mx.refusedhost.test ESMTP')
  socket.on('data', (data) => {
    for (const line of String(data).split('\r\n').filter(Boolean)) {
      if (/^EHLO/i.test(line)) say('250 mx.refusedhost.test')
      else if (/^RCPT/i.test(line)) setTimeout(() => say(answerTo(line)), HOLD_MS)
      else if (/^QUIT/i.test(line)) {
        gone()
        socket.end('221 bye\r\n')
      } else say('250 ok')
    }
  })
}

beforeAll(async () => {
  host = createServer(play)
  await new Promise<void>((resolve) => host.listen(25, REFUSING_HOST, resolve))
  postgres = await debianPostgres(DATABASE)
  for (const machine of MACHINES) plugIn(machine)
  const flags = ['--database-url', postgres.url]
  nodes = await Promise.all(
    MACHINES.map((machine) => startNode(machine, { data: dataFolder(), flags, isCourteous: true })),
  )
}, 90_000)
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.end('SIGTERM')))
  await postgres?.kill()
  host.close()
  for (const machine of MACHINES) unplug(machine)
})

type Answer = { readonly result: string; readonly reason: string; readonly message: string }
const verify = async (node: Node, local: string, timeout = '20s'): Promise<Answer> =>
  (await node.get(`/v1/verify?email=${local}@refusedhost.test&timeout=${timeout}`)).body as Answer
const listOf = async (node: Node) => {
  const { peers, total } = (await node.get('/v1/peer/peers')).body as {
    peers: { id: string; status: string }[]
    total: number
  }
  return { total, peers: peers.map(({ id, status }) => `${id} ${status}`).toSorted() }
}

it('every node sees all, and tells the same', async () => {
  const all = { total: 3, peers: ['shared1 alive', 'shared2 alive', 'shared3 alive'] }
  for (const node of nodes) await expect.poll(() => listOf(node), { timeout: 10_000 }).toEqual(all)
  const agreed = (await nodes[1]!.get('/v1/check?domain=healthy.test&vantage=all')).body
  expect(agreed).toMatchObject({ agreement: { verdict: 'consistent', value: 'pass' } })
})

it('an equal question of all three at once is one connection', async () => {
  const answers = await Promise.all(nodes.map((node) => verify(node, 'same')))
  expect(answers.map(({ reason }) => reason)).toEqual(Array(3).fill('mailbox_not_found'))
  expect(seen.all).toBe(1)
})

it('the three share one limit to the connection, counted on the mail host', async () => {
  Object.assign(seen, { most: 0, all: 0 })
  const asked = nodes.flatMap((node, n) => Array.from({ length: 9 }, (_, i) => verify(node, `u${n}-${i}`)))
  const answers = await Promise.all(asked)
  expect(answers.map(({ reason, message }) => `${reason} ${message}`)).toEqual(
    Array(27).fill('mailbox_not_found 5.1.1 User unknown'),
  )
  expect(seen).toMatchObject({ most: 20, all: 27 })
})

it('a bulk job and single questions at the same time keep to that limit together', async () => {
  await new Promise((resolve) => setTimeout(resolve, 20_000)) // what the rate allows at once is there again
  Object.assign(seen, { most: 0, all: 0 })
  const rows = Array.from({ length: 16 }, (_, i) => `known${i}@refusedhost.test`)
  const { url, id } = nodes[0]!
  const headers = { authorization: `Bearer key-of-${id}`, 'content-type': 'text/plain' }
  const response = await fetch(`${url}/v1/jobs`, { method: 'POST', headers, body: rows.join('\n') })
  const job = (await response.json()) as { readonly id: string }
  const show = async () => (await nodes[1]!.get(`/v1/jobs/${job.id}`)).body as Record<string, unknown>
  await expect.poll(async () => (await show()).done, { timeout: 30_000 }).toBeGreaterThan(0)
  const asked = nodes.flatMap((node, n) => Array.from({ length: 8 }, (_, i) => verify(node, `known-s${n}-${i}`, '60s')))
  const answers = await Promise.all(asked)
  expect(answers.map(({ reason }) => reason)).toEqual(Array(24).fill('mailbox_exists'))
  await expect.poll(async () => (await show()).state, { timeout: 120_000 }).toBe('done')
  expect(await show()).toMatchObject({ rows: 16, counts: { accepted: 16 }, reasons: { mailbox_exists: 16 } })
  expect(seen.most).toBeLessThanOrEqual(20)
  expect(seen.most).toBeGreaterThan(10) // they did come together
}, 180_000)

it('killed with -9 in the middle of its questions a node leaves its places to the others', async () => {
  const lost = Array.from({ length: 20 }, (_, i) => verify(nodes[2]!, `lost${i}`).catch(() => undefined))
  await expect.poll(() => seen.now, { timeout: 10_000 }).toBeGreaterThan(0)
  await nodes[2]!.end('SIGKILL')
  await Promise.all(lost)
  expect(await verify(nodes[0]!, 'after')).toMatchObject({ reason: 'mailbox_not_found' })
  const statuses = async () => (await listOf(nodes[1]!)).peers
  await expect.poll(statuses, { timeout: 15_000 }).toEqual(['shared1 alive', 'shared2 alive', 'shared3 dead'])
  nodes = nodes.slice(0, 2)
})

it('while the database is away single questions are answered, and it is used again when it is back', async () => {
  await postgres.kill()
  const away = await Promise.all(nodes.map((node, n) => verify(node, `away${n}`)))
  expect(away.map(({ reason }) => reason)).toEqual(Array(2).fill('mailbox_not_found'))
  const metrics = async () => fetch(`${nodes[0]!.url}/metrics`, { headers: { authorization: 'Bearer key-of-shared1' } })
  expect(await (await metrics()).text()).toMatch(/^mailsonde_database_away 1$/m)
  await postgres.start()
  Object.assign(seen, { most: 0, all: 0 })
  const shared = async () => {
    Object.assign(seen, { all: 0 })
    const name = `back${Math.floor(performance.now())}`
    await Promise.all(nodes.map((node) => verify(node, name)))
    return seen.all
  }
  await expect.poll(shared, { timeout: 15_000 }).toBe(1)
  expect(await (await metrics()).text()).toMatch(/^mailsonde_database_away 0$/m)
})
