import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import dnsPacket, { type PacketRecord } from 'dns-packet'
import { vi } from 'vitest'
import { parsed } from '../../src/base/problem.ts'
import { ip } from '../../src/names/ip.ts'
import { serverAsker } from '../../src/net/dns/ask-server.ts'
import { dnsClient } from '../../src/net/dns/client.ts'
import { decodeMessage, type Message } from '../../src/net/dns/decode.ts'
import { interpret, referralOf } from '../../src/net/dns/interpret.ts'
import { believable, topLevelDomains } from '../../src/net/dns/nxdomain.ts'
import { overlay } from '../../src/net/dns/overlay.ts'
import { readFields } from '../../src/net/dns/record-data.ts'
import type { Resolve } from '../../src/net/dns/resolver.ts'
import { parseResolvConf } from '../../src/net/dns/system.ts'
import { tcpPool } from '../../src/net/dns/tcp.ts'
import { udpPool } from '../../src/net/dns/udp.ts'
import type { Wait } from '../../src/net/dns/wait.ts'
import { readName } from '../../src/net/dns/wire-name.ts'
import { parseZone } from '../../src/net/dns/zone-text.ts'
import { labDns } from '../lab/dns.ts'
import { labServer, response } from '../lab/dns-server.ts'
import { testBounds, times } from './table.ts'

const forever = new AbortController().signal
const LOCAL = { ip: ip('127.0.0.1'), port: 9 }
function messageOf(parts: Readonly<Record<string, readonly PacketRecord[]>>): Message {
  const read = decodeMessage(dnsPacket.encode({ type: 'response', questions: [], ...parts }))
  if (!read.ok) throw new Error(read.problem.text)
  return read.value
}
const ede = (n: number): PacketRecord => ({
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1_232,
  flags: 0,
  options: times(n, (i) => ({ code: 15, data: Buffer.from([0, i]) })),
})
const ns = (n: number): PacketRecord[] =>
  times(n, (i) => ({ type: 'NS', name: 'a.example', ttl: 1, data: `s${i}.example` }))
const wait = (): Wait => ({
  bytes: Buffer.alloc(12),
  start: 0,
  questionEnd: 12,
  end: 12,
  wireName: '',
  expiresAtMs: Number.POSITIVE_INFINITY,
  holder: undefined,
  id: 0,
  overTcp: false,
})
/** A pool's handlers, and how many questions it refused. */
function refusals() {
  let count = 0
  const nothing = (): void => {}
  const failed = (_: Wait, fault: string): void => void (count += fault === 'network' ? 1 : 0)
  return { on: { failed, event: nothing, received: nothing, mismatched: nothing }, count: () => count }
}

