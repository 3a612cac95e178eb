import type { Problem } from '../../base/problem.ts'
import { smtpProblem } from '../problems.ts'
import type { Command } from './commands.ts'
import { type Connection, DialError, type DialReason } from './dial.ts'
import type { Bounds, TimeLimit } from './lifetime.ts'
import { type Reply, replyReader, type Stage } from './reply.ts'
import type { Transcript } from './transcript.ts'

/** Why a stage ended without a reply. */
type FaultReason = DialReason | 'protocol_error'

/** The outcome of one stage of a session: the server's reply, or a fault. */
export type StageOutcome =
  | { readonly stage: Stage; readonly reply: Reply; readonly fault?: undefined }
  | { readonly stage: Stage; readonly fault: FaultReason; readonly problem: Problem; readonly reply?: undefined }

/** An open connection during one use of it. */
export type Channel = {
  readonly wire: Wire
  readonly bounds: Bounds
  readonly stageMs: (stage: Stage) => TimeLimit
}

/** Commands to and replies from one connection, recorded in its transcript. */
export type Wire = {
  readonly send: (commands: readonly Command[]) => Promise<void>
  /** The next reply, if it was received already. */
  readonly received: () => Reply | undefined
  /** Waits for bytes of the next reply. Rejects if what was received before is not SMTP. */
  readonly read: Connection['read']
  /** Accepts these bytes; throws if the server has closed instead. */
  readonly accept: (bytes: Uint8Array | undefined) => void
  /** Whether replies, or parts of one, were received that no command requested. */
  readonly hasUnread: () => boolean
}

/** Input that is not SMTP. Thrown inside a session only; callers get it as data. */
class ProtocolError extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.text)
    this.problem = problem
  }
}
/** The server closed the connection where a reply was expected. Thrown inside a session only. */
class ClosedError extends Error {
  readonly problem = smtpProblem('closed')
}

/** Sends a command, if there is one, and reads the next reply. */
export async function exchange(channel: Channel, stage: Stage, command?: Command): Promise<StageOutcome> {
  const { wire, bounds } = channel
  bounds.next(channel.stageMs(stage))
  try {
    if (command !== undefined) await wire.send([command])
    for (;;) {
      const reply = wire.received()
      if (reply) return { stage, reply }
      wire.accept(await wire.read())
    }
  } catch (error) {
    return faultOf(stage, error)
  }
}

/** A known fault as data; any other error is a bug and is thrown on. */
export function faultOf(stage: Stage, error: unknown): StageOutcome & { readonly reply?: undefined } {
  if (error instanceof DialError) return { stage, fault: error.reason, problem: error.problem }
  if (error instanceof ProtocolError) return { stage, fault: 'protocol_error', problem: error.problem }
  if (error instanceof ClosedError) return { stage, fault: 'connection_lost', problem: error.problem }
  throw error
}

/** The wire over an open connection; every line is added to `transcript`. */
export const wireOver = (connection: Connection, transcript: Transcript): Wire =>
  new ConnectionWire(connection, transcript)

/** A class, as are the bounds of a connection (lifetime.ts). */
class ConnectionWire implements Wire {
  readonly #connection: Connection
  readonly #transcript: Transcript
  readonly #reader = replyReader()
  readonly #replies: Reply[] = []
  #problem: Problem | undefined

  constructor(connection: Connection, transcript: Transcript) {
    this.#connection = connection
    this.#transcript = transcript
  }

  received(): Reply | undefined {
    const reply = this.#replies.shift()
    if (reply) note(reply, this.#transcript)
    return reply
  }

  send(commands: readonly Command[]): Promise<void> {
    // A reply that arrives before its command would be read as the reply to the next one. Only 421 may arrive at any
    // time (RFC 5321 §3.8).
    const [early] = this.#replies
    if (early && early.code !== 421) return Promise.reject(new ProtocolError(smtpProblem('unexpected')))
    let text = ''
    for (const command of commands) {
      this.#transcript.add('client', command)
      text += `${command}\r\n`
    }
    return this.#connection.write(text)
  }

  read(): Promise<Uint8Array | undefined> {
    const problem = this.#problem
    return problem === undefined ? this.#connection.read() : Promise.reject(new ProtocolError(problem))
  }

  accept(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) throw new ClosedError()
    for (const event of this.#reader.feed(bytes)) {
      if (event.reply === undefined) this.#problem = event.problem
      else this.#replies.push(event.reply)
    }
  }

  hasUnread(): boolean {
    return this.#replies.length > 0 || this.#problem !== undefined || this.#reader.pending() > 0
  }
}

function note({ code, lines }: Reply, transcript: Transcript): void {
  const last = lines.length - 1
  for (let i = 0; i <= last; i++) transcript.add('server', `${code}${i < last ? '-' : ' '}${lines[i]}`)
}
