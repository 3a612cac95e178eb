import { isTimeout, timedOut } from '../base/deadline.ts'
import { problem } from '../base/problem.ts'
import { type Lifetime, type ShareWork, sharedWork, type Work } from '../base/share-work.ts'
import { printable } from '../base/text.ts'
import { fromWall } from '../base/time.ts'
import type { Domain } from '../names/domain.ts'
import { type Email, formatEmail } from '../names/email.ts'
import { parsePastedEmail } from '../names/pasted.ts'
import { isNode, type SourceName } from '../names/source.ts'
import { lifetimeOf } from '../net/smtp/lifetime.ts'
import type { Ctx, World } from '../world.ts'
import { type AnswerCache, answerCache } from './answer-cache.ts'
import { askMailbox } from './attempt/ask-mailbox.ts'
import { catchAllCache, type ProbeAnswer, sharedCatchAll } from './attempt/catch-all.ts'
import { sessionPool } from './attempt/session-pool.ts'
import type { AskNode, VerifierState } from './attempt/state.ts'
import { addressPart, answerWithoutServer } from './compose-answer.ts'
import { nodeProblem, verifyError } from './problems.ts'
import { askOnce, sharesAnswers, unlessLate } from './shared-question.ts'
import { sideData } from './side-data/side-data.ts'
import type { Cluster } from './source/cluster.ts'
import { identity } from './source/helo.ts'
import { hostLimits } from './source/host-limits.ts'
import { type PoolRow, poolStatus } from './source/pool.ts'
import { port25Monitor } from './source/port25.ts'
import type { ProviderKey } from './source/source-rows.ts'
import { sources } from './source/sources.ts'
import type { MailboxAnswer, Verification, VerifyInput } from './verification.ts'

export type VerifySettings = {
  /** The name for EHLO; absent: the PTR name of the source address. */
  readonly helo?: Domain
  /** The reverse-path; null: `<>`; absent: derived from the HELO name. */
  readonly mailFrom?: Email | null
  /** Default 25. */
  readonly port?: number
  /** The sources of the pool, read at every use; none: the system's choice. */
  readonly pool?: () => readonly SourceName[]
  /** Makes another node of the pool verify; without it nodes give no answer. */
  readonly askNode?: AskNode
  /** Maximum number of source addresses of one verification; default 3. */
  readonly poolAttempts?: number
  /**
   * Why a blacklist makes a source address unusable toward a provider (a provider's id, or the registrable domain of a
   * mail host).
   */
  readonly listed?: (source: SourceName, provider: ProviderKey) => string | undefined
  /** Domains that are never contacted, with their subdomains. */
  readonly deny?: readonly Domain[]
  /** The state shared with the nodes on the same database. */
  readonly cluster?: Cluster
  /** No limits toward mail hosts (`--no-courtesy`); for labs. */
  readonly noCourtesy?: boolean
}

export type Verifier = ReturnType<typeof createVerifier>

export const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_MAX_AGE_MS = 600_000
/** Interval at which a caller gets progress, ms. */
const PROGRESS_MS = 250
/** How much longer than its deadline a caller waits for the work to return its result, ms. */
const GRACE_MS = 150

