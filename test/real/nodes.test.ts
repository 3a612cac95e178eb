import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataFolder, type Machine, type Node, plugIn, SECRET, startNode, unplug } from './nodes.ts'
import { cli } from './program.ts'
import { CLEAN } from './rbl/lists.ts'

/**
 * Three nodes on three machines with addresses of their own. Postfix refuses the addresses from 45.53.1.240 to .247 at
 * banner.test and rcpt.test.
 */
const REFUSED = ['45.53.1.240', '45.53.1.241', '45.53.1.242'] as const
const FIRST = '45.53.1.243'
const WELCOME = ['45.53.3.11', '45.53.3.12'] as const
const ONE: Machine = { name: 'one', addresses: ['45.53.3.1', ...WELCOME, ...REFUSED, FIRST] }
const TWO: Machine = { name: 'two', addresses: ['45.53.3.2'] }
const THREE: Machine = { name: 'three', addresses: ['45.53.3.3'] }
const JOIN = ['--join', 'http://45.53.3.1:8080']

const data = { one: dataFolder(), two: dataFolder(), three: dataFolder() }
const startOne = (pool: readonly string[]) =>
  startNode(ONE, { data: data.one, flags: ['--pool', pool.join(), '--pool-attempts', '3'] })
const startTwo = () => startNode(TWO, { data: data.two, flags: [...JOIN, '--pool', '45.53.3.2'] })
const startThree = () => startNode(THREE, { data: data.three, flags: [...JOIN, '--pool', '45.53.3.3'] })

let one: Node
let two: Node
let three: Node
beforeAll(async () => {
  for (const machine of [ONE, TWO, THREE]) plugIn(machine)
  one = await startOne([FIRST, ...WELCOME])
  ;[two, three] = await Promise.all([startTwo(), startThree()])
}, 60_000)
afterAll(async () => {
  await Promise.all([one, two, three].map((node) => node?.end('SIGTERM')))
  for (const machine of [ONE, TWO, THREE]) unplug(machine)
})

type Row = { readonly id: string; readonly status: string }
const statusesOf = async (node: Node): Promise<Record<string, string>> => {
  const { peers } = (await node.get('/v1/peer/peers')).body as { peers: Row[] }
  return Object.fromEntries(peers.map(({ id, status }) => [id, status]))
}
const verify = async (node: Node, email: string, more = '') =>
  (await node.get(`/v1/verify?email=${email}&max_age=0&timeout=15s${more}`)).body as {
    attempts: { ip_used: string; code: number; peer?: string }[]
  }

it('nodes know each other: the one they joined tells them of the others', async () => {
  await expect.poll(() => statusesOf(one), { timeout: 10_000 }).toEqual({ two: 'alive', three: 'alive' })
  await expect.poll(() => statusesOf(two), { timeout: 10_000 }).toEqual({ one: 'alive', three: 'alive' })
  const { peers } = (await one.get('/v1/peer/peers')).body as { peers: unknown[] }
  expect(peers).toContainEqual(
    expect.objectContaining({ id: 'two', url: two.url, region: 'lab two', addresses: ['45.53.3.2'], ttl_ms: 2_000 }),
  )
})

it('the nodes are listed on the command line with the secret, and not without', async () => {
  const ran = await cli('peers', '--server', one.url, '--peer-secret', SECRET)
  expect([ran.code, (ran.body as { total: number }).total]).toEqual([0, 2])
  expect(await cli('peers', '--server', one.url)).toMatchObject({ code: 2, stdout: '' })
})

it('geo, through HTTP and on the command line', async () => {
  const overHttp = await one.get('/v1/peer/geo?ip=8.8.8.8')
  expect(overHttp.body).toMatchObject({ ip: '8.8.8.8', found: true, country: 'US', bogon: null })
  expect((await cli('geo', '8.8.8.8')).body).toEqual(overHttp.body)
})

