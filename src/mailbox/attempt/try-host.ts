import { sleep } from '../../base/deadline.ts'
import type { Stage } from '../../net/smtp/reply.ts'
import { isAboutMailbox } from '../about-mailbox.ts'
import { UNKNOWN_PROVIDER } from '../provider/provider.ts'
import type { SourceEvent } from '../source/circuit-breaker.ts'
import type { Failure } from '../source/host-limits.ts'
import { type Conversed, converse, type Talked } from './dialogue.ts'
import { anotherSourceMayHelp } from './next-step.ts'
import { type Journey, keyOf, type Leg, type Rooms, type Stop } from './query.ts'
import type { Kept } from './session-pool.ts'
import { shareOf } from './stage-timeout.ts'

/** One conversation within the limits of courtesy; undefined when time ran out before it could begin. */
export async function visit(
  leg: Leg,
  stop: Stop,
  manner: { startTls: boolean; last: boolean },
): Promise<Conversed | undefined> {
  const { ctx, rooms, source } = leg
  const { maxConnections } = stop.provider ?? UNKNOWN_PROVIDER
  const provider = keyOf(stop)
  const failure = rooms.courtesy.failure(stop.address, source)
  if (failure) return remembered(leg, stop, failure, ctx.now())
  const enter = (signal: AbortSignal) =>
    rooms.courtesy.enter({ address: stop.address, provider, maxConnections, source }, signal)
  const reuse = leg.journey.reuse && stop.provider?.secondRcpt !== 'hurts'
  const key = `${source ?? ''} ${stop.host} ${stop.address} ${leg.journey.port} ${manner.startTls}`
  let place: Place
  try {
    place = reuse ? await rooms.sessions.acquire(key, enter, ctx.signal) : { leave: await enter(ctx.signal) }
  } catch (error) {
    if (ctx.signal.aborted) return undefined
    throw error
  }
  let spent: Place | undefined = place
  try {
    if (!(await takeTurn(leg, stop))) return undefined
    const { said, session } = await talk(leg, stop, { ...manner, kept: place.session, leaveOpen: reuse })
    spent = undefined
    if (session) await rooms.sessions.release(key, another(place, session, said))
    else place.leave()
    return said
  } finally {
    if (spent) await abandon(spent)
  }
}

type Place = Kept | { readonly session?: undefined; readonly leave: () => void }

const another = (place: Place, session: Kept['session'], { verdict }: Conversed): Kept => {
  const before = place.session === session ? place : { recipients: 0, unknown: 0 }
  const unknown = before.unknown + (verdict.reason === 'mailbox_not_found' ? 1 : 0)
  return { session, leave: place.leave, recipients: before.recipients + 1, unknown }
}

async function abandon(place: Place): Promise<void> {
  await place.session?.quit()
  place.leave()
}

async function talk(
  { ctx, rooms, journey, source }: Leg,
  stop: Stop,
  manner: {
    readonly startTls: boolean
    readonly last: boolean
    readonly kept: Kept['session'] | undefined
    readonly leaveOpen: boolean
  },
): Promise<Talked> {
  const provider = keyOf(stop)
  const perMinute = (stop.provider ?? UNKNOWN_PROVIDER).perMinute
  rooms.sources.tell(source, provider, perMinute, { kind: 'begun' })
  const plan = {
    ...stop,
    email: journey.email,
    port: journey.port,
    source,
    catchAll: rooms.catchAll.get(journey.email.domain, stop.host),
    startTls: manner.startTls,
    stageMs: (stage: Stage) => shareOf(stage, journey.deadlineMs - ctx.now(), manner.last),
  }
  const talked = await converse(ctx, rooms.who, plan, manner)
  note(rooms, talked.said, journey)
  rooms.sources.tell(source, provider, perMinute, eventOf(talked.said, rooms.who.heloFollowsSource))
  return talked
}

/** What a conversation teaches for those to come. */
function note({ courtesy, catchAll, reach }: Rooms, said: Conversed, { email }: Journey): void {
  const { plan, verdict, stage } = said
  if (verdict.reason === 'connect_timeout') reach.timedOut(plan.address)
  else if (said.localAddress !== undefined || verdict.reason === 'connect_refused') reach.reached()
  const dead = stage === 'connect' && ['connect_timeout', 'connect_refused'].includes(verdict.reason)
  if (dead) courtesy.failed(plan.address, plan.source, { reason: verdict.reason, message: said.message })
  if (typeof said.catchAll === 'boolean') catchAll.set(email.domain, plan.host, said.catchAll)
  if (stage === 'rcpt' && isAboutMailbox(verdict.reason))
    courtesy.answered(email.domain, keyOf(plan), verdict.reason === 'mailbox_not_found')
}

function eventOf(said: Conversed, heloFollowsSource: boolean): SourceEvent {
  const { reason } = said.verdict
  const text = said.message
  if (isAboutMailbox(reason) || reason === 'greylisted') return { kind: 'answered', latencyMs: said.durationMs }
  if (reason === 'rate_limited' || reason === 'too_many_recipients') return { kind: 'throttled', reason, text }
  if (said.reply && anotherSourceMayHelp(reason, heloFollowsSource)) return { kind: 'refused', reason, text }
  return { kind: 'unanswered' }
}

/** Waits for a turn in the rate of this source toward the provider; false when time ran out. */
async function takeTurn({ ctx, rooms, source }: Leg, stop: Stop): Promise<boolean> {
  if (rooms.noCourtesy) return true
  const { perMinute } = stop.provider ?? UNKNOWN_PROVIDER
  for (;;) {
    const waitMs = rooms.sources.turn(source, keyOf(stop), perMinute)
    if (waitMs === 0) return true
    try {
      await sleep(waitMs, ctx.signal)
    } catch (error) {
      if (!ctx.signal.aborted) throw error
      return false
    }
  }
}

function remembered(leg: Leg, stop: Stop, failure: Failure, now: number): Conversed {
  const ago = Math.max(0, Math.round((now - failure.atMs) / 1_000))
  return {
    plan: {
      ...stop,
      email: leg.journey.email,
      port: leg.journey.port,
      source: leg.source,
      catchAll: undefined,
      startTls: false,
      stageMs: () => 0,
    },
    stage: 'connect',
    verdict: { reason: failure.reason, by: 'stage' },
    message: `not dialled again: ${ago} s ago ${failure.message}`,
    answered: false,
    transcript: [],
    durationMs: 0,
  }
}
