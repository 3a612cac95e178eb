import type { Email } from '../../names/email.ts'
import { type Channel, exchange, faultOf, type StageOutcome } from './channel.ts'
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
  for (const [i, stage] of stages.entries()) {
    const reply = pipelining ? channel.wire.received() : undefined
    const one = reply ? { stage, reply } : await exchange(channel, stage, pipelining ? undefined : commands[i])
    outcomes.push(one)
    if (isEnd(one) || (!pipelining && stage === 'mail' && !isSuccess('mail', one.reply!))) break
  }
  return outcomes
}