it('a registration and a heartbeat from the command line', async () => {
  const to = ['--server', one.url, '--peer-secret', SECRET] as const
  const registered = await cli(
    'api',
    'peer-register',
    '--id',
    'by-hand',
    '--url',
    'https://45.53.9.1',
    '--addresses',
    '45.53.9.1',
    ...to,
  )
  expect(registered.body, registered.stderr).toMatchObject({ id: 'by-hand', addresses: ['45.53.9.1'], status: 'alive' })
  const beat = await cli('api', 'peer-heartbeat', '--id', 'by-hand', '--load', '{"active":1,"capacity":2}', ...to)
  expect(beat.body, beat.stderr).toMatchObject({ id: 'by-hand', status: 'alive' })
  expect((await cli('api', 'peer-heartbeat', '--id', 'nobody', ...to)).code).toBe(2)
})

describe('a pool of three addresses', () => {
  it.each(['banner.test', 'rcpt.test'])('%s refuses the first: the second is taken', async (domain) => {
    const answer = await verify(one, `user@${domain}`, '&pool=true')
    expect(answer).toMatchObject({ result: 'accepted' })
    expect(answer).not.toHaveProperty('peer')
    const used = answer.attempts.map(({ ip_used, code }) => [ip_used, code])
    // The pool begins with any of the three; the refused one, where it came first, is followed by one that is welcome.
    expect(used.at(-1)).toEqual([expect.stringMatching(/^45\.53\.3\.1[12]$/), 250])
    expect(used.slice(0, -1)).toEqual(used.length > 1 ? [[FIRST, 554]] : [])
  })

  it.each(['banner.test', 'rcpt.test'])(
    '%s refuses the first, which was named: the second is taken',
    async (domain) => {
      const answer = await verify(one, `user@${domain}`, `&pool=true&bind_ip=${FIRST}`)
      expect(answer).toMatchObject({ result: 'accepted' })
      expect(answer.attempts.map(({ code }) => code)).toEqual([554, 250])
      expect(answer.attempts[0]!.ip_used).toBe(FIRST)
    },
  )

  it.each(['banner.test', 'rcpt.test'])('%s refuses all three: another node verifies', async (domain) => {
    await one.end('SIGTERM')
    one = await startOne(REFUSED)
    await expect.poll(() => statusesOf(one), { timeout: 10_000 }).toMatchObject({ two: 'alive', three: 'alive' })
    const answer = await verify(one, `user@${domain}`, '&pool=true')
    expect(answer).toMatchObject({
      result: 'accepted',
      ip_used: expect.stringMatching(/^45\.53\.3\.[23]$/),
      peer: expect.stringMatching(/^(?:two|three)$/),
    })
    expect(answer.attempts.map(({ code }) => code)).toEqual([554, 554, 554, 250])
    expect(
      answer.attempts
        .slice(0, 3)
        .map(({ ip_used }) => ip_used)
        .toSorted(),
    ).toEqual(REFUSED)
    expect(await verify(one, `user@${domain}`)).not.toHaveProperty('peer') // without pool=true nothing is passed on
  })

  it('a node that is named verifies from its own address', async () => {
    expect(await verify(one, 'user@accept.test', '&peer=three')).toMatchObject({
      result: 'accepted',
      ip_used: '45.53.3.3',
      peer: 'three',
    })
  })
})

/** What a further node does when it is asked: passes on what node three says, says something else, or nothing. */
type Further = 'honest' | 'lying' | 'silent' | 'dead'
const FURTHER = ['45.53.3.61', '45.53.3.62', '45.53.3.63', '45.53.3.64'] as const

/** Nodes by script: HTTP servers that are registered at node one and answer as they are told. */
async function withFurther<T>(further: readonly Further[], work: () => Promise<T>): Promise<T> {
  const servers = await Promise.all(
    further.map(async (does, i) => {
      const server = createServer((request, response) => {
        if (does === 'silent') return
        void three.get(request.url!).then(({ body }) => {
          const said = body as { verdict: string }
          const verdict = said.verdict === 'clean' ? 'listed' : 'clean'
          response.setHeader('content-type', 'application/json')
          response.end(JSON.stringify(does === 'lying' ? { ...said, verdict } : said))
        })
      })
      const host = FURTHER[i]!
      if (does !== 'dead') await new Promise<void>((resolve) => server.listen(8080, host, resolve))
      const flags = ['--id', `further${i + 1}`, '--url', `http://${host}:8080`, '--server', one.url]
      const registered = await cli(
        'api',
        'peer-register',
        ...flags,
        '--peer-secret',
        SECRET,
        '--node-id',
        `further${i + 1}`,
      )
      expect(registered.code, registered.stderr).toBe(0)
      return server
    }),
  )
  try {
    return await work()
  } finally {
    for (const server of servers) server.close().closeAllConnections()
  }
}

