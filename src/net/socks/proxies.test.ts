import { createServer, type Server, type Socket } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { labDns } from '../../../test/lab/dns.ts'
import { ip } from '../../names/ip.ts'
import { parsePoolEntry, type SocksProxy } from '../../names/source.ts'
import { guard } from '../public-only.ts'
import type { DialError, Target } from '../smtp/dial.ts'
import { connectionOver, tcpDial } from '../smtp/tcp-dial.ts'
import { proxies } from './proxies.ts'

const TARGET: Target = { address: ip('45.53.5.1'), port: 25 }
const PASSWORD = 'hunter2'
const opened: Server[] = []
afterEach(() => {
  for (const server of opened.splice(0)) server.close()
})

/** What a scripted proxy says at each step, as octets; a missing step is silence. */
type Script = {
  /** The answer to the greeting (RFC 1928 §3). */
  readonly method?: Octets
  /** The answer to the login (RFC 1929 §2). */
  readonly login?: Octets
  /** The answer to CONNECT (RFC 1928 §6), by target. */
  readonly reply?: (target: string) => Octets
  /** What then comes from the target. */
  readonly after?: (socket: Socket, target: string) => void
}
type Octets = readonly number[] | 'close' | 'endless'

const bind = (code: number, address = [0, 0, 0, 0]): number[] => [5, code, 0, 1, ...address, 0, 0]
const NAMED = [5, 2]

function say(socket: Socket, octets: Octets | undefined): void {
  if (octets === undefined) return
  if (octets === 'close') return void socket.end()
  if (octets !== 'endless') return void socket.write(Buffer.from(octets))
  const more = (): void => {
    while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 120)));
  }
  socket.on('drain', more)
  more()
}

/**
 * A proxy by script on loopback, and what it was asked: the login, and `address:port` of each target with the kind of
 * its address.
 */
async function scripted(script: Script, user: string = `user:${PASSWORD}@`) {
  const asked: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    let step = 0
    socket.on('data', (data) => {
      if (step === 0) {
        say(socket, script.method)
        step = script.method?.[1] === 2 ? 1 : 2
      } else if (step === 1) {
        asked.push(data.subarray(2).toString('latin1'))
        say(socket, script.login)
        step = 2
      } else if (step === 2) {
        const target = `${data[3] === 1 ? 'IPv4' : data[3] === 4 ? 'IPv6' : 'name'} ${[...data.subarray(4, 8)].join('.')}`
        asked.push(target)
        step = 3
        say(socket, script.reply?.(target))
        script.after?.(socket, target)
      }
    })
  })
  opened.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return { proxy: named(`socks5://${user}127.0.0.1:${port}`), asked, server }
}

function named(text: string): SocksProxy {
  const entry = parsePoolEntry(text)
  if (!entry.ok || entry.value.kind !== 'proxy') throw new Error('not a proxy')
  return entry.value.proxy
}

const NOBODY = 'IPv4 192.0.2.1'
/** A mail host that names the client's address, at 45.53.6.1. */
const ECHO = 'IPv4 45.53.6.1'
const greets = (line: string) => (socket: Socket, target: string) => {
  if (target !== ECHO) return
  socket.write('220 echo ESMTP\r\n')
  socket.on('data', (data) => void (String(data).includes('EHLO') && socket.write(`${line}\r\n`)))
}
const HELLO = greets('250-echo.example Hello [192.0.2.1] [45.53.9.99]\r\n250 PIPELINING')
/** A proxy as it should be. */
const GOOD: Script = {
  method: NAMED,
  login: [1, 0],
  reply: (target) => bind(target === NOBODY ? 4 : 0),
  after: HELLO,
}

function pool(proxy: SocksProxy, now: () => number = () => 0) {
  const { resolve } = labDns({ 'echo.example': { A: ['45.53.6.1'] } })
  const noTls = (): never => {
    throw new Error('no TLS here')
  }
  const all = proxies({
    resolve,
    now,
    echoHosts: ['echo.example'],
    port: 25,
    connectionOver: (socket, signal, seenAs) => connectionOver(socket, signal, noTls, seenAs),
  })
  all.use([proxy])
  const dial = tcpDial({ reachable: guard({ allowed: [] }), byProxy: all.connect })
  return {
    all,
    dial: (target: Partial<Target> = {}, ms = 2_000) =>
      dial({ ...TARGET, proxy: proxy.name, ...target }, AbortSignal.timeout(ms)),
  }
}

