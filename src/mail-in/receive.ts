import type { SMTPServer, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { AppError } from '../base/errors.ts'
import { limiter } from '../base/limiter.ts'
import type { GivenEnvelope } from '../message/envelope.ts'
import type { Inbox, Keep } from '../message/inbox.ts'
import { networkOf } from '../names/cidr.ts'
import { canonicalName } from '../names/domain.ts'
import { familyOf, parseIp } from '../names/ip.ts'
import type { World } from '../world.ts'
import { type Listening, listenAt, readMessage, refusal } from './mail-server.ts'

/** Connections at the same time: of a client (IPv6: a /64), of its network (IPv4: a /24, IPv6: a /48), and in all. */
const CONNECTIONS = { client: 5, network: 10, all: 100 }
/** Sockets, with those that are not greeted yet: the library waits 100 ms for clients that talk too soon. */
const MAX_SOCKETS = 400
/** Commands of a connection between two recipients that are taken; a mail server needs five, or seven with TLS. */
const MAX_COMMANDS = 20
/** Transactions that a client may begin: so many at once, and so many a minute. */
const MAIL_RATE = { capacity: 60, perSecond: 1 }
/** Recipients that are refused on one connection before it is closed. */
const MAX_REFUSED = 10
/** Messages of the largest size that are in memory at the same time, being received or analysed. */
const MAX_IN_MEMORY = 8
/** Time in which a message is read before its client gets the reply, ms; after it the message is taken. */
const READ_MS = 20_000
/** Analyses at the same time; most of their time they wait for the DNS. */
const MAX_ANALYSES = 500
/** Time without a command or a piece of a message after which a connection is closed, ms. */
const IDLE_MS = 30_000
/** Time until the first recipient that is taken, and of a whole connection, ms. */
const RECIPIENT_MS = 60_000
const CONNECTION_MS = 300_000

type ReceiveSettings = {
  /** `0.0.0.0:25`, `[::1]:25`, or the path of a socket. */
  readonly listen: string
  /** LMTP: the client is a mail server of our own, so it says nothing about the sender, and is not limited. */
  readonly lmtp: boolean
  readonly domain: string
  readonly maxOctets: number
  /** PEM; without it STARTTLS is not offered. */
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly inbox: Pick<Inbox, 'accepts' | 'take'>
  /**
   * Analyses a message; `onRead` is called when it is read, before the DNS is asked. Rejects with AppError `bad_message`
   * for a message that cannot be read.
   */
  readonly analyse: (raw: Buffer, envelope: GivenEnvelope, onRead: () => void) => Promise<Parameters<Keep>[0]>
  readonly world: Pick<World, 'now' | 'monotonic' | 'log'>
  readonly connectionMs?: number
}

/** A connection that was admitted; changed in place. */
type Connection = {
  readonly release: () => void
  readonly sinceMs: number
  late: NodeJS.Timeout
  /** Commands since the last recipient that was taken. */
  commands: number
  /** Recipients that were refused. */
  refused: number
  /** It has named a recipient that waits for mail. */
  isExpected: boolean
}

/** A server that receives messages, and takes another certificate. */
export type Receiving = Listening & { readonly useCertificate: (tls: { cert: string; key: string }) => void }

/**
 * An SMTP server (RFC 5321), or an LMTP server (RFC 2033), that takes one message for each living one-time address, and
 * refuses all other recipients with 550. It never sends anything. A message is answered when all of it is in memory,
 * and forgotten when its analysis is done.
 */
export async function startReceiving(settings: ReceiveSettings): Promise<Receiving> {
  const { listen, lmtp, domain, maxOctets, tls, inbox, world, connectionMs = CONNECTION_MS } = settings
  const { SMTPServer: Server } = await import('smtp-server')
  const limits = limiter({ now: world.monotonic })
  const open = new Map<string, Connection>()
  const take = taking(settings)
  function disconnect(id: string, why: string): void {
    for (const connection of server.connections) if (connection.id === id) connection.send(421, why)
  }
  const disconnectIn = (ms: number, id: string): NodeJS.Timeout =>
    setTimeout(() => disconnect(id, '4.4.2 the time of this connection is over'), ms).unref()
  function admit(session: SMTPServerSession): Error | undefined {
    const [client, network] = lmtp ? [] : networksOf(session.remoteAddress)
    const leave = client === undefined ? () => {} : limits.tryEnter(client, { concurrent: CONNECTIONS.client })
    if (!leave) return refusal(421, '4.7.0 too many connections from your address')
    const leaveNetwork =
      network === undefined ? () => {} : limits.tryEnter(network, { concurrent: CONNECTIONS.network })
    if (!leaveNetwork) {
      leave()
      return refusal(421, '4.7.0 too many connections from your network')
    }
    if (open.size >= CONNECTIONS.all) {
      // Whoever has named a recipient that waits for mail keeps its place; of the others the oldest gives way.
      const [oldest] = [...open].find(([, { isExpected }]) => !isExpected) ?? []
      if (oldest !== undefined) disconnect(oldest, '4.3.2 too many connections; try again later')
    }
    const late = disconnectIn(lmtp ? connectionMs : Math.min(RECIPIENT_MS, connectionMs), session.id)
    const release = (): void => {
      leave()
      leaveNetwork()
    }
    open.set(session.id, { release, late, sinceMs: world.monotonic(), commands: 0, refused: 0, isExpected: false })
    return undefined
  }
  /** The recipient of the connection waits for mail. */
  function expect(id: string): void {
    const connection = open.get(id)
    if (!connection) return
    connection.commands = 0
    if (connection.isExpected) return
    connection.isExpected = true
    clearTimeout(connection.late)
    connection.late = disconnectIn(connectionMs - (world.monotonic() - connection.sinceMs), id)
  }
  const server: SMTPServer = new Server({
    lmtp,
    name: domain,
    banner: 'mailsonde',
    size: maxOctets,
    ...tls,
    authOptional: true,
    disabledCommands: ['AUTH', ...(tls ? [] : ['STARTTLS' as const])],
    disableReverseLookup: true,
    maxClients: lmtp ? CONNECTIONS.all : MAX_SOCKETS,
    maxRecipients: 1, // the next one gets 452, and its own transaction
    socketTimeout: IDLE_MS,
    closeTimeout: 5_000,
    // The library tells only its log of every command.
    logger: logOf(({ tnx, cid }) => {
      const connection = tnx === 'command' ? open.get(String(cid)) : undefined
      if (connection && !lmtp && ++connection.commands > MAX_COMMANDS)
        disconnect(String(cid), '4.7.0 too many commands without a message')
    }),
    // Not by the socket: that of a connection with STARTTLS is another one in the end.
    onConnect: (session, callback) => callback(admit(session) ?? null),
    onClose: ({ id }) => {
      clearTimeout(open.get(id)?.late)
      open.get(id)?.release()
      open.delete(id)
    },
    onMailFrom: (_address, { remoteAddress }, callback) => {
      const entered = lmtp || limits.tryEnter(`mail ${networksOf(remoteAddress)[0]}`, { rate: MAIL_RATE })
      if (typeof entered === 'function') entered()
      callback(entered ? null : refusal(450, '4.7.1 too many messages in a minute; try again later'))
    },
    onRcptTo: ({ address }, session, callback) => {
      const accepts = inbox.accepts(address)
      if (accepts === 'yes') {
        expect(session.id)
        return callback(null)
      }
      if (accepts === 'full') return callback(refusal(452, '4.3.1 no room now; try again later'))
      const connection = open.get(session.id)
      if (connection && ++connection.refused > MAX_REFUSED && !lmtp)
        callback(refusal(421, '4.7.0 too many unknown recipients'))
      else callback(refusal(550, '5.1.1 no such address'))
    },
    onData: (stream, session, callback) => {
      take(stream, session).then((problem) => callback(problem ?? null), callback)
    },
  })
  server.on('error', () => {}) // a fault of one connection, which ends with it
  const listening = await listenAt(server, listen)
  world.log.info('listening for messages', { [lmtp ? 'lmtp' : 'smtp']: listen, starttls: tls !== undefined })
  return { ...listening, useCertificate: (renewed) => server.updateSecureContext(renewed) }
}

type Take = (stream: SMTPServerDataStream, session: SMTPServerSession) => Promise<Error | undefined>

/** Receives messages and hands them on; resolves to the refusal, if it is one. The text of a message is in no log. */
function taking({ lmtp, domain, maxOctets, inbox, analyse, world }: ReceiveSettings): Take {
  let room = MAX_IN_MEMORY * maxOctets
  let analyses = 0

  /** `onRead` gets the reply to the message. */
  async function analysed(raw: Buffer, envelope: GivenEnvelope, keep: Keep, onRead: OnRead): Promise<void> {
    analyses++
    try {
      keep(await analyse(raw, envelope, () => onRead(undefined)))
    } catch (error) {
      keep(undefined)
      onRead(unreadRefusal(error))
      world.log.error('a message could not be analysed', { reason: (error as Error).name })
    } finally {
      onRead(undefined)
      analyses--
    }
  }

  return async (stream, session) => {
    let held = 0
    const release = (): void => void (room += held)
    const hold = (octets: number): boolean => {
      if (octets > room) return false
      room -= octets
      held += octets
      return true
    }
    try {
      const raw = await readMessage(stream, maxOctets, hold)
      const tooMuch = refusalOf(raw, maxOctets, analyses)
      if (tooMuch || typeof raw === 'string') {
        release()
        return tooMuch
      }
      const keep = inbox.take(session.envelope.rcptTo[0]?.address ?? '')
      if (!keep) {
        release()
        return refusal(550, '5.1.1 no such address')
      }
      const read = Promise.withResolvers<Error | undefined>()
      const late = setTimeout(read.resolve, READ_MS, undefined)
      const envelope = envelopeOf(session, { lmtp, domain, now: world.now() })
      void analysed(raw, envelope, keep, read.resolve).finally(release)
      const refused = await read.promise
      clearTimeout(late)
      return lmtp ? undefined : refused
    } catch {
      release() // the connection was lost
      return refusal(451, '4.3.0 try again later')
    }
  }
}

type OnRead = (refused: Error | undefined) => void

/**
 * The reply to a message whose analysis fails before it is read. The client of this listener is the sender, so a
 * refusal bounces to nobody else; a mail server in front (LMTP) would send one to whoever the envelope names.
 */
const unreadRefusal = (error: unknown): Error =>
  error instanceof AppError && error.code === 'bad_message'
    ? refusal(554, '5.6.0 the message cannot be read')
    : refusal(451, '4.3.0 the message cannot be read now; try again later')

function refusalOf(raw: Buffer | 'too_large' | 'dropped', max: number, analyses: number): Error | undefined {
  if (raw === 'too_large') return refusal(552, `5.3.4 the message is larger than ${max} octets`)
  return raw === 'dropped' || analyses >= MAX_ANALYSES ? refusal(452, '4.3.1 no room now; try again later') : undefined
}

/** What the connection tells: over SMTP everything, over LMTP the envelope sender alone. */
function envelopeOf(
  { remoteAddress, hostNameAppearsAs, envelope, secure, transmissionType }: SMTPServerSession,
  { lmtp, domain, now }: { readonly lmtp: boolean; readonly domain: string; readonly now: number },
): GivenEnvelope {
  const mailFrom = envelope.mailFrom === false ? '' : envelope.mailFrom.address
  const client = parseIp(remoteAddress)
  if (lmtp || !client.ok) return { from: 'connection', mailFrom }
  const helo = typeof hostNameAppearsAs === 'string' ? canonicalName(hostNameAppearsAs).slice(0, 255) : ''
  return {
    ...{ from: 'connection', ip: client.value, helo, mailFrom },
    hop: {
      ...{ from: helo, name: '', address: client.value, by: domain, at: now, tls: secure },
      with: envelope.smtpUtf8 ? `UTF8${transmissionType.replace(/^E/, '')}` : transmissionType,
    },
  }
}

/** A client by its address, and its network; a client of IPv6 has a /64 (RFC 4291 §2.5.4), a site a /48 (RFC 6177). */
export function networksOf(remoteAddress: string): readonly [client: string, network: string] {
  const address = parseIp(remoteAddress)
  if (!address.ok) return [remoteAddress, `network of ${remoteAddress}`]
  const { value } = address
  return familyOf(value) === 6 ? [networkOf(value, 64), networkOf(value, 48)] : [value, networkOf(value, 24)]
}

type LogEntry = { readonly tnx?: unknown; readonly cid?: unknown }

/** A log that keeps nothing. */
function logOf(debug: (entry: LogEntry) => void) {
  const nothing = (): void => {}
  return { trace: nothing, debug, info: nothing, warn: nothing, error: nothing, fatal: nothing }
}
