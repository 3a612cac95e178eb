import { createSocket } from 'node:dgram'
import type { Socket } from 'node:net'
import dnsPacket from 'dns-packet'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  ede,
  framed,
  type LabServer,
  labServer,
  type Query,
  type Reply,
  response,
  soa,
} from '../../../test/lab/dns-server.ts'
import { ip } from '../../names/ip.ts'
import { type DnsClientOptions, dnsClient, sweeper } from './client.ts'
import type { DnsEvent } from './question.ts'
import { type Answer, DnsError } from './resolver.ts'
import type { Server } from './system.ts'

const ADDRESS = '192.0.2.1'
const right = (query: Query): Buffer =>
  response(query, { answers: [{ type: 'A', name: query.name, ttl: 60, data: ADDRESS }] })
const wrong = (query: Query): Buffer =>
  response(query, { answers: [{ type: 'A', name: query.name, ttl: 60, data: '192.0.2.66' }] })

/** No machine is so busy that an answer of the lab takes longer. */
const PATIENT = { tryMs: 5_000, totalMs: 20_000 }
/** For servers that never answer: what is waited for is the end of it. */
const BRIEF = { tryMs: 60, totalMs: 200 }
/** The pause before servers are asked again is short. */
const AT_ONCE = { random: () => 0 }

const closers: (() => void)[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const close of closers.splice(0)) close()
})
async function serve(behave: (query: Query) => Reply, raw?: (socket: Socket) => void): Promise<LabServer> {
  const server = await labServer(behave, raw)
  closers.push(server.close)
  return server
}
function client(servers: readonly Server[], options: Partial<DnsClientOptions> = {}) {
  const events: DnsEvent[] = []
  const made = dnsClient({
    servers,
    trustAd: false,
    random: () => 0.5,
    timeouts: PATIENT,
    now: () => performance.now() + skippedMs,
    onEvent: (event) => events.push(event),
    ...options,
  })
  closers.push(made.close)
  const count = (event: string): number => events.filter((one) => one.event === event).length
  return { ...made, events, count, ask: (name = 'a.example') => made.resolve(name, 'A', AbortSignal.timeout(20_000)) }
}
/** Time of the client that has been skipped, ms. */
let skippedMs = 0
/** A server that does not answer, for which the time of a try passes at once. */
function silence(): (query: Query) => Reply {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  return () => {
    setImmediate(() => {
      skippedMs += PATIENT.tryMs + 100
      vi.advanceTimersByTime(100) // one look at what has run out of time
    })
    return undefined
  }
}
const reasonOf = (asked: Promise<Answer>): Promise<string> =>
  asked.then(
    (answer) => answer.kind,
    (error: unknown) => (error instanceof DnsError ? error.reason : String(error)),
  )

