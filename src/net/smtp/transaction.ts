import type { Email } from '../../names/email.ts'
import { type Channel, faultOf, readReply, type StageOutcome, sendCommand } from './channel.ts'
import { type Command, mailFrom, RSET, rcptTo } from './commands.ts'
import { isSuccess, type Stage } from './reply.ts'

export type Transaction = {
  /** `undefined`: the null reverse-path. */
  readonly sender: Email | undefined
  /** Sent in this order; at least one, at most 100. */
  readonly recipients: readonly Email[]
  /** A MAIL of this session may still be open: continue it if it has the same sender, and start no new one. */
  readonly continued?: boolean
}

/** `mail` is absent if an open transaction was continued. A recipient without a reply of its own is undefined. */
export type Transacted = { readonly mail?: StageOutcome; readonly rcpt: readonly (StageOutcome | undefined)[] }

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
export async function transact(channel: Channel, asked: Transaction, options: TransactionOptions): Promise<Transacted> {
  const steps = stepsOf(asked, options)
  const outcomes = options.pipelining ? await batch(channel, steps) : await oneByOne(channel, steps)
  const first = asked.continued ? 0 : steps.length - asked.recipients.length
  const rcpt = outcomes.slice(first, first + asked.recipients.length)
  const beforeRcpt = outcomes.slice(0, first)
  // A session that ended at RSET counts as ended at MAIL: there was no reply about the mailbox.
  const mail = beforeRcpt.length === first ? beforeRcpt.at(-1) : beforeRcpt.find((one) => isEnd(one))
  const refused = mail !== undefined && !(mail.reply && isSuccess('mail', mail.reply))
  // RFC 2920 §3.1: replies after a refused MAIL (503) are read and ignored.
  const own = asked.recipients.map((_, i) => (refused ? undefined : rcpt[i]))
  return mail ? { mail, rcpt: own } : { rcpt: own }
}

type Step = { readonly stage: Stage; readonly command: Command }

function stepsOf({ sender, recipients, continued }: Transaction, options: TransactionOptions): readonly Step[] {
  const needed = sender?.smtputf8 === true || recipients.some((recipient) => recipient.smtputf8)
  const begin: Step[] = [{ stage: 'mail', command: mailFrom(sender, { smtputf8: needed && options.smtputf8 }) }]
  if (options.reset) begin.unshift({ stage: 'rset', command: RSET })
  const rcpt = recipients.map((recipient): Step => ({ stage: 'rcpt', command: rcptTo(recipient) }))
  return continued ? rcpt : [...begin, ...rcpt]
}

/** An outcome after which nothing can follow: a fault, or 421 (RFC 5321 §3.8). */
const isEnd = (outcome: StageOutcome): boolean => !outcome.reply || outcome.reply.code === 421

async function batch(channel: Channel, steps: readonly Step[]): Promise<readonly StageOutcome[]> {
  channel.bounds.next(channel.stageMs(steps[0]!.stage))
  try {
    await channel.wire.send(steps.map(({ command }) => command))
  } catch (error) {
    return [faultOf(steps[0]!.stage, error)]
  }
  const outcomes: StageOutcome[] = []
  for (const { stage } of steps) {
    const reply = channel.wire.received()
    outcomes.push(reply ? { stage, reply } : await readReply(channel, stage))
    if (isEnd(outcomes.at(-1)!)) break
  }
  return outcomes
}

async function oneByOne(channel: Channel, steps: readonly Step[]): Promise<readonly StageOutcome[]> {
  const outcomes: StageOutcome[] = []
  for (const { stage, command } of steps) {
    const one = await sendCommand(channel, stage, command)
    outcomes.push(one)
    if (isEnd(one) || (stage === 'mail' && !isSuccess('mail', one.reply!))) break
  }
  return outcomes
}
