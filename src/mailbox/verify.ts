import { AppError } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import type { Domain } from '../names/domain.ts'
import { type Email, formatEmail, parseEmail } from '../names/email.ts'
import type { Ip } from '../names/ip.ts'
import { lifeOf } from '../net/smtp/life.ts'
import type { Ctx, World } from '../world.ts'
import { type Answers, answers, type Work } from './answer-cache.ts'
import { settle } from './attempt/ask-mailbox.ts'
import { catchAllMemory } from './attempt/catch-all.ts'
import type { Rooms } from './attempt/query.ts'
import { sessions } from './attempt/session-pool.ts'
import { unasked } from './compose-answer.ts'
import { sideData } from './side-data/side-data.ts'
import { identity } from './source/helo.ts'
import { courtesy } from './source/host-limits.ts'
import { type PoolRow, poolView } from './source/pool-status.ts'
import { reach } from './source/port25.ts'
import { type ProviderKey, sources } from './source/sources.ts'
import type { MailboxAnswer, Verification, VerifyInput } from './verification.ts'

/** What the operator has set. */
export type VerifySettings = {
  /** The name to greet with; absent: the PTR name of the source address. */
  readonly helo?: Domain
  /** The reverse-path; null: `<>`; absent: made of the HELO name. */
  readonly mailFrom?: Email | null
  /** Default 25. */
  readonly port?: number
  /** The source addresses of the pool, asked for at every use; none: the system's choice. */
  readonly pool?: () => readonly Ip[]
  /** Source addresses that one verification may use; default 3. */
  readonly poolAttempts?: number
  /** Why a blacklist makes a source address useless toward a provider (a provider's id, or the registrable domain of a mail host). */
  readonly listed?: (source: Ip, provider: ProviderKey) => string | undefined
  /** Domains, with all below them, that are never asked. */
  readonly deny?: readonly Domain[]
  /** Lifts every limit toward mail hosts: for labs. */
  readonly noCourtesy?: boolean
}

export type Verifier = {
  /**
   * Verifies one address. Always gives a verification, within `timeoutMs` and a quarter of a second, with what is known so far; what servers and the DNS
   * do is data. `ctx.signal` is for a caller that goes away: give it more time than `timeoutMs`.
   * Rejects with AppError `forbidden` for a domain that the operator denies.
   */
  readonly verify: (ctx: Ctx, input: VerifyInput) => Promise<Verification>
  /** The source addresses and how they stand, for `GET /v1/pool`. */
  readonly pool: () => Promise<readonly PoolRow[]>
  /** Lets every address be tried again (`POST /v1/pool`). */
  readonly reloadPool: () => Promise<void>
  /** Closes the sessions that wait, and writes down how the addresses stand; at a stop. */
  readonly close: () => Promise<void>
}

export const DEFAULT_TIMEOUT_MS = 30_000
export const DEFAULT_MAX_AGE_MS = 600_000
/** The work ends at its own deadline; who waits for it gives it this much more to hand over what it has. */
const GRACE_MS = 150

/** A verifier and the memory that its verifications share: one a program. */
export function createVerifier(world: Pick<World, 'now' | 'store' | 'log'>, settings: VerifySettings = {}): Verifier {
  const rooms: Rooms = {
    who: identity(world.now, settings),
    sources: sources(world, settings.listed),
    courtesy: courtesy(world.now, settings.noCourtesy === true),
    catchAll: catchAllMemory(world.now),
    reach: reach(world.now),
    sessions: sessions(),
    noCourtesy: settings.noCourtesy === true,
  }
  const memory = answers(world.now)
  const greylisted = stickySources(world.now)
  const found = (ctx: Ctx, input: VerifyInput, email: Email): Promise<Found> =>
    findOut({ ctx, input, email, rooms, settings, memory, greylisted })
  return {
    verify: async (ctx, input) => {
      const begun = ctx.now()
      const email = parseEmail(input.email)
      const side = sideData(ctx, input, email.ok ? email.value : undefined)
      const had = email.ok
        ? await found(ctx, input, email.value)
        : { answer: badSyntax(input.email, email.problem, begun), remembered: false }
      return {
        ...had.answer,
        side: await side(had.answer.mxHosts),
        remembered: had.remembered,
        durationMs: Math.max(0, Math.round(ctx.now() - begun)),
      }
    },
    pool: async () => {
      await rooms.sources.load()
      return poolView(settings.pool?.() ?? [], rooms.sources.rows(), world.now(), settings.listed)
    },
    reloadPool: async () => {
      await rooms.sources.load()
      rooms.sources.reload()
    },
    close: async () => {
      await rooms.sessions.close()
      await rooms.sources.save()
    },
  }
}

