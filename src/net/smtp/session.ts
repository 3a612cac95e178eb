import type { Email } from '../../names/email.ts'
import type { Ip } from '../../names/ip.ts'
import { dialProblem } from '../problems.ts'
import { type Channel, exchange, faultOf, type StageOutcome, type Wire, wireOver } from './channel.ts'
import {
  type Capabilities,
  type Command,
  ehlo,
  helo,
  mailFrom,
  parseCapabilities,
  QUIT,
  RSET,
  rcptTo,
  STARTTLS,
} from './commands.ts'
import type { Connection, Dial, Target, TlsInfo, TlsOffer } from './dial.ts'
import { type Lifetime, lifetimeOf, type TimeLimit } from './lifetime.ts'
import { isSuccess, type Stage } from './reply.ts'
import { type Transcript, type TranscriptLine, transcript } from './transcript.ts'

export type SessionOptions = {
  readonly target: Target
  /** SNI at STARTTLS: the name of the mail host. */
  readonly serverName: string
  /** The name for EHLO, once the source address is known. Must not reject; awaited together with the banner. */
  readonly heloName: (localAddress: Ip) => Promise<string>
  readonly startTls: boolean
  /** The offered TLS versions; absent: TLS 1.0 and later. */
  readonly tlsOffer?: TlsOffer
  /** The time limit for one reply of a stage, ms. */
  readonly stageMs: (stage: Stage) => TimeLimit
}

/** A session after EHLO. It can be used for several transactions, one at a time. */
export type Session = {
  readonly localAddress: Ip
  readonly heloName: string
  readonly capabilities: Capabilities
  readonly tls?: TlsInfo
  /** The connection is open, and no 421 was received (RFC 5321 §3.8). */
  readonly usable: () => boolean
  /**
   * Asks about recipients (RFC 5321 §3.3); never sends DATA. Does not reject because of the server's behaviour.
   * `stageMs`: in place of the session's own limits.
   */
  readonly transact: (
    transaction: Transaction,
    signal: AbortSignal,
    stageMs?: SessionOptions['stageMs'],
  ) => Promise<Transacted>
  /** The lines from the given number on; without it all. */
  readonly transcript: (from?: number) => readonly TranscriptLine[]
  /** Number of lines of the transcript so far. */
  readonly lineCount: () => number
  /** Sends QUIT, waits for nothing, and closes. Faults are ignored. */
  readonly quit: () => void
}

export type Opened =
  | { readonly ok: true; readonly session: Session }
  | {
      readonly ok: false
      readonly outcome: StageOutcome
      readonly localAddress?: Ip
      readonly tls?: TlsInfo
      readonly transcript: readonly TranscriptLine[]
    }

/**
 * Opens a session: connect, banner, EHLO with HELO as fallback, STARTTLS if offered and EHLO again
 * (RFC 5321 §3.1, §3.2, RFC 3207). Faults of the server or the network are data; `signal` ends the session. Each stage
 * has its own time limit.
 */
export async function openSession(
  world: { readonly dial: Dial; readonly monotonic: () => number },
  options: SessionOptions,
  signal: AbortSignal,
): Promise<Opened> {
  const lifetime = lifetimeOf()
  const log = transcript(world.monotonic)
  const { stageMs } = options
  const bounds = lifetime.bound(stageMs('connect'), signal)
  try {
    const connection = await world.dial(options.target, lifetime.signal)
    const { address, port, proxy } = options.target
    const way = proxy === undefined ? '' : ` by ${proxy}`
    log.add('note', `connected to ${address} port ${port} from ${connection.localAddress}${way}`)
    const wire = wireOver(connection, log)
    const greeted = await greet({ channel: { wire, bounds, stageMs }, connection, log, options })
    const { outcome, tls } = greeted
    if (!outcome) return { ok: true, session: sessionOver({ lifetime, wire, stageMs, connection, log, greeted }) }
    connection.close()
    const { localAddress } = connection
    return { ok: false, outcome, localAddress, ...(tls && { tls }), transcript: log.lines() }
  } catch (error) {
    return { ok: false, outcome: faultOf('connect', error), transcript: log.lines() } // later faults are outcomes
  } finally {
    bounds.release()
  }
}

