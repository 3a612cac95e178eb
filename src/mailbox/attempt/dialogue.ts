import { printable } from '../../base/text.ts'
import { type Email, formatEmail } from '../../names/email.ts'
import type { Ip } from '../../names/ip.ts'
import type { TlsInfo } from '../../net/smtp/dial.ts'
import type { Heard } from '../../net/smtp/line.ts'
import { type Reply, type Stage, textOf } from '../../net/smtp/reply.ts'
import { openSession, type Session, type SessionOptions } from '../../net/smtp/session.ts'
import type { TranscriptLine } from '../../net/smtp/transcript.ts'
import type { Ctx } from '../../world.ts'
import { isAboutMailbox } from '../about-mailbox.ts'
import type { Provider } from '../provider/provider.ts'
import type { Reason } from '../reasons.ts'
import { classify, type Verdict } from '../reply/classify.ts'
import type { Identity } from '../source/helo.ts'
import type { Source } from '../source/sources.ts'
import { judgeProbe, madeUpMailbox } from './catch-all.ts'

/** One conversation to have. */
export type Plan = {
  readonly email: Email
  readonly host: string
  readonly address: Ip
  readonly port: number
  readonly source: Source
  readonly provider: Provider | undefined
  /** What is known already about made-up names there. */
  readonly catchAll: boolean | undefined
  readonly startTls: boolean
  readonly stageMs: SessionOptions['stageMs']
}

/** What one conversation came to. */
export type Conversed = {
  readonly plan: Plan
  readonly stage: Stage
  readonly verdict: Verdict
  /** The reply that the verdict rests on; absent where none came. */
  readonly reply?: Reply
  readonly message: string
  /** Undefined where the connection did not come about. */
  readonly localAddress?: Ip
  /** Whether the server said anything at all. */
  readonly answered: boolean
  readonly tls?: TlsInfo
  /** Undefined where it was not found out here. */
  readonly catchAll?: boolean | null
  readonly transcript: readonly TranscriptLine[]
  readonly durationMs: number
}

type World = Pick<Ctx, 'dial' | 'now' | 'random' | 'resolve' | 'signal'>

/** What was said, and the session where it was left open for others. */
export type Talked = { readonly said: Conversed; readonly session?: Session }

/**
 * Talks to one address of one mail host: the real RCPT first; a made-up one only behind its acceptance, or in the same batch where the provider's row
 * allows. Never DATA. What the server does is data; what was learnt before a fault stands. A session `kept` from before is used first; where it turns out to
 * have ended, a new one takes its place unnoticed. With `leaveOpen` a session that served well is given back.
 */
export async function converse(
  world: World,
  who: Identity,
  plan: Plan,
  manner: { readonly kept?: Session | undefined; readonly leaveOpen?: boolean } = {},
): Promise<Talked> {
  const begun = world.now()
  if (manner.kept) {
    const again = await over(world, who, plan, manner.kept, begun, manner.kept.transcript().length)
    const ended = !again.reply || again.reply.code === 421
    if (!ended || world.signal.aborted) return closing(again, manner.kept, manner.leaveOpen === true)
    await manner.kept.quit()
  }
  const opened = await openSession(
    world,
    {
      target: {
        address: plan.address,
        port: plan.port,
        ...(plan.source !== undefined && { localAddress: plan.source }),
      },
      serverName: plan.host,
      heloName: (local) => who.heloName(local, world),
      startTls: plan.startTls,
      stageMs: plan.stageMs,
    },
    world.signal,
  )
  if (opened.ok)
    return closing(await over(world, who, plan, opened.session, begun), opened.session, manner.leaveOpen === true)
  const { heard, localAddress, tls, transcript } = opened
  const said: Conversed = {
    plan,
    ...judged(heard, plan),
    ...(localAddress !== undefined && { localAddress }),
    ...(tls && { tls }),
    answered: heard.reply !== undefined || (heard.stage !== 'connect' && heard.stage !== 'banner'),
    transcript,
    durationMs: elapsed(world, begun),
  }
  return { said }
}

