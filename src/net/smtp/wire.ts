import type { Problem } from '../../base/problem.ts'
import type { Command } from './commands.ts'
import type { Connection } from './dial.ts'
import { smtpProblem } from './problems.ts'
import { type Reply, type ReplyReader, replyReader } from './reply.ts'
import type { Transcript } from './transcript.ts'

/** Input that is not SMTP. Thrown inside a session only; callers get it as data. */
export class ProtocolError extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.text)
    this.problem = problem
  }
}
/** The server closed the connection where a reply was expected. Thrown inside a session only. */
export class ClosedError extends Error {
  readonly problem = smtpProblem('closed')
}

/** Sends commands and reads replies over one connection, and records them in its transcript. */
export type Wire = {
  /** Writes the commands in one segment. */
  readonly send: (commands: readonly Command[]) => Promise<void>
  /** The next reply, if it was received already. */
  readonly received: () => Reply | undefined
  /** The next reply. Rejects with DialError, {@link ProtocolError} or {@link ClosedError}. */
  readonly next: () => Promise<Reply>
  /** Whether replies, or parts of one, were received that no command requested. */
  readonly hasUnread: () => boolean
}

/** The wire over an open connection; every line is added to `transcript`. */
export function wireOver(connection: Connection, transcript: Transcript): Wire {
  const reader: ReplyReader = replyReader()
  const replies: Reply[] = []
  let problem: Problem | undefined

  function take(bytes: Uint8Array): void {
    for (const event of reader.feed(bytes)) {
      if (event.reply === undefined) problem = event.problem
      else replies.push(event.reply)
    }
  }
  function received(): Reply | undefined {
    const reply = replies.shift()
    reply?.lines.forEach((text, i) => {
      transcript.add('server', `${reply.code}${i < reply.lines.length - 1 ? '-' : ' '}${text}`)
    })
    return reply
  }
  return {
    received,
    send: async (commands) => {
      // A reply that arrives before its command would be read as the reply to the next one. Only 421 may arrive at any
      // time (RFC 5321 §3.8).
      if (replies.length > 0 && replies[0]!.code !== 421) throw new ProtocolError(smtpProblem('unexpected'))
      for (const command of commands) transcript.add('client', command)
      await connection.write(commands.map((command) => `${command}\r\n`).join(''))
    },
    next: async () => {
      while (replies.length === 0) {
        if (problem !== undefined) throw new ProtocolError(problem)
        const bytes = await connection.read()
        if (bytes === undefined) throw new ClosedError()
        take(bytes)
      }
      return received()!
    },
    hasUnread: () => replies.length > 0 || problem !== undefined || reader.pending() > 0,
  }
}
