import { createSocket } from 'node:dgram'
import { promises } from 'node:dns'
import dnsPacket from 'dns-packet'
import { dnsClient } from '../src/net/dns/client.ts'
import { formatServer, type Server } from '../src/net/dns/system.ts'

export type Job = {
  readonly client: 'ours' | 'dns-packet' | 'dns-packet-bare' | 'c-ares' | 'node-udp'
  readonly server: Server
  /** Number of queries in flight at all times. */
  readonly width: number
  readonly seconds: number
  readonly zone: string
}

export type Figures = {
  readonly answered: number
  readonly lost: number
  /** Queries that were sent more than once. */
  readonly again: number
  readonly wallSeconds: number
  readonly userSeconds: number
  readonly systemSeconds: number
}

/** Queries the address of a name; the callback gets whether it was the right one. */
type Ask = (name: string, done: (right: boolean) => void) => void
type Subject = { readonly ask: Ask; readonly again: () => number; readonly close: () => void }

const EXPECTED = '192.0.2.2'
const NAMES = 10_000
const WARM_MS = 1_000
/** Time after which a query is lost, ms. */
const LOST_MS = 10_000
/** Timeout of one attempt, for all clients, ms. */
const TRY_MS = 1_500

const TRIES = 4

const SUBJECTS: Record<Job['client'], (server: Server) => Subject> = {
  ours,
  'dns-packet': packet,
  'dns-packet-bare': bare,
  'c-ares': cares,
  'node-udp': udp,
}

const job = JSON.parse(process.argv[2]!) as Job
const subject = SUBJECTS[job.client](job.server)
const names = Array.from({ length: NAMES }, (_, i) => `n${i}.${job.zone}`)
await run(WARM_MS)
const figures = await run(job.seconds * 1_000)
subject.close()
process.send!(figures, () => process.exit(0))

/** Keeps `width` queries in flight for `ms`, then waits for the last of them. */
async function run(ms: number): Promise<Figures> {
  const begin = performance.now()
  const before = process.cpuUsage()
  const againBefore = subject.again()
  let asked = 0
  let answered = 0
  let wrong = 0
  let underWay = 0
  let finished = (): void => {}
  const all = new Promise<void>((resolve) => {
    finished = resolve
  })
  const done = (right: boolean): void => {
    underWay--
    if (right) answered++
    else wrong++
    if (performance.now() - begin < ms) next()
    else if (underWay === 0) finished()
  }
  function next(): void {
    underWay++
    subject.ask(names[asked++ % NAMES]!, done)
  }
  for (let i = 0; i < job.width; i++) next()
  const guard = setTimeout(finished, ms + LOST_MS)
  await all
  clearTimeout(guard)
  const used = process.cpuUsage(before)
  const again = subject.again() - againBefore
  const wallSeconds = (performance.now() - begin) / 1_000
  const [userSeconds, systemSeconds] = [used.user / 1e6, used.system / 1e6]
  return { answered, lost: wrong + underWay, again, wallSeconds, userSeconds, systemSeconds }
}

function ours(server: Server): Subject {
  let retries = 0
  const client = dnsClient({
    servers: [server],
    trustAd: true,
    random: Math.random,
    timeouts: { tryMs: TRY_MS },
    onEvent: (event) => {
      if (event.event === 'retry') retries++
    },
  })
  const { signal } = new AbortController()
  return {
    ask: (name, done) => {
      client.resolve(name, 'A', signal).then(
        (answer) => done(answer.records[0] === EXPECTED),
        () => done(false),
      )
    },
    again: () => retries,
    close: client.close,
  }
}

type Waiting = {
  readonly name: string
  readonly answered: (records: readonly string[]) => void
  readonly failed: (error: Error) => void
  sentAtMs: number
  tries: number
}

/**
 * A client based on dns-packet that returns the same as ours: a promise of the records. It has one socket and
 * sequential ids, does not check the question section and uses no randomness; one sweep finds lost queries, as in ours.
 */
