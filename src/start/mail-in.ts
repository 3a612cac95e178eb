import tls from 'node:tls'
import { invalidFlag } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { countedBy, type Deliver, deliverer, newWay, type WayRecord } from '../mail-in/deliver.ts'
import { type Domain, isNamed } from '../names/domain.ts'
import type { Deps, ReportWay } from '../operations/deps.ts'
import type { ImportRequest } from '../reports/import.ts'
import type { ApiKey } from '../store/key-file.ts'
import type { World } from '../world.ts'
import { optionFile } from './option-file.ts'
import { startProblem } from './problems.ts'

/** How long the domains of monitors are cached, ms. */
const REMEMBER_MS = 60_000

/** Which domains' reports are taken from mail: those of `--reports-domains`, of monitors and of keys. */
function acceptedDomains(
  config: Pick<Config, 'reportsDomains'>,
  reports: Deps['reports'],
  keys: () => readonly ApiKey[],
  monotonic: () => number,
): () => Promise<ImportRequest['accepts']> {
  let monitored: readonly string[] = []
  let readAtMs = Number.NEGATIVE_INFINITY
  return async () => {
    if (monotonic() - readAtMs > REMEMBER_MS) {
      monitored = await (await reports()).monitored()
      readAtMs = monotonic()
    }
    const patterns = [...config.reportsDomains, ...monitored, ...keys().flatMap(({ domains = [] }) => domains)]
    return (domain: Domain) => (patterns.some((pattern) => isNamed(pattern, domain)) ? 'taken' : 'unknown_domain')
  }
}

/** The function that takes the reports of a message in. */
export const delivererOf = (
  config: Pick<Config, 'reportsDomains'>,
  reports: Deps['reports'],
  keys: () => readonly ApiKey[],
  { monotonic, now, log }: Pick<World, 'monotonic' | 'now' | 'log'>,
): Deliver => deliverer({ reports, accepts: acceptedDomains(config, reports, keys, monotonic), now, log })

/** Starts the ways in that are configured. Rejects if LMTP cannot listen. */
export async function startIntake(
  config: Config,
  { reports, reportsHere }: Pick<Deps, 'reports' | 'reportsHere'>,
  keys: () => readonly ApiKey[],
  world: World,
) {
  const { reportsLmtp, reportsImap, maxReport: maxOctets } = config
  const { log } = world
  const delivering = delivererOf(config, reports, keys, world)
  const recordOf = (way: ReportWay['way']): WayRecord =>
    reportsHere.ways.find((one) => one.way === way) ?? newWay(way, '')
  const leaving = new AbortController()
  const ends: (() => Promise<unknown>)[] = []
  if (reportsLmtp !== undefined) {
    const { startLmtp } = await import('../mail-in/lmtp.ts')
    const lmtp = await startLmtp({
      listen: reportsLmtp,
      maxOctets,
      log,
      deliver: countedBy(recordOf('lmtp'), delivering, world.now),
    }).catch((cause: Error) => {
      throw invalidFlag('reports-lmtp', startProblem('not_opened', { reason: cause.message }), { cause })
    })
    ends.push(lmtp.close)
  }
  if (reportsImap !== undefined) {
    const password = passwordOf(config)
    const { watchImap } = await import('../mail-in/imap.ts')
    const record = recordOf('imap')
    const settings = {
      url: reportsImap,
      password,
      deliver: countedBy(record, delivering, world.now),
      onLook: (problem: string | undefined) => {
        record.problem = problem ?? null
      },
      places: reports,
      maxOctets,
      ca: tls.getCACertificates('extra'),
      now: world.now,
      log,
    }
    const watching = watchImap(settings, leaving.signal)
    ends.push(() => watching)
  }
  return {
    close: async (): Promise<void> => {
      leaving.abort(new DOMException('the service stops', 'AbortError'))
      await Promise.all(ends.map((end) => end()))
    },
  }
}

function passwordOf({ reportsImapPassword, reportsImapPasswordFile }: Config): string {
  if (reportsImapPassword !== undefined) return reportsImapPassword
  if (reportsImapPasswordFile === undefined)
    throw invalidFlag(
      'reports-imap',
      startProblem('not_opened', { reason: 'it has no password: set MAILSONDE_REPORTS_IMAP_PASSWORD' }),
    )
  return optionFile('reports-imap-password-file', reportsImapPasswordFile).replace(/\r?\n$/, '')
}
