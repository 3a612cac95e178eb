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
export type Metrics = ReturnType<typeof createMetrics>

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** How often the lag of the event loop is measured, ms: each time wakes the process, also at rest. */
const LAG_EVERY_MS = 100

/** The metrics of one service, including those of Node.js. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS })
  const counter = <const Label extends string>(name: string, help: string, ...labelNames: readonly Label[]) =>
    new Counter({ name: `mailsonde_${name}`, help, labelNames, registers })
  const requests = counter('requests_total', 'Responses by path and HTTP status.', 'path', 'status')
  const executions = counter(
    'operations_total',
    'Operations executed by name and outcome: answered, or the code of the problem.',
    'operation',
    'outcome',
  )
  const questions = counter(
    'dns_questions_total',
    'Queries to the resolvers, by type and outcome; cached answers are not counted.',
    'type',
    'outcome',
  )
  const packets = counter('dns_events_total', 'Events of the DNS client, by kind.', 'event')
  const smtp = counter(
    'smtp_attempts_total',
    'SMTP sessions with mail hosts, by provider and outcome.',
    'provider',
    'outcome',
  )
  const results = counter('verifications_total', 'Verifications by result.', 'result')
  const durations = new Histogram({
    name: 'mailsonde_request_duration_seconds',
    help: 'Response time, by path.',
    labelNames: ['path'] as const,
    buckets: SECONDS,
    registers,
  })
  return {
    answered: ({ path, status, ms }: { readonly path: string; readonly status: number; readonly ms: number }): void => {
      requests.inc({ path, status })
      durations.observe({ path }, ms / 1_000)
    },
    executed: ({ operation, outcome }: Executed) => executions.inc({ operation, outcome }),
    onDns: (event: DnsEvent): void => {
      if (event.event === 'question') questions.inc({ type: event.type, outcome: event.outcome })
      else packets.inc({ event: event.event })
    },
    verified: ({ result, cached, attempts, provider = 'other' }: Verification): void => {
      results.inc({ result })
      if (!cached) for (const { reason } of attempts) smtp.inc({ provider, outcome: reason })
    },
    /** Registers the gauges that are read when `/metrics` is requested. */
    watch: (provide: Provide, now: () => number, underWay: () => number, lane: () => LaneStats): void => {
      for (const [name, help, labelNames, read] of gaugesOf(provide, now, underWay, lane))
        new Gauge<string>({
          ...{ name: `mailsonde_${name}`, help, labelNames, registers },
          collect() {
            return read(this)
          },
        })
    },
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}

/** A gauge: its name, what it means, its labels, and what sets it when it is read. */
type GaugeRow = readonly [
  name: string,
  help: string,
  labels: readonly string[],
  read: (gauge: Gauge<string>) => void | Promise<void>,
]

/** Time limit for the database during a scrape, ms. */
const PROBE_MS = 1_000

/** One value for each of these outcomes. */
const setEach = (gauge: Gauge<string>, counts: Readonly<Record<string, number>>, labels = {}): void => {
  for (const [outcome, count] of Object.entries(counts)) gauge.set({ ...labels, outcome }, count)
}

/** The gauges of a service. What they read is created with the first scrape. */
const gaugesOf = (
  provide: Provide,
  now: () => number,
  underWay: () => number,
  lane: () => LaneStats,
): readonly GaugeRow[] => [
  ['requests_under_way', 'Requests in progress.', [], (gauge) => gauge.set(underWay())],
  [
    'reports',
    'Reports since startup, over all ways in: stored or already there, refused, and failure reports, which are not kept.',
    ['outcome'],
    async (gauge) => {
      const { reportsHere } = await provide(['reportsHere'])
      const { reports, refused, failureReports } = reportsHere.counted()
      setEach(gauge, { stored: reports, refused, failure: failureReports })
    },
  ],
  [
    'report_messages',
    'Messages that came for reports since startup, by way in and outcome.',
    ['way', 'outcome'],
    async (gauge) => {
      const { reportsHere } = await provide(['reportsHere'])
      for (const { way, taken, unreadable, others, failed } of reportsHere.ways)
        setEach(gauge, { taken, unreadable, others, failed }, { way })
    },
  ],
  [
    'blacklist_state',
    'Self-test state of each list: 1 for the current one.',
    ['list', 'state'],
    async (gauge) => {
      const { blacklists } = await provide(['blacklists'])
      gauge.reset()
      for (const { list, ipv4 } of blacklists.states()) gauge.set({ list: list.name, state: ipv4.status }, 1)
    },
  ],
  [
    'blacklist_answers',
    'Answers of each list since startup, by status.',
    ['list', 'status'],
    async (gauge) => {
      const { blacklists } = await provide(['blacklists'])
      for (const { list, answers } of blacklists.states())
        for (const [status, count] of Object.entries(answers)) gauge.set({ list: list.name, status }, count)
    },
  ],
  [
    'heavy_jobs',
    'Work of the process for messages and reports since startup: done, or ended by its time, its memory or a fault, not read again (remembered), or refused because too much waited (full).',
    ['outcome'],
    (gauge) => {
      const { done, ended } = lane()
      setEach(gauge, { done, ...ended })
    },
  ],
  ['heavy_waiting', 'Work that waits for its turn in that process.', [], (gauge) => gauge.set(lane().waiting)],
  [
    'pool_providers',
    'Providers by state of the circuit breaker, for each source address of the pool.',
    ['address', 'breaker'],
    async (gauge) => {
      const { verifier } = await provide(['verifier'])
      const pool = await verifier.pool()
      gauge.reset()
      for (const { address, configured, providers } of pool)
        if (configured) for (const { breaker } of providers) gauge.inc({ address: address ?? 'default', breaker })
    },
  ],
  [
    'database_away',
    '1 if the database does not answer; 0 if it does, or if it has not been needed yet.',
    [],
    async (gauge) => {
      const { probes } = await provide(['probes'])
      gauge.set((await probes.queue(AbortSignal.timeout(PROBE_MS))) === undefined ? 0 : 1)
    },
  ],
  ...QUEUE.map(
    ([name, help, of]): GaugeRow => [
      `jobs_${name}`,
      help,
      [],
      async (gauge) => {
        const { jobs } = await provide(['jobs'])
        const state = await raced(within(PROBE_MS), jobs.queue()).catch(() => undefined)
        if (state) gauge.set(of(state))
        else gauge.reset()
      },
    ],
  ),
  [
    'peers',
    'Nodes by status.',
    ['status'],
    async (gauge) => {
      const { peers } = await provide(['peers'])
      for (const status of ['alive', 'suspect', 'dead']) gauge.set({ status }, 0)
      for (const peer of (await peers.all()).values()) gauge.inc({ status: statusOf(peer, now(), peers.ttlMs) })
    },
  ],
]

const QUEUE: readonly (readonly [name: string, help: string, of: (queue: JobQueue) => number])[] = [
  ['open_rows', 'Rows of running jobs without a result whose provider is known.', ({ openRows }) => openRows],
  ['due_rows', 'Those of them whose provider has a row that is due.', ({ dueRows }) => dueRows],
  ['due_seconds', 'How long the first due row has been due.', ({ dueSeconds }) => dueSeconds],
  ['waiting_providers', 'Providers of running jobs of which no row is due yet.', ({ waiting }) => waiting],
  ['claimed_rows', 'Rows that this node has claimed.', ({ claimed }) => claimed],
  ['held_connections', 'Connections to mail hosts that all nodes hold together.', ({ connections }) => connections],
]
