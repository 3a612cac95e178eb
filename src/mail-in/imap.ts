import type { ImapFlow } from 'imapflow'
import { raced, sleep, within } from '../base/deadline.ts'
import { AppError, codeOf, type ErrorCode, messageOf } from '../base/errors.ts'
import type { ReportService } from '../reports/service.ts'
import type { Log } from '../world.ts'
import { type Deliver, isUnanswered } from './deliver.ts'

/** Interval between two looks at the mailbox, ms: IDLE goes silent on many servers. */
const EVERY_MS = 300_000
const LOOK_MS = 240_000
/** Time limit for one message, ms: it ends earlier by itself. */
const MESSAGE_MS = 120_000
/** Messages that one look reads. */
const MAX_MESSAGES = 5_000
/** Messages that are deferred at the same time: one more is not waited for. */
const MAX_DEFERRED = 1_000
/** Deferred messages that one look reads: each may wait for the DNS. */
const DEFERRED_AT_ONCE = 20
/** When a deferred message is read again, ms; after the last, a day later, it is given up. */
const DELAYS_MS = [5, 10, 20, 40, 80, 160, 240, 240, 240, 240, 240].map((minutes) => minutes * 60_000)
const LONGEST_MS = Math.max(...DELAYS_MS)
/** UIDs that are listed at once: as many as this at first, more where few of them are in use. */
const WINDOW = 1_000
const MAX_UID = 0xffffffff

export type ImapSettings = {
  /** `imaps://user@host/INBOX`; `imap://` upgrades by STARTTLS. */
  readonly url: string
  readonly password: string
  readonly deliver: Deliver
  /** Where reading goes on. */
  readonly places: () => Promise<Pick<ReportService, 'mailboxPlace' | 'rememberPlace'>>
  readonly maxOctets: number
  readonly everyMs?: number
  /** Default {@link MESSAGE_MS}. */
  readonly messageMs?: number
  readonly ca?: readonly string[]
  readonly now: () => number
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly onLook?: (problem: string | undefined) => void
}

/** Looks at the mailbox until the signal fires. A fault ends a look, never the service. */
export async function watchImap(settings: ImapSettings, signal: AbortSignal): Promise<void> {
  const { everyMs = EVERY_MS, log, onLook } = settings
  while (!signal.aborted) {
    try {
      const hasMore = await lookOnce(settings, AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]))
      onLook?.(undefined)
      if (hasMore) continue
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
 * Nothing is ever deleted. A UIDVALIDITY that changed starts anew: what is there already is a duplicate. A message that
 * fails alone, such as one whose sender cannot be judged while the DNS does not answer, is deferred by its UID, and the
 * next one is taken. Rejects when the server does not answer, or the database: the message is read again. Returns
 * whether there are more messages than one look reads.
 */
export async function lookOnce(settings: ImapSettings, signal: AbortSignal): Promise<boolean> {
  const { ImapFlow: Client } = await import('imapflow')
  const target = targetOf(settings.url)
  const client = new Client({ ...connectionOf(settings, target), logger: false, disableAutoIdle: true })
  let code: unknown
  client.on('error', (error) => (code ??= codeOf(error))) // reported by the command that fails
  const stop = (): void => client.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await client.connect()
    const { uidValidity, uidNext } = await client.mailboxOpen(target.mailbox)
    const isTooLarge = (): boolean => code === 'LiteralTooLarge' || code === 'ResponseTooLarge'
    const mailbox = { client, name: placeOf(target), validity: String(uidValidity), isTooLarge }
    const look = await openLook(settings, mailbox, signal)
    for (const uid of look.due()) await look.read(uid)
    return await look.readNew(uidNext > 0 ? uidNext : MAX_UID + 1)
  } finally {
    signal.removeEventListener('abort', stop)
    await client.logout().catch(() => client.close())
  }
}

type Mailbox = {
  readonly client: ImapFlow
  readonly name: string
  readonly validity: string
  /** The connection ended because more octets came than were asked for. */
  readonly isTooLarge: () => boolean
}

