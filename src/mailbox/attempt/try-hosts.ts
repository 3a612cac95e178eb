import { raced } from '../../base/deadline.ts'
import { LimitError } from '../../base/limiter.ts'
import type { Lifetime } from '../../base/share-work.ts'
import { type Family, familyOf } from '../../names/ip.ts'
import { familyOfSource, isNode } from '../../names/source.ts'
import type { Ctx } from '../../world.ts'
import type { Source } from '../source/source-rows.ts'
import { madeUpMailbox, type ProbeAnswer, probeResult } from './catch-all.ts'
import { decisive, mayFailOver, nextStep } from './decide.ts'
import type { Destination } from './destinations.ts'
import { type DialogueResult, runDialogue } from './dialogue.ts'
import {
  type Held,
  limitsOf,
  type MailboxQuery,
  planOf,
  probeKeyOf,
  type SourcePass,
  type TryOptions,
  type VerifierState,
  waitForRate,
} from './state.ts'
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

/** How long the result for a made-up mailbox, or the lack of one, is cached, ms. */
const DAY_MS = 24 * 60 * 60_000
/** How long it is cached that the made-up mailbox could not be asked about, ms. */
const NOT_ASKED_MS = 10 * 60_000

/** Whether a made-up mailbox is to be asked about in a session of its own after this one. */
const wantsOwnSessionProbe = ({ plan, verdict }: DialogueResult): boolean =>
  plan.provider?.probe === 'own_session' && verdict.reason === 'mailbox_exists' && plan.catchAll === undefined

/**
 * After an accepted RCPT at a provider that throttles a second one: asks about a made-up mailbox in a separate session,
 * at most once per domain and day. Equal questions at the same time share it. Returns the result, with the catch-all
 * state if it is known in time.
 */
async function withOwnSessionProbe(
  pass: SourcePass,
  destination: Destination,
  options: TryOptions,
  result: DialogueResult,
): Promise<DialogueResult> {
  const { ctx, state, query } = pass
  const { domain } = query.email
  const key = probeKeyOf(destination)
  if (state.catchAll.get(domain, key) === null) return result
  const caller = { signal: ctx.signal, untilMs: query.deadlineMs() }
  const begin = (lifetime: Lifetime) => {
    const own = { ...ctx, signal: lifetime.signal }
    return {
      result: probe({ ...pass, ctx: own, query: { ...query, deadlineMs: lifetime.untilMs } }, destination, options),
    }
  }
  try {
    const { catchAll, transcript } = await state.probes(`${domain} ${key}`, begin, caller).result
    return { ...result, catchAll, transcript: [...result.transcript, ...transcript] }
  } catch (error) {
    if (!ctx.signal.aborted) throw error
    return result
  }
}

async function probe(pass: SourcePass, destination: Destination, options: TryOptions): Promise<ProbeAnswer> {
  const { ctx, state, query } = pass
  const { domain } = query.email
  const result = await dialogueWithin(pass, destination, options)
  const isAnswered = result?.reply !== undefined && result.stage === 'rcpt'
  const catchAll = isAnswered ? probeResult(result.reply, result.verdict.reason) : null
  if (!ctx.signal.aborted)
    state.catchAll.set(domain, probeKeyOf(destination), catchAll, isAnswered ? DAY_MS : NOT_ASKED_MS)
  return { catchAll, transcript: result?.transcript ?? [] }
}

/** The session about a made-up mailbox; undefined if a limit or the deadline came first. */
async function dialogueWithin(
  pass: SourcePass,
  destination: Destination,
  options: TryOptions,
): Promise<DialogueResult | undefined> {
  const { ctx, state, query } = pass
  const limits = limitsOf(destination)
  const email = madeUpMailbox(query.email.domain, ctx.random)
  if (!email) return undefined
  try {
    const release = await state.limits.acquire(destination.address, limits, ctx.signal)
    try {
      if ((await waitForRate(pass, limits)) !== 'now') return undefined
      // `catchAll` is set so that this session asks about no other mailbox.
      const plan = { ...planOf(pass, destination, options), email, catchAll: true }
      return (await runDialogue(ctx, state.identity, plan)).result
    } finally {
      release()
    }
  } catch (error) {
    if (ctx.signal.aborted || error instanceof LimitError) return undefined
    throw error
  }
}