describe('a hostile or broken server', () => {
  // Bound: src/net/dns/port-socket.ts MAX_GUESSES
  it.each<[string, (query: Query) => Reply, Record<string, number>]>([
    ['another id first', (query) => [otherId(wrong(query)), right(query)], { unmatched: 1, to_tcp: 0 }],
    ['a query instead of a response', (query) => (query.over === 'udp' ? [query.bytes] : right(query)), { to_tcp: 1 }],
    ['garbage first', (query) => [Buffer.from('ab'), Buffer.alloc(600, 0xff), right(query)], { unmatched: 2 }],
    [
      'another name',
      (query) =>
        query.over === 'tcp'
          ? right(query)
          : [response(query, { question: { name: 'b.example', type: 'A' } }), wrong(query)],
      { mismatched: 1, to_tcp: 1 },
    ],
    [
      'another type',
      (query) =>
        query.over === 'tcp' ? right(query) : response(query, { question: { name: query.name, type: 'MX' } }),
      { mismatched: 1, to_tcp: 1 },
    ],
    [
      'another case', // 0x20: what an off-path forger does not know
      (query) => (query.over === 'tcp' ? right(query) : swapped(wrong(query))),
      { mismatched: 1, to_tcp: 1 },
    ],
    [
      'a truncated answer (RFC 2181 §9)',
      (query) => (query.over === 'tcp' ? right(query) : response(query, { flags: dnsPacket.TRUNCATED_RESPONSE })),
      { mismatched: 0, to_tcp: 1 },
    ],
    [
      'records cut off in the middle',
      (query) => (query.over === 'tcp' ? right(query) : wrong(query).subarray(0, -3)),
      { to_tcp: 1 },
    ],
    [
      'two FORMERR that repeat no question', // nothing that an off-path forger does not know
      (query) => (query.over === 'tcp' ? right(query) : bare(response(query, { rcode: 1 }))),
      { mismatched: 1, to_tcp: 1 },
    ],
    [
      '100 answers with ids that were never used',
      (query) => (query.over === 'tcp' ? right(query) : guesses(query, 100)),
      { unmatched: 100, to_tcp: 1 },
    ],
    ['99 of them', (query) => [...guesses(query, 99), right(query)], { unmatched: 99, to_tcp: 0 }],
    ['a compression loop', (query) => (query.over === 'tcp' ? right(query) : looped(query)), { to_tcp: 1 }],
  ])('with %s: the right answer is waited for', async (_, behave, counts) => {
    const asker = client([(await serve(behave)).server])
    expect((await asker.ask('Mail.a.example')).records).toEqual([ADDRESS])
    for (const [event, count] of Object.entries(counts)) expect([event, asker.count(event)]).toEqual([event, count])
  })

  it('answers that come twice are no guesses', async () => {
    const lab = await labServer(async (query) => {
      if (query.name !== 'slow.example') return Array.from({ length: 150 }, () => right(query))
      await new Promise((done) => setTimeout(done, 50))
      return right(query)
    })
    closers.push(lab.close)
    const asker = client([lab.server])
    // both on one socket: they go out in one turn of the event loop
    await Promise.all([asker.ask('fast.example'), asker.ask('slow.example')])
    expect([asker.count('unmatched'), asker.count('to_tcp')]).toEqual([149, 0])
  })

  it('an answer from another port is not heard', async () => {
    const forger = createSocket('udp4')
    closers.push(() => forger.close())
    let port = 0
    const lab = await serve((query) => {
      forger.send(wrong(query), port, '127.0.0.1')
      return undefined
    })
    const relay = createSocket('udp4')
    closers.push(() => relay.close())
    await new Promise<void>((done) => relay.bind(0, '127.0.0.1', done))
    relay.on('message', (bytes, from) => {
      port = from.port
      relay.send(bytes, lab.server.port, '127.0.0.1')
    })
    const asker = client([{ ip: ip('127.0.0.1'), port: relay.address().port }], { timeouts: BRIEF })
    expect(await reasonOf(asker.ask())).toBe('timeout')
  })

  it.each<[string, (query: Query) => Reply, string]>([
    ['silent', () => undefined, 'timeout'],
    ['SERVFAIL', (query) => response(query, { rcode: 2 }), 'servfail'],
    ['REFUSED', (query) => response(query, { rcode: 5 }), 'refused'],
    ['NOTIMP', (query) => response(query, { rcode: 4 }), 'notimp'],
    ['FORMERR', (query) => response(query, { rcode: 1 }), 'formerr'],
    ['NOTAUTH', (query) => response(query, { rcode: 9 }), 'rcode'],
    ['truncated over TCP too', (query) => response(query, { flags: dnsPacket.TRUNCATED_RESPONSE }), 'malformed'],
    ['unreadable over TCP too', looped, 'malformed'],
    ['NXDOMAIN beside records of the name', (query) => denying(right(query)), 'malformed'],
    ['NXDOMAIN beside records of another name', (query) => denying(foreign(query)), 'malformed'],
    ['records of another name alone', (query) => foreign(query), 'malformed'],
    ['records of another type alone', (query) => otherType(query), 'malformed'],
    ['A record of three octets', (query) => shortened(query), 'malformed'],
    ['a referral', (query) => referral(query), 'refused'], // it was to find it out
  ])('%s has its reason', async (_, behave, reason) => {
    const asker = client([(await serve(behave)).server], reason === 'timeout' ? { timeouts: BRIEF } : AT_ONCE)
    expect(await reasonOf(asker.ask())).toBe(reason)
  })

  it('the root is asked like any other name', async () => {
    const lab = await serve((query) =>
      response(query, { answers: [{ type: 'NS', name: '.', ttl: 60, data: 'a.root.example' }] }),
    )
    const asker = client([lab.server])
    expect(await asker.resolve('.', 'NS', AbortSignal.timeout(5_000))).toMatchObject({
      kind: 'found',
      records: ['a.root.example'],
    })
  })

  it('nobody there is `network`', async () => {
    const lab = await labServer(() => undefined)
    lab.close()
    expect(await reasonOf(client([lab.server], AT_ONCE).ask())).toBe('network')
  })

  it('an answer of 64 KB is read over TCP', async () => {
    const text = Array.from({ length: 255 }, () => 'x'.repeat(255))
    const lab = await serve((query) =>
      query.over === 'udp'
        ? response(query, { flags: dnsPacket.TRUNCATED_RESPONSE })
        : response(query, { answers: [{ type: 'TXT', name: query.name, ttl: 1, data: text }] }),
    )
    const answer = await client([lab.server]).resolve('a.example', 'TXT', AbortSignal.timeout(5_000))
    expect(answer.records[0]).toHaveLength(255 * 255)
  })

  it.each<[string, (socket: Socket) => void, string]>([
    ['drips one octet at a time', (socket) => drip(socket, Buffer.alloc(60_000, 1)), 'timeout'],
    ['closes at once', (socket) => socket.destroy(), 'network'],
    [
      'answers another id',
      (socket) => void socket.on('data', () => socket.write(framed(Buffer.alloc(20, 1)))),
      'timeout',
    ],
    ['sends frames of no length for ever', (socket) => drip(socket, Buffer.alloc(60_000)), 'timeout'],
  ])('TCP that %s ends in time', async (_, raw, reason) => {
    const lab = await serve((query) => response(query, { flags: dnsPacket.TRUNCATED_RESPONSE }), raw)
    const asker = client([lab.server], reason === 'timeout' ? { timeouts: BRIEF } : AT_ONCE)
    expect(await reasonOf(asker.ask())).toBe(reason)
  })

  it('is asked once more without EDNS after FORMERR, with or without a question (RFC 6891 §7)', async () => {
    for (const withoutQuestion of [false, true]) {
      const lab = await serve((query) => {
        if (query.message.additionals.length === 0) return right(query)
        const reply = response(query, { rcode: 1 })
        return withoutQuestion ? bare(reply) : reply
      })
      expect((await client([lab.server]).ask()).records).toEqual([ADDRESS])
      expect(lab.queries.map(({ message }) => message.additionals.length)).toEqual([1, 0])
    }
  })
})

