import { getCACertificates } from 'node:tls'
import type { z } from 'zod'
import type { AnswerOf } from '../answers/answer.ts'
import { ownAnswer } from '../answers/read-answer.ts'
import { type ReportsWatch, reportSendersAnswer, reportsAnswer, reportsDomainsAnswer } from '../answers/reports.ts'
import { AppError, invalidFlag } from '../base/errors.ts'
import { type SeenOnce, seenOnce } from '../base/seen-once.ts'
import type { Config } from '../config.ts'
import type { JobService } from '../jobs/service.ts'
import { type MonitorServices, monitorServices } from '../monitors/open.ts'
import type { RunOnce } from '../monitors/run.ts'
import type { Stored } from '../monitors/stored.ts'
import { contains } from '../names/cidr.ts'
import { parseEmail } from '../names/email.ts'
import { guardedPost } from '../net/post.ts'
import { guard } from '../net/public-only.ts'
import { type Submission, submission } from '../net/submit-mail.ts'
import type { Execute } from '../operations/execute.ts'
import { NAMES } from '../operations/monitors/shared.ts'
import { OPERATIONS } from '../operations/registry.ts'
import type { OwnProfiles } from '../profiles/domain.ts'
import type { LazyDatabase } from '../store/postgres/connect.ts'
import type { IdempotencyKeys } from '../store/postgres/idempotency-keys.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import { optionError } from './problems.ts'
import type { Outside } from './world.ts'

type MonitorDeps = {
  readonly profiles: OwnProfiles
  readonly database: LazyDatabase
  readonly execute: Execute
  readonly jobs: JobService
  readonly stored: () => Promise<Stored>
  readonly idempotencyKeys: IdempotencyKeys
  readonly storage: StorageGuard
}

/**
 * Monitors and webhooks over a database that is opened when it is first needed. Throws AppError if the mail options
 * cannot be used.
 */
export function openMonitors(config: Config, { world, version }: Outside, deps: MonitorDeps): MonitorServices {
  const { now, random, log, resolve } = world
  const ca = getCACertificates('extra')
  const post = guardedPost({
    resolve,
    reachable: guard({ allowed: config.allowNetworks }),
    plain: (address) => config.allowNetworks.some((network) => contains(network, address)),
    ca,
    userAgent: `mailsonde/${version}`,
  })
  const from = notifyFrom(config)
  const server = openSubmission(config)
  const services = monitorServices({
    open: deps.database.open,
    runOnce: runBy(deps.execute, seenOnce({ maxEntries: SHARED_HOSTS, ...world })),
    storage: deps.storage,
    profiles: deps.profiles,
    senders: { post, mail: server?.send, from, publicUrl: config.publicUrl, log },
    mailRules: { recipients: config.mailRecipients, perDay: config.mailRate },
    jobEvent: async (id) => {
      try {
        return await deps.jobs.event(id, { id: '', isAdmin: true })
      } catch (error) {
        if (error instanceof AppError && error.code === 'not_found') return undefined
        throw error
      }
    },
    sweeps: [async () => (await deps.stored()).sweep(), async () => deps.idempotencyKeys.sweep()],
    now,
    random,
    log,
  })
  return {
    ...services,
    stop: async () => {
      await services.stop()
      server?.close()
    },
  }
}

/** The submission server of this configuration; undefined: none is set. Throws AppError for options that are wrong. */
export function openSubmission(config: Config): (Submission & { readonly from: string }) | undefined {
  const [{ smtpUrl: url }, from] = [config, notifyFrom(config)]
  if (url === undefined || from === undefined) return undefined
  return { ...submission({ url, from, ca: getCACertificates('extra') }), from }
}

function notifyFrom({ notifyFrom: text, smtpUrl }: Config): string | undefined {
  if (text === undefined) {
    if (smtpUrl !== undefined) throw optionError('smtp_url')
    return undefined
  }
  const email = parseEmail(text)
  if (!email.ok) throw invalidFlag('notify-from', email.problem)
  return text
}

/** Mail hosts of which runs keep what they saw. */
const SHARED_HOSTS = 2_000
/** Time limit for one run, as text. */
const RUN_TIMEOUT = '60s'

const runBy =
  (execute: Execute, seen: SeenOnce): RunOnce =>
  async (kind, target, options, signal) => {
    if (kind === 'reports') return watchReports(execute, target, options, signal)
    const name = kind === 'check' || kind === 'report' || kind === 'verify' ? kind : 'blacklist'
    const timeout = name === 'blacklist' || 'timeout' in options ? {} : { timeout: RUN_TIMEOUT }
    const age = name === 'verify' || name === 'blacklist' ? { max_age: '0' } : {}
    // A monitor makes the plan when it tells.
    const plan = name === 'check' || name === 'report' ? { plan: 'false' } : {}
    const raw: Record<string, string> = { ...timeout, ...age, ...plan, ...options, [NAMES[name]]: target }
    // With a plan it is the second question of one run, about the same domain.
    const by = { signal, ...(raw.plan === 'false' && { seen }) }
    const { answer } = await execute(await OPERATIONS[name](), raw, by)
    return JSON.parse(JSON.stringify(answer))
  }

/** Senders of a run, those with most mail. */
const MAX_SENDERS = '100'

/** The reports of a domain, as a monitor looks at them. */
export async function watchReports(
  execute: Execute,
  domain: string,
  options: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ReportsWatch> {
  const ask = async <S extends z.ZodType>(
    name: keyof typeof OPERATIONS,
    schema: S,
    raw: object,
  ): Promise<AnswerOf<S>> => ownAnswer(schema, (await execute(await OPERATIONS[name](), { ...raw }, { signal })).answer)
  const [shown, { data }] = await Promise.all([
    ask('reports show', reportsAnswer, { ...options, domain }),
    ask('reports senders', reportSendersAnswer, { ...options, domain, today: 'false', limit: MAX_SENDERS }),
  ])
  const earlier = async (): Promise<string | null> => {
    const known = await ask('reports domains', reportsDomainsAnswer, {})
    return known.data.find((one) => one.domain === domain)?.last_report_at ?? null
  }
  return {
    domain,
    to: shown.to,
    last_report_at: shown.last_report_at ?? (await earlier()),
    days: shown.days.map(({ date, messages, failing }) => ({ date, messages, failing })),
    senders: data.map(({ id, name, verdict, messages }) => ({ id, name, verdict, messages })),
  }
}