/** Whether so many servers can be asked at once. */
async function areAsked(n: number): Promise<boolean> {
  const { ask, close } = serverAsker({ allowed: () => true, random: () => 0.5, port: 9 })
  const answers = times(n, (i) => ask(ip(`127.1.${i >> 8}.${i & 255}`), 'a.example', 'A', forever, {}))
  const failures = Promise.all(
    answers.map((answer) =>
      answer.then(
        () => '',
        ({ reason }) => reason as string,
      ),
    ),
  )
  close()
  return !(await failures).includes('network')
}
/** How many of `n` servers that refuse are asked. */
async function serversAsked(n: number): Promise<number> {
  const lab = await labServer((query) => response(query, { rcode: 5 }))
  const { resolve, close } = dnsClient({ servers: times(n, () => lab.server), trustAd: false, random: () => 0.5 })
  await resolve('a.example', 'A', forever).catch(() => {})
  close()
  lab.close()
  return lab.queries.length
}
/** The extended errors of `n` answers on the way along a chain, 4 of each but the last. */
async function errorsTold(n: number): Promise<number> {
  const lab = await labServer((query) => {
    const step = Number(query.name[1])
    const here = Math.min(4, n - 4 * step)
    const data = `c${step + 1}.example`
    const answers: PacketRecord[] =
      here < 4 || n === 4 * (step + 1)
        ? [{ type: 'A', name: query.name, ttl: 1, data: '192.0.2.1' }]
        : [{ type: 'CNAME', name: query.name, ttl: 1, data }]
    return response(query, { answers, additionals: [ede(here)] })
  })
  const { resolve, close } = dnsClient({ servers: [lab.server], trustAd: false, random: () => 0.5 })
  const { ede: errors } = await resolve('c0.example', 'A', forever)
  close()
  lab.close()
  return errors.length
}
/** Whether `n` sockets, each with a question in flight, can stand open. */
async function socketsStand(n: number): Promise<boolean> {
  const { on, count } = refusals()
  const silent = createSocket('udp4').bind(0, '127.0.0.1')
  await once(silent, 'listening')
  let nowMs = 0
  const pool = udpPool<Wait>({ ...LOCAL, port: silent.address().port }, on, () => nowMs)
  for (let i = 0; i < n; i++) {
    pool.ask(wait())
    await new Promise((resolve) => setImmediate(resolve))
    nowMs += 60_001
    pool.sweep(nowMs)
  }
  const refused = count()
  pool.close()
  silent.close()
  return refused === 0
}
/** Whether a question for a top-level domain still has time after so many ms less one. */
function hasTime(ms: number): boolean {
  vi.useFakeTimers()
  try {
    let given: AbortSignal | undefined
    const silent: Resolve = (_name, _type, signal) => {
      given = signal
      return new Promise(() => {})
    }
    topLevelDomains(silent, () => 0).prepare('a.example')
    vi.advanceTimersByTime(ms - 1)
    return given?.aborted === false
  } finally {
    vi.useRealTimers()
  }
}
/**
 * Whether a resolver that has denied everything seven times, longer each time, is not believed until `ms` have passed.
 */
async function isDeniedUntil(ms: number): Promise<boolean> {
  let nowMs = 0
  let isLiar = true
  const truth = labDns({ com: { NS: ['a.test'] }, de: { NS: ['a.test'] } }).resolve
  const lies = labDns({}).resolve
  const liar: Resolve = (...question) => (isLiar ? lies : truth)(...question)
  const ask = believable(
    liar,
    topLevelDomains(liar, () => nowMs),
  )
  const isBelieved = (): Promise<boolean> =>
    ask('gone.de', 'A', forever).then(
      () => true,
      () => false,
    )
  for (let i = 0; i < 7; i++) {
    await isBelieved()
    if (i < 6) nowMs += 60_000 * 2 ** i
  }
  isLiar = false
  nowMs += ms - 1
  return !(await isBelieved())
}
/** Whether the first of `n` top-level domains is still known. */
async function isFirstKept(n: number): Promise<boolean> {
  const { resolve, asked } = labDns(Object.fromEntries(times(n, (i) => [`t${i}`, { NS: ['a.test'] }])))
  const domains = topLevelDomains(resolve, () => 0)
  for (let i = 0; i < n; i++) {
    domains.prepare(`x.t${i}`)
    await settle()
  }
  domains.prepare('x.t0')
  await settle()
  return asked.filter((question) => question === 't0 NS').length === 1
}
const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await undefined
}

