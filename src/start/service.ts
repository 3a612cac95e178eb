import { mkdir, readFile } from 'node:fs/promises'
import type { Server, Socket } from 'node:net'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { sleep, within } from '../base/deadline.ts'
import { AppError, codeOf } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { httpServer } from '../http/server.ts'
import { type Logger, logOf } from '../log.ts'
import { listenAt } from '../net/unix-socket.ts'
import { executor } from '../operations/execute.ts'
import type { Provide } from '../operations/operation.ts'
import { allOperations } from '../operations/registry.ts'
import { storedReports } from '../operations/reports/shared.ts'
import type { Load } from '../peers/peer.ts'
import { StoreError } from '../store/contract.ts'
import { openKeyFile } from '../store/key-file.ts'
import { type Access, openAccess } from './access.ts'
import { hasDatabase, ownSocket, warnOfOpenFolder } from './data-folder.ts'
import { createDeps, type Made } from './deps.ts'
import { tellFirstLook } from './first-look.ts'
import { keyPath } from './keys.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { knowsPeers, openSite } from './pages.ts'
import { startJoining } from './peers.ts'
import { isNotListening, keyError, optionError, serviceStartError } from './problems.ts'
import { type Outside, openOutside } from './world.ts'

/** Time that running requests have after SIGTERM, ms. */
const DRAIN_MS = 30_000
/** Time that the private database server has to stop after that, ms. */
const STOP_MS = 17_000

export type Service = Omit<Made, 'tryOptions'> & {
  readonly config: Config
  readonly logger: Logger
  readonly version: string
  readonly metrics: Metrics
  readonly outside: Outside
  readonly access: Access
}

/**
 * Serves HTTP until SIGTERM or SIGINT, then drains: new requests get 503, running ones have 30 s, exit status 0.
 */
export async function serve(config: Config, logger: Logger, version: string): Promise<number> {
  if (config.accept !== undefined) throw optionError('accept', undefined, { at: '--accept' })
  const service = await openService(config, logger, version)
  const { metrics, outside } = service
  warnOfOpenFolder(config.dataDir, outside.world.log)
  let draining = false
  const app = await openHttp(service, () => draining)
  metrics.watch(service.provide, outside.world.now, app.underWay, outside.lane.stats)
  const leaving = new AbortController()
  const load = () => ({ active: app.underWay(), capacity: config.maxConcurrency })
  let background: Background | undefined
  async function stop(): Promise<void> {
    draining = true
    leaving.abort()
    await Promise.all([drained(app), background?.close(), service.handBack()])
    await service.shutDown()
    await outside.close()
  }
  let url: string
  try {
    background = await startBackground(service, { load, signal: leaving.signal })
    url = await listen(app, config)
  } catch (error) {
    // Without this, what began in the background keeps the process alive.
    await stop()
    throw error
  }
  tellListening(service, url)
  void tellFirstLook(service, url, leaving.signal)
  return new Promise((resolve) => {
    closeWithGrace({ delay: DRAIN_MS + STOP_MS, logger: false }, async ({ err, signal }) => {
      if (err) logger.error({ err }, 'an unexpected error ends the service')
      logger.info({ signal }, 'stopping: waiting for running requests')
      await stop()
      resolve(err ? 1 : 0)
    })
  })
}

/**
 * Creates what a service needs to listen; the rest is created when it is first needed. Throws
 * AppError for an option that cannot be used, and if a needed key cannot be stored.
 */
async function openService(config: Config, logger: Logger, version: string): Promise<Service> {
  const metrics = createMetrics()
  const outside = await openOutside(config, logOf(logger), version, metrics.onDns)
  const { tryOptions, ...made } = createDeps(config, outside, metrics.verified)
  await tryOptions()
  const access = await accessTo(config, outside)
  return { ...made, config, logger, version, metrics, outside, access }
}