function sessionOver(parts: {
  readonly lifetime: Lifetime
  readonly wire: Wire
  readonly stageMs: SessionOptions['stageMs']
  readonly connection: Connection
  readonly log: Transcript
  readonly greeted: Greeted
}): Session {
  const { lifetime, wire, connection, log, greeted } = parts
  const pipelining = greeted.capabilities?.has('PIPELINING') === true
  const smtputf8 = greeted.capabilities?.has('SMTPUTF8') === true
  let usable = true
  const note = (outcome: StageOutcome | undefined): void => {
    if (outcome && (!outcome.reply || outcome.reply.code === 421)) usable = false
  }
  let fresh = true
  return {
    localAddress: connection.localAddress,
    heloName: greeted.heloName ?? '',
    capabilities: greeted.capabilities ?? new Map(),
    ...(greeted.tls && { tls: greeted.tls }),
    usable: () => usable,
    transact: async (transaction, signal, stageMs = parts.stageMs) => {
      const bounds = lifetime.bound(stageMs(fresh ? 'mail' : 'rset'), signal)
      try {
        const done = await transact({ wire, bounds, stageMs }, transaction, { pipelining, smtputf8, reset: !fresh })
        fresh = false
        note(done.mail)
        for (const outcome of done.rcpt) note(outcome)
        if (!usable) connection.close()
        return done
      } finally {
        bounds.release()
      }
    },
    transcript: (from) => log.lines(from),
    lineCount: () => log.count(),
    quit: () => {
      if (usable) connection.finish(`${QUIT}\r\n`)
      usable = false
    },
  }
}

type Greeting = {
  readonly channel: Channel
  readonly connection: Connection
  readonly log: Transcript
  readonly options: {
    readonly serverName: string
    readonly heloName: (localAddress: Ip) => Promise<string>
    readonly startTls: boolean
    readonly tlsOffer?: TlsOffer
  }
}
type Greeted = {
  /** Present if the greeting did not succeed: the fault or refusal. */
  readonly outcome?: StageOutcome
  readonly heloName?: string
  readonly capabilities?: Capabilities
  readonly tls?: TlsInfo
}

/** Banner, EHLO with HELO as fallback, STARTTLS if offered and EHLO again (RFC 5321 §3.1, §3.2, RFC 3207). */
async function greet(greeting: Greeting): Promise<Greeted> {
  const { channel, connection, options } = greeting
  const named = options.heloName(connection.localAddress)
  const banner = await exchange(channel, 'banner')
  channel.bounds.next(channel.stageMs('ehlo')) // also for the wait for our own name
  const heloName = await named
  if (!banner.reply || !isSuccess('banner', banner.reply)) return { outcome: banner, heloName }
  const first = await hello(channel, heloName)
  if (first.outcome || !options.startTls || !first.capabilities?.has('STARTTLS')) return { ...first, heloName }
  const secured = await secure(greeting)
  if (secured.outcome) return { outcome: secured.outcome, heloName }
  if (!secured.tls) return { ...first, heloName } // opportunistic: STARTTLS was offered and then refused
  // RFC 3207 §4.2: discard what was learned before TLS.
  return { ...(await hello(channel, heloName)), heloName, tls: secured.tls }
}

/** RFC 5321 §3.2: EHLO, and HELO if EHLO is not supported. */
async function hello(channel: Channel, heloName: string): Promise<Greeted> {
  const extended = await exchange(channel, 'ehlo', ehlo(heloName))
  if (!extended.reply) return { outcome: extended }
  if (extended.reply.code === 250) return { capabilities: parseCapabilities(extended.reply.lines) }
  if (!/^(?:50[0-5]|55[05])$/.test(String(extended.reply.code))) return { outcome: extended }
  const plain = await exchange(channel, 'ehlo', helo(heloName))
  if (plain.reply?.code === 250) return { capabilities: new Map() }
  // Some servers close after they refuse EHLO: the refusal is more specific than the closed connection.
  return { outcome: plain.reply ? plain : extended }
}

/**
 * RFC 3207 §4: the command is sent alone. Bytes before the handshake are not from the server (response injection): the
 * session ends.
 */
async function secure({
  channel,
  connection,
  log,
  options,
}: Greeting): Promise<{ tls?: TlsInfo; outcome?: StageOutcome }> {
  const ready = await exchange(channel, 'starttls', STARTTLS)
  if (!ready.reply) return { outcome: ready }
  if (ready.reply.code === 421) return { outcome: ready }
  if (ready.reply.code >= 400) return {}
  if (!isSuccess('starttls', ready.reply)) return { outcome: ready }
  if (channel.wire.hasUnread())
    return {
      outcome: {
        stage: 'starttls',
        fault: 'protocol_error',
        problem: dialProblem('early_data'),
      },
    }
  channel.bounds.next(channel.stageMs('starttls'))
  try {
    const tls = await connection.startTls(options.serverName, options.tlsOffer)
    log.add(
      'note',
      `TLS: ${tls.protocol} ${tls.cipher}${tls.trusted ? '' : `, not trusted (${tls.trustError ?? 'no reason'})`}`,
    )
    return { tls }
  } catch (error) {
    const outcome = faultOf('starttls', error)
    return { outcome: outcome.fault === 'connection_lost' ? { ...outcome, fault: 'tls_failure' } : outcome }
  }
}

