import { printable } from '../../base/text.ts'
import { type Email, formatEmail } from '../../names/email.ts'
import type { Ip } from '../../names/ip.ts'
import { addressOf, isProxy } from '../../names/source.ts'
import type { StageOutcome } from '../../net/smtp/channel.ts'
import type { Target, TlsInfo } from '../../net/smtp/dial.ts'
import { isSuccess, type Reply, type Stage, textOf } from '../../net/smtp/reply.ts'
import { openSession, type Session, type SessionOptions } from '../../net/smtp/session.ts'
import type { TranscriptLine } from '../../net/smtp/transcript.ts'
import type { Ctx } from '../../world.ts'
import { allowsSecondRcpt, limitsFor, type Provider } from '../provider.ts'
import { isAboutRecipient, type Reason } from '../reasons.ts'
import { classify, type Verdict } from '../reply/classify.ts'
import type { Parties } from '../reply/marks.ts'
import type { Identity } from '../source/helo.ts'
import type { Source } from '../source/source-rows.ts'
import { madeUpMailbox, probeResult } from './catch-all.ts'

export type DialoguePlan = {
  readonly email: Email
  readonly host: string
  readonly address: Ip
  readonly port: number
  readonly source: Source
  readonly provider: Provider | undefined
  /** Whether the domain accepts made-up mailboxes, if that is already known. */
  readonly catchAll: boolean | undefined
  readonly startTls: boolean
  readonly stageMs: SessionOptions['stageMs']
}

export type DialogueResult = {
  readonly plan: DialoguePlan
  readonly stage: Stage
  readonly verdict: Verdict
  /** The decisive reply; absent if there was none. */
  readonly reply?: Reply
  readonly message: string
  /** Undefined if there was no connection. */
  readonly localAddress?: Ip
  /** Whether the server sent any reply. */
  readonly answered: boolean
  readonly tls?: TlsInfo
  /** Undefined if this session did not ask; null if the reply leaves it unknown. */
  readonly catchAll?: boolean | null
  readonly transcript: readonly TranscriptLine[]
  readonly durationMs: number
  /** The proxy or node itself failed: nothing is known about the mail host. */
  readonly sourceFailed?: true
  /** The node that made the session, if it was not this one. */
  readonly peer?: string
  /** Whether the session used TLS, if this node did not see the certificate. */
  readonly startedTls?: boolean
}

type World = Pick<Ctx, 'dial' | 'monotonic' | 'random' | 'resolve' | 'signal'>

/** The result, and the session if it stays open for the next recipient. */
export type FinishedDialogue = { readonly result: DialogueResult; readonly session?: Session }

/**
 * Asks one address of one mail host about the mailbox: the real RCPT first, a made-up one only after its acceptance, or
 * in the same batch if the provider's row allows it. Never sends DATA. Faults of the server and the network are data.
 * An open `session` is used first; if it has ended, a new one replaces it. With `keepOpen` a usable session is
 * returned.
 */
export async function runDialogue(
  world: World,
  identity: Identity,
  plan: DialoguePlan,
  options: { readonly session?: Session | undefined; readonly keepOpen?: boolean } = {},
): Promise<FinishedDialogue> {
  const begunMs = world.monotonic()
  const keepOpen = options.keepOpen === true
  if (options.session) {
    const { session } = options
    const firstLine = session.lineCount()
    const asked = await ask(world, identity, plan, session)
    const again = resultOver(session, { plan, asked, firstLine, durationMs: elapsedMs(world, begunMs) })
    const ended = !again.reply || again.reply.code === 421
    if (!ended || world.signal.aborted) return finish(again, session, keepOpen)
    session.quit()
  }
  const opened = await openSession(world, sessionOptions(world, identity, plan), world.signal)
  if (opened.ok) {
    const { session } = opened
    const asked = await ask(world, identity, plan, session)
    const durationMs = elapsedMs(world, begunMs)
    return finish(resultOver(session, { plan, asked, firstLine: 0, durationMs }), session, keepOpen)
  }
  const { outcome, localAddress, tls, transcript } = opened
  const result: DialogueResult = {
    plan,
    ...judge(outcome, plan, { asked: formatEmail(plan.email), source: localAddress }),
    ...(outcome.fault === 'proxy_failed' && { sourceFailed: true }),
    ...(localAddress !== undefined && { localAddress }),
    ...(tls && { tls }),
    answered: outcome.reply !== undefined || (outcome.stage !== 'connect' && outcome.stage !== 'banner'),
    transcript,
    durationMs: elapsedMs(world, begunMs),
  }
  return { result }
}

const sessionOptions = (world: World, identity: Identity, plan: DialoguePlan): SessionOptions => ({
  target: {
    address: plan.address,
    port: plan.port,
    ...routeOf(plan.source),
  },
  serverName: plan.host,
  heloName: (local) => identity.heloName(local, world),
  startTls: plan.startTls,
  stageMs: plan.stageMs,
})

