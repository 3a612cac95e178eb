import cluster, { type Worker } from 'node:cluster'
import { randomBytes, randomUUID } from 'node:crypto'
import closeWithGrace from 'close-with-grace'
import { raced, sleep, within } from '../../base/deadline.ts'
import type { Config } from '../../config.ts'
import { type Allow, allowances } from '../../dnsbl/allowance.ts'
import { windowsOf } from '../../http/rate-windows.ts'
import { sessionMemory } from '../../http/sessions.ts'
import { streamCounts } from '../../http/streams.ts'
import type { Logger } from '../../log.ts'
import { nonceMemory } from '../../peers/proof.ts'
import { warnOfOpenFolder } from '../data-folder.ts'
import { added, lasting, type MetricData, type Scraped } from '../metrics.ts'
import { DRAIN_MS, openService, type Service, STOP_MS, startBackground, tellListening } from '../service.ts'
import { lazyStore, processClocks } from '../world.ts'
import { asJson, errorOf, type Refused, type Remote, remote } from './calls.ts'
import type { FirstFunctions, WorkerFunctions } from './functions.ts'
import { type ListKind, type News, type Sharing, WORKER } from './sharing.ts'
import { clusterOf, sharedVerification } from './verification.ts'

/**
 * Delays before a worker that ended is started again, ms; one that lived for longer than the longest is started at
 * once.
 */
const AGAIN_MS = { first: 100, longest: 10_000 }
/** Time that a worker has for its metrics, ms; after it those of the last scrape count. */
const SCRAPE_MS = 5_000
/** Interval at which workers learn what came in by mail, ms. */
const WAYS_MS = 1_000

/** A worker process. */
type Member = {
  readonly number: number
  readonly worker: Worker
  readonly remote: Remote<WorkerFunctions>
  readonly streams: string[]
  data: readonly MetricData[]
  active: number
}

/**
 * Serves with `--workers` processes that answer requests on one port, and is the first process: it answers none, and
 * has what there is once. Workers that end are started again. Resolves after SIGTERM or SIGINT, when all have drained.
 * Throws AppError if the service cannot start.
 */
export async function serveByWorkers(config: Config, logger: Logger, version: string): Promise<number> {
  const { sharing, functionsOf, drop, news } = openShared(config, logger)
  const service = await openService(config, logger, version, sharing)
  const { metrics, outside, provide } = service
  warnOfOpenFolder(config.dataDir, outside.world.log)
  metrics.watch(provide, outside.world.now)
  const leaving = new AbortController()
  const members = new Map<number, Member>()
  let departed: readonly MetricData[] = []
  let last = 0
  const started = Promise.withResolvers<string>()
  let listening = 0

  async function scrape(): Promise<Scraped> {
    const asked = [...members.values()].map(async (member) => {
      const data = await raced(within(SCRAPE_MS), member.remote.call('metrics')).catch(() => member.data)
      if (members.has(member.number)) member.data = data
      return data
    })
    const [own, ...others] = await Promise.all([metrics.data(), ...asked])
    const all = added([own!, departed, ...others])
    return { contentType: all.contentType, text: await all.metrics() }
  }
  function tellAll(one: News, but?: Member): void {
    for (const member of members.values()) if (member !== but) member.remote.tell('news', one)
  }
  news.send = (one) => tellAll(one)

  function join(): Member {
    const number = ++last
    const worker = cluster.fork({ [WORKER]: String(number) })
    const streams: string[] = []
    const functions: FirstFunctions = {
      ...functionsOf(number, service, streams),
      metrics: scrape,
      news: (one) => {
        news.hear(one)
        tellAll(one, member)
      },
      active: (count) => {
        member.active = count
      },
      listening: (url) => {
        listening++
        if (listening >= config.workers) started.resolve(url)
      },
      failed: (why: Refused) => {
        if (listening < config.workers) started.reject(errorOf(why))
        else logger.error({ worker: number, reason: why.text }, 'a worker could not start')
      },
    }
    const port = {
      send: (message: object) => void (worker.isConnected() && worker.send(message, undefined, () => {})),
      onMessage: (listener: (message: unknown) => void) => void worker.on('message', listener),
    }
    const member: Member = { number, worker, remote: remote(port, functions), streams, data: [], active: 0 }
    members.set(number, member)
    return member
  }

  /** Keeps one worker at work until the service stops. */
  async function keep(): Promise<void> {
    for (let waitMs = AGAIN_MS.first; ; waitMs = Math.min(AGAIN_MS.longest, waitMs * 2)) {
      const begunMs = performance.now()
      const member = join()
      const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
        member.worker.once('exit', (...how) => resolve(how))
      })
      members.delete(member.number)
      member.remote.close()
      drop(member.number, member.streams)
      departed = await added([departed, lasting(member.data)]).getMetricsAsJSON()
      if (leaving.signal.aborted) return
      if (listening < config.workers)
        started.reject(new Error(`a worker ended with ${signal ?? code} before it listened`))
      logger.error({ worker: member.number, status: signal ?? code }, 'a worker ended and is started again')
      if (performance.now() - begunMs > AGAIN_MS.longest) waitMs = AGAIN_MS.first
      await sleep(waitMs, leaving.signal).catch(() => {})
      if (leaving.signal.aborted) return
    }
  }

  const load = () => ({
    active: [...members.values()].reduce((sum, { active }) => sum + active, 0),
    capacity: config.maxConcurrency,
  })
  const background = await startBackground(service, { load, signal: leaving.signal })
  const kept = Promise.all(Array.from({ length: config.workers }, keep))
  try {
    tellListening(service, await started.promise)
  } catch (error) {
    leaving.abort()
    for (const { worker } of members.values()) worker.process.kill('SIGKILL')
    await Promise.all([kept, background.close()])
    throw error
  }
  const { reportsHere } = await provide(['reportsHere'])
  const ways = setInterval(() => {
    if (reportsHere.ways.length > 0) for (const member of members.values()) member.remote.tell('ways', reportsHere.ways)
  }, WAYS_MS).unref()
  return new Promise((resolve) => {
    closeWithGrace({ delay: DRAIN_MS + STOP_MS, logger: false }, async ({ err, signal }) => {
      if (err) logger.error({ err }, 'an unexpected error ends the service')
      leaving.abort()
      clearInterval(ways)
      const ends = Promise.all([background.close(), service.handBack()])
      logger.info({ signal }, 'stopping: waiting for running requests')
      for (const member of members.values()) member.remote.tell('stop')
      const late = setTimeout(() => {
        for (const { worker } of members.values()) worker.process.kill('SIGKILL')
      }, DRAIN_MS + WAYS_MS).unref()
      await Promise.all([kept, ends])
      clearTimeout(late)
      await service.shutDown()
      await outside.close()
      resolve(err ? 1 : 0)
    })
  })
}

