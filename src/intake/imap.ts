import { readFileSync } from 'node:fs'
import type { ImapFlow } from 'imapflow'
import { sleep } from '../base/deadline.ts'
import { messageOf } from '../base/errors.ts'
import type { ReportService } from '../reports/service.ts'
import type { Log } from '../world.ts'
import type { Deliver } from './deliver.ts'

/** Interval between two looks at the mailbox, ms: IDLE goes silent on many servers. */
const EVERY_MS = 300_000
/** Time limit for one look, ms. */
const LOOK_MS = 240_000
/** Messages that one look reads. */
const MAX_MESSAGES = 5_000

export type ImapSettings = {
  /** `imaps://user@host/INBOX`; `imap://` upgrades by STARTTLS. */
  readonly url: string
  readonly password: string
  readonly deliver: Deliver
  /** Where reading goes on. */
  readonly places: () => Promise<Pick<ReportService, 'mailboxPlace' | 'rememberPlace'>>
  readonly maxOctets: number
  readonly everyMs?: number
  readonly ca?: readonly string[]
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly onLook?: (problem: string | undefined) => void
}

/** Looks at the mailbox until the signal fires. A fault ends a look, never the service. */
export async function watchImap(settings: ImapSettings, signal: AbortSignal): Promise<void> {
  const { everyMs = EVERY_MS, log, onLook } = settings
  while (!signal.aborted) {
    try {
      await lookOnce(settings, AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]))
      onLook?.(undefined)
    } catch (error) {
      if (signal.aborted) return
      const reason = messageOf(error)
      onLook?.(reason)
      log.warn('the mailbox of reports could not be read; it is read again later', { way: 'imap', reason })
    }
    await sleep(everyMs, signal).catch(() => {})
  }
}

/**
 * Reads the messages after the last UID: a report is moved to `Processed` after it was stored, one that cannot be read
 * to `Unreadable`, other mail stays where it is with its flags (BODY.PEEK). Without MOVE (RFC 6851) nothing is moved.
 * Nothing is ever deleted. A UIDVALIDITY that changed starts anew: what is there already is a duplicate. Rejects when
 * the server does not answer, or the database: the message is read again.
 */
export async function lookOnce(settings: ImapSettings, signal: AbortSignal): Promise<void> {
  const { url, deliver, places, maxOctets, log } = settings
  const { ImapFlow: Client } = await import('imapflow')
  const target = targetOf(url)
  const client = new Client({ ...connectionOf(settings, target), logger: false, disableAutoIdle: true })
  client.on('error', () => {}) // reported by the command that fails
  const stop = (): void => client.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await client.connect()
    const mailbox = await client.mailboxOpen(target.mailbox)
    const store = await places()
    const name = placeOf(target)
    const validity = String(mailbox.uidValidity)
    const place = await store.mailboxPlace(name)
    let last = place?.validity === validity ? place.uid : 0
    const canMove = client.capabilities.has('MOVE')
    for (const { uid, size } of await messagesAfter(client, last)) {
      signal.throwIfAborted()
      const kind = size > maxOctets ? 'unreadable' : await readOne(client, uid, deliver, signal)
      if (size > maxOctets) log.warn('a message is larger than --max-report', { way: 'imap', uid, size })
      if (kind !== 'no_report' && canMove)
        await moveTo(client, uid, kind === 'report' ? 'Processed' : 'Unreadable', log)
      last = uid
      await store.rememberPlace(name, { validity, uid: last })
    }
  } finally {
    signal.removeEventListener('abort', stop)
    await client.logout().catch(() => client.close())
  }
}

/** The name under which the place in a mailbox is remembered; with the port unless it is that of IMAP. */
function placeOf({ user, host, port, secure, mailbox }: Target): string {
  const other = port === (secure ? 993 : 143) ? '' : `:${port}`
  return `${user}@${other !== '' && host.includes(':') ? `[${host}]` : host}${other}/${mailbox}`
}

async function messagesAfter(
  client: ImapFlow,
  last: number,
): Promise<readonly { readonly uid: number; readonly size: number }[]> {
  const found: { uid: number; size: number }[] = []
  // A range that ends in * always contains the last message, also one that was read.
  for await (const { uid, size = 0 } of client.fetch(`${last + 1}:*`, { uid: true, size: true }, { uid: true }))
    if (uid > last) found.push({ uid, size })
  return found.sort((a, b) => a.uid - b.uid).slice(0, MAX_MESSAGES)
}

async function readOne(client: ImapFlow, uid: number, deliver: Deliver, signal: AbortSignal) {
  const message = await client.fetchOne(String(uid), { source: true }, { uid: true })
  const source = message ? message.source : undefined
  if (!source) return 'no_report' // another client has removed it
  return deliver(source, 'imap', signal)
}

/**
 * Moves a message. A mailbox that cannot be made, or a move that is refused, leaves it where it is: it is stored, and
 * its UID is remembered. Rejects if the connection was lost: the message is read again, and moved then.
 */
async function moveTo(client: ImapFlow, uid: number, mailbox: string, log: Pick<Log, 'warn'>): Promise<void> {
  try {
    await client.mailboxCreate(mailbox)
    const moved = await client.messageMove(String(uid), mailbox, { uid: true })
    if (!moved && !client.usable) throw new Error('the connection was lost')
    if (!moved) log.warn('a message could not be moved', { way: 'imap', uid, mailbox })
  } catch (error) {
    if (!client.usable) throw error
    log.warn('a message could not be moved', { way: 'imap', uid, mailbox, reason: messageOf(error) })
  }
}

type Target = {
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly user: string
  readonly mailbox: string
}

function targetOf(text: string): Target {
  const url = new URL(text)
  const secure = url.protocol === 'imaps:'
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 993 : 143) : Number(url.port),
    secure,
    user: decodeURIComponent(url.username),
    mailbox: decodeURIComponent(url.pathname.slice(1)) || 'INBOX',
  }
}

const connectionOf = ({ password, ca }: ImapSettings, { host, port, secure, user }: Target) => ({
  ...{ host, port, secure, auth: { user, pass: password } },
  ...(!secure && { doSTARTTLS: true }), // the password is never sent in the clear
  tls: { minVersion: 'TLSv1.2' as const, ...(ca && ca.length > 0 && { ca: [...ca] }) },
  ...{ connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 60_000 },
})

/** The password in a file, without the line end. */
export const passwordIn = (path: string): string => readFileSync(path, 'utf8').replace(/\r?\n$/, '')