/** A verifier with the state that its verifications share: one per process. */
export function createVerifier(
  world: Pick<World, 'now' | 'monotonic' | 'random' | 'store' | 'log'>,
  settings: VerifySettings = {},
) {
  const { cluster } = settings
  const catchAll = sharedCatchAll(catchAllCache(world.monotonic), cluster)
  const isLifted = settings.noCourtesy === true
  /** Questions that may begin at a provider at once. */
  const limits = hostLimits({
    now: world.monotonic,
    isLifted,
    cluster,
    noted: catchAll.noted,
  })
  const state: VerifierState = {
    identity: identity(world, settings),
    sources: sources(world, settings.listed, cluster),
    limits,
    catchAll,
    probes: sharedWork<ProbeAnswer>(),
    port25: port25Monitor(world.monotonic),
    sessions: sessionPool(),
    askNode: settings.askNode ?? (async () => problem(nodeProblem('not_used'))),
  }
  const cache = answerCache(world.monotonic)
  const share = sharedWork<MailboxAnswer, RunningQuestion>()
  const greylisted = stickySources(world.monotonic)
  const found = (ctx: Ctx, input: VerifyInput, email: Email): Promise<Found> =>
    answerFor({ ctx, input, email, state, settings, cache, share, greylisted })
  return {
    /**
     * Verifies one address. Answers within `timeoutMs` and a quarter of a second, from what is known by then; faults of
     * servers and of the DNS are data. `ctx.signal` is for a caller that disconnects, and should last longer than
     * `timeoutMs`. Rejects with AppError `forbidden` for a domain that the operator denies.
     */
    verify: async (ctx: Ctx, input: VerifyInput): Promise<Verification> => {
      const begunMs = ctx.monotonic()
      const email = parsePastedEmail(input.email)
      const side = sideData(ctx, input, email.ok ? email.value : undefined)
      const had = email.ok
        ? await found(ctx, input, email.value)
        : { answer: badSyntax(input.email, email.problem.text, ctx.now()), cached: false }
      return {
        ...had.answer,
        side: await side(had.answer.mxHosts),
        cached: had.cached,
        durationMs: Math.max(0, Math.round(ctx.monotonic() - begunMs)),
      }
    },
    limits,
    /** The state of sources toward providers, for code that uses nodes in addition to the pool. */
    sources: state.sources,
    /** The state of the source addresses, for `GET /v1/pool`. */
    pool: async (): Promise<readonly PoolRow[]> => {
      await state.sources.load()
      return poolStatus(settings.pool?.() ?? [], state.sources.rows(), world.now(), settings.listed)
    },
    /** Closes all circuit breakers (`POST /v1/pool`). */
    reloadPool: async (): Promise<void> => {
      await state.sources.load()
      state.sources.reload()
    },
    /** Removes a mailbox, or a domain and its mailboxes, from the caches: answers, and catch-all results. */
    forget: (
      what: { readonly email: Email } | { readonly domain: Domain },
    ): {
      readonly answers: number
      readonly catch_all: number
    } => {
      const end = 'domain' in what ? `@${what.domain}` : formatEmail(what.email).toLowerCase()
      const isMeant = (key: string): boolean => {
        const mailbox = key.split(' ')[0]!.toLowerCase()
        return 'domain' in what ? mailbox.endsWith(end) : mailbox === end
      }
      greylisted.forget(isMeant)
      return { answers: cache.forget(isMeant), catch_all: 'domain' in what ? state.catchAll.forget(what.domain) : 0 }
    },
    /** Removes the same from the state that the nodes on one database share; undefined without a database. */
    forgetShared: async (name: 'email' | 'domain', value: string) => cluster?.forget(name, value),
    /** Closes idle sessions and saves the state of the source addresses, at shutdown. */
    close: async (): Promise<void> => {
      state.sessions.close()
      await state.sources.save()
    },
  }
}

/** A greylisted question keeps its source address for a day: from another one the delay would start again. */
type StickySources = ReturnType<typeof stickySources>

/** At most 10,000 addresses. */
function stickySources(now: () => number) {
  const kept = new Map<string, { readonly source: SourceName; readonly atMs: number }>()
  return {
    get: (email: string): SourceName | undefined => {
      const entry = kept.get(email)
      return entry && now() - entry.atMs < 86_400_000 ? entry.source : undefined
    },
    note: ({ email, reason, ipUsed, usedSource }: MailboxAnswer): void => {
      kept.delete(email)
      if (reason !== 'greylisted' || ipUsed === '') return
      kept.set(email, { source: usedSource ?? ipUsed, atMs: now() })
      if (kept.size > 10_000) kept.delete(kept.keys().next().value!)
    },
    forget: (test: (email: string) => boolean): void => {
      for (const email of kept.keys()) if (test(email)) kept.delete(email)
    },
  }
}

type Question = {
  readonly ctx: Ctx
  readonly input: VerifyInput
  readonly email: Email
  readonly state: VerifierState
  readonly settings: VerifySettings
  readonly cache: AnswerCache
  readonly share: ShareWork<MailboxAnswer, RunningQuestion>
  readonly greylisted: StickySources
}

/** A verification in progress that several callers may wait for. */
type RunningQuestion = Work<MailboxAnswer> & {
  readonly begunMs: number
  /** The result known so far. */
  readonly partial: () => MailboxAnswer
  /** Whether a mail host has been contacted. */
  readonly hasBegun: () => boolean
}

type Found = { readonly answer: MailboxAnswer; readonly cached: boolean }

/**
 * The answer from the cache, otherwise that of a verification shared with equal questions in progress; each caller
 * waits for its own time.
 */
