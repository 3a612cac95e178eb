import { blacklistAnswer } from '../answers/blacklist.ts'
import { checkAnswer } from '../answers/check.ts'
import { readOpen } from '../answers/read-answer.ts'
import { verifyAnswer } from '../answers/verify.ts'
import { AppError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Config } from '../config.ts'
import type { Ask, Asked } from '../jobs/engine/ask.ts'
import { findProviderOf, limitsFor } from '../jobs/providers.ts'
import { type JobService, jobService } from '../jobs/service.ts'
import type { Execute } from '../operations/execute.ts'
import { OPERATIONS } from '../operations/registry.ts'
import { lazyDatabase } from '../store/postgres/connect.ts'
import type { World } from '../world.ts'

export type OpenedJobs = { readonly jobs: JobService; readonly close: () => Promise<void> }

/** Time for a private server to start, recovery after a crash included, ms. */
const OPEN_MS = 90_000

/** Bulk jobs over `--database-url`, or over the private server of the data folder, which is started at the first need. */
export function openJobs(config: Config, world: World, execute: Execute): OpenedJobs {
  const { dataDir, databaseUrl: url, dbUser, maxUpload } = config
  const { info, warn } = world.log
  const database = lazyDatabase({ url, dataDir, dbUser, log: { info, warn } })
  const limitsOf = limitsFor(config.noCourtesy)
  const jobs = jobService({
    open: () => database.open(AbortSignal.timeout(OPEN_MS)),
    ask: askBy(execute),
    findProvider: findProviderOf(world, limitsOf),
    limitsOf,
    maxUpload,
    now: world.now,
    log: world.log,
  })
  const close = async (): Promise<void> => {
    await jobs.stop()
    await database.close()
  }
  return { jobs, close }
}

/** Time for one verification of a row, as text. */
const ROW_TIMEOUT = '60s'

/** Asks about a row by the operation of its kind. */
const askBy =
  (execute: Execute): Ask =>
  async (kind, input, options, signal) => {
    try {
      return await ASKS[kind](execute, input, options, signal)
    } catch (error) {
      const refused = signal.aborted ? undefined : refusalOf(error)
      if (refused) return refused
      throw error
    }
  }

type AskKind = (
  execute: Execute,
  input: string,
  options: { readonly [key: string]: Json },
  signal: AbortSignal,
) => Promise<Asked>

const ASKS: Readonly<Record<Parameters<Ask>[0], AskKind>> = {
  verify: async (execute, email, { pool, max_age_ms }, signal) => {
    const raw = {
      email,
      timeout: ROW_TIMEOUT,
      disposable: 'true',
      free: 'true',
      role: 'true',
      ...(pool === true && { pool: 'true' }),
      ...ageOf(max_age_ms),
    }
    const { answer } = await execute(await OPERATIONS.verify(), raw, { signal })
    const read = readOpen(verifyAnswer, answer)
    if (!read.ok) throw new Error(read.problem)
    const { result, reason, retry_after_ms } = read.value
    return {
      result,
      reason,
      answer: json(read.value),
      ...(retry_after_ms !== undefined && { retryAfterMs: retry_after_ms }),
    }
  },
  check: async (execute, domain, _options, signal) => {
    const { answer } = await execute(await OPERATIONS.check(), { domain }, { signal })
    const read = readOpen(checkAnswer, answer)
    if (!read.ok) throw new Error(read.problem)
    return { result: read.value.status, reason: '', answer: json(read.value) }
  },
  blacklist: async (execute, ip, _options, signal) => {
    const { answer } = await execute(await OPERATIONS.blacklist(), { ip }, { signal })
    const read = readOpen(blacklistAnswer, answer)
    if (!read.ok) throw new Error(read.problem)
    return { result: read.value.verdict, reason: '', answer: json(read.value) }
  },
}

const ageOf = (ms: Json | undefined): { readonly max_age?: string } =>
  typeof ms !== 'number' ? {} : { max_age: ms === 0 ? '0' : `${ms}ms` }

/** An answer as it is kept: fields that are undefined are not there. */
const json = (answer: object): { readonly [key: string]: Json } => JSON.parse(JSON.stringify(answer))

/** What an operation refused or could not do, as the result of a row. */
function refusalOf(error: unknown): Asked | undefined {
  if (!(error instanceof AppError)) return undefined
  const answer = { message: error.message }
  switch (error.code) {
    case 'invalid_domain':
    case 'invalid_ip':
    case 'invalid_parameter':
      return { result: 'invalid', reason: 'bad_syntax', answer }
    case 'timeout':
      return { result: 'unreachable', reason: 'timeout', answer }
    case 'forbidden':
      return { result: 'blocked', reason: 'policy', answer }
    case 'overloaded':
    case 'rate_limited':
      return { result: 'deferred', reason: 'own_limit', answer }
    default:
      return undefined
  }
}