testBounds([
  ['src/net/dns/ask-server.ts MAX_SERVERS', 1_024, areAsked],
  ['src/net/dns/decode.ts MAX_EDE', 8, (n) => messageOf({ additionals: [ede(n)] }).edns?.errors.length === n],
  ['src/net/dns/engine.ts MAX_EDE', 16, async (n) => (await errorsTold(n)) === n],
  [
    'src/net/dns/interpret.ts MAX_CHAIN',
    16,
    (n) => {
      const answers = times(n, (i) => ({
        type: 'CNAME' as const,
        name: `c${i}.example`,
        ttl: 1,
        data: `c${i + 1}.example`,
      }))
      return interpret(messageOf({ answers }), 'c0.example', 'A').is !== 'cname_loop'
    },
  ],
  ['src/net/dns/nxdomain.ts LONGEST_MS', 10_000, hasTime],
  ['src/net/dns/nxdomain.ts MAX_KEPT', 2_000, isFirstKept],
  ['src/net/dns/nxdomain.ts MOST_DENIED_MS', 3_600_000, isDeniedUntil],
  [
    'src/net/dns/overlay.ts MAX_CHAIN',
    16,
    (n) => {
      const links = times(n, (i) => ({ type: 'CNAME' as const, name: `c${i}.example`, data: `c${i + 1}.example` }))
      const { resolve } = labDns({ [`c${n}.example`]: { A: ['192.0.2.1'] } })
      return overlay(resolve, links)('c0.example', 'A', forever).then(
        ({ kind }) => kind === 'found',
        () => false,
      )
    },
  ],
  [
    'src/net/dns/record-data.ts MAX_DATA',
    65_535,
    (n) => {
      const fields = [...times(255, () => 255), n - 255 * 256 - 1].map((length) => ({
        text: 'x'.repeat(length),
        quoted: true,
      }))
      return readFields('TXT', fields, (name) => parsed(name)).ok
    },
  ],
  [
    'src/net/dns/interpret.ts MAX_SERVERS',
    100,
    (n) => referralOf(messageOf({ authorities: ns(n) }), 'a.example')?.servers.length === n,
  ],
  [
    'src/net/dns/interpret.ts MAX_ADDRESSES',
    20,
    (n) => {
      const additionals = times(n, (i) => ({ type: 'A' as const, name: 's0.example', ttl: 1, data: `192.0.2.${i}` }))
      return referralOf(messageOf({ authorities: ns(1), additionals }), 'a.example')?.glue['s0.example']?.length === n
    },
  ],
  [
    'src/net/dns/system.ts MAX_SERVERS',
    8,
    (n) => parseResolvConf(times(n, (i) => `nameserver 192.0.2.${i + 1}`).join('\n')).servers.length === n,
  ],
  [
    'src/net/dns/tcp.ts MAX_CONNECTIONS',
    8,
    (n) => {
      const { on, count } = refusals()
      const pool = tcpPool<Wait>(LOCAL, on, () => 0)
      for (const one of times(64 * n, wait)) pool.ask(one) // 64 on a connection
      const refused = count()
      pool.close()
      return refused === 0
    },
  ],
  [
    'src/net/dns/udp.ts MAX_IN_FLIGHT',
    20_000,
    (n) => {
      const { on, count } = refusals()
      const pool = udpPool<Wait>(LOCAL, on, () => 0)
      const one = wait()
      for (let i = 0; i < n; i++) pool.ask(one)
      const refused = count()
      pool.close()
      return refused === 0
    },
  ],
  ['src/net/dns/udp.ts MAX_SOCKETS', 256, socketsStand],
  ['src/net/dns/upstream.ts MAX_UPSTREAMS', 16, async (n) => (await serversAsked(n)) === n],
  [
    'src/net/dns/wire-name.ts MAX_POINTERS',
    127,
    // A root, then pointers each to the one before.
    (n) =>
      readName({
        bytes: Uint8Array.from([0, ...times(n, (i) => [0xc0, i === 0 ? 0 : 2 * i - 1]).flat()]),
        at: 2 * n - 1,
      }) === '',
  ],
  [
    'src/net/dns/zone-entries.ts MAX_FIELDS',
    1_010,
    (n) =>
      !JSON.stringify(parseZone(`a TXT ${times(n - 2, () => 'x').join(' ')}`, 'a.example')).includes(
        'fields in one entry',
      ),
  ],
  ['src/net/dns/zone-text.ts MAX_LENGTH', 1 << 20, (n) => parseZone('@ A 192.0.2.1\n'.padEnd(n), 'a.example').ok],
  [
    'src/net/dns/zone-text.ts MAX_RECORDS',
    10_000,
    (n) => parseZone(times(n, (i) => `n${i} A 192.0.2.1`).join('\n'), 'a.example').ok,
  ],
])
