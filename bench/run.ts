import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureMachine } from '../test/real/packages.ts'

/**
 * `npm run bench`: every benchmark that can run on this machine, one after the other, and the reason why others cannot.
 * `npm run bench -- server waits` runs some. Each is also a command (`node bench/server.ts`), with the options in its
 * first lines. The results are entered in bench/history.ndjson, contributing/benchmarks.md and the documents; those of
 * one command with `--write yes`.
 */
type Bench = {
  readonly name: string
  readonly shows: string
  readonly needs?: 'knotd' | 'test network'
  readonly args?: readonly string[]
}

const BENCHES: readonly Bench[] = [
  { name: 'server', shows: 'startup and fastest request, compared with bare fastify' },
  { name: 'check', shows: 'checks per second, with all DNS answers in memory' },
  { name: 'commands', shows: 'whole commands, built and from the sources', needs: 'test network' },
  { name: 'documents', shows: 'rendering a report as HTML, Markdown and on a terminal' },
  {
    name: 'dns',
    shows: 'the DNS client compared with dns-packet, c-ares and dnsperf',
    needs: 'knotd',
    args: ['--seconds', '3'],
  },
  { name: 'waits', shows: 'round trips of each question', needs: 'test network' },
  {
    name: 'blacklist',
    shows: '29 lists, compared with check_rbl and rblcheck',
    needs: 'test network',
    args: ['--rounds', '3'],
  },
  { name: 'jobs-intake', shows: 'rows per second of an intake, and its memory' },
  { name: 'jobs-results', shows: 'rows per second of results' },
  { name: 'walls', shows: 'health and memory beside attacks of one caller', args: ['--seconds', '10', '--rest', '30'] },
  { name: 'jobs-rest', shows: 'starts of the private database, and its memory with the service at rest' },
  {
    name: 'jobs-many',
    shows: 'listing jobs and showing progress with many rows',
    args: ['--rows', '1000000', '--jobs', '100'],
  },
  { name: 'jobs-store', shows: 'the time of the statements that work on rows' },
  { name: 'jobs-fair', shows: 'turns of providers and jobs', args: ['--rows', '100000'] },
  { name: 'jobs-nodes', shows: 'three nodes compared with one, limited by mail hosts', needs: 'test network' },
  {
    name: 'jobs-through',
    shows: 'a bulk job compared with the engine alone, and its first result',
    needs: 'test network',
  },
  { name: 'peers', shows: 'SPF, mailboxes and whole commands beside other programs', needs: 'test network' },
  { name: 'smtp', shows: 'verifications per second', needs: 'test network' },
  { name: 'load', shows: 'the service under load', needs: 'test network' },
  { name: 'memory', shows: 'resident memory after 10,000 checks', needs: 'test network' },
  { name: 'pages', shows: 'first paint and bytes of each page', needs: 'test network', args: ['--rounds', '3'] },
  {
    name: 'monitors',
    shows: '10,000 monitors at rest and due at once, and the history of one',
    args: ['--points', '30'],
  },
  { name: 'reports', shows: 'rows per second of a report, its memory, and a look at a year of them' },
  { name: 'message', shows: 'the analysis of a message beside mailauth, and its memory' },
  { name: 'message-receive', shows: 'messages per second over SMTP' },
  { name: 'rows', shows: 'scrolling through a million rows in a browser', args: ['--pages', '20'] },
  { name: 'soak', shows: 'memory and sockets over verifications', needs: 'test network', args: ['--seconds', '120'] },
]

const wanted = process.argv.slice(2)
const stranger = wanted.find((name) => !BENCHES.some((bench) => bench.name === name))
if (stranger !== undefined) {
  console.error(`there is no benchmark ${stranger}: ${BENCHES.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
let failed = 0
for (const bench of BENCHES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  console.log(`\n## ${bench.name}: ${bench.shows}\n`)
  const wanting = missing(bench)
  if (wanting !== undefined) console.log(`skipped: ${wanting}`)
  else if ((await run(bench)) !== 0) failed++
}
if (failed > 0) console.error(`${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

/** What this machine lacks for a benchmark; undefined: nothing. */
function missing({ needs }: Bench): string | undefined {
  if (needs === 'knotd') {
    const { error } = spawnSync('knotd', ['--version'], {
      env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    })
    return error ? 'knotd is not installed (Debian package knot)' : undefined
  }
  if (needs !== 'test network') return undefined
  const able = ensureMachine()
  return able === 'ready' ? undefined : able.wanting
}

function run({ name, args = [] }: Bench): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...args], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_WRITE: 'yes' },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (code) => resolve(code ?? 1))
  })
}