describe('several servers', () => {
  const failing = (rcode: number) => (query: Query) =>
    response(query, { rcode, additionals: [ede(22, 'no one answers')] })
  it.each<[string, () => (query: Query) => Reply]>([
    ['silence', silence],
    ['SERVFAIL', () => failing(2)],
    ['REFUSED', () => failing(5)],
  ])('after %s the next one is asked', async (_, behaviour) => {
    const first = await serve(behaviour())
    const second = await serve(right)
    expect((await client([first.server, second.server]).ask()).records).toEqual([ADDRESS])
    expect([first.queries.length, second.queries.length]).toEqual([1, 1])
  })

  it('what one said tells more than the silence of another', async () => {
    const [first, second] = [await serve(() => undefined), await serve(failing(2))]
    const error = await client([first.server, second.server], { timeouts: { ...PATIENT, tryMs: 300 } })
      .ask()
      .catch((e) => e)
    expect(error).toMatchObject({ reason: 'servfail', ede: [{ code: 22, text: 'no one answers' }] })
    expect(error.message).toContain('EDE 22')
  })

  it('one that is silent three times is passed by', async () => {
    const [first, second] = [await serve(silence()), await serve(right)]
    const asker = client([first.server, second.server])
    for (let i = 0; i < 6; i++) expect((await asker.ask(`n${i}.example`)).kind).toBe('found')
    expect(first.queries).toHaveLength(3)
    expect(second.queries).toHaveLength(6)
  })
})