/** Services that the first process has for workers, created with the first call that needs them. */
const [MESSAGES, LISTS, ENGINES] = [['messages'], ['blacklists', 'domainLists'], ['jobs', 'monitors']] as const

type NewsOf = { send: (news: News) => void; readonly hear: (news: News) => void }

/** What the processes share, in the memory of this one. */
function openShared(config: Config, logger: Logger) {
  const { now, monotonic } = processClocks()
  const { store } = lazyStore(config.dataDir, (event, fields) => logger.warn(fields, event))
  const verification = sharedVerification(monotonic, store.sources)
  const processes = config.workers + 1
  const machine = randomUUID()
  const listeners: ((news: News) => void)[] = []
  const news: NewsOf = { send: () => {}, hear: (one) => listeners.forEach((listener) => void listener(one)) }
  const allowed: Record<ListKind, Allow> = { addresses: allowances(monotonic), domains: allowances(monotonic) }
  const sharing: Sharing = {
    machine,
    processes,
    cluster: clusterOf(verification.of('0'), processes),
    allow: (kind) => allowed[kind],
    tell: (one) => news.send(one),
    onNews: (listener) => void listeners.push(listener),
  }
  const windows = windowsOf(monotonic)
  const sessions = sessionMemory(monotonic)
  const streams = streamCounts()
  const seen = nonceMemory(now)
  const setup = {
    config: asJson(config),
    machine,
    processes,
    startedMs: now(),
    secret: randomBytes(32).toString('base64'),
  }

  /** The functions that a worker may call. `opened`: the callers of its open streams. */
  function functionsOf(number: number, service: Service, opened: string[]) {
    const { provide, outside } = service
    const held = verification.of(String(number))
    const inbox = async () => (await provide(MESSAGES)).messages.inbox
    const fault = (work: Promise<unknown>): void =>
      void work.catch((error: Error) => logger.warn({ reason: error.message }, 'jobs and monitors were not woken'))
    return {
      ...held,
      setup: () => setup,
      countRequest: windows,
      session: (hash) => sessions.use(hash) ?? null,
      keepSession: sessions.keep,
      seen,
      takeStream: (caller) => {
        const isTaken = streams.take(caller)
        if (isTaken) opened.push(caller)
        return isTaken
      },
      releaseStream: (caller) => {
        const at = opened.indexOf(caller)
        if (at < 0) return
        opened.splice(at, 1)
        streams.release(caller)
      },
      allow: async (kind, zone, withinMs) => {
        const { blacklists, domainLists } = await provide(LISTS)
        const { lists } = (kind === 'addresses' ? blacklists : domainLists).set
        const list = lists.find((one) => one.zone === zone)
        return list ? allowed[kind](list, withinMs, AbortSignal.timeout(Math.max(1, Math.ceil(withinMs)))) : false
      },
      listings: async (address) => {
        const [{ listingLookup }, { blacklists }] = await Promise.all([import('../pool.ts'), provide(LISTS)])
        return listingLookup(outside.world, blacklists)(address, AbortSignal.timeout(60_000))
      },
      openDatabase: async () => void (await service.openDatabase()),
      queue: async () => (await (await provide(ENGINES)).jobs.queue()) ?? null,
      wakeJobs: () => fault(provide(ENGINES).then(({ jobs }) => jobs.start())),
      wakeMonitors: () => fault(provide(ENGINES).then(async ({ monitors }) => (await monitors()).start())),
      createAddress: async (...asked) => (await inbox()).create(...asked),
      showAddress: async (...asked) => (await inbox()).show(...asked),
      changedAddress: async (id, owner, state, withinMs) => {
        const { watch, show } = await inbox()
        for await (const one of watch(id, owner, AbortSignal.timeout(withinMs)))
          if (one.state !== state || one.answer) return one
        return show(id, owner)
      },
    } satisfies Omit<FirstFunctions, 'metrics' | 'news' | 'active' | 'listening' | 'failed'>
  }
  const drop = (number: number, opened: readonly string[]): void => {
    verification.drop(String(number))
    for (const caller of opened) streams.release(caller)
  }
  return { sharing, functionsOf, drop, news }
}
