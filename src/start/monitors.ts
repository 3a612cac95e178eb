import { getCACertificates } from 'node:tls'
import { AppError, invalidFlag } from '../base/errors.ts'
import type { Config } from '../config.ts'
import type { JobService } from '../jobs/service.ts'
import { type MonitorServices, monitorServices } from '../monitors/open.ts'
import type { RunOnce } from '../monitors/run.ts'
import type { Stored } from '../monitors/stored/stored.ts'
import { contains } from '../names/cidr.ts'
import { parseEmail } from '../names/email.ts'
import { guardedPost } from '../net/post.ts'
import { guard } from '../net/public-only.ts'
import { submission } from '../net/submit-mail.ts'
import type { Execute } from '../operations/execute.ts'
import { NAMES } from '../operations/monitors/input.ts'
import { OPERATIONS } from '../operations/registry.ts'
import type { LazyDatabase } from '../store/postgres/connect.ts'
import type { IdempotencyKeys } from '../store/postgres/idempotency-keys.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import { optionError } from './problems.ts'
import type { Outside } from './world.ts'

export type MonitorDeps = {
  readonly database: LazyDatabase
  readonly execute: Execute
  readonly jobs: JobService
  readonly stored: () => Promise<Stored>
  readonly idempotencyKeys: IdempotencyKeys
  readonly storage: StorageGuard
}

/** Monitors and webhooks over a database that is opened when it is first needed. Throws AppError if the mail options cannot be used. */
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
  const mail =
    config.smtpUrl !== undefined && from !== undefined ? submission({ url: config.smtpUrl, from, ca }) : undefined
  return monitorServices({
    open: deps.database.open,
    runOnce: runBy(deps.execute),
    storage: deps.storage,
    senders: { post, mail, from, publicUrl: config.publicUrl },
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

/** Time limit for one run, as text. */
const RUN_TIMEOUT = '60s'

const runBy =
  (execute: Execute): RunOnce =>
  async (kind, target, options, signal) => {
    const name = kind === 'check' || kind === 'report' || kind === 'verify' ? kind : 'blacklist'
    const timeout = name === 'blacklist' || 'timeout' in options ? {} : { timeout: RUN_TIMEOUT }
    const age = name === 'verify' || name === 'blacklist' ? { max_age: '0' } : {}
    const raw = { ...timeout, ...age, ...options, [NAMES[name]]: target }
    const { answer } = await execute(await OPERATIONS[name](), raw, { signal })
    return JSON.parse(JSON.stringify(answer))
  }