/** How a connection is made: from an address of this machine, through a proxy, or as the system chooses. */
function routeOf(source: Source): Pick<Target, 'localAddress' | 'proxy'> {
  if (source === undefined) return {}
  if (isProxy(source)) return { proxy: source }
  const address = addressOf(source)
  // nodes connect by themselves
  if (address === undefined) throw new Error(`this machine cannot connect from ${source}`)
  return { localAddress: address }
}

function resultOver(
  session: Session,
  {
    plan,
    asked,
    firstLine,
    durationMs,
  }: Pick<DialogueResult, 'plan' | 'durationMs'> & {
    readonly asked: Judgement
    readonly firstLine: number
  },
): DialogueResult {
  return {
    plan,
    ...asked,
    localAddress: session.localAddress,
    ...(session.tls && { tls: session.tls }),
    answered: true,
    transcript: session.transcript(firstLine),
    durationMs,
  }
}

function finish(result: DialogueResult, session: Session, keepOpen: boolean): FinishedDialogue {
  if (keepOpen && session.usable() && isAboutRecipient(result.verdict.reason)) return { result, session }
  session.quit()
  return { result }
}

const elapsedMs = (world: World, begunMs: number): number => Math.max(0, Math.round(world.monotonic() - begunMs))

type Judgement = Pick<DialogueResult, 'stage' | 'verdict' | 'reply' | 'message' | 'catchAll'>

async function ask(world: World, identity: Identity, plan: DialoguePlan, session: Session): Promise<Judgement> {
  if (plan.email.smtputf8 && !session.capabilities.has('SMTPUTF8')) {
    const message = 'the mail server does not accept non-ASCII addresses (no SMTPUTF8, RFC 6531)'
    return { stage: 'mail', verdict: { reason: 'smtputf8_required', by: 'stage' }, message }
  }
  const own = identity.sender(session.heloName)
  const asked = formatEmail(plan.email)
  const sender = own && formatEmail(own) === asked ? undefined : own // never the mailbox under test
  const us = { sender: sender && formatEmail(sender), helo: session.heloName, source: session.localAddress }
  const probe = wantsProbe(plan) ? madeUpMailbox(plan.email.domain, world.random) : undefined
  // With the null reverse-path many servers refuse a second recipient, so each RCPT has its own transaction.
  const batched = sender !== undefined && limitsFor(plan.provider).probe === 'batch' ? probe : undefined
  const recipients = batched ? [plan.email, batched] : [plan.email]
  const { mail, rcpt } = await session.transact({ sender, recipients }, world.signal, plan.stageMs)
  const outcome = mail && !(mail.reply && isSuccess('mail', mail.reply)) ? mail : rcpt[0]
  if (!outcome) throw new Error('a transaction gave neither MAIL nor RCPT')
  const real = judge(outcome, plan, { asked, ...us })
  if (real.verdict.reason !== 'mailbox_exists' || !probe) return real
  const parties = { asked: formatEmail(probe), ...us }
  if (batched) return { ...real, catchAll: judgeProbe(rcpt[1], plan, parties) }
  if (!session.usable()) return { ...real, catchAll: null }
  const again = { sender, recipients: [probe], continued: sender !== undefined }
  const second = await session.transact(again, world.signal, plan.stageMs)
  return { ...real, catchAll: judgeProbe(second.rcpt[0], plan, parties) }
}

/** Whether to ask about a made-up mailbox: not if the result is known, would prove nothing, or does harm. */
const wantsProbe = ({ catchAll, provider }: DialoguePlan): boolean =>
  catchAll === undefined && allowsSecondRcpt(provider) && provider?.tells !== 'nothing'

/** RFC 2920: a recipient without a reply of its own (421, a closed connection) is unknown. */
const judgeProbe = (outcome: StageOutcome | undefined, plan: DialoguePlan, parties: Parties): boolean | null =>
  outcome?.reply ? probeResult(outcome.reply, judge(outcome, plan, parties).verdict.reason) : null

function judge(outcome: StageOutcome, plan: DialoguePlan, parties: Parties): Judgement {
  const { stage } = outcome
  if (!outcome.reply) {
    const message = printable(`${plan.host} [${plan.address}], ${WHEN[stage]}: ${outcome.problem.text}`, 512)
    return { stage, verdict: { reason: faultReason(outcome), by: 'stage' }, message }
  }
  const { reply } = outcome
  return {
    stage,
    reply,
    verdict: classify({ stage, reply, provider: plan.provider, parties }),
    message: printable(textOf(reply), 512),
  }
}

const WHEN: Record<Stage, string> = {
  connect: 'while connecting',
  banner: 'before the greeting',
  ehlo: 'at EHLO',
  starttls: 'at STARTTLS',
  mail: 'at MAIL',
  rcpt: 'at RCPT',
  data: 'at DATA',
  rset: 'at RSET',
  quit: 'at QUIT',
}

/** The reason for a stage without a reply. */
function faultReason({ stage, fault }: StageOutcome & { readonly reply?: undefined }): Reason {
  switch (fault) {
    case 'timeout':
      return stage === 'connect' ? 'connect_timeout' : 'timeout'
    case 'aborted':
      return 'timeout'
    case 'address_not_local':
    case 'proxy_failed':
      return 'network_unreachable'
    default:
      return fault
  }
}
