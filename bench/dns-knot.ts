import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Ip, ip } from '../src/names/ip.ts'
import { dnsClient } from '../src/net/dns/client.ts'
import type { Server } from '../src/net/dns/system.ts'

/** The zone to query: every name below it has an A and a TXT record. */
export const ZONE = 'bench.example'

const LOOPBACK: Ip = ip('127.0.0.1')

/**
 * knotd uses the system's default receive buffer, about 250 datagrams: its losses in a burst would be counted against
 * the client.
 */
const RECEIVE_BUFFER = '/proc/sys/net/core/rmem_default'
const RECEIVE_BYTES = 16 * 1_048_576

/**
 * knotd on a free loopback port with a wildcard zone, in `folder`, with a large receive buffer if that may be set (as
 * root). Rejects if it does not answer within 5 s.
 */
export async function startKnot(
  folder: string,
): Promise<{ readonly server: Server; readonly stop: () => Promise<void> }> {
  const port = await freePort()
  mkdirSync(join(folder, 'db'))
  writeFileSync(
    join(folder, 'zone'),
    `$TTL 300\n@ SOA ns hostmaster 1 3600 600 86400 300\n@ NS ns\nns A 192.0.2.1\n* A 192.0.2.2\n* TXT "v=spf1 -all"\n`,
  )
  writeFileSync(
    join(folder, 'knot.conf'),
    `server:
  rundir: ${folder}
  listen: ${LOOPBACK}@${port}
database:
  storage: ${join(folder, 'db')}
zone:
  - domain: ${ZONE}
    file: ${join(folder, 'zone')}
    semantic-checks: off
`,
  )
  const before = setReceiveBuffer(String(RECEIVE_BYTES))
  const child = spawn('knotd', ['-c', join(folder, 'knot.conf')], {
    stdio: 'ignore',
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
  const server = { ip: LOOPBACK, port }
  const client = dnsClient({ servers: [server], trustAd: false, random: () => 0.5, timeouts: { tryMs: 200 } })
  try {
    await answering(client.resolve(`ready.${ZONE}`, 'A', AbortSignal.timeout(100)), () =>
      client.resolve(`ready.${ZONE}`, 'A', AbortSignal.timeout(200)),
    )
  } finally {
    if (before !== undefined) setReceiveBuffer(before)
  }
  client.close()
  return {
    server,
    stop: () => {
      child.kill('SIGTERM')
      return gone
    },
  }
}

/** Sets the default for new sockets and returns the old value; undefined if that is not allowed. */
function setReceiveBuffer(bytes: string): string | undefined {
  try {
    const before = readFileSync(RECEIVE_BUFFER, 'utf8')
    writeFileSync(RECEIVE_BUFFER, bytes)
    return before
  } catch {
    console.error(`${RECEIVE_BUFFER} cannot be set: knotd may lose datagrams, which are sent again`)
    return undefined
  }
}

async function answering(first: Promise<unknown>, again: () => Promise<unknown>): Promise<void> {
  const endMs = performance.now() + 5_000
  let asked = first
  for (;;) {
    try {
      await asked
      return
    } catch (error) {
      if (performance.now() > endMs) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
      asked = again()
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4')
    socket.once('error', reject)
    socket.bind(0, LOOPBACK, () => {
      const { port } = socket.address()
      socket.close(() => resolve(port))
    })
  })
}
