import { isJsonRecord, type Json, type JsonRecord } from '../base/json.ts'
import { once } from '../base/share-work.ts'
import type { Config } from '../config.ts'
import type { Ask, Asked } from '../jobs/engine/claims.ts'
import { findProviderOf, limitsFor } from '../jobs/providers.ts'
import { type JobService, jobService } from '../jobs/service.ts'
import type { Verifier } from '../mailbox/verify.ts'
import type { By, Execute } from '../operations/execute.ts'
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
    return ASKS[kind](execute, input, options, { signal, ...(gated && { dial: gated }) })
  }

type AskKind = (execute: Execute, input: string, options: { readonly [key: string]: Json }, by: By) => Promise<Asked>

/** The answer of an operation. It was created here: tests validate it against its schema, rows do not. */
async function answerOf(operation: Operation, execute: Execute, raw: Raw, by: By): Promise<JsonRecord> {
  const { answer } = await execute(operation, raw, by)
  if (isJsonRecord(answer)) return answer
  throw new Error(`the answer of ${operation.name} is no object`)
}

/** A field of an answer by which jobs count. */
function wordOf(answer: JsonRecord, field: string): string {
  const word = answer[field]
  if (typeof word === 'string') return word
  throw new Error(`an answer has no ${field}`)
}

/** The operations, each loaded with its first row: `import` of a loaded module takes 100 µs. */
const ASKED = {
  verify: once(OPERATIONS.verify),
  check: once(OPERATIONS.check),
  blacklist: once(OPERATIONS.blacklist),
}

const ASKS: Readonly<Record<Parameters<Ask>[0], AskKind>> = {
  verify: async (execute, email, { pool, max_age_ms }, by) => {
    const raw = {
      email,
      timeout: ROW_TIMEOUT,
      disposable: 'true',
      free: 'true',
      role: 'true',
      ...(pool === true && { pool: 'true' }),
      ...ageOf(max_age_ms),
    }
    const answer = await answerOf(await ASKED.verify(), execute, raw, by)
    const { retry_after_ms } = answer
    return {
      result: wordOf(answer, 'result'),
      reason: wordOf(answer, 'reason'),
      answer,
      ...(typeof retry_after_ms === 'number' && { retryAfterMs: retry_after_ms }),
    }
  },
  check: async (execute, domain, { selector }, by) => {
    const raw = { domain, ...(typeof selector === 'string' && { selector }) }
    const answer = await answerOf(await ASKED.check(), execute, raw, by)
    return { result: wordOf(answer, 'status'), reason: '', answer }
  },
  blacklist: async (execute, ip, _options, by) => {
    const answer = await answerOf(await ASKED.blacklist(), execute, { ip }, by)
    return { result: wordOf(answer, 'verdict'), reason: '', answer }
  },
}

const ageOf = (ms: Json | undefined): { readonly max_age?: string } =>
  typeof ms !== 'number' ? {} : { max_age: ms === 0 ? '0' : `${ms}ms` }