async function answerFor(question: Question): Promise<Found> {
  const { ctx, input, email, settings, cache, share } = question
  const denied = settings.deny?.find((name) => email.domain === name || email.domain.endsWith(`.${name}`))
  if (denied !== undefined) throw verifyError('denied', { domain: denied }, { parameter: 'email' })
  const way = [input.bindIp ?? '', input.pool === true, input.port ?? '', input.withoutNodes === true]
  const key = [formatEmail(email), ...way].join(' ')
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxAgeMs = DEFAULT_MAX_AGE_MS } = input
  const known = cache.recall(key, maxAgeMs)
  if (known) return { answer: known, cached: true }
  let running: RunningQuestion | undefined
  let telling: NodeJS.Timeout | undefined
  try {
    const caller = {
      signal: ctx.signal,
      withinMs: timeoutMs + GRACE_MS,
      untilMs: ctx.monotonic() + timeoutMs,
      // No observation older than the caller accepts.
      accepts: ({ begunMs, hasBegun }: RunningQuestion) => ctx.monotonic() - begunMs < maxAgeMs || !hasBegun(),
    }
    const shared = share(key, (lifetime) => begin(question, key, lifetime), caller)
    running = shared.work
    const { partial } = running
    const { onProgress } = input
    if (onProgress) telling = setInterval(() => onProgress(partial()), PROGRESS_MS)
    return { answer: await shared.result, cached: false }
  } catch (error) {
    if (!ctx.signal.aborted && !isTimeout(error)) throw error
    return { answer: running?.partial() ?? notAsked(email, ctx.now()), cached: false }
  } finally {
    clearInterval(telling)
  }
}

/**
 * Starts a verification. It ends when its answer is there, when the time of its last caller is up, or when no caller
 * waits any more.
 */
function begin(question: Question, key: string, shared: Lifetime): RunningQuestion {
  const { ctx, input, email, state, settings, cache, greylisted } = question
  const begunMs = ctx.monotonic()
  const bounds = lifetimeOf(shared).bound(() => shared.untilMs() - begunMs)
  const { signal } = shared
  let work: ReturnType<typeof askMailbox> | undefined
  function ask(): Promise<MailboxAnswer> {
    const asked = {
      email,
      state,
      port: input.port ?? settings.port ?? 25,
      bindIp: input.bindIp,
      pool: input.pool === true ? poolFor(input, settings) : undefined,
      poolAttempts: settings.poolAttempts ?? 3,
      stickTo: greylisted.get(formatEmail(email)),
      deadlineMs: shared.untilMs,
      reuse: input.reuse === true,
    }
    work = askMailbox({ ...ctx, signal }, asked)
    return work.result
  }
  const partial = (): MailboxAnswer => work?.partial() ?? notAsked(email, ctx.now())
  const others = sharesAnswers(input, DEFAULT_MAX_AGE_MS) ? settings.cluster : undefined
  async function run(): Promise<MailboxAnswer> {
    try {
      const asking = others
        ? askOnce(others, key, ask, { now: ctx.monotonic, signal }).catch(unlessLate(signal, partial))
        : ask()
      const answer = await asking
      // The answer of another node may have been observed before this node started.
      const observedMs = work ? begunMs : Math.min(begunMs, fromWall(ctx, answer.observedAtMs))
      if (!signal.aborted || timedOut(signal)) cache.remember(key, answer, observedMs)
      greylisted.note(answer)
      return answer
    } finally {
      bounds.release()
    }
  }
  return { result: run(), begunMs, partial, hasBegun: () => work?.hasBegun() === true }
}

const poolFor = ({ withoutNodes }: VerifyInput, { pool }: VerifySettings): readonly SourceName[] => {
  const sources = pool?.() ?? []
  return withoutNodes === true ? sources.filter((source) => !isNode(source)) : sources
}

/** The answer for a caller that disconnected before anything started. */
const notAsked = (email: Email, now: number): MailboxAnswer =>
  answerWithoutServer(
    { ...addressPart(email), mxHosts: [], provider: undefined, observedAtMs: now },
    'timeout',
    'the time limit was reached before a mail server could be asked',
  )

const badSyntax = (text: string, problem: string, now: number): MailboxAnswer =>
  answerWithoutServer(
    {
      email: { smtputf8: /[^\u0000-\u007f]/.test(text.slice(0, 320)) },
      shown: printable(text, 320),
      mxHosts: [],
      provider: undefined,
      observedAtMs: now,
    },
    'bad_syntax',
    problem,
  )
