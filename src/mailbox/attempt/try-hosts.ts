import { type Family, familyOf } from '../../names/ip.ts'
import type { Ctx } from '../../world.ts'
import { anotherSourceMayHelp } from '../reasons.ts'
import { decisive, nextStep } from './decide.ts'
import type { Destination } from './destinations.ts'
import type { DialogueResult } from './dialogue.ts'
import type { MailboxQuery, SourcePass, VerifierState } from './state.ts'
import { tryHost } from './try-host.ts'

/** Dialogues of one verification, over all hosts and source addresses. */
const MAX_DIALOGUES = 20

/**
 * Tries host after host and, where that may help, source address after source address, until one gives the answer or time is up. Each result is appended to
 * `results` as soon as it is there, so that it can be used when the rest is cut short.
 */
export async function tryHosts(
  ctx: Ctx,
  state: VerifierState,
  query: MailboxQuery,
  destinations: readonly Destination[],
  results: DialogueResult[],
): Promise<void> {
  const exhausted = new Set<Family>() // families for which another source address cannot help
  for (const [index, source] of query.sources.entries()) {
    const family = source === undefined ? undefined : familyOf(source)
    if (family !== undefined && exhausted.has(family)) continue
    const reachable = destinations.filter(({ address }) => family === undefined || familyOf(address) === family)
    const before = results.length
    const isLastSource = index === query.sources.length - 1
    await tryHostsFrom({ ctx, state, query, source, destinations: reachable, results, isLastSource })
    const last = decisive(results.slice(before))
    if (ctx.signal.aborted || results.length >= MAX_DIALOGUES) return
    if (!last || anotherSourceMayHelp(last.verdict.reason, state.identity.heloFollowsSource)) continue
    if (family === undefined || nextStep(last) === 'stop') return
    exhausted.add(family) // RFC 5321 §5.1: the addresses of the other family are still to be tried
  }
}

async function tryHostsFrom(pass: SourcePass): Promise<void> {
  const { ctx, destinations, results } = pass
  for (const [index, destination] of destinations.entries()) {
    if (ctx.signal.aborted || results.length >= MAX_DIALOGUES) return
    const isLast = pass.isLastSource && index === destinations.length - 1
    let result = await tryHost(pass, destination, { startTls: true, isLast })
    if (!result) return
    results.push(result)
    if (nextStep(result) === 'without_tls') {
      result = await tryHost(pass, destination, { startTls: false, isLast })
      if (!result) return
      results.push(result)
    }
    if (nextStep(result) === 'stop') return
  }
}