function packet(server: Server): Subject {
  const base = exchanges(server)
  const resolve = (name: string): Promise<readonly string[]> =>
    new Promise((answered, failed) => base.send({ name, answered, failed, sentAtMs: 0, tries: 0 }))
  return {
    ...base,
    ask: (name, done) => {
      resolve(name).then(
        (records) => done(records[0] === EXPECTED),
        () => done(false),
      )
    },
  }
}

/** The same without promises: the minimum that the library allows. */
function bare(server: Server): Subject {
  const base = exchanges(server)
  return {
    ...base,
    ask: (name, done) => {
      const answered = (records: readonly string[]): void => done(records[0] === EXPECTED)
      base.send({ name, answered, failed: () => done(false), sentAtMs: 0, tries: 0 })
    },
  }
}

function exchanges(server: Server): Pick<Subject, 'again' | 'close'> & { readonly send: (wait: Waiting) => void } {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1_048_576 })
  const waiting = new Map<number, Waiting>()
  let last = 0
  let retries = 0
  socket.on('message', (bytes) => {
    const message = dnsPacket.decode(bytes)
    const wait = waiting.get(message.id)
    if (!wait) return
    waiting.delete(message.id)
    const records: string[] = []
    for (const answer of message.answers) if (answer.type === 'A') records.push(answer.data)
    wait.answered(records)
  })
  function write(id: number, wait: Waiting): void {
    const query = dnsPacket.encode({
      type: 'query',
      id,
      flags: dnsPacket.RECURSION_DESIRED,
      questions: [{ type: 'A', name: wait.name }],
      additionals: [{ type: 'OPT', name: '.', udpPayloadSize: 1232, flags: 0, options: [] }],
    })
    wait.sentAtMs = performance.now()
    wait.tries++
    socket.send(query, server.port, server.ip)
  }
  const sweep = setInterval(() => {
    const nowMs = performance.now()
    for (const [id, wait] of waiting) {
      if (nowMs - wait.sentAtMs < TRY_MS) continue
      if (wait.tries === TRIES) {
        waiting.delete(id)
        wait.failed(new Error('no answer in time'))
      } else {
        retries++
        write(id, wait)
      }
    }
  }, 50)
  return {
    send: (wait) => {
      do last = (last + 1) & 0xffff
      while (waiting.has(last))
      waiting.set(last, wait)
      write(last, wait)
    },
    again: () => retries,
    close: () => {
      clearInterval(sweep)
      socket.close()
    },
  }
}

/**
 * Node's UDP sockets with nothing around them, what a program in JavaScript can reach at most: the same 1,000 queries
 * again and again, and an answer is an id. Those of one turn of the event loop are sent together, as ours are.
 */
function udp(server: Server): Subject {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1_048_576 })
  const waiting = new Map<number, (right: boolean) => void>()
  const queries = Array.from({ length: 0x10000 }, (_, id) => {
    const questions = [{ type: 'A' as const, name: `n${id % NAMES}.${job.zone}` }]
    return dnsPacket.encode({ type: 'query', id, flags: dnsPacket.RECURSION_DESIRED, questions })
  })
  let [last, due] = [0, 0]
  socket.on('message', (bytes) => {
    const id = (bytes[0]! << 8) | bytes[1]!
    const done = waiting.get(id)
    waiting.delete(id)
    done?.(true)
  })
  const isConnected = new Promise<void>((resolve) => socket.connect(server.port, server.ip, resolve))
  const sendAll = (): void => {
    for (; due > 0; due--) socket.send(queries[(last - due + 1) & 0xffff]!)
  }
  return {
    ask: (_name, done) => {
      last = (last + 1) & 0xffff
      waiting.set(last, done)
      if (due++ === 0) void isConnected.then(() => setImmediate(sendAll))
    },
    again: () => 0,
    close: () => socket.close(),
  }
}

function cares(server: Server): Subject {
  const resolver = new promises.Resolver({ timeout: TRY_MS, tries: TRIES })
  resolver.setServers([formatServer(server)])
  return {
    ask: (name, done) => {
      resolver.resolve4(name).then(
        (addresses) => done(addresses[0] === EXPECTED),
        () => done(false),
      )
    },
    again: () => 0,
    close: () => resolver.cancel(),
  }
}
