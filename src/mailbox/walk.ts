import { sleep } from '../base/deadline.ts'
import type { MailHosts } from '../mailhosts/mailhosts.ts'
import { orderMailHosts } from '../mailhosts/mailhosts.ts'
import type { Email } from '../names/email.ts'
import { type Family, familyOf, type Ip } from '../names/ip.ts'
import { registrableDomain } from '../names/suffix.ts'
import type { Stage } from '../net/smtp/reply.ts'
import type { Ctx } from '../world.ts'
import { isAboutMailbox } from './about-mailbox.ts'
import type { CatchAllMemory } from './catch-all.ts'
import { type Conversed, converse, type Talked } from './converse.ts'
import type { Courtesy } from './courtesy.ts'
import type { Identity } from './identity.ts'
import { anotherSourceMayHelp, decisive, nextAfter } from './judge.ts'
import { type Provider, providerOf, UNKNOWN_PROVIDER } from './providers.ts'
import type { Reach } from './reach.ts'
import type { Kept, Sessions } from './sessions.ts'
import { shareOf } from './share.ts'
import type { SourceEvent } from './source-pool.ts'
import type { Source, Sources } from './sources.ts'

/** The state that verifications share. */
export type Rooms = {
  readonly who: Identity
  readonly sources: Sources
  readonly courtesy: Courtesy
  readonly catchAll: CatchAllMemory
  readonly reach: Reach
  readonly sessions: Sessions
  readonly noCourtesy: boolean
}

/** What one verification asks of the network. */
export type Journey = {
  readonly email: Email
  readonly hosts: MailHosts
  readonly port: number
  /** Source addresses to ask from, tried in this order; undefined is the system's choice. */
  readonly from: readonly Source[]
  readonly deadlineMs: number
  /** Leave sessions open for a moment, for the next address of a list. */
  readonly reuse: boolean
}

/** One address of one host to try. */
export type Stop = { readonly host: string; readonly address: Ip; readonly provider: Provider | undefined }

/** Tries of one verification, over all hosts and source addresses. */
const MAX_TRIES = 20

/** Every address of every host in MX order (RFC 5321 §5.1): by preference, equal ones shuffled; IPv4 first, where reverse names are commonly in order. */
export const stopsOf = (hosts: MailHosts, random: () => number): readonly Stop[] =>
  orderMailHosts(hosts.hosts, random).flatMap(({ exchange, addresses }) =>
    addresses.map((address) => ({ host: exchange, address, provider: providerOf(exchange) })),
  )

/** How the standing of a source address with the other side is kept: a provider's id, else the registrable domain of the host. */
export const keyOf = ({ host, provider }: Pick<Stop, 'host' | 'provider'>): string =>
  provider?.id ?? registrableDomain(host) ?? host

/**
 * Goes from host to host and, where that can help, from source address to source address, until somebody settles the question or time is up. What was
 * learnt is pushed into `heard` as it comes, so that it stands whatever happens afterwards.
 */
export async function walk(
  ctx: Ctx,
  rooms: Rooms,
  journey: Journey,
  stops: readonly Stop[],
  heard: Conversed[],
): Promise<void> {
  const closed = new Set<Family>() // where another source address of the family cannot help any more
  for (const [index, source] of journey.from.entries()) {
    const family = source === undefined ? undefined : familyOf(source)
    if (family !== undefined && closed.has(family)) continue
    const fitting = stops.filter(({ address }) => family === undefined || familyOf(address) === family)
    const before = heard.length
    await fromSource({
      ctx,
      rooms,
      journey,
      source,
      stops: fitting,
      heard,
      lastSource: index === journey.from.length - 1,
    })
    const verdict = decisive(heard.slice(before))
    if (ctx.signal.aborted || heard.length >= MAX_TRIES) return
    if (!verdict || anotherSourceMayHelp(verdict.verdict.reason, rooms.who.heloFollowsSource)) continue
    if (family === undefined || nextAfter(verdict) === 'stop') return
    closed.add(family) // RFC 5321 §5.1: the addresses of the other family are still to be tried
  }
}

type Leg = {
  readonly ctx: Ctx
  readonly rooms: Rooms
  readonly journey: Journey
  readonly source: Source
  readonly stops: readonly Stop[]
  readonly heard: Conversed[]
  readonly lastSource: boolean
}

async function fromSource(leg: Leg): Promise<void> {
  const { ctx, stops, heard } = leg
  for (const [index, stop] of stops.entries()) {
    if (ctx.signal.aborted || heard.length >= MAX_TRIES) return
    const last = leg.lastSource && index === stops.length - 1
    let said = await visit(leg, stop, { startTls: true, last })
    if (!said) return
    heard.push(said)
    if (nextAfter(said) === 'without_tls') {
      said = await visit(leg, stop, { startTls: false, last })
      if (!said) return
      heard.push(said)
    }
    if (nextAfter(said) === 'stop') return
  }
}

/** One conversation within the limits of courtesy; undefined when time ran out before it could begin. */
async function visit(
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
    } catch {
      return false
    }
  }
}

function remembered(
  leg: Leg,
  stop: Stop,
  failure: { reason: Conversed['verdict']['reason']; message: string; atMs: number },
  now: number,
): Conversed {
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

/** The families that the hosts have addresses of. */
export const familiesOf = (stops: readonly Stop[]): ReadonlySet<Family> =>
  new Set(stops.map(({ address }) => familyOf(address)))
