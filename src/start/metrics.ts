import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { raced, within } from '../base/deadline.ts'
import type { JobQueue } from '../jobs/service.ts'
import type { LaneStats } from '../lane/lane.ts'
import type { Verification } from '../mailbox/verification.ts'
import type { DnsEvent } from '../net/dns/question.ts'
import type { Executed } from '../operations/execute.ts'
import type { Provide } from '../operations/operation.ts'
import { statusOf } from '../peers/peer.ts'

/** The metrics of the service. Labels come from closed lists: no address, domain or other external text becomes one. */
export type Metrics = {
  readonly answered: (event: { readonly path: string; readonly status: number; readonly ms: number }) => void
  readonly executed: (event: Executed) => void
  readonly onDns: (event: DnsEvent) => void
  readonly verified: (verification: Verification) => void
  /** Registers the gauges that are read when `/metrics` is requested. */
  readonly watch: (provide: Provide, now: () => number, underWay: () => number, lane: () => LaneStats) => void
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** How often the lag of the event loop is measured, ms: each time wakes the process, also at rest. */
const LAG_EVERY_MS = 100

/** The metrics of one service, including those of Node.js. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS })
  const requests = new Counter({
    name: 'mailsonde_requests_total',
    help: 'Responses by path and HTTP status.',
    labelNames: ['path', 'status'] as const,
    registers,
  })
  const durations = new Histogram({
    name: 'mailsonde_request_duration_seconds',
    help: 'Response time, by path.',
    labelNames: ['path'] as const,
    buckets: SECONDS,
    registers,
  })
  const executions = new Counter({
    name: 'mailsonde_operations_total',
    help: 'Operations executed by name and outcome: answered, or the code of the problem.',
    labelNames: ['operation', 'outcome'] as const,
    registers,
  })
  const questions = new Counter({
    name: 'mailsonde_dns_questions_total',
    help: 'Queries to the resolvers, by type and outcome; cached answers are not counted.',
    labelNames: ['type', 'outcome'] as const,
    registers,
  })
  const packets = new Counter({
    name: 'mailsonde_dns_events_total',
    help: 'Events of the DNS client, by kind.',
    labelNames: ['event'] as const,
    registers,
  })
  const smtp = new Counter({
    name: 'mailsonde_smtp_attempts_total',
    help: 'SMTP sessions with mail hosts, by provider and outcome.',
    labelNames: ['provider', 'outcome'] as const,
    registers,
  })
  const results = new Counter({
    name: 'mailsonde_verifications_total',
    help: 'Verifications by result.',
    labelNames: ['result'] as const,
    registers,
  })
  return {
    answered: ({ path, status, ms }) => {
      requests.inc({ path, status })
      durations.observe({ path }, ms / 1_000)
    },
    executed: ({ operation, outcome }) => executions.inc({ operation, outcome }),
    onDns: (event) => {
      if (event.event === 'question') questions.inc({ type: event.type, outcome: event.outcome })
      else packets.inc({ event: event.event })
    },
    verified: ({ result, cached, attempts, provider = 'other' }) => {
      results.inc({ result })
      if (!cached) for (const { reason } of attempts) smtp.inc({ provider, outcome: reason })
    },
    watch: (provide, now, underWay, lane) => {
      watchRequests(registry, provide, underWay)
      watchLane(registry, lane)
      watchService(registry, provide, now)
    },
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}

/** The services whose state is read, created with the first scrape. */
const [REPORTS, BLACKLISTS, VERIFIER] = [['reportsHere'], ['blacklists'], ['verifier']] as const
const [PROBES, JOBS, PEERS] = [['probes'], ['jobs'], ['peers']] as const
/** Time limit for the database during a scrape, ms. */
const PROBE_MS = 1_000

/** The gauges of requests, reports and blacklists. */
function watchRequests(registry: Registry, provide: Provide, underWay: () => number): void {
  const registers = [registry]
  new Gauge({
    name: 'mailsonde_requests_under_way',
    help: 'Requests in progress.',
    registers,
    collect() {
      this.set(underWay())
    },
  })
  new Gauge({
    name: 'mailsonde_reports',
    help: 'Reports since startup, over all ways in: stored or already there, refused, and failure reports, which are not kept.',
    labelNames: ['outcome'] as const,
    registers,
    async collect() {
      const { reportsHere } = await provide(REPORTS)
      const { reports, refused, failureReports } = reportsHere.counted()
      for (const [outcome, count] of Object.entries({ stored: reports, refused, failure: failureReports }))
        this.set({ outcome }, count)
    },
  })
  new Gauge({
    name: 'mailsonde_blacklist_state',
    help: 'Self-test state of each list: 1 for the current one.',
    labelNames: ['list', 'state'] as const,
    registers,
    async collect() {
      const { blacklists } = await provide(BLACKLISTS)
      this.reset()
      for (const { list, ipv4 } of blacklists.states()) this.set({ list: list.name, state: ipv4.status }, 1)
    },
  })
  new Gauge({
    name: 'mailsonde_blacklist_answers',
    help: 'Answers of each list since startup, by status.',
    labelNames: ['list', 'status'] as const,
    registers,
    async collect() {
      const { blacklists } = await provide(BLACKLISTS)
      for (const { list, answers } of blacklists.states())
        for (const [status, count] of Object.entries(answers)) this.set({ list: list.name, status }, count)
    },
  })
}

/** The gauges of the lane for heavy work. */
function watchLane(registry: Registry, stats: () => LaneStats): void {
  const registers = [registry]
  new Gauge({
    name: 'mailsonde_heavy_jobs',
    help: 'Work of the process for messages and reports since startup: done, or ended by its time, its memory or a fault, not read again (remembered), or refused because too much waited (full).',
    labelNames: ['outcome'] as const,
    registers,
    collect() {
      const { done, ended } = stats()
      for (const [outcome, count] of Object.entries({ done, ...ended })) this.set({ outcome }, count)
    },
  })
  new Gauge({
    name: 'mailsonde_heavy_waiting',
    help: 'Work that waits for its turn in that process.',
    registers,
    collect() {
      this.set(stats().waiting)
    },
  })
}

/** The gauges of verification, jobs, mail and nodes. */
function watchService(registry: Registry, provide: Provide, now: () => number): void {
  const registers = [registry]
  new Gauge({
    name: 'mailsonde_pool_providers',
    help: 'Providers by state of the circuit breaker, for each source address of the pool.',
    labelNames: ['address', 'breaker'] as const,
    registers,
    async collect() {
      const { verifier } = await provide(VERIFIER)
      const pool = await verifier.pool()
      this.reset()
      for (const { address, configured, providers } of pool)
        if (configured) for (const { breaker } of providers) this.inc({ address: address ?? 'default', breaker })
    },
  })
  new Gauge({
    name: 'mailsonde_database_away',
    help: '1 if the database does not answer; 0 if it does, or if it has not been needed yet.',
    registers,
    async collect() {
      const { probes } = await provide(PROBES)
      this.set((await probes.queue(AbortSignal.timeout(PROBE_MS))) === undefined ? 0 : 1)
    },
  })
  const queue = (name: string, help: string, of: (queue: JobQueue) => number): void =>
    void new Gauge({
      name: `mailsonde_jobs_${name}`,
      help,
      registers,
      async collect() {
        const { jobs } = await provide(JOBS)
        const state = await raced(within(PROBE_MS), jobs.queue()).catch(() => undefined)
        if (state) this.set(of(state))
        else this.reset()
      },
    })
  queue('open_rows', 'Rows of running jobs without a result whose provider is known.', ({ openRows }) => openRows)
  queue('due_rows', 'Those of them whose provider has a row that is due.', ({ dueRows }) => dueRows)
  queue('due_seconds', 'How long the first due row has been due.', ({ dueSeconds }) => dueSeconds)
  queue('waiting_providers', 'Providers of running jobs of which no row is due yet.', ({ waiting }) => waiting)
  queue('claimed_rows', 'Rows that this node has claimed.', ({ claimed }) => claimed)
  queue('held_connections', 'Connections to mail hosts that all nodes hold together.', ({ connections }) => connections)
  new Gauge({
    name: 'mailsonde_report_messages',
    help: 'Messages that came for reports since startup, by way in and outcome.',
    labelNames: ['way', 'outcome'] as const,
    registers,
    async collect() {
      const { reportsHere } = await provide(REPORTS)
      for (const { way, taken, unreadable, others, failed } of reportsHere.ways)
        for (const [outcome, count] of Object.entries({ taken, unreadable, others, failed }))
          this.set({ way, outcome }, count)
    },
  })
  new Gauge({
    name: 'mailsonde_peers',
    help: 'Nodes by status.',
    labelNames: ['status'] as const,
    registers,
    async collect() {
      const { peers } = await provide(PEERS)
      for (const status of ['alive', 'suspect', 'dead']) this.set({ status }, 0)
      for (const peer of (await peers.all()).values()) this.inc({ status: statusOf(peer, now(), peers.ttlMs) })
    },
  })
}
