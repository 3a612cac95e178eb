import { existsSync, lstatSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import type { SMTPServer, SMTPServerDataStream } from 'smtp-server'
import type { Log } from '../world.ts'
import type { Deliver } from './deliver.ts'

/** Connections at the same time; each may hold a message in memory. */
const MAX_CLIENTS = 20
/** Time limit for a message, ms. */
const MESSAGE_MS = 120_000
/** Time without a command after which a connection is closed, ms. */
const IDLE_MS = 60_000

export type LmtpSettings = {
  /** `127.0.0.1:2424`, `[::1]:2424`, or the path of a socket. */
  readonly listen: string
  readonly deliver: Deliver
  readonly maxOctets: number
  readonly log: Pick<Log, 'info' | 'warn'>
}
export type Lmtp = {
  /** The port, if it listens on one. */
  readonly port: number | undefined
  readonly close: () => Promise<void>
}

/**
 * An LMTP server (RFC 2033) that takes reports: 250 only after they are stored, 451 when another attempt can help, 552 for a message that is too large. Mail that is
 * no report, or cannot be read, gets 250, too: a refusal would make the mail server send a bounce to a forged sender.
 */
export async function startLmtp({ listen, deliver, maxOctets, log }: LmtpSettings): Promise<Lmtp> {
  const { SMTPServer: Server } = await import('smtp-server')
  const stopping = new AbortController()
  const server: SMTPServer = new Server({
    lmtp: true,
    size: maxOctets,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    maxClients: MAX_CLIENTS,
    socketTimeout: IDLE_MS,
    closeTimeout: 5_000,
    banner: 'mailsonde reports',
    onData: (stream, _session, callback) => {
      read(stream, maxOctets)
        .then(async (message) => {
          if (message === undefined) {
            callback(
              Object.assign(new Error(`5.3.4 the message is larger than ${maxOctets} octets`), { responseCode: 552 }),
            )
            return
          }
          await deliver(message, 'lmtp', AbortSignal.any([stopping.signal, AbortSignal.timeout(MESSAGE_MS)]))
          callback(null)
        })
        .catch((error: Error) => {
          log.warn('a message could not be stored; the mail server will try again', {
            way: 'lmtp',
            reason: error.message,
          })
          callback(Object.assign(new Error('4.3.0 try again later'), { responseCode: 451 }))
        })
    },
  })
  server.on('error', (error) => log.warn('LMTP', { reason: error.message }))
  const place = placeOf(listen)
  if ('path' in place) await removeStale(place.path)
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    const done = (): void => {
      server.server.off('error', reject)
      resolve()
    }
    if ('path' in place) server.server.listen(place.path, done)
    else server.listen(place.port, place.host, done)
  })
  log.info('listening for reports', { lmtp: listen })
  const bound = server.server.address()
  return {
    port: typeof bound === 'object' ? bound?.port : undefined,
    close: async () => {
      stopping.abort(new DOMException('the service stops', 'AbortError'))
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** The message, or undefined if it is too large. */
async function read(stream: SMTPServerDataStream, max: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= max) chunks.push(chunk)
    else chunks.length = 0
  }
  return size > max ? undefined : Buffer.concat(chunks)
}

type Place = { readonly path: string } | { readonly host: string; readonly port: number }

/** A path contains a slash; everything else is a host and a port. */
export function placeOf(listen: string): Place {
  if (listen.includes('/')) return { path: listen }
  const at = listen.lastIndexOf(':')
  return { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) }
}

/** Removes a socket that an earlier run left; one that answers is in use, and listening then fails. */
async function removeStale(path: string): Promise<void> {
  if (!existsSync(path) || !lstatSync(path).isSocket()) return
  const answers = await new Promise<boolean>((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
  if (!answers) unlinkSync(path)
}
