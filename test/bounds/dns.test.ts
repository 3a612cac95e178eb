import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import dnsPacket, { type PacketRecord } from 'dns-packet'
import { ip } from '../../src/names/ip.ts'
import { decodeMessage, type Message } from '../../src/net/dns/decode.ts'
import { interpret } from '../../src/net/dns/interpret.ts'
import { topLevelDomains } from '../../src/net/dns/nxdomain.ts'
import { tcpPool } from '../../src/net/dns/tcp.ts'
import { udpPool } from '../../src/net/dns/udp.ts'
import type { Wait } from '../../src/net/dns/wait.ts'
import { readName } from '../../src/net/dns/wire-name.ts'
import { parseZone } from '../../src/net/dns/zone-text.ts'
import { labDns } from '../lab/dns.ts'
import { testBounds, times } from './table.ts'

const LOCAL = { ip: ip('127.0.0.1'), port: 9 }
function messageOf(parts: Readonly<Record<string, readonly PacketRecord[]>>): Message {
  const read = decodeMessage(dnsPacket.encode({ type: 'response', questions: [], ...parts }))
  if (!read.ok) throw new Error(read.problem.text)
  return read.value
}
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
  ['src/net/dns/nxdomain.ts MAX_KEPT', 2_000, isFirstKept],
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
  ['src/net/dns/zone-text.ts MAX_LENGTH', 1 << 20, (n) => parseZone('@ A 192.0.2.1\n'.padEnd(n), 'a.example').ok],
])