describe('answers', () => {
  const cname = (name: string, data: string, ttl = 60) => ({ type: 'CNAME', name, ttl, data })
  it('a chain that the server leaves unfinished is asked on', async () => {
    const lab = await serve((query) =>
      query.name === 'a.example' ? response(query, { answers: [cname('a.example', 'b.example', 20)] }) : right(query),
    )
    expect(await client([lab.server]).ask()).toMatchObject({ kind: 'found', cname: ['b.example'], ttlSeconds: 20 })
  })
  it.each<[string, (query: Query) => Reply, number]>([
    ['is longer than 16', (query) => response(query, { answers: [cname(query.name, `a${query.name}`)] }), 17],
    [
      'comes back',
      (query) =>
        response(query, { answers: [cname(query.name, query.name === 'a.example' ? 'b.example' : 'a.example')] }),
      2,
    ],
  ])('a chain that %s is a cname_loop', async (_, behave, questions) => {
    const lab = await serve(behave)
    expect(await reasonOf(client([lab.server]).ask())).toBe('cname_loop')
    expect(lab.queries).toHaveLength(questions)
  })
  it.each([
    [3, 'nxdomain'], // RFC 6604 §3
    [0, 'nodata'],
  ])('the end of a chain with rcode %i is %s', async (rcode, kind) => {
    const answers = [cname('a.example', 'b.example')]
    const lab = await serve((query) => response(query, { rcode, answers, authorities: [soa(30)] }))
    expect(await client([lab.server]).ask()).toMatchObject({ kind, cname: ['b.example'] })
  })
  it.each([
    [soa(30, 600), 30, 'the minimum'], // RFC 2308 §5
    [soa(600, 30), 30, 'its own TTL'],
  ])('a negative TTL is the lesser of SOA TTL and minimum: %j gives %i', async (authority, ttl) => {
    const lab = await serve((query) => response(query, { rcode: 3, authorities: [authority] }))
    expect(await client([lab.server]).ask()).toMatchObject({ kind: 'nxdomain', ttlSeconds: ttl })
  })
  it('without SOA a negative answer has TTL 0', async () => {
    const lab = await serve((query) => response(query, { rcode: 3 }))
    expect(await client([lab.server]).ask()).toMatchObject({ kind: 'nxdomain', ttlSeconds: 0 })
  })
  it('AD counts only when it is trusted; it is asked for (RFC 6840 §5.7)', async () => {
    const lab = await serve((query) => {
      const reply = right(query)
      reply[3] = reply[3]! | 0x20
      return reply
    })
    expect((await client([lab.server]).ask()).secure).toBe(false)
    expect((await client([lab.server], { trustAd: true }).ask()).secure).toBe(true)
    expect(lab.queries.every(({ bytes }) => (bytes[3]! & 0x20) !== 0)).toBe(true)
  })
  it('extended errors are kept beside an answer', async () => {
    const lab = await serve((query) => response(query, { authorities: [soa(5)], additionals: [ede(3, 'stale')] }))
    expect((await client([lab.server]).ask()).ede).toEqual([{ code: 3, text: 'stale' }])
  })
  it('records of other names and classes are passed over', async () => {
    const lab = await serve((query) =>
      response(query, {
        answers: [
          { type: 'A', name: 'other.example', ttl: 1, data: '192.0.2.66' },
          { type: 'A', name: query.name, ttl: 1, class: 'CH', data: '192.0.2.67' },
          { type: 'A', name: query.name, ttl: 1, data: ADDRESS },
        ],
      }),
    )
    expect((await client([lab.server]).ask()).records).toEqual([ADDRESS])
  })
})

describe('waiting', () => {
  it.each([
    ['the caller goes away', () => AbortSignal.abort(), 'aborted'],
    ['time is over', () => AbortSignal.timeout(30), 'timeout'],
    ['the caller goes away later', () => later(30), 'aborted'],
  ])('when %s the reason is right', async (_, signal, reason) => {
    const asker = client([(await serve(() => undefined)).server])
    expect(await reasonOf(asker.resolve('a.example', 'A', signal()))).toBe(reason)
  })
  it('ends by itself when the signal never fires', async () => {
    const asker = client([(await serve(() => undefined)).server], { timeouts: BRIEF })
    expect(await reasonOf(asker.resolve('a.example', 'A', new AbortController().signal))).toBe('timeout')
  })
  it('is over when the client is closed', async () => {
    const asker = client([(await serve(() => undefined)).server])
    const asked = reasonOf(asker.ask())
    asker.close()
    expect(await asked).toBe('aborted')
    expect(await reasonOf(asker.ask())).toBe('aborted')
  })
  it('the attempts after the first round have twice the time', async () => {
    const startedMs: number[] = []
    const { server } = await serve(() => undefined)
    const asker = client([server], {
      timeouts: { tryMs: 100, totalMs: 5_000 },
      onEvent: ({ event }) => event === 'retry' && startedMs.push(performance.now()),
    })
    expect(await reasonOf(asker.ask())).toBe('timeout')
    expect(startedMs[1]! - startedMs[0]!).toBeGreaterThanOrEqual(199)
  })
  it('a lost datagram is asked for again', async () => {
    const lose = silence()
    let asked = 0
    const lab = await serve((query) => (asked++ === 0 ? lose(query) : right(query)))
    const asker = client([lab.server])
    expect((await asker.ask()).kind).toBe('found')
    expect(asker.count('retry')).toBe(1)
  })
  it('1,200 questions at once are all answered, from ports that are renewed after 500, and no id is used twice at a time', async () => {
    const lab = await serve(right)
    const asker = client([lab.server])
    const asked = (i: number) => asker.ask(`n${i}.example`)
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(Array.from({ length: 1_200 }, (_, i) => asked(i)))
      expect(answers.every(({ records }) => records[0] === ADDRESS)).toBe(true)
    }
    const ports = Map.groupBy(lab.queries, ({ port }) => port)
    expect(ports.size).toBeGreaterThanOrEqual(12)
    expect(Math.max(...[...ports.values()].map((queries) => queries.length))).toBe(500)
  })
})