/** The HTTP adapter of a service, ready to listen. `draining`: whether the service stops. */
async function openHttp(
  { config, logger, version, metrics, outside, provide, access }: Service,
  draining: () => boolean,
): Promise<FastifyInstance> {
  const operations = await allOperations()
  const execute = executor({ world: outside.world, provide, onExecuted: metrics.executed })
  return httpServer({
    draining,
    operations,
    world: outside.world,
    execute,
    site: openSite({
      operations,
      execute,
      world: outside.world,
      version,
      canReceive: () => config.messagesListen !== undefined,
      canMail: config.smtpUrl !== undefined,
      hasPeers: knowsPeers(provide, outside.world.monotonic),
      storedReports: async (by, domain) => storedReports(await provide(['reports']))(by, domain),
    }),
    ...access,
    hostNames: config.hostNames,
    corsOrigins: config.corsOrigins,
    trustedProxies: {
      networks: config.trustedProxies.filter((one) => one !== 'unix'),
      unix: config.trustedProxies.includes('unix'),
    },
    ratePerMinute: config.rate,
    maxConcurrency: config.maxConcurrency,
    maxConnections: Math.min(config.maxConnections, await halfOfDescriptors()),
    spool: { folder: config.dataDir, maxOctets: Math.max(config.maxReport, config.maxMessage) + FORM_OCTETS },
    logger,
    onAnswer: metrics.answered,
    metrics: metrics.read,
    ...(config.peerSecret === undefined ? {} : { peerSecret: config.peerSecret }),
    origin: new URL(config.nodeUrl ?? `http://${hostAndPort(config)}`).origin,
    version,
  })
}

/**
 * Half of the descriptors that this process may have open, where the system says it (Linux): connections that say
 * nothing would otherwise leave none for questions and for the connections of others.
 */
async function halfOfDescriptors(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'latin1').catch(() => '')
  const most = /^Max open files +(\d+)/m.exec(limits)?.[1]
  return most === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(Number(most) / 2))
}

/** What a form has beside its file, octets. */
const FORM_OCTETS = 65_536

type Background = { readonly close: () => Promise<unknown> }

/** What a service does without being asked: nodes, mail, jobs, monitors, and the listings of its sources. */
async function startBackground(
  { config, logger, outside, provide, access }: Service,
  { load, signal }: { readonly load: () => Load; readonly signal: AbortSignal },
): Promise<Background> {
  const { world } = outside
  await keepPoolFresh(config, provide, logger, signal)
  if (config.join.length > 0 || config.databaseUrl !== undefined) {
    startJoining(config, outside, await provide(['peers']), { load, signal })
  }
  const ways: { readonly close: () => Promise<unknown> }[] = []
  if (config.reportsLmtp !== undefined || config.reportsImap !== undefined) {
    const { startIntake } = await import('./mail-in.ts')
    ways.push(await startIntake(config, await provide(['reports', 'reportsHere']), access.keys, world))
  }
  const { messagesListen } = config
  if (messagesListen !== undefined) {
    const { startMessages } = await import('./messages.ts')
    ways.push(await startMessages({ ...config, messagesListen }, provide, world))
  }
  if (hasDatabase(config)) void goOnWithJobs(provide, logger, signal)
  return { close: () => Promise.all(ways.map((way) => way.close())) }
}

/**
 * Tells the operator where the service listens. A key of the first start is told here, outside of the log, unless the
 * lines on a terminal have it.
 */
function tellListening({ config, logger, access }: Pick<Service, 'config' | 'logger' | 'access'>, url: string): void {
  if (access.made !== undefined && !process.stderr.isTTY)
    process.stderr.write(
      `\nAn API key was created, because ${config.host} is not loopback. It is not shown again:\n\n    ${access.made}\n\n`,
    )
  logger.info({ url, keys: access.keys().length }, 'listening')
  if (process.stderr.isTTY)
    process.stderr.write(`\nOpen ${urlToOpen(url)} in a browser. Press Ctrl-C to stop the service.\n\n`)
  if (config.noCourtesy)
    logger.warn(
      '--no-courtesy: the limits toward mail hosts, providers and blacklists are disabled; only for labs and your own servers',
    )
}

async function accessTo(config: Config, { world }: Outside): Promise<Access> {
  try {
    return await openAccess(config, world, openKeyFile(keyPath(config), world.monotonic))
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause
    throw keyError('not_stored', { why: cause.problem }, { cause })
  }
}

/**
 * The system queues as many new connections as may be open, within its own limit (Linux: `net.core.somaxconn`): Node's
 * default of 511 is too small for a burst.
 */
