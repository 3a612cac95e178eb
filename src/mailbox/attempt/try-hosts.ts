import { type Family, familyOf } from '../../names/ip.ts'
import type { Ctx } from '../../world.ts'
import type { Conversed } from './dialogue.ts'
import { anotherSourceMayHelp, decisive, nextAfter } from './next-step.ts'
import type { Journey, Leg, Rooms, Stop } from './query.ts'
import { visit } from './try-host.ts'

/** Tries of one verification, over all hosts and source addresses. */
const MAX_TRIES = 20

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
