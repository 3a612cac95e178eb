import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { STATE } from './addresses.ts'
import { countConnections } from './count.ts'
import { dataFolder, type Machine, type Node, plugIn, startNode, unplug } from './nodes.ts'
import { logFile, startServer, untilReady } from './processes.ts'

/**
 * A node whose pool is an address, microsocks, Dante and another node. Postfix refuses the addresses from 45.53.1.240
 * to .247 at rcpt.test.
 */
const ADDRESS = '45.53.1.245'
const PASSWORD = 'pass%word'
const MICROSOCKS = { listen: '45.53.3.70', exit: '45.53.1.246' }
const DANTE = { listen: '45.53.3.71', exit: '45.53.1.247' }
const VIA_MICROSOCKS = `socks5://${MICROSOCKS.listen}:1080`
const VIA_DANTE = `socks5://${DANTE.listen}:1080`
const WEST: Machine = { name: 'west', addresses: ['45.53.3.41', ADDRESS] }
const EAST: Machine = { name: 'east', addresses: ['45.53.3.42'] }
const RCPT_HOST = '45.53.5.8'

const takesConnections = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port: 1080 })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

async function startMicrosocks() {
  const flags = ['-i', MICROSOCKS.listen, '-p', '1080', '-u', 'user', '-P', PASSWORD, '-b', MICROSOCKS.exit]
  const server = startServer('microsocks', 'microsocks', flags)
  await untilReady('microsocks', () => takesConnections(MICROSOCKS.listen))
  return server
}
async function startDante() {
  writeFileSync(
    `${STATE}/danted.conf`,
    `logoutput: stderr
internal: ${DANTE.listen} port = 1080
external: ${DANTE.exit}
socksmethod: none
clientmethod: none
user.privileged: root
user.unprivileged: nobody
client pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
socks pass { from: 0.0.0.0/0 to: 45.0.0.0/8 port = 25 }
`,
  )
  const server = startServer('danted', 'danted', ['-f', `${STATE}/danted.conf`])
  await untilReady('danted', () => takesConnections(DANTE.listen))
  return server
}

let servers: { readonly kill: (signal: NodeJS.Signals) => boolean }[] = []
let west: Node
let east: Node
beforeAll(async () => {
  for (const machine of [WEST, EAST]) plugIn(machine)
  servers = await Promise.all([startMicrosocks(), startDante()])
  const login = `user:${encodeURIComponent(PASSWORD)}@`
  const pool = [ADDRESS, VIA_MICROSOCKS.replace('//', `//${login}`), VIA_DANTE, 'peer:east'].join()
  west = await startNode(WEST, {
    data: dataFolder(),
    flags: ['--pool', pool, '--pool-attempts', '4', '--address-echo', 'mx.exim.test'],
  })
  east = await startNode(EAST, { data: dataFolder(), flags: ['--join', west.url, '--pool', '45.53.3.42'] })
  const joined = async () => JSON.stringify((await west.get('/v1/peer/peers')).body).includes('"east"')
  await untilReady('node-east', joined)
}, 60_000)
afterAll(async () => {
  await Promise.all([west, east].map((node) => node?.end('SIGTERM')))
  for (const server of servers) server.kill('SIGTERM')
  for (const machine of [WEST, EAST]) unplug(machine)
})

type Attempt = { readonly ip_used: string; readonly code: number; readonly proxy?: string; readonly peer?: string }
type Verified = { readonly result: string; readonly attempts: readonly Attempt[] }
const verify = async (email: string, more = ''): Promise<Verified> =>
  (await west.get(`/v1/verify?email=${email}&max_age=0&timeout=15s&pool=true${more}`)).body as Verified
const shown = ({ attempts }: Verified) =>
  attempts.map(({ ip_used, proxy, peer, code }) => `${ip_used || 'nowhere'} ${proxy ?? peer ?? 'address'} ${code}`)