it('connects by its login, by address, and is seen as the address that a mail host names', async () => {
  const { proxy, asked } = await scripted({
    ...GOOD,
    after: (socket, target) => (target === ECHO ? HELLO(socket, target) : void socket.write('220 mx ESMTP\r\n')),
  })
  const { dial } = pool(proxy)
  const connection = await dial()
  expect(connection.localAddress).toBe('45.53.9.99')
  expect(String(Buffer.from((await connection.read())!))).toBe('220 mx ESMTP\r\n')
  connection.close()
  expect(new Set(asked)).toEqual(new Set([`user\u0007${PASSWORD}`, NOBODY, ECHO, 'IPv4 45.53.5.1']))
})

it('sends an IPv6 target as an address too', async () => {
  const { proxy, asked } = await scripted(GOOD)
  const connection = await pool(proxy).dial({ address: ip('2a01:4f8::1') })
  connection.close()
  expect(asked.filter((one) => one.startsWith('IPv6'))).toEqual(['IPv6 42.1.4.248'])
})

it('the guard judges the target before the proxy hears of it', async () => {
  const { proxy, asked } = await scripted(GOOD)
  const { dial } = pool(proxy)
  for (const address of ['10.0.0.1', '127.0.0.1', '169.254.169.254', '::1'])
    await expect(dial({ address: ip(address) })).rejects.toMatchObject({ reason: 'unsafe_address' })
  expect(asked).toEqual([])
})

