import type { Email } from '../../names/email.ts'
import { type Command, mailFrom, RSET, rcptTo } from './commands.ts'
import { faultOf, type Heard, hear, type Line, say } from './line.ts'
import { isSuccess, type Stage } from './reply.ts'

export type Transaction = {
  /** `undefined`: the null reverse-path. */
  readonly sender: Email | undefined
  /** Asked in this order; at least one, at most 100. */
  readonly recipients: readonly Email[]
  /** A MAIL of this session may still stand: continue it when it has the same sender, and do not begin a new one. */
  readonly continued?: boolean
}

/** `mail` is absent when the transaction was a continued one. A recipient that got no reply of its own is undefined. */
export type Transacted = { readonly mail?: Heard; readonly rcpt: readonly (Heard | undefined)[] }

export type Manner = {
  readonly pipelining: boolean
  readonly smtputf8: boolean
  /** Whether an earlier transaction must be ended first (RFC 5321 §4.1.1.5). */
  readonly reset: boolean
}

/** Asks about recipients in one transaction. Where the server pipelines, RSET, MAIL and RCPT go out as one batch (RFC 2920 §3.1) and every reply is read. */
export async function transact(
  line: Line,
  asked: Transaction,
  manner: Manner,
  signal: AbortSignal,
): Promise<Transacted> {
  const steps = stepsOf(asked, manner)
  const heard = manner.pipelining ? await batch(line, steps, signal) : await oneByOne(line, steps, signal)
  const first = asked.continued ? 0 : steps.length - asked.recipients.length
  const rcpt = heard.slice(first, first + asked.recipients.length)
  const beforeRcpt = heard.slice(0, first)
  // A session that ended at RSET ended where MAIL was due: nothing was said about the mailbox.
  const mail = beforeRcpt.length === first ? beforeRcpt.at(-1) : beforeRcpt.find((one) => isEnd(one))
  const refused = mail !== undefined && !(mail.reply && isSuccess('mail', mail.reply))
  // RFC 2920 §3.1: what stands behind a refused MAIL (503) is read and means nothing.
  const own = asked.recipients.map((_, i) => (refused ? undefined : rcpt[i]))
  return mail ? { mail, rcpt: own } : { rcpt: own }
}

type Step = { readonly stage: Stage; readonly command: Command }

function stepsOf({ sender, recipients, continued }: Transaction, manner: Manner): readonly Step[] {
  const needed = sender?.smtputf8 === true || recipients.some((recipient) => recipient.smtputf8)
  const begin: Step[] = [{ stage: 'mail', command: mailFrom(sender, { smtputf8: needed && manner.smtputf8 }) }]
  if (manner.reset) begin.unshift({ stage: 'rset', command: RSET })
  const rcpt = recipients.map((recipient): Step => ({ stage: 'rcpt', command: rcptTo(recipient) }))
  return continued ? rcpt : [...begin, ...rcpt]
}

/** A reply behind which nothing can come: a fault, or 421 (RFC 5321 §3.8). */
const isEnd = (heard: Heard): boolean => !heard.reply || heard.reply.code === 421

async function batch(line: Line, steps: readonly Step[], signal: AbortSignal): Promise<readonly Heard[]> {
  const release = line.lifetime.bound(line.stageMs(steps[0]!.stage), signal)
  try {
    await line.wire.send(steps.map(({ command }) => command))
  } catch (error) {
    return [faultOf(steps[0]!.stage, error)]
  } finally {
    release()
  }
  const heard: Heard[] = []
  for (const { stage } of steps) {
    heard.push(await hear(line, stage, signal))
    if (isEnd(heard.at(-1)!)) break
  }
  return heard
}

async function oneByOne(line: Line, steps: readonly Step[], signal: AbortSignal): Promise<readonly Heard[]> {
  const heard: Heard[] = []
  for (const { stage, command } of steps) {
    const one = await say(line, stage, command, signal)
    heard.push(one)
    if (isEnd(one) || (stage === 'mail' && !isSuccess('mail', one.reply!))) break
  }
  return heard
}
