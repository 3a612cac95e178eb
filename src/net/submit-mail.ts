import { rootCertificates } from 'node:tls'
import { raced, within } from '../base/deadline.ts'
import { once } from '../base/share-work.ts'

/** A message in plain text. Header values have no line breaks. */
export type Mail = {
  /** The same for every attempt: receivers that know the Message-ID keep one copy. Default: a new one. */
  readonly id?: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

/** Sends a message through the operator's submission server. Rejects with {@link MailError}. */
export type SubmitMail = (mail: Mail, signal: AbortSignal) => Promise<void>

/**
 * A failed submission. `isFinal`: the server refused the message, or its recipient, permanently (5xx). The operator has
 * to correct a refused login.
 */
export class MailError extends Error {
  readonly isFinal: boolean
  constructor(message: string, isFinal: boolean) {
    super(message)
    this.name = 'MailError'
    this.isFinal = isFinal
  }
}

/** A submission server. */
export type Submission = {
  /** Its host and port. */
  readonly server: string
  readonly send: SubmitMail
  /** Connects and logs in, and sends nothing. Rejects with {@link MailError}. */
  readonly check: (signal: AbortSignal) => Promise<void>
  /** Closes its connections; what is being sent fails. */
  readonly close: () => void
}

const SUBMIT_MS = 30_000
/** Connections to the server; each is used for many messages, one after the other, while there are some. */
const CONNECTIONS = 8
const MESSAGES_EACH = 100
/** A connection without a message is closed, ms. */
const IDLE_MS = 2_000

/**
 * Submission (RFC 6409) through `url`: `smtps://user:password@host` (TLS from the start, port 465) or `smtp://…` (port
 * 587, STARTTLS if it is offered, and always if there is a password). The operator named the server, so private
 * addresses are allowed. The code is loaded with the first message. There are at most {@link CONNECTIONS} connections,
 * which are used again.
 */
export function submission(options: {
  readonly url: string
  readonly from: string
  readonly ca?: readonly string[]
}): Submission {
  const url = new URL(options.url)
  const secure = url.protocol === 'smtps:'
  const user = decodeURIComponent(url.username)
  const transport = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (secure ? 465 : 587)),
    secure,
    requireTLS: !secure && user !== '',
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: SUBMIT_MS,
    greetingTimeout: SUBMIT_MS,
    socketTimeout: SUBMIT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(options.ca && options.ca.length > 0 && { tls: { ca: [...rootCertificates, ...options.ca] } }),
  }
  const domain = options.from.slice(options.from.lastIndexOf('@') + 1)
  let close = (): void => {}
  const pool = once(async () => {
    const { createTransport } = await import('nodemailer')
    // A message that a connection lost before any of it was sent goes over another one, once.
    const shared = { pool: true, maxConnections: CONNECTIONS, maxMessages: MESSAGES_EACH, maxRequeues: 1 } as const
    const made = createTransport({ ...transport, ...shared, idleTimeout: IDLE_MS })
    close = () => made.transporter.close?.({ force: true })
    return made
  })
  return {
    server: `${transport.host}:${transport.port}`,
    send: async ({ id, to, subject, text, headers }, signal) => {
      const mail = {
        from: options.from,
        ...(id !== undefined && { messageId: `<${id}@${domain}>` }),
        ...{ to: { name: '', address: to }, subject, text, headers: { ...headers } },
        signal: within(SUBMIT_MS, signal),
      }
      await (await pool()).sendMail(mail).catch(refused)
    },
    close: () => close(),
    check: async (signal) => {
      const { createTransport } = await import('nodemailer')
      const transporter = createTransport(transport)
      try {
        await raced(signal, transporter.verify())
      } catch (error) {
        refused(error)
      } finally {
        transporter.close()
      }
    },
  }
}

function refused(error: unknown): never {
  const { responseCode, code, message } = error as Error & { responseCode?: number; code?: string }
  const isAboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
  throw new MailError(message, isAboutMessage && responseCode !== undefined && responseCode >= 500)
}
