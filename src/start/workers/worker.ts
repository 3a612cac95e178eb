import closeWithGrace from 'close-with-grace'
import type { Config } from '../../config.ts'
import type { SharedHttp } from '../../http/options.ts'
import type { Logger } from '../../log.ts'
import type { AnyInbox } from '../../message/inbox.ts'
import type { ReportWay } from '../../operations/deps.ts'
import { DRAIN_MS, drained, keepPoolFresh, listen, openHttp, openService, STOP_MS } from '../service.ts'
import { type Remote, refusedOf, remote } from './calls.ts'
import type { FirstFunctions, Setup, WorkerFunctions } from './functions.ts'
import type { News, Sharing } from './sharing.ts'
import { clusterOf } from './verification.ts'

/** The first process tells a worker when to stop. These go to all processes of a terminal or of a systemd unit. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
/** Interval at which the first process learns how many requests are in progress, ms. */
const ACTIVE_MS = 1_000
/** Time limit of one wait for a change of a one-time address, ms. */
const CHANGE_MS = 15_000

/** Answers requests until the first process says that the service stops, or ends: then this process ends too. */
export async function work(logger: Logger, version: string): Promise<number> {
  for (const signal of SIGNALS) process.on(signal, () => {})
  const listeners: ((news: News) => void)[] = []
  let ways: readonly ReportWay[] = []
  let data: WorkerFunctions['metrics'] = async () => []
  const stopping = Promise.withResolvers<void>()
  const own: WorkerFunctions = {
    metrics: () => data(),
    news: (one) => listeners.forEach((listener) => void listener(one)),
    ways: (now) => {
      ways = now
    },
    stop: stopping.resolve,
  }
  const port = {
    send: (message: object) => void process.send?.(message, undefined, undefined, () => {}),
    onMessage: (listener: (message: unknown) => void) => void process.on('message', listener),
  }
  const first = remote<FirstFunctions>(port, own)
  const setup = await first.call('setup')
  const config = setup.config as unknown as Config // as the first process has read it
  let draining = false
  const sharing = sharingOf(first, setup, {
    onNews: (listener) => void listeners.push(listener),
    ways: () => ways,
    canReceive: config.messagesListen !== undefined,
  })
  try {
    const service = await openService(config, logger, version, sharing)
    const { metrics, outside } = service
    const app = await openHttp(service, {
      draining: () => draining,
      scrape: () => first.call('metrics'),
      shared: sharedHttp(first, setup),
    })
    metrics.watch(service.provide, outside.world.now, app.underWay, true)
    data = metrics.data
    const leaving = new AbortController()
    await keepPoolFresh(config, service.provide, logger, leaving.signal)
    const telling = setInterval(() => first.tell('active', app.underWay()), ACTIVE_MS).unref()
    const url = await listen(app, config)
    const { close } = closeWithGrace(
      { delay: DRAIN_MS + STOP_MS, logger: false, skip: [...SIGNALS] },
      async ({ err }) => {
        if (err) logger.error({ err }, 'an unexpected error ends this worker')
        draining = true
        leaving.abort()
        clearInterval(telling)
        await Promise.all([drained(app), service.handBack()])
        await service.shutDown()
        await outside.close()
      },
    )
    void stopping.promise.then(() => close())
    first.tell('listening', url)
  } catch (error) {
    await first.call('failed', refusedOf(error))
    return process.exit(1) // the channel would keep it alive
  }
  return new Promise(() => {}) // close-with-grace ends the process
}

function sharedHttp(first: Remote<FirstFunctions>, { startedMs, secret }: Setup): SharedHttp {
  return {
    startedMs,
    secret,
    count: (caller, windowMs) => first.call('countRequest', caller, windowMs),
    session: (hash) => first.call('session', hash),
    keepSession: (hash, session) => first.call('keepSession', hash, session),
    seen: (nonce) => first.call('seen', nonce),
    takeStream: (caller) => first.call('takeStream', caller),
    releaseStream: (caller) => first.tell('releaseStream', caller),
  }
}

function sharingOf(
  first: Remote<FirstFunctions>,
  { machine, processes }: Setup,
  {
    onNews,
    ways,
    canReceive,
  }: Pick<Sharing, 'onNews'> & {
    readonly ways: () => readonly ReportWay[]
    readonly canReceive: boolean
  },
): Sharing {
  const held = {
    lease: (...asked: Parameters<FirstFunctions['lease']>) => first.call('lease', ...asked),
    claimQuestion: (name: string) => first.call('claimQuestion', name),
    releaseQuestion: (name: string) => first.tell('releaseQuestion', name),
    about: (...asked: Parameters<FirstFunctions['about']>) => first.call('about', ...asked),
    // JSON has no undefined: nothing is null there.
    get: async (...asked: Parameters<FirstFunctions['get']>) => (await first.call('get', ...asked)) ?? undefined,
    put: (...asked: Parameters<FirstFunctions['put']>) => first.call('put', ...asked),
    count: (...asked: Parameters<FirstFunctions['count']>) => first.tell('count', ...asked),
    forget: (...asked: Parameters<FirstFunctions['forget']>) => first.call('forget', ...asked),
    changedSources: () => first.call('changedSources'),
    putSources: (...asked: Parameters<FirstFunctions['putSources']>) => first.call('putSources', ...asked),
  }
  return {
    machine,
    processes,
    cluster: clusterOf(held, processes),
    allow: (kind) => async (list, withinMs, signal) =>
      !signal.aborted && (await first.call('allow', kind, list.zone, withinMs)) && !signal.aborted,
    tell: (news) => first.tell('news', news),
    onNews,
    first: {
      openDatabase: () => first.call('openDatabase'),
      queue: async () => (await first.call('queue')) ?? undefined,
      wakeJobs: () => first.tell('wakeJobs'),
      wakeMonitors: () => first.tell('wakeMonitors'),
      inbox: inboxOf(first, canReceive),
      ways,
      listings: (address) => first.call('listings', address),
    },
  }
}

/** The one-time addresses of the first process, which alone receives messages. */
const inboxOf = (first: Remote<FirstFunctions>, canReceive: boolean): AnyInbox => ({
  create: (owner, lifeMs) => first.call('createAddress', owner, lifeMs),
  show: (id, owner) => first.call('showAddress', id, owner),
  watch: async function* (id, owner, signal) {
    let shown = await first.call('showAddress', id, owner)
    yield shown
    while (!signal.aborted && shown.state !== 'expired' && !shown.answer) {
      const now = await first.call('changedAddress', id, owner, shown.state, CHANGE_MS)
      if (now.state === shown.state && !now.answer) continue
      shown = now
      yield shown
    }
  },
  isOpen: () => canReceive,
  accepts: () => 'no',
  take: () => undefined,
  open: () => {},
})
