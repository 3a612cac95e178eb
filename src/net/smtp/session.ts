import type { Ip } from '../../names/ip.ts'
import { faultOf, type StageOutcome, type Wire, wireOver } from './channel.ts'
import { type Capabilities, QUIT } from './commands.ts'
import type { Connection, Dial, Target, TlsInfo, TlsOffer } from './dial.ts'
import { type Greeted, greet } from './greeting.ts'
import { type Lifetime, lifetimeOf, type TimeLimit } from './lifetime.ts'
import type { Stage } from './reply.ts'
import { type Transacted, type Transaction, transact } from './transaction.ts'
import { type Transcript, type TranscriptLine, transcript } from './transcript.ts'

export type SessionOptions = {
  readonly target: Target
  /** SNI at STARTTLS: the name of the mail host. */
  readonly serverName: string
  /** The name for EHLO, once the source address is known. Must not reject; awaited together with the banner. */
  readonly heloName: (localAddress: Ip) => Promise<string>
  /** Whether STARTTLS is used if it is offered. */
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
  readonly esmtp: boolean
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
    esmtp: greeted.esmtp === true,
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
    transcript: log.lines,
    lineCount: log.count,
    quit: () => {
      if (usable) connection.finish(`${QUIT}\r\n`)
      usable = false
    },
  }
}
