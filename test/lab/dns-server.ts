import { createSocket } from 'node:dgram'
import { createServer, type Socket } from 'node:net'
import dnsPacket, { type Decoded, type PacketRecord } from 'dns-packet'
import { ip } from '../../src/names/ip.ts'
import { DnsError, type RecordType } from '../../src/net/dns/resolver.ts'
import type { Server } from '../../src/net/dns/system.ts'
import { type LabZone, labDns } from './dns.ts'

export type Query = {
  readonly message: Decoded
  readonly bytes: Buffer
  readonly name: string
  readonly type: string
  readonly over: 'udp' | 'tcp'
  /** The port that it came from. */
  readonly port: number
}
/** What a server sends to a query, in order; nothing is silence. Over TCP each is framed. */
export type Reply = Buffer | readonly Buffer[] | undefined
export type Behaviour = (query: Query) => Reply | Promise<Reply>

export type LabServer = {
  readonly server: Server
  readonly queries: Query[]
  /** TCP connections that were made. */
  readonly connections: () => number
  readonly close: () => void
}

/**
 * A DNS server on a free port of 127.0.0.1, over UDP and TCP, that behaves as told. `raw` takes over a TCP connection
 * instead.
 */
export async function labServer(behave: Behaviour, raw?: (socket: Socket) => void): Promise<LabServer> {
  const queries: Query[] = []
  const open = new Set<Socket>()
  let connections = 0

  async function replies(bytes: Buffer, over: Query['over'], port = 0): Promise<readonly Buffer[]> {
    const message = dnsPacket.decode(bytes)
    const [asked] = message.questions
    const query = { message, bytes, over, port, name: asked!.name.toLowerCase(), type: asked!.type }
    queries.push(query)
    const reply = await behave(query)
    return reply === undefined ? [] : Buffer.isBuffer(reply) ? [reply] : (reply as readonly Buffer[])
  }

  const udp = createSocket({ type: 'udp4', recvBufferSize: 1_048_576 })
  udp.on('message', (bytes, from) => {
    void replies(bytes, 'udp', from.port).then((all) => {
      for (const reply of all) udp.send(reply, from.port, from.address)
    })
  })
  const tcp = createServer((socket) => {
    connections++
    open.add(socket)
    socket.on('error', () => {})
    if (raw) raw(socket)
    else {
      onFrames(socket, (bytes) => {
        void replies(bytes, 'tcp', socket.remotePort).then((all) => socket.write(Buffer.concat(all.map(framed))))
      })
    }
  })
  const port = await samePort(udp, tcp)
  return {
    server: { ip: ip('127.0.0.1'), port },
    queries,
    connections: () => connections,
    close: () => {
      udp.close()
      tcp.close()
      for (const socket of open) socket.destroy()
    },
  }
}

/** A response to `query` with these sections. `qname` keeps the case in which it was asked. */
export function response(
  query: Query,
  parts: {
    readonly answers?: readonly PacketRecord[]
    readonly authorities?: readonly PacketRecord[]
    readonly additionals?: readonly PacketRecord[]
    readonly rcode?: number
    readonly flags?: number
    readonly question?: { readonly name: string; readonly type: string }
  } = {},
): Buffer {
  const { rcode = 0, flags = 0, question = query.message.questions[0]!, ...sections } = parts
  const bytes = dnsPacket.encode({
    ...sections,
    type: 'response',
    id: query.message.id,
    flags: flags | dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE,
    questions: [question],
  })
  bytes[3] = (bytes[3]! & 0xf0) | rcode
  return bytes
}

/** A recursive resolver for the zone literals of {@link labDns}, on the wire. */
export function zoneBehaviour(zone: LabZone): Behaviour {
  return async (query) => {
    const checkingDisabled = (query.bytes[3]! & 0x10) !== 0
    const { resolve } = labDns(zone)
    try {
      const answer = await resolve(query.name, query.type as RecordType, new AbortController().signal, {
        checkingDisabled,
      })
      const ttl = answer.ttlSeconds
      const chain = answer.cname.map((data, i) => ({
        type: 'CNAME',
        name: answer.cname[i - 1] ?? query.name,
        ttl,
        data,
      }))
      const owner = answer.cname.at(-1) ?? query.name
      const records = answer.records.map((data) => ({
        type: answer.type,
        name: owner,
        ttl,
        data: written(answer.type, data),
      }))
      return response(query, {
        answers: [...chain, ...records],
        authorities: answer.kind === 'found' ? [] : [soa(ttl)],
        rcode: answer.kind === 'nxdomain' ? 3 : 0,
        flags: answer.secure ? dnsPacket.AUTHENTIC_DATA : 0,
      })
    } catch (error) {
      if (!(error instanceof DnsError) || error.reason === 'timeout') return undefined
      const opt = error.ede.map(({ code, text }) => ede(code, text))
      const rcode = error.reason === 'refused' ? 5 : 2
      return response(query, { rcode, additionals: opt })
    }
  }
}

export const soa = (minimum: number, ttl = minimum, name = 'example'): PacketRecord => ({
  type: 'SOA',
  name,
  ttl,
  data: { mname: 'ns.example', rname: 'h.example', serial: 1, refresh: 1, retry: 1, expire: 1, minimum },
})

/** OPT with one extended error (RFC 8914 §2). */
export const ede = (code: number, text: string): PacketRecord => ({
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1232,
  flags: 0,
  options: [{ code: 15, data: Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(text)]) }],
})

export const framed = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])

/** The data as dns-packet wants it. */
function written(type: RecordType, data: unknown): unknown {
  if (type === 'CAA') {
    const { critical, ...rest } = data as { critical: boolean }
    return { ...rest, flags: critical ? 128 : 0, issuerCritical: critical }
  }
  if (type === 'TLSA') {
    const { data: hex, ...rest } = data as { data: string }
    return { ...rest, certificate: Buffer.from(hex, 'hex') }
  }
  if (type === 'DS') return { ...(data as object), digest: Buffer.from((data as { digest: string }).digest, 'hex') }
  if (type === 'DNSKEY')
    return { ...(data as object), key: Buffer.from((data as { publicKey: string }).publicKey, 'base64') }
  if (type !== 'TXT') return data
  const octets = Buffer.from(data as string)
  return Array.from({ length: Math.max(1, Math.ceil(octets.length / 255)) }, (_, i) =>
    octets.subarray(i * 255, i * 255 + 255),
  )
}

function onFrames(socket: Socket, frame: (bytes: Buffer) => void): void {
  let pending = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE()) {
      const end = 2 + pending.readUInt16BE()
      frame(pending.subarray(2, end))
      pending = pending.subarray(end)
    }
  })
}

/** Binds both to one port that is free for both. */
async function samePort(udp: ReturnType<typeof createSocket>, tcp: ReturnType<typeof createServer>): Promise<number> {
  for (let tries = 0; ; tries++) {
    await new Promise<void>((done, failed) => tcp.once('error', failed).listen(0, '127.0.0.1', done))
    const { port } = tcp.address() as { port: number }
    try {
      await new Promise<void>((done, failed) => udp.once('error', failed).bind(port, '127.0.0.1', done))
      return port
    } catch (error) {
      if (tries > 20) throw error
      await new Promise((done) => tcp.close(done))
    }
  }
}