it('the addresses that the proxies leave from are found out by asking, and judged', async () => {
  const { data } = (await west.get('/v1/pool')).body as { data: { address: string }[] }
  expect(data).toEqual([
    expect.objectContaining({ address: ADDRESS, listings: [] }),
    expect.objectContaining({
      ...{ address: VIA_MICROSOCKS, leaves_from: { address: MICROSOCKS.exit, by: 'mail_host' }, listings: [] },
      problems: ['no PTR name for EHLO: set a PTR record, or set --helo'],
    }),
    expect.objectContaining({ address: VIA_DANTE, leaves_from: { address: DANTE.exit, by: 'mail_host' } }),
    expect.objectContaining({ address: 'peer:east', problems: [] }),
  ])
  const { sources } = (await west.get('/v1/doctor')).body as { sources: { address: string; leaves_from?: object }[] }
  expect(sources[1]).toMatchObject({ leaves_from: { address: MICROSOCKS.exit, by: 'mail_host' } })
})

it('an address that is refused is followed by a proxy, by another, and by a node: each is an attempt', async () => {
  const { result, connections } = await countConnections([RCPT_HOST], () =>
    verify('user@rcpt.test', `&bind_ip=${ADDRESS}`),
  )
  expect(result.result).toBe('accepted')
  expect(shown(result)).toEqual([
    `${ADDRESS} address 554`,
    `${MICROSOCKS.exit} ${VIA_MICROSOCKS} 554`,
    `${DANTE.exit} ${VIA_DANTE} 554`,
    '45.53.3.42 east 250',
  ])
  expect(connections).toBe(4)
})

it('a source that was refused rests toward that provider, and toward no other', async () => {
  const again = await verify('user@rcpt.test')
  expect(shown(again)).toEqual(['45.53.3.42 east 250'])
  const other = await verify('user@accept.test')
  expect(other.result).toBe('accepted')
  expect(shown(other)).toHaveLength(1)
})

it('STARTTLS goes through a proxy', async () => {
  for (let turn = 0; turn < 4; turn++) await verify('user@exim.test') // each source has its turn
  const { data } = (await west.get('/v1/pool')).body as {
    data: { address: string; providers: { provider: string; successes: number }[] }[]
  }
  const used = data.filter(({ providers }) =>
    providers.some((one) => one.provider === 'exim.test' && one.successes > 0),
  )
  expect(used.map(({ address }) => address)).toEqual([ADDRESS, VIA_MICROSOCKS, VIA_DANTE, 'peer:east'])
  const { body } = await west.get(`/v1/verify?email=nobody@exim.test&max_age=0&pool=true`)
  expect(body).toMatchObject({ result: 'rejected', reason: 'mailbox_not_found', starttls: true })
})

it('a proxy that is gone is an attempt that failed, rests, and is used again when it is back', async () => {
  servers[0]!.kill('SIGKILL')
  const turns = [
    await verify('user@danegood.test'),
    await verify('user@danegood.test'),
    await verify('user@danegood.test'),
  ]
  expect(turns.map(shown)).toEqual([
    [`${ADDRESS} address 250`],
    [`nowhere ${VIA_MICROSOCKS} 0`, `${DANTE.exit} ${VIA_DANTE} 250`],
    ['45.53.3.42 east 250'],
  ])
  servers[0] = await startMicrosocks()
  const reload = { method: 'POST', headers: { authorization: 'Bearer key-of-west' } }
  expect((await fetch(`${west.url}/v1/pool`, reload)).status).toBe(200)
  const seen: string[] = []
  for (let turn = 0; turn < 4; turn++) seen.push(...shown(await verify('user@danegood.test')))
  expect(seen).toContain(`${MICROSOCKS.exit} ${VIA_MICROSOCKS} 250`)
})

it('user and password are nowhere to be seen', async () => {
  const answers = await Promise.all(
    ['/v1/pool', '/v1/doctor', '/v1/verify?email=user@banner.test&pool=true&max_age=0&trace=true', '/metrics'].map(
      async (path) => JSON.stringify(await west.get(path).catch(String)),
    ),
  )
  const log = readFileSync(logFile('node-west'), 'utf8')
  for (const text of [...answers, log])
    for (const word of [PASSWORD, encodeURIComponent(PASSWORD), 'user:']) expect(text).not.toContain(word)
})
