import type { SMTPServer } from 'smtp-server'
import type { Log } from '../world.ts'
import type { Deliver } from './deliver.ts'
import { type Listening, listenAt, readMessage, refusal } from './mail-server.ts'

/** Connections at the same time; each may hold a message in memory. */
const MAX_CLIENTS = 20
const MESSAGE_MS = 120_000
/** Time without a command after which a connection is closed, ms. */
const IDLE_MS = 60_000

type LmtpSettings = {
  /** `127.0.0.1:2424`, `[::1]:2424`, or the path of a socket. */
  readonly listen: string
  readonly deliver: Deliver
  readonly maxOctets: number
  readonly log: Pick<Log, 'info' | 'warn'>
}
/**
 * An LMTP server (RFC 2033) that takes reports: 250 only after they are stored, 451 when another attempt can help, 552
 * for a message that is too large. Mail that is no report, or cannot be read, gets 250, too: a refusal would make the
 * mail server send a bounce to a forged sender.
 */
export async function startLmtp({ listen, deliver, maxOctets, log }: LmtpSettings): Promise<Listening> {
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
      readMessage(stream, maxOctets)
        .then(async (message) => {
          if (typeof message === 'string') {
            callback(refusal(552, `5.3.4 the message is larger than ${maxOctets} octets`))
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
          callback(refusal(451, '4.3.0 try again later'))
        })
    },
  })
  server.on('error', (error) => log.warn('LMTP', { reason: error.message }))
  const listening = await listenAt(server, listen)
  log.info('listening for reports', { lmtp: listen })
  return {
    port: listening.port,
    close: async () => {
      stopping.abort(new DOMException('the service stops', 'AbortError'))
      await listening.close()
    },
  }
}
