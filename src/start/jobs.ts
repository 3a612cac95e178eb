import type { z } from 'zod'
import type { AnswerOf } from '../answers/answer.ts'
import type { Json } from '../base/json.ts'
import { once } from '../base/share-work.ts'
import type { Config } from '../config.ts'
import type { Ask, Asked } from '../jobs/engine/claims.ts'
import { findProviderOf, limitsFor } from '../jobs/providers.ts'
import { type JobService, jobService } from '../jobs/service.ts'
import type { Verifier } from '../mailbox/verify.ts'
import type { Execute } from '../operations/execute.ts'
import type { Operation, Raw } from '../operations/operation.ts'
import { OPERATIONS } from '../operations/registry.ts'
import type { LazyDatabase } from '../store/postgres/connect.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import type { World } from '../world.ts'

type Parts = {
  readonly execute: Execute
  readonly limits: Verifier['limits']
  readonly storage: StorageGuard
}

/** Bulk jobs over a database that is opened when it is first needed. */
export function openJobs(config: Config, world: World, { open }: LazyDatabase, parts: Parts): JobService {
  const { execute, limits, storage } = parts
  const limitsOf = limitsFor(config.noCourtesy)
  return jobService({
    open,
    ask: askBy(execute, world.dial),
    findProvider: findProviderOf(world, limitsOf),
    limitsOf,
    room: (id, claimed) => {
      const { concurrent, perMinute } = limitsOf(id)
      const isFree = perMinute === Number.POSITIVE_INFINITY
      return isFree ? concurrent - claimed : limits.room({ key: id, connections: concurrent, perMinute }, claimed)
    },
    onRoom: limits.onRoom,
    maxUpload: config.maxUpload,
    storage: { admitRows: storage.admitRows, maxRows: config.maxRows },
    now: world.now,
    log: world.log,
  })
}

/** Time limit for the verification of one row, as text. */
const ROW_TIMEOUT = '60s'

/**
 * Processes a row with the operation of its kind. `dial`: connects to mail hosts, each time after `begin` of the row.
 */
export const askBy =
  (execute: Execute, dial?: World['dial']): Ask =>
  async (kind, input, options, signal, begin) => {
    const gated: World['dial'] | undefined = begin && dial && ((target, cut) => begin().then(() => dial(target, cut)))
    const by = { signal, ...(gated && { dial: gated }) }
    return ASKS[kind](async (operation, raw) => (await execute(operation, raw, by)).answer as never, input, options)
  }

/** Runs an operation of the kind for a row; its answer was created here, so it has the type of its schema. */
type Run = <S extends z.ZodType>(operation: Operation & { readonly answer: S }, raw: Raw) => Promise<AnswerOf<S>>
type AskKind = (run: Run, input: string, options: { readonly [key: string]: Json }) => Promise<Asked>

/** The operations, each loaded with its first row: `import` of a loaded module takes 100 µs. */
const ASKED = {
  verify: once(OPERATIONS.verify),
  check: once(OPERATIONS.check),
  blacklist: once(OPERATIONS.blacklist),
}

const ASKS: Readonly<Record<Parameters<Ask>[0], AskKind>> = {
  verify: async (run, email, { pool, max_age_ms }) => {
    const answer = await run(await ASKED.verify(), {
      ...{ email, timeout: ROW_TIMEOUT, disposable: 'true', free: 'true', role: 'true' },
      ...(pool === true && { pool: 'true' }),
      ...ageOf(max_age_ms),
    })
    const { result, reason, retry_after_ms } = answer
    return { result, reason, answer, ...(retry_after_ms !== undefined && { retryAfterMs: retry_after_ms }) }
  },
  check: async (run, domain, { selector }) => {
    const answer = await run(await ASKED.check(), { domain, ...(typeof selector === 'string' && { selector }) })
    return { result: answer.status, reason: '', answer }
  },
  blacklist: async (run, ip) => {
    const answer = await run(await ASKED.blacklist(), { ip })
    return { result: answer.verdict, reason: '', answer }
  },
}

const ageOf = (ms: Json | undefined): { readonly max_age?: string } =>
  typeof ms !== 'number' ? {} : { max_age: ms === 0 ? '0' : `${ms}ms` }