export async function listen(
  app: FastifyInstance,
  config: Pick<Config, 'host' | 'port' | 'maxConnections' | 'listen' | 'trustedProxies' | 'dataDir'>,
): Promise<string> {
  const { host, port, listen: path, maxConnections, dataDir } = config
  const sockets: Server[] = []
  app.addHook('preClose', async () => sockets.forEach((socket) => void socket.close()))
  const listenOn = async (place: string, mode: number): Promise<void> => {
    const onConnection = (socket: Socket): void => void app.server.emit('connection', socket)
    sockets.push(await listenAt(place, { mode, maxConnections }, onConnection))
  }
  // First, so that a service whose port is taken does not replace the sockets of the one that has it.
  const url = await orPlace(hostAndPort({ host, port }), () => app.listen({ host, port, backlog: maxConnections }))
  // Who opens a socket whose word counts may claim to be anybody.
  if (path !== undefined)
    await orPlace(path, () => listenOn(path, config.trustedProxies.includes('unix') ? 0o660 : 0o666))
  // For commands beside the service. A path that is too long, or a file system without sockets, stops nothing else.
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
    .then(() => listenOn(ownSocket(dataDir), 0o600))
    .catch(() => {})
  return url
}

/** The result of listening; rejects with AppError and the place if the system refuses it. */
async function orPlace<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const code = codeOf(cause) ?? ''
    if (!isNotListening(code)) throw cause
    throw serviceStartError('listen', { place, code }, { cause })
  }
}

const hostAndPort = ({ host, port }: Pick<Config, 'host' | 'port'>): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** The URL at which a browser of this machine finds a service that listens on all addresses. */
const urlToOpen = (url: string): string => url.replace(/\/\/(?:0\.0\.0\.0|\[::\])/, '//127.0.0.1')

/** Delays between attempts to reach the database at startup, ms. */
const DATABASE_AGAIN_MS = { first: 1_000, longest: 30_000 }

/**
 * Takes over the jobs and monitors of an earlier run, in the background and until it succeeds: an unavailable database
 * does not delay the start of the service.
 */
async function goOnWithJobs(provide: Provide, logger: Logger, leaving: AbortSignal): Promise<void> {
  const start = async (what: string, begin: () => Promise<void>): Promise<void> => {
    for (let waitMs = DATABASE_AGAIN_MS.first; !leaving.aborted; waitMs *= 2) {
      try {
        return await begin()
      } catch (err) {
        if (err instanceof AppError) logger.error({ reason: err.message }, `${what} wait for the database`)
        else logger.error({ err }, `${what} could not be started`)
      }
      await sleep(Math.min(waitMs, DATABASE_AGAIN_MS.longest), leaving).catch(() => {})
    }
  }
  await Promise.all([
    start('bulk jobs', async () => (await provide(['jobs'])).jobs.start()),
    start('monitors', async () => (await (await provide(['monitors'])).monitors()).start()),
  ])
}

/** Interval between lookups of the pool's addresses on the blacklists, and their time limit, ms. */
const POOL_EVERY_MS = 15 * 60_000
const POOL_LOOK_MS = 60_000

/**
 * Refreshes the configured pool in the background: addresses listed by a provider's blacklist are then not used for that
 * provider. Ends when `signal` fires.
 */
async function keepPoolFresh(
  config: Pick<Config, 'pool'>,
  provide: Provide,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  if (config.pool.length === 0) return
  const { sourcePool } = await provide(['sourcePool'])
  const look = (): void => {
    sourcePool
      .refresh(within(POOL_LOOK_MS, signal))
      .catch((err: unknown) => logger.error({ err }, 'the listings of the pool could not be looked at'))
  }
  look()
  const timer = setInterval(look, POOL_EVERY_MS).unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}

/** Waits until running requests have ended, at most 30 s, and closes connections as they become idle. */
async function drained(app: FastifyInstance): Promise<void> {
  const closed = app.close()
  const late = new Promise<void>((resolve) => setTimeout(resolve, DRAIN_MS).unref())
  const sweep = setInterval(() => app.server.closeIdleConnections(), 100)
  await Promise.race([closed, late])
  clearInterval(sweep)
}