async function openLook(
  { deliver, places, maxOctets, messageMs = MESSAGE_MS, now, log }: ImapSettings,
  { client, name, validity, isTooLarge }: Mailbox,
  signal: AbortSignal,
) {
  const store = await places()
  const known = await store.mailboxPlace(name)
  const place = known?.validity === validity ? known : { uid: 0, deferred: [] }
  const deferred = new Map(place.deferred.map((one) => [one.uid, one]))
  const canMove = client.capabilities.has('MOVE')
  const made = new Set<string>()
  let last = place.uid
  const remember = (): Promise<void> =>
    store.rememberPlace(name, { validity, uid: last, deferred: [...deferred.values()] })

  /** What became of a message; undefined: it is read again later. */
  async function deliverOne(uid: number, message: Buffer): Promise<Awaited<ReturnType<Deliver>> | undefined> {
    const tries = deferred.get(uid)?.tries ?? 0
    try {
      const isLastTry = tries === 0 && deferred.size >= MAX_DEFERRED
      const limit = within(messageMs, signal)
      return await raced(limit, deliver(message, 'imap', limit, { isLastTry }))
    } catch (error) {
      if (signal.aborted || concernsAll(error)) throw error
      const delayMs = DELAYS_MS[tries]
      log.warn(delayMs === undefined ? 'a message cannot be read' : 'a message is read again later', {
        ...{ way: 'imap', uid, tries: tries + 1, reason: messageOf(error) },
      })
      if (delayMs === undefined) return 'unreadable'
      deferred.set(uid, { uid, tries: tries + 1, nextMs: now() + delayMs })
      return undefined
    }
  }
  /** The message; undefined: another client has removed it. Rejects if it is larger than its size. */
  async function fetched(uid: number): Promise<Buffer | undefined> {
    try {
      const found = await client.fetchOne(String(uid), { source: true }, { uid: true })
      return found ? found.source : undefined
    } catch (error) {
      if (isTooLarge()) {
        log.warn('a message is larger than --max-report and than the server says', { way: 'imap', uid })
        last = Math.max(last, uid)
        await remember()
      }
      throw error
    }
  }
  async function read(uid: number, size = 0): Promise<void> {
    signal.throwIfAborted()
    let kind: Awaited<ReturnType<typeof deliverOne>> = 'unreadable'
    if (size > maxOctets) log.warn('a message is larger than --max-report', { way: 'imap', uid, size })
    else {
      const message = await fetched(uid)
      kind = message === undefined ? 'no_report' : await deliverOne(uid, message)
    }
    if (kind !== undefined) deferred.delete(uid)
    if (kind !== undefined && kind !== 'no_report' && canMove)
      await moveTo(client, uid, kind === 'report' ? 'Processed' : 'Unreadable', made, log)
    last = Math.max(last, uid)
    await remember()
  }
  async function readNew(uidNext: number): Promise<boolean> {
    let left = MAX_MESSAGES
    let window = WINDOW
    for (let from = last + 1; from < uidNext; ) {
      const to = Math.min(from + window, uidNext) - 1
      const found = await listed(client, from, to)
      for (const { uid, size } of found) {
        if (left-- === 0) return true
        await read(uid, size)
      }
      window = found.length > WINDOW / 2 ? WINDOW : window * 2
      from = found.length < WINDOW ? to + 1 : last + 1
    }
    return false
  }
  return {
    due: () =>
      [...deferred.values()]
        .filter(({ nextMs }) => nextMs <= now() || nextMs > now() + LONGEST_MS) // the clock stepped back
        .sort((a, b) => a.nextMs - b.nextMs)
        .slice(0, DEFERRED_AT_ONCE)
        .map(({ uid }) => uid),
    read,
    readNew,
  }
}

/** Whether the next message would fail, too: the database is away, the storage or the lane is full. */
const concernsAll = (error: unknown): boolean =>
  error instanceof AppError && OF_ALL.includes(error.code) && !isUnanswered(error)
const OF_ALL: readonly ErrorCode[] = ['upstream_unavailable', 'storage_full', 'overloaded']

/** The messages in a range of UIDs in their order: the first {@link WINDOW}, whatever the server says. */
async function listed(client: ImapFlow, from: number, to: number): Promise<readonly { uid: number; size: number }[]> {
  let found = new Map<number, { uid: number; size: number }>()
  const first = () => [...found.values()].sort((a, b) => a.uid - b.uid).slice(0, WINDOW)
  for await (const { uid, size = 0 } of client.fetch(`${from}:${to}`, { uid: true, size: true }, { uid: true })) {
    if (uid >= from && uid <= to) found.set(uid, { uid, size })
    if (found.size >= 2 * WINDOW) found = new Map(first().map((one) => [one.uid, one]))
  }
  return first()
}

/** The name under which the place in a mailbox is remembered; with the port unless it is that of IMAP. */
function placeOf({ user, host, port, secure, mailbox }: Target): string {
  const other = port === (secure ? 993 : 143) ? '' : `:${port}`
  return `${user}@${other !== '' && host.includes(':') ? `[${host}]` : host}${other}/${mailbox}`
}

/**
 * Moves a message. A mailbox that cannot be made, or a move that is refused, leaves it where it is: it is stored, and
 * its UID is remembered. Rejects if the connection was lost: the message is read again, and moved then.
 */
async function moveTo(
  client: ImapFlow,
  uid: number,
  mailbox: string,
  made: Set<string>,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  try {
    if (!made.has(mailbox)) await client.mailboxCreate(mailbox)
    made.add(mailbox)
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

/** Octets of a response beside the message in it. */
const MAX_LINE = 1_048_576

const connectionOf = ({ password, ca, maxOctets }: ImapSettings, { host, port, secure, user }: Target) => ({
  ...{ host, port, secure, auth: { user, pass: password } },
  ...(!secure && { doSTARTTLS: true }), // the password is never sent in the clear
  tls: { minVersion: 'TLSv1.2' as const, ...(ca && ca.length > 0 && { ca: [...ca] }) },
  ...{ connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 60_000 },
  ...{ maxLiteralSize: maxOctets, maxLineSize: MAX_LINE, maxResponseSize: maxOctets + MAX_LINE },
})
