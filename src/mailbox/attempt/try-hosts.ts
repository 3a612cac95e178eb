import { raced } from '../../base/deadline.ts'
import { type Family, familyOf } from '../../names/ip.ts'
import { familyOfSource, isNode } from '../../names/source.ts'
import type { Ctx } from '../../world.ts'
import type { Source } from '../source/sources.ts'
import { decisive, mayFailOver, nextStep } from './decide.ts'
import type { Destination } from './destinations.ts'
import type { DialogueResult } from './dialogue.ts'
import type { Held } from './limits.ts'
import { wantsOwnSessionProbe, withOwnSessionProbe } from './own-session-probe.ts'
import type { TryOptions } from './plan.ts'
import type { MailboxQuery, SourcePass, VerifierState } from './state.ts'
import { type Tried, tryHost } from './try-host.ts'
import { tryNode } from './try-node.ts'

/** Maximum number of SMTP sessions per verification, over all hosts and source addresses. */
const MAX_DIALOGUES = 20

/**
 * Tries each host in turn and, if it may help, each source address in turn, until one gives the answer or the time is
 * up. Each result is appended to `results` at once, so that it can be used if the rest is cut short. A source whose
 * circuit breaker is on trial is tried last, when the trial has ended. Returns the limit of ours that held a source
 * back, the one that ends first.
 */
export async function tryHosts(
  ctx: Ctx,
  state: VerifierState,
  query: MailboxQuery,
  destinations: readonly Destination[],
  results: DialogueResult[],
): Promise<Held | undefined> {
  const exhausted = new Set<Family>() // families for which another source address cannot help
  const queue: { readonly source: Source; readonly after?: Promise<void> }[] = query.sources.map((source) => ({
    source,
  }))
  const holds = new Map<Source, Held>() // the latest of each source
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { source, after } = next
    if (after && !(await isOver(after, ctx.signal))) break
    holds.delete(source)
    const family = familyOfSource(source)
    if (family !== undefined && exhausted.has(family)) continue
    const reachable =
      family === undefined ? destinations : destinations.filter(({ address }) => familyOf(address) === family)
    const before = results.length
    const pass: SourcePass = {
      ctx,
      state,
      query,
      source,
      destinations: reachable,
      results,
      isLastSource: queue.length === 0,
    }
    const held = await (isNode(source) ? tryNode(pass, source) : tryHostsFrom(pass))
    if (held?.trialEnded) queue.push({ source, after: held.trialEnded })
    if (held) holds.set(source, held)
    const last = decisive(results.slice(before))
    if (ctx.signal.aborted || results.length >= MAX_DIALOGUES) break
    if (!last || mayFailOver(last, state.identity.heloFollowsSource)) continue
    if (family === undefined || nextStep(last) === 'stop') break
    exhausted.add(family) // RFC 5321 §5.1: the addresses of the other family are still to be tried
  }
  return holds.size === 0 ? undefined : [...holds.values()].toSorted((a, b) => a.retryAfterMs - b.retryAfterMs)[0]
}

async function isOver(work: Promise<void>, signal: AbortSignal): Promise<boolean> {
  try {
    await raced(signal, work)
    return true
  } catch (error) {
    if (!signal.aborted) throw error
    return false
  }
}

async function tryHostsFrom(pass: SourcePass): Promise<Held | undefined> {
  const { ctx, destinations, results } = pass
  for (let index = 0; index < destinations.length; index++) {
    const destination = destinations[index]!
    if (ctx.signal.aborted || results.length >= MAX_DIALOGUES) return undefined
    const isLast = pass.isLastSource && index === destinations.length - 1
    let tried = await tryAndKeep(pass, destination, { startTls: true, isLast })
    if (tried?.result && nextStep(tried.result) === 'without_tls')
      tried = await tryAndKeep(pass, destination, { startTls: false, isLast })
    if (!tried?.result) return tried?.held
    if (nextStep(tried.result) === 'stop') return undefined
  }
  return undefined
}

async function tryAndKeep(pass: SourcePass, destination: Destination, options: TryOptions): Promise<Tried | undefined> {
  const tried = await tryHost(pass, destination, options)
  if (!tried?.result) return tried
  const at = pass.results.push(tried.result) - 1
  if (!wantsOwnSessionProbe(tried.result)) return tried
  const result = await withOwnSessionProbe(pass, destination, options, tried.result)
  pass.results[at] = result
  return { result }
}