describe('vantage=all', () => {
  it('three nodes agree on a blacklist answer and on a check', async () => {
    await expect.poll(() => statusesOf(one), { timeout: 10_000 }).toMatchObject({ 'by-hand': 'dead' })
    const answer = (await one.get(`/v1/blacklist?ip=${CLEAN}&vantage=all`)).body as { verdict: string }
    expect(answer).toMatchObject({ agreement: { verdict: 'consistent', value: answer.verdict, agree: '3/3' } })
    const check = (await one.get('/v1/check?domain=healthy.test&vantage=all')).body
    expect(check).toMatchObject({ domain: 'healthy.test', agreement: { verdict: 'consistent', value: 'pass' } })
  })

  it.each<[readonly Further[], string, string, number]>([
    [['lying'], 'consistent', '3/4', 0],
    [['silent', 'honest'], 'consistent', '4/5', 1_000],
    [['lying', 'honest', 'dead', 'honest'], 'consistent', '5/7', 0],
    [['lying', 'silent', 'honest', 'honest'], 'consistent', '5/7', 1_000],
    [['lying', 'lying', 'lying', 'honest'], 'split', '4/7', 0],
    [['dead', 'dead', 'dead', 'honest'], 'insufficient', '4/7', 0],
  ])('three nodes, and further ones: %j', async (further, verdict, agree, waitMs) => {
    await withFurther(further, async () => {
      await one.get(`/v1/blacklist?ip=${CLEAN}&vantage=all`) // what is asked for the first time takes its time
      const begunMs = performance.now()
      const answer = (await one.get(`/v1/blacklist?ip=${CLEAN}&vantage=all`)).body as Agreed
      const tookMs = performance.now() - begunMs
      const honest = answer.verdict
      expect(answer.agreement).toMatchObject({ verdict, agree, value: verdict === 'consistent' ? honest : null })
      const gone = (does: Further): boolean => does === 'dead' || does === 'silent'
      expect(answer.agreement.disagreeing.toSorted((a, b) => (a.node < b.node ? -1 : 1))).toEqual(
        further.flatMap((does, i) =>
          does === 'honest'
            ? []
            : [{ node: `further${i + 1}`, verdict: gone(does) ? null : honest === 'clean' ? 'listed' : 'clean' }],
        ),
      )
      if (waitMs > 0) expect(tookMs).toBeGreaterThanOrEqual(waitMs)
      expect(tookMs).toBeLessThan(waitMs + 1_500) // the machine may be busy
    })
  })
})

type Agreed = {
  readonly verdict: string
  readonly agreement: { readonly disagreeing: readonly { readonly node: string; readonly verdict: string | null }[] }
}

it('killed with -9 a node is suspect, then dead; started again it is alive', async () => {
  expect(await two.end('SIGKILL')).toBe(null)
  const seen = new Set<string>()
  const look = async (): Promise<string> => {
    const status = (await statusesOf(one)).two!
    seen.add(status)
    return status
  }
  await expect.poll(look, { timeout: 20_000, interval: 100 }).toBe('dead')
  // Its last heartbeat may be as old as the lease already: whether it is still seen alive is chance.
  expect([...seen].filter((status) => status !== 'alive')).toEqual(['suspect', 'dead'])
  // With a node dead, those that are left answer.
  expect(await verify(one, 'user@rcpt.test', '&pool=true')).toMatchObject({ result: 'accepted', peer: 'three' })
  two = await startTwo()
  await expect.poll(look, { timeout: 10_000, interval: 100 }).toBe('alive')
})

it('the nodes come back by themselves after the one they joined was killed and lost what it knew', async () => {
  await one.end('SIGKILL')
  one = await startNode(ONE, { data: dataFolder(), flags: ['--pool', WELCOME.join()] })
  await expect.poll(() => statusesOf(one), { timeout: 20_000 }).toMatchObject({ two: 'alive', three: 'alive' })
})

it('a node stops with status 0', async () => {
  expect(await three.end('SIGTERM')).toBe(0)
})
