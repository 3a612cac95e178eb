import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { labDatabaseUrl } from './lab/database.ts'
import { labServer, zoneBehaviour } from './lab/dns-server.ts'
import { type Program, startProgram } from './lab/program.ts'

/** Two `serve` processes on one database, behind a balancer that gives connections to them in turns. */

const KEY = 'a-key-of-the-test'
const ROWS = 60
const WAIT_MS = 90_000
/** Time that the mail host takes for its answer about a mailbox, ms: the job lasts longer than what is tested. */
const HOLD_MS = 150

const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})
const portOf = (server: Server): number => (server.address() as AddressInfo).port
async function listening(server: Server): Promise<Server> {
  ends.push(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Mailboxes that a mail host was asked about, in their order; all of them exist. */
const asked: string[] = []
const mailHost = (socket: Socket): void => {
  socket.on('error', () => {})
  socket.write('220 mx.a.test ESMTP\r\n')
  socket.on('data', (data) => {
    for (const line of String(data).split('\r\n').filter(Boolean)) {
      const rcpt = /^RCPT TO:<(user\d+)@/i.exec(line)?.[1]
      if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
      else if (rcpt !== undefined) {
        asked.push(rcpt)
        setTimeout(() => socket.writable && socket.write('250 2.1.5 ok\r\n'), HOLD_MS)
      } else if (/^RCPT/i.test(line)) socket.write('550 5.1.1 User unknown\r\n')
      else socket.write('250 ok\r\n')
    }
  })
}

/** Passes connections on to the nodes in turns; a node that does not take one is passed over. */
const balancer = (ports: readonly number[]): Server => {
  let turn = 0
  return createServer((socket) => {
    socket.on('error', () => {})
    const dial = (left: number): void => {
      const node = connect(ports[turn++ % ports.length]!, '127.0.0.1')
      node.once('error', () => (left > 1 ? dial(left - 1) : socket.destroy()))
      node.once('connect', () => socket.pipe(node).pipe(socket))
      node.once('close', () => node.bytesRead + node.bytesWritten > 0 && socket.destroy())
    }
    dial(ports.length)
  })
}

let nodes: readonly [Program, Program]
let url: string
beforeAll(async () => {
  const smtp = await listening(createServer(mailHost))
  const dns = await labServer(
    zoneBehaviour({ 'a.test': { MX: [[10, 'mx.a.test']] }, 'mx.a.test': { A: ['127.0.0.1'] } }),
  )
  ends.push(dns.close)
  const flags = [
    ...['--database-url', await labDatabaseUrl(), '--api-key', KEY, '--rate', '100000'],
    ...['--resolver', `127.0.0.1:${dns.server.port}`, '--smtp-port', String(portOf(smtp))],
    ...['--allow-network', '127.0.0.0/8', '--helo', 'probe.a.test'],
  ]
  nodes = [await startProgram(flags), await startProgram(flags)]
  for (const node of nodes) ends.push(node.stop)
  const front = await listening(balancer(nodes.map((node) => Number(new URL(node.url).port))))
  url = `http://127.0.0.1:${portOf(front)}`
}, WAIT_MS)

/** A request on a connection of its own, so that the nodes answer in turns. */
const ask = async (path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> => {
  const headers = { 'x-api-key': KEY, connection: 'close', ...init.headers }
  const response = await fetch(`${url}${path}`, { ...init, headers })
  return { status: response.status, text: await response.text() }
}
const list = Array.from({ length: ROWS }, (_, i) => `user${i}@a.test`)
const submit = () =>
  ask('/v1/jobs', {
    method: 'POST',
    headers: { 'content-type': 'text/plain', 'idempotency-key': 'once' },
    body: list.join('\n'),
  })

it(
  'one node is killed: the other one goes on with its rows, none has two results, and a repeated request makes no second job',
  async () => {
    const first = await submit()
    expect(first.status).toBe(202)
    const { id } = JSON.parse(first.text) as { readonly id: string }
    const job = async () => JSON.parse((await ask(`/v1/jobs/${id}`)).text) as { state: string; done: number }
    await expect.poll(() => asked.length, { timeout: WAIT_MS }).toBeGreaterThan(10)
    process.kill(nodes[0].pid, 'SIGKILL')
    const again = await submit()
    expect((JSON.parse(again.text) as { readonly id: string }).id).toBe(id)
    await expect.poll(async () => (await job()).state, { timeout: WAIT_MS }).toBe('done')
    const { text } = await ask(`/v1/jobs/${id}/results?format=csv`)
    expect(list.map((email) => text.split(email).length - 1)).toEqual(list.map(() => 1))
    expect(new Set(asked).size).toBe(ROWS)
    const { data } = JSON.parse((await ask('/v1/jobs')).text) as { readonly data: readonly object[] }
    expect(data).toHaveLength(1)
  },
  2 * WAIT_MS,
)