/** Forgeries that guess the id, each time another. */
const guesses = (query: Query, count: number): readonly Buffer[] =>
  Array.from({ length: count }, (_, i) => {
    const reply = wrong(query)
    reply.writeUInt16BE((reply.readUInt16BE() + 1 + i) & 0xffff)
    return reply
  })

/** The header alone, which counts no question. */
function bare(reply: Buffer): Buffer {
  reply.writeUInt16BE(0, 4)
  return reply.subarray(0, 12)
}

/** With the id after its own. */
function otherId(reply: Buffer): Buffer {
  reply.writeUInt16BE((reply.readUInt16BE() + 1) & 0xffff)
  return reply
}

const later = (ms: number): AbortSignal => {
  const control = new AbortController()
  setTimeout(() => control.abort(), ms)
  return control.signal
}

/** The question's letters in the other case. */
function swapped(reply: Buffer): Buffer {
  for (let i = 12; reply[i] !== 0; i++) if (/[a-z]/i.test(String.fromCharCode(reply[i]!))) reply[i] = reply[i]! ^ 0x20
  return reply
}

/** An answer whose owner name points at itself. */
function looped(query: Query): Buffer {
  const reply = response(query)
  reply.writeUInt16BE(1, 6)
  const record = Buffer.from('c000000100010000003c0004c0000201', 'hex')
  record.writeUInt16BE(0xc000 | reply.length, 0)
  return Buffer.concat([reply, record])
}

function shortened(query: Query): Buffer {
  const reply = response(query)
  reply.writeUInt16BE(1, 6)
  return Buffer.concat([reply, Buffer.from('c00c000100010000003c0003c00002', 'hex')])
}

function denying(reply: Buffer): Buffer {
  reply[3] = (reply[3]! & 0xf0) | 3
  return reply
}

const foreign = (query: Query): Buffer =>
  response(query, { answers: [{ type: 'A', name: 'other.example', ttl: 60, data: ADDRESS }] })
const otherType = (query: Query): Buffer =>
  response(query, { answers: [{ type: 'NS', name: query.name, ttl: 60, data: 'ns.example' }] })

function referral(query: Query): Buffer {
  const reply = response(query, { authorities: [{ type: 'NS', name: 'example', ttl: 1, data: 'ns.example' }] })
  reply[3] = reply[3]! & 0x7f
  return reply
}

function drip(socket: Socket, bytes: Buffer): void {
  let at = 0
  const timer = setInterval(() => {
    if (socket.destroyed || at >= bytes.length) clearInterval(timer)
    else socket.write(bytes.subarray(at, ++at))
  }, 5)
}

describe('the sweeper', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each<[string, boolean, boolean, number]>([
    ['stops when nothing waits and nothing is open', false, false, 0],
    ['goes on while a query waits', true, false, 1],
    ['goes on while a connection is open', false, true, 1],
  ])('%s', (_, busy, open, timers) => {
    let sweeps = 0
    const { wake, stop } = sweeper(
      () => sweeps++,
      () => busy,
      () => open,
    )
    wake()
    vi.advanceTimersByTime(50)
    expect([sweeps, vi.getTimerCount()]).toEqual([1, timers])
    vi.advanceTimersByTime(50)
    expect(sweeps).toBe(1 + timers)
    stop()
    expect(vi.getTimerCount()).toBe(0)
  })
})