describe('a proxy that does its worst', () => {
  const reply = (octets: Octets) => ({
    ...GOOD,
    reply: (target: string) => (target === 'IPv4 45.53.5.1' ? octets : GOOD.reply!(target)),
  })
  it.each<[string, Script, string, RegExp]>([
    [
      'speaks HTTP',
      { method: [...Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')] },
      'proxy_failed',
      /does not speak SOCKS5/,
    ],
    ['speaks SOCKS4', { method: [4, 0] }, 'proxy_failed', /does not speak SOCKS5/],
    ['takes no login of ours', { method: [5, 255] }, 'proxy_failed', /refuses the login/],
    [
      'wants a login that we do not know',
      { method: [5, 1] },
      'proxy_failed',
      /refuses the login|does not speak SOCKS5/,
    ],
    ['refuses the login', { ...GOOD, login: [1, 1] }, 'proxy_failed', /refuses the login/],
    ['closes at once', { method: 'close' }, 'proxy_failed', /closed the connection/],
    ['closes at the login', { ...GOOD, login: 'close' }, 'proxy_failed', /closed the connection/],
    ['is silent', {}, 'proxy_failed', /does not answer/],
    ['says one octet', { method: [5] }, 'proxy_failed', /does not answer/],
    ['floods its greeting', { method: 'endless' }, 'proxy_failed', /does not speak SOCKS5/],
    ['closes at CONNECT', reply('close'), 'proxy_failed', /closed the connection/],
    ['does not allow it', reply(bind(2)), 'proxy_failed', /does not allow/],
    ['does not support it', reply(bind(8)), 'proxy_failed', /does not support/],
    ['gives a code that is none', reply(bind(77)), 'proxy_failed', /does not speak SOCKS5/],
    ['gives half a reply', reply([5, 0, 0, 3, 255, 1]), 'timeout', /no answer/],
    ['fails in general', reply(bind(1)), 'network_unreachable', /could not connect/],
    ['has no route', reply(bind(3)), 'network_unreachable', /no route/],
    ['cannot reach the host', reply(bind(4)), 'network_unreachable', /cannot reach/],
    ['is refused by the host', reply(bind(5)), 'connect_refused', /was refused/],
    ['got no answer of the host', reply(bind(6)), 'connect_timeout', /got no answer/],
    [
      'is silent at CONNECT',
      { ...GOOD, reply: (target) => (target === 'IPv4 45.53.5.1' ? [] : GOOD.reply!(target)) },
      'timeout',
      /no answer/,
    ],
  ])('%s: %s', async (_, script, reason, words) => {
    const { proxy } = await scripted(script)
    const error: DialError = await pool(proxy)
      .dial({}, 300)
      .then(
        () => expect.unreachable(),
        (fault) => fault,
      )
    expect([error.reason, error.message]).toEqual([reason, expect.stringMatching(words)])
    expect(inspect(error, { depth: 10 })).not.toContain(PASSWORD)
  })
  it('cannot be reached', async () => {
    const { proxy, server } = await scripted(GOOD)
    server.close()
    await expect(pool(proxy).dial()).rejects.toMatchObject({
      reason: 'proxy_failed',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })
  it.each<[string, readonly number[]]>([
    ['a name of 255 octets', [3, 255, ...Array(255).fill(97), 0, 25]],
    ['an empty name', [3, 0, 0, 25]],
    ['an IPv6 address', [4, ...Array(16).fill(1), 0, 25]],
  ])('names its socket by %s: the connection stands', async (_, bound) => {
    const { proxy } = await scripted({
      ...GOOD,
      reply: (target) => (target === NOBODY ? bind(4) : [5, 0, 0, ...bound]),
    })
    const connection = await pool(proxy).dial()
    expect(connection.localAddress).toBe('45.53.9.99')
    connection.close()
  })
})

describe('the address that connections leave from', () => {
  const exitOf = async (script: Script) => {
    const { proxy } = await scripted(script)
    const { all } = pool(proxy)
    return all.examine(proxy.name, AbortSignal.timeout(2_000))
  }
  it.each<[string, Script, unknown]>([
    ['a mail host names it', GOOD, { exit: { address: '45.53.9.99', by: 'mail_host' } }],
    [
      'in round brackets',
      { ...GOOD, after: greets('250 Hello us (45.53.9.98), pleased') },
      { exit: { address: '45.53.9.98', by: 'mail_host' } },
    ],
    [
      'as IPv6',
      { ...GOOD, after: greets('250 Hello [IPv6:2a01:4f8::9]') },
      { exit: { address: '2a01:4f8::9', by: 'mail_host' } },
    ],
    [
      'the proxy names it',
      {
        ...GOOD,
        after: greets('250 echo'),
        reply: (target) => (target === NOBODY ? bind(4) : bind(0, [45, 53, 9, 97])),
      },
      { exit: { address: '45.53.9.97', by: 'proxy' } },
    ],
    [
      'a private one is not believed',
      {
        ...GOOD,
        after: greets('250 Hello [10.0.0.1]'),
        reply: (target) => (target === NOBODY ? bind(4) : bind(0, [10, 0, 0, 2])),
      },
      { problem: expect.stringContaining('could not be determined') },
    ],
    [
      'nobody names it',
      { ...GOOD, after: greets('250 echo') },
      { problem: expect.stringContaining('could not be determined') },
    ],
    [
      'the echo host is not reached',
      { ...GOOD, reply: () => bind(4) },
      { problem: expect.stringContaining('could not be determined') },
    ],
    ['the login is refused', { ...GOOD, login: [1, 1] }, { problem: expect.stringContaining('refuses the login') }],
    [
      'it reaches what nobody has',
      { ...GOOD, reply: () => bind(0) },
      { exit: { address: '45.53.9.99', by: 'mail_host' }, lie: expect.stringContaining('192.0.2.1') },
    ],
  ])('%s', async (_, script, expected) => {
    expect(await exitOf(script)).toEqual(expected)
  })
  it('one that lies is not used any more', async () => {
    const { proxy } = await scripted({ ...GOOD, reply: () => bind(0) })
    const { all, dial } = pool(proxy)
    await all.examine(proxy.name, AbortSignal.timeout(2_000))
    await expect(dial()).rejects.toMatchObject({
      reason: 'proxy_failed',
      message: expect.stringContaining('192.0.2.1'),
    })
  })
  // Bound: src/net/socks/proxies.ts KEPT_MS
  it('is asked once in an hour, also by many at once', async () => {
    let now = 0
    const { proxy, asked } = await scripted(GOOD)
    const { all, dial } = pool(proxy, () => now)
    const open = async () => {
      for (const one of await Promise.all(Array.from({ length: 5 }, () => dial()))) one.close()
    }
    const echoed = () => asked.filter((one) => one === ECHO).length
    await open()
    await open()
    expect(echoed()).toBe(1)
    now = 3_599_999
    await open()
    expect(echoed()).toBe(1)
    now = 3_600_000
    expect(all.known(proxy.name)).toEqual({})
    await open()
    expect(echoed()).toBe(2)
  })
})

it('a proxy that is in the pool no more is not used', async () => {
  const { proxy } = await scripted(GOOD)
  const { all, dial } = pool(proxy)
  all.use([])
  await expect(dial()).rejects.toMatchObject({ reason: 'proxy_failed' })
  expect(all.names()).toEqual([])
})
