import type { JobAnswer } from '../src/answers/jobs.ts'
import { REFUSING_HOST } from '../test/real/addresses.ts'
import { type DebianPostgres, startPostgres } from '../test/real/chaos/postgres.ts'
import { withDelay } from '../test/real/delay/delay.ts'
import { dataFolder, type Machine, type Node, plugIn, startNode, unplug } from '../test/real/nodes.ts'
import { runTool } from '../test/real/processes.ts'
import { figures, flags, machine, median, sleep, table } from './figures.ts'
import { insideLab } from './inside-lab.ts'
import { startSink } from './smtp-sink.ts'

/**
 * Three nodes compared with one when mail hosts are the limit: the host answers after 40 ms and accepts ten sessions
 * per address at a time, so each node adds the capacity of its address.
 * `node bench/jobs-nodes.ts [--rows 3000] [--delay 40] [--sessions 10] [--rounds 2] [--write yes]`, in the test
 * network: nodes in network namespaces, Debian's PostgreSQL, one smtp-sink for each address, all on one machine.
 * `--rows`: rows for one node; three nodes get three times as many.
 */
const options = flags(process.argv.slice(2))
const rows = Number(options.rows ?? 3_000)
const delayMs = Number(options.delay ?? 40)
const sessions = Number(options.sessions ?? 10)
const rounds = Number(options.rounds ?? 2)
const GOAL = 2.5
const MACHINES: readonly Machine[] = [1, 2, 3].map((n) => ({ name: `bench${n}`, addresses: [`45.53.3.4${n}`] }))
const addressOf = ({ addresses }: Machine): string => addresses[0]!
/** Each machine's sink has its own port, to which port 25 of the host is redirected. */
const portOf = (n: number): number => 2_500 + n

if (await insideLab()) {
  const postgres = await startPostgres()
  const stops: (() => unknown)[] = [() => postgres.stop()]
  try {
    for (const [n, one] of MACHINES.entries()) {
      plugIn(one)
      stops.unshift(() => unplug(one))
      const sink = await startSink(REFUSING_HOST, portOf(n), ['-m', String(sessions)])
      stops.unshift(sink.stop)
      const match = ['-s', addressOf(one), '-d', REFUSING_HOST, '-p', 'tcp', '--dport', '25']
      const to = ['-j', 'DNAT', '--to-destination', `${REFUSING_HOST}:${portOf(n)}`]
      await runTool('iptables', ['-w', '-t', 'nat', '-A', 'PREROUTING', ...match, ...to])
    }
    // Only the host's half of a round trip leaves this namespace.
    await withDelay(2 * delayMs, [REFUSING_HOST], () => measure(postgres))
  } finally {
    for (const stop of stops) await stop()
  }
}

async function measure(postgres: DebianPostgres): Promise<void> {
  const start = (one: Machine): Promise<Node> =>
    startNode(one, { data: dataFolder(), flags: ['--database-url', postgres.url, '--pool', addressOf(one)] })
  const measured: { readonly one: number; readonly three: number }[] = []
  const first = await start(MACHINES[0]!)
  const nodes = [first]
  try {
    await through(first, 50, 'warm') // detects that the domain is a catch-all
    for (let round = 0; round < rounds; round++) {
      const one = await through(first, rows, `one${round}-`)
      for (const other of MACHINES.slice(1)) nodes.push(await start(other))
      await through(first, 600, `new${round}-`) // warms up the others too
      const three = await through(first, 3 * rows, `three${round}-`)
      for (const other of nodes.splice(1)) await other.end('SIGTERM')
      console.log(`${one.toFixed(1)} ${three.toFixed(1)}`)
      measured.push({ one, three })
    }
  } finally {
    for (const node of nodes) await node.end('SIGTERM')
  }
  figures('jobs-nodes', [
    `Three nodes do ${median(measured.map(({ one, three }) => three / one)).toFixed(2)} times what one does, where mail hosts are the limit: they answer after ${delayMs} ms and accept ${sessions} sessions of an address (goal ${GOAL}).`,
    table(
      ['one node, rows/s', 'three nodes, rows/s', 'ratio'],
      measured.map(({ one, three }) => [one.toFixed(1), three.toFixed(1), (three / one).toFixed(2)]),
    ),
    `${rows} rows for one node, ${3 * rows} for three; ${machine()}.`,
  ])
}

/** Submits a list and waits for its end; returns rows per second between submission and end. */
async function through({ id: name, url, get }: Node, n: number, prefix: string): Promise<number> {
  const body = Array.from({ length: n }, (_, i) => `${prefix}${i}@refusedhost.test`).join('\n')
  const headers = { authorization: `Bearer key-of-${name}`, 'content-type': 'text/plain' }
  const response = await fetch(`${url}/v1/jobs`, { method: 'POST', body, headers })
  const { id } = (await response.json()) as JobAnswer
  let job: JobAnswer
  do {
    await sleep(500)
    job = (await get(`/v1/jobs/${id}`)).body as JobAnswer
  } while (job.state !== 'done')
  if (job.counts.catch_all !== n) console.log(`not all were answered alike: ${JSON.stringify(job.reasons)}`)
  return (n * 1_000) / (Date.parse(job.finished_at ?? '') - Date.parse(job.created_at))
}