/** A greylisted question keeps its source address for a day: from another one it would begin to wait anew. */
export type Sticky = { readonly get: (email: string) => Ip | undefined; readonly note: (answer: MailboxAnswer) => void }

function stickySources(now: () => number): Sticky {
  const kept = new Map<string, { readonly source: Ip; readonly atMs: number }>()
  return {
    get: (email) => {
      const entry = kept.get(email)
      return entry && now() - entry.atMs < 86_400_000 ? entry.source : undefined
    },
    note: ({ email, reason, ipUsed }) => {
      kept.delete(email)
      if (reason !== 'greylisted' || ipUsed === '') return
      kept.set(email, { source: ipUsed, atMs: now() })
      if (kept.size > 10_000) kept.delete(kept.keys().next().value!)
    },
  }
}

type Question = {
  readonly ctx: Ctx
  readonly input: VerifyInput
  readonly email: Email
  readonly rooms: Rooms
  readonly settings: VerifySettings
  readonly memory: Answers
  readonly greylisted: Sticky
}

type Found = { readonly answer: MailboxAnswer; readonly remembered: boolean }

async function findOut(question: Question): Promise<Found> {
  const { ctx, input, email, settings, memory } = question
  const denied = settings.deny?.find((name) => email.domain === name || email.domain.endsWith(`.${name}`))
  if (denied !== undefined)
    throw new AppError('forbidden', `the operator does not let ${denied} be asked`, { parameter: 'email' })
  const key = [formatEmail(email), input.bindIp ?? '', input.pool === true, input.port ?? ''].join(' ')
  const known = memory.recall(key, input.maxAgeMs ?? DEFAULT_MAX_AGE_MS)
  if (known) return { answer: known, remembered: true }
  const patience = lifeOf()
  const release = patience.bound((input.timeoutMs ?? DEFAULT_TIMEOUT_MS) + GRACE_MS, ctx.signal)
  try {
    return { answer: await memory.share(key, () => begin(question, key), patience.signal), remembered: false }
  } finally {
    release()
  }
}

/** The work itself lives on while anybody waits for it, whoever began it. */
function begin({ ctx, input, email, rooms, settings, memory, greylisted }: Question, key: string): Work {
  const timeoutMs = input.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const life = lifeOf()
  const release = life.bound(timeoutMs)
  const own: Ctx = { ...ctx, signal: life.signal }
  const work = settle(own, {
    email,
    rooms,
    port: input.port ?? settings.port ?? 25,
    bindIp: input.bindIp,
    pool: input.pool === true ? (settings.pool?.() ?? []) : undefined,
    poolAttempts: settings.poolAttempts ?? 3,
    stickTo: greylisted.get(formatEmail(email)),
    deadlineMs: ctx.now() + timeoutMs,
    reuse: input.reuse === true,
  })
  let abandoned = false
  const result = work.result
    .then((answer) => {
      if (!abandoned) memory.remember(key, answer)
      greylisted.note(answer)
      return answer
    })
    .finally(release)
  const stop = (): void => {
    abandoned = true
    life.end()
  }
  return { result, sofar: work.sofar, stop }
}

const badSyntax = (text: string, problem: string, now: number): MailboxAnswer =>
  unasked(
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
