import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { CHECK_KEYS } from '../../src/checks/run.ts'
import { DnsError } from '../../src/net/dns/resolver.ts'
import { DialError } from '../../src/net/smtp/dial.ts'
import type { World } from '../../src/world.ts'
import { labApp, labKey } from '../lab/app.ts'
import type { LabZone } from '../lab/dns.ts'
import { labProblem } from '../lab/problem.ts'
import { labWorld } from '../lab/world.ts'

/** `Accept: text/event-stream`: the parts of an answer as they end, then the answer. */
const EVENTS = { accept: 'text/event-stream' }
const zone = {
  'a.example': { MX: [[10, 'mx.a.example']], TXT: ['v=spf1 mx -all'] },
  'mx.a.example': { A: ['45.53.5.1', '45.53.5.2'] },
} satisfies LabZone
/** Mail hosts that time out, each after a while. */
const dial: World['dial'] = async (host) => {
  await new Promise((resolve) => setTimeout(resolve, 400))
  throw new DialError('timeout', labProblem(String(host)))
}

type Sent = { readonly event: string; readonly data: Record<string, unknown> }
const eventsIn = (text: string): readonly Sent[] =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map((block) => {
      const [event, data] = block.split('\n')
      return { event: event!.slice('event: '.length), data: JSON.parse(data!.slice('data: '.length)) }
    })

it('tells each check as its lookup ends, then the whole answer', async () => {
  const app = await labApp(labWorld(zone))
  const url = '/v1/check?domain=a.example'
  const response = await app.inject({ url, headers: EVENTS })
  expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
  const events = eventsIn(response.body)
  const parts = events.filter(({ event }) => event === 'part').map(({ data }) => data)
  expect(parts.map(({ check }) => check).toSorted()).toEqual(CHECK_KEYS.filter((key) => key !== 'starttls').toSorted())
  expect(parts.find(({ check }) => check === 'spf')).toMatchObject({ answered: true, record: 'v=spf1 mx -all' })
  expect(parts.every((part) => !('status' in part))).toBe(true) // it is judged when all is there
  const whole = (await app.inject({ url })).json()
  expect(events.at(-1)).toEqual({ event: 'answer', data: whole })
})

it('a report tells the blacklists of each address, too', async () => {
  const app = await labApp(labWorld(zone, { dial }))
  const events = eventsIn((await app.inject({ url: '/v1/report?domain=a.example', headers: EVENTS })).body)
  expect(events.map(({ data }) => data.check)).toEqual(expect.arrayContaining(['blacklists', 'spf', 'starttls']))
  expect(events.at(-1)!.event).toBe('answer')
})

it('a part that could not be asked says why', async () => {
  const world = labWorld(zone)
  const failing: typeof world = {
    ...world,
    resolve: async (name, type, ...rest) => {
      if (name.startsWith('_dmarc.')) throw new DnsError('servfail', { name, type })
      return world.resolve(name, type, ...rest)
    },
  }
  const app = await labApp(failing)
  const events = eventsIn((await app.inject({ url: '/v1/check?domain=a.example', headers: EVENTS })).body)
  const dmarc = events.find(({ data }) => data.check === 'dmarc')!.data
  expect(dmarc).toMatchObject({ answered: false, reason: expect.stringContaining('SERVFAIL') })
})

it.each<[string, string, number, string]>([
  ['bad input is a problem, and no stream', '/v1/check?domain=x', 400, 'application/problem+json; charset=utf-8'],
  ['an explicit format wins', '/v1/check?domain=a.example&format=json', 200, 'application/json; charset=utf-8'],
  [
    'what has no parts answers as ever',
    '/v1/spf?ip=192.0.2.1&sender=a@a.example',
    200,
    'application/json; charset=utf-8',
  ],
])('%s', async (_, url, status, type) => {
  const response = await (await labApp(labWorld(zone))).inject({ url, headers: EVENTS })
  expect([response.statusCode, response.headers['content-type']]).toEqual([status, type])
})

it('a fault on the way is an event', async () => {
  const world = labWorld(zone)
  const app = await labApp({
    ...world,
    resolve: async () => {
      throw new TypeError('a bug')
    },
  })
  const events = eventsIn((await app.inject({ url: '/v1/check?domain=a.example', headers: EVENTS })).body)
  expect(events).toEqual([{ event: 'error', data: expect.objectContaining({ code: 'internal', status: 500 }) }])
})

it('verification tells the mail hosts and each attempt', async () => {
  const app = await labApp(labWorld(zone, { dial }))
  const events = eventsIn((await app.inject({ url: '/v1/verify?email=joe@a.example', headers: EVENTS })).body)
  expect(events.map(({ event, data }) => data.check ?? event).slice(0, 2)).toEqual(['mail_hosts', 'attempt'])
  expect(events.at(-1)).toMatchObject({ event: 'answer', data: { email: 'joe@a.example', result: 'unreachable' } })
})

it('a caller may have 64 event streams open; another caller, and one whose stream was closed, may open more', async () => {
  const resolve: World['resolve'] = (_name, _type, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  const keys = ['a', 'b'].map((key) => labKey(key, ['read']))
  const app = await labApp({ ...labWorld(zone), resolve }, { keys: () => keys })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const opened: AbortController[] = []
  /** The status of the answer; 0 if it is still open after a while. */
  const open = async (key: string, waitMs: number): Promise<number> => {
    const left = new AbortController()
    opened.push(left)
    const headers = { ...EVENTS, 'x-api-key': key }
    const asked = fetch(`http://127.0.0.1:${port}/v1/check?domain=a.example`, { headers, signal: left.signal })
    const late = new Promise<number>((done) => setTimeout(done, waitMs, 0))
    return Promise.race([asked.then(({ status }) => status).catch(() => 0), late])
  }
  try {
    const statuses = await Promise.all(Array.from({ length: 64 }, () => open('a', 1_000)))
    expect(new Set(statuses)).toEqual(new Set([0]))
    expect(await open('a', 5_000)).toBe(429)
    expect(await open('b', 300)).toBe(0)
    opened[0]!.abort()
    await expect.poll(() => open('a', 300)).toBe(0)
  } finally {
    for (const left of opened) left.abort()
    await app.close()
  }
})
