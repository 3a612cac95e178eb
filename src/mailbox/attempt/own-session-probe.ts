import { LimitError } from '../../base/limiter.ts'
import type { Lifetime } from '../../base/share-work.ts'
import { madeUpMailbox, type ProbeAnswer, probeResult } from './catch-all.ts'
import type { Destination } from './destinations.ts'
import { type DialogueResult, runDialogue } from './dialogue.ts'
import { limitsOf, waitForRate } from './limits.ts'
import { planOf, probeKeyOf, type TryOptions } from './plan.ts'
import type { SourcePass } from './state.ts'

/** How long the result for a made-up mailbox, or the lack of one, is cached, ms. */
const DAY_MS = 24 * 60 * 60_000
/** How long it is cached that the made-up mailbox could not be asked about, ms. */
const NOT_ASKED_MS = 10 * 60_000

/** Whether a made-up mailbox is to be asked about in a session of its own after this one. */
export const wantsOwnSessionProbe = ({ plan, verdict }: DialogueResult): boolean =>
  plan.provider?.probe === 'own_session' && verdict.reason === 'mailbox_exists' && plan.catchAll === undefined

/**
 * After an accepted RCPT at a provider that throttles a second one: asks about a made-up mailbox in a separate session,
 * at most once per domain and day. Equal questions at the same time share it. Returns the result, with the catch-all
 * state if it is known in time.
 */
export async function withOwnSessionProbe(
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
  try {
    const release = await state.limits.acquire(destination.address, limits, ctx.signal)
    try {
      if ((await waitForRate(pass, limits)) !== 'now') return undefined
      const email = madeUpMailbox(query.email.domain, ctx.random)
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