export type Transaction = {
  /** `undefined`: the null reverse-path. */
  readonly sender: Email | undefined
  /** Sent in this order; at least one, at most 100. */
  readonly recipients: readonly Email[]
  /** A MAIL of this session may still be open: continue it if it has the same sender, and start no new one. */
  readonly continued?: boolean
}

/** `mail` is absent if an open transaction was continued. A recipient without a reply of its own is undefined. */
type Transacted = { readonly mail?: StageOutcome; readonly rcpt: readonly (StageOutcome | undefined)[] }

type TransactionOptions = {
  readonly pipelining: boolean
  readonly smtputf8: boolean
  /** Whether an earlier transaction must be ended first (RFC 5321 §4.1.1.5). */
  readonly reset: boolean
}

/**
 * Asks about recipients in one transaction. If the server supports pipelining, RSET, MAIL and RCPT are sent as one
 * batch (RFC 2920 §3.1), and every reply is read.
 */
async function transact(channel: Channel, asked: Transaction, options: TransactionOptions): Promise<Transacted> {
  const steps = stepsOf(asked, options)
  const first = asked.continued ? 0 : steps.stages.length - asked.recipients.length
  const outcomes = await outcomesOf(channel, steps, options.pipelining)
  // A session that ended at RSET counts as ended at MAIL: there was no reply about the mailbox.
  const mail = first === 0 ? undefined : outcomes.length < first ? outcomes.find(isEnd) : outcomes[first - 1]
  if (mail === undefined) return { rcpt: outcomesFrom(outcomes, first, asked) }
  // RFC 2920 §3.1: replies after a refused MAIL (503) are read and ignored.
  const refused = !mail.reply || !isSuccess('mail', mail.reply)
  return { mail, rcpt: refused ? asked.recipients.map(() => undefined) : outcomesFrom(outcomes, first, asked) }
}

const outcomesFrom = (
  outcomes: readonly StageOutcome[],
  first: number,
  { recipients }: Transaction,
): readonly (StageOutcome | undefined)[] => recipients.map((_, i) => outcomes[first + i])

type Steps = { readonly stages: readonly Stage[]; readonly commands: readonly Command[] }

function stepsOf({ sender, recipients, continued }: Transaction, options: TransactionOptions): Steps {
  const stages: Stage[] = []
  const commands: Command[] = []
  const add = (stage: Stage, command: Command): void => {
    stages.push(stage)
    commands.push(command)
  }
  if (!continued) {
    const needed = sender?.smtputf8 === true || recipients.some((recipient) => recipient.smtputf8)
    if (options.reset) add('rset', RSET)
    add('mail', mailFrom(sender, { smtputf8: needed && options.smtputf8 }))
  }
  for (const recipient of recipients) add('rcpt', rcptTo(recipient))
  return { stages, commands }
}

/** An outcome after which nothing can follow: a fault, or 421 (RFC 5321 §3.8). */
const isEnd = (outcome: StageOutcome): boolean => !outcome.reply || outcome.reply.code === 421

/** The outcomes of the steps up to one after which nothing can follow; without pipelining also up to a refused MAIL. */
async function outcomesOf(channel: Channel, { stages, commands }: Steps, pipelining: boolean): Promise<StageOutcome[]> {
  const outcomes: StageOutcome[] = []
  if (pipelining) {
    channel.bounds.next(channel.stageMs(stages[0]!))
    try {
      await channel.wire.send(commands)
    } catch (error) {
      return [faultOf(stages[0]!, error)]
    }
  }
  for (let i = 0; i < stages.length; i++) {
    const stage = stages[i]!
    const reply = pipelining ? channel.wire.received() : undefined
    const one = reply ? { stage, reply } : await exchange(channel, stage, pipelining ? undefined : commands[i])
    outcomes.push(one)
    if (isEnd(one) || (!pipelining && stage === 'mail' && !isSuccess('mail', one.reply!))) break
  }
  return outcomes
}