async function over(
  world: World,
  who: Identity,
  plan: Plan,
  session: Session,
  begun: number,
  from = 0,
): Promise<Conversed> {
  const asked = await ask(world, who, plan, session)
  return {
    plan,
    ...asked,
    localAddress: session.localAddress,
    ...(session.tls && { tls: session.tls }),
    answered: true,
    transcript: session.transcript().slice(from),
    durationMs: elapsed(world, begun),
  }
}

async function closing(said: Conversed, session: Session, leaveOpen: boolean): Promise<Talked> {
  if (leaveOpen && session.usable() && isAboutMailbox(said.verdict.reason)) return { said, session }
  await session.quit()
  return { said }
}

const elapsed = (world: World, begun: number): number => Math.max(0, Math.round(world.now() - begun))

type Judged = Pick<Conversed, 'stage' | 'verdict' | 'reply' | 'message' | 'catchAll'>

async function ask(world: World, who: Identity, plan: Plan, session: Session): Promise<Judged> {
  if (plan.email.smtputf8 && !session.capabilities.has('SMTPUTF8')) {
    const message = 'the mail server does not take addresses that are not ASCII (no SMTPUTF8, RFC 6531)'
    return { stage: 'mail', verdict: { reason: 'smtputf8_required', by: 'stage' }, message }
  }
  const own = who.sender(session.heloName)
  const sender = own && formatEmail(own) === formatEmail(plan.email) ? undefined : own // never the address under test
  const probe = madeUpMailbox(plan.email.domain, world.random)
  const wanted = wantsProbe(plan)
  // With the null reverse-path many servers refuse a second recipient: each RCPT has its own transaction.
  const batch = wanted && sender !== undefined && plan.provider?.batch === true
  const recipients = batch ? [plan.email, probe] : [plan.email]
  const { mail, rcpt } = await session.transact({ sender, recipients }, world.signal)
  const heard = mail && (!mail.reply || mail.reply.code > 299) ? mail : rcpt[0]
  if (!heard) throw new Error('a transaction gave neither MAIL nor RCPT')
  const real = judged(heard, plan)
  if (real.verdict.reason !== 'mailbox_exists' || !wanted) return real
  if (batch) return { ...real, catchAll: probeAnswer(rcpt[1], plan) }
  if (!session.usable()) return { ...real, catchAll: null }
  const again = { sender, recipients: [probe], continued: sender !== undefined }
  const second = await session.transact(again, world.signal)
  return { ...real, catchAll: probeAnswer(second.rcpt[0], plan) }
}

/** Not where the answer is known, would tell nothing, or does harm. */
const wantsProbe = ({ catchAll, provider }: Plan): boolean =>
  catchAll === undefined && provider?.secondRcpt !== 'hurts' && provider?.tells !== 'nothing'

/** RFC 2920: a recipient without a reply of its own (421, a closed connection) is unknown. */
const probeAnswer = (heard: Heard | undefined, plan: Plan): boolean | null =>
  heard?.reply ? judgeProbe(heard.reply, judged(heard, plan).verdict.reason) : null

function judged(heard: Heard, plan: Plan): Judged {
  const { stage } = heard
  if (!heard.reply) {
    const message = printable(`${plan.host} [${plan.address}], ${WHEN[stage]}: ${heard.message}`, 512)
    return { stage, verdict: { reason: reasonOf(heard), by: 'stage' }, message }
  }
  const { reply } = heard
  return {
    stage,
    reply,
    verdict: classify({ stage, reply, provider: plan.provider }),
    message: printable(textOf(reply), 512),
  }
}

const WHEN: Record<Stage, string> = {
  connect: 'while connecting',
  banner: 'before its greeting',
  ehlo: 'at EHLO',
  starttls: 'at STARTTLS',
  mail: 'at MAIL',
  rcpt: 'at RCPT',
  data: 'at DATA',
  rset: 'at RSET',
  quit: 'at QUIT',
}

/** The word of the table for a stage that got no reply. */
function reasonOf({ stage, fault }: Heard & { readonly reply?: undefined }): Reason {
  switch (fault) {
    case 'timeout':
      return stage === 'connect' ? 'connect_timeout' : 'timeout'
    case 'aborted':
      return 'timeout'
    case 'address_not_local':
      return 'network_unreachable'
    default:
      return fault
  }
}
