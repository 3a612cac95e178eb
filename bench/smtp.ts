import { execFile, fork } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withDelay } from '../test/real/delay/delay.ts'
import { flags, machine, median, report, sleep, V8_FLAGS } from './figures.ts'
import type { Figure } from './history.ts'
import { insideLab } from './inside-lab.ts'
import { type Sink, startSink } from './smtp-sink.ts'
import type { Figures, Job } from './smtp-worker.ts'

/**
 * Verifications per second against smtp-sink, each over its own connection and over reused sessions; smtp-sink counts
 * the connections.
 * `node bench/smtp.ts [--rounds 3] [--count 6000] [--delay 40] [--warm 12000] [--cpu-prof FOLDER]
 * [--only near|far|many]`. First without delay, compared with smtp-source in the same rounds; then with the sink
 * `--delay` ms away; then 10,000 at once, each of which waits for its RCPT. A program in JavaScript is compiled while it
 * works: as in the million rows of a list, it has done `--warm` verifications before; the first ones of a process are
 * measured apart.
 */
const options = flags(process.argv.slice(2))
const rounds = Number(options.rounds ?? 3)
const count = Number(options.count ?? 6_000)
const delayMs = Number(options.delay ?? 40)
const warmUp = Number(options.warm ?? 12_000)
const WIDTH = 100
/**
 * Round trips of a verification here: connect, banner, EHLO, MAIL and RCPT in one batch; none for the DNS or a made-up
 * mailbox.
 */
const WAITS = 4
const SINK = '45.53.9.25'
const run = promisify(execFile)
const measured: Figure[] = []

type Measured = { readonly perSecond: number; readonly connections: number; readonly figures?: Figures }

if (await insideLab()) {
  console.log(`${machine()}\n`)
  const parts = { near: withoutDelay, far: farAway, many: manyAtOnce }
  for (const [part, measure] of Object.entries(parts))
    if (options.only === undefined || options.only === part) await measure()
  report('smtp', measured)
}

async function withoutDelay(): Promise<void> {
  const sink = await startSink(SINK, 25)
  const kinds: Readonly<Record<string, () => Promise<Measured>>> = {
    'ours, a connection each': () => ours(sink, { reuse: false, width: WIDTH, count, warmUp }),
    'bare Node, a connection each': () => bare(sink, { reuse: false, width: WIDTH, count, warmUp }),
    'smtp-source, a connection each': () => source(sink, []),
    'ours, sessions used again': () => ours(sink, { reuse: true, width: WIDTH, count: count * 2, warmUp }),
    'bare Node, sessions used again': () => bare(sink, { reuse: true, width: WIDTH, count: count * 2, warmUp }),
    'smtp-source, sessions used again': () => source(sink, ['-d'], count * 2),
    'ours, the first of a process': () => ours(sink, { reuse: false, width: WIDTH, count }),
  }
  const seen = new Map<string, Measured[]>(Object.keys(kinds).map((kind) => [kind, []]))
  for (let round = 0; round < rounds; round++)
    for (const [kind, measure] of Object.entries(kinds)) seen.get(kind)!.push(await measure())
  await sink.stop()
  console.log(`no delay, ${WIDTH} in flight, median of ${rounds}:\n`)
  console.log('| who | a second | connections, with the warm-up | µs of program + kernel each |\n|---|--:|--:|--:|')
  for (const [kind, all] of seen) console.log(row(kind, all))
  const middle = (kind: string): number => median(seen.get(kind)!.map(({ perSecond }) => perSecond))
  for (const [how, goal] of [
    ['a connection each', 0.5],
    ['sessions used again', 0.4],
  ] as const) {
    const value = middle(`ours, ${how}`)
    const what = `verifications, ${WIDTH} in flight, ${how}`
    for (const [who, theirs] of [
      ['smtp-source', middle(`smtp-source, ${how}`)],
      ['bare Node', middle(`bare Node, ${how}`)],
    ] as const) {
      console.log(`| **ours / ${who}**, ${how} | **${(value / theirs).toFixed(2)}** | | |`)
      const beside = { who: who === 'bare Node' ? 'bare net.Socket' : 'smtp-source (C)', value: theirs }
      measured.push({ what, value, unit: '/s', ...(who === 'smtp-source' && { goal }), beside })
    }
  }
}

async function farAway(): Promise<void> {
  const sink = await startSink(SINK, 25)
  const most = WIDTH / ((WAITS * delayMs) / 1_000)
  const fresh = { reuse: false, width: WIDTH, count: Math.round(most * 6), warmUp: Math.round(most * 4) }
  const again = { reuse: true, width: WIDTH, count: Math.round(most * 18), warmUp: Math.round(most * 8) }
  const seen = await withDelay(delayMs, [`${SINK}/32`], async () => ({
    fresh: await several(() => ours(sink, fresh)),
    again: await several(() => ours(sink, again)),
  }))
  await sink.stop()
  console.log(
    `\n${delayMs} ms away, ${WIDTH} in flight; ${WIDTH} / (${WAITS} waits × ${delayMs} ms) = ${most.toFixed(0)}:\n`,
  )
  console.log('| who | a second | connections | µs of program + kernel each | of that |\n|---|--:|--:|--:|--:|')
  for (const [kind, all, goal] of [
    ['a connection each', seen.fresh, 95],
    ['sessions used again', seen.again, 330],
  ] as const) {
    const value = (median(all.map((one) => one.perSecond)) / most) * 100
    console.log(`${row(kind, all)} ${value.toFixed(0)} % |`)
    const what = `verifications ${delayMs} ms away, ${kind}, of connections / waits`
    measured.push({ what, value, unit: '%', goal })
  }
}

/** With V8's default heap settings, and with those of the unit file. */
async function manyAtOnce(): Promise<void> {
  for (const smallHeap of [false, true]) {
    const sink = await startSink(SINK, 25, ['-W', 'RCPT:5'])
    const { figures, connections } = await ours(
      sink,
      { reuse: false, width: 10_000, count: 10_000 },
      smallHeap ? V8_FLAGS : [],
    )
    await sink.stop()
    const [mib, heap] = [figures!.highestMiB.toFixed(0), smallHeap ? 'as the unit has it' : 'of V8’s own size']
    console.log(`\n10,000 in flight, heap ${heap}: ${connections} connections, at most ${mib} MiB resident`)
    const what = '10,000 verifications in flight, highest resident set'
    if (smallHeap) measured.push({ what, value: figures!.highestMiB, unit: 'MiB', goal: 350, isLessBetter: true })
    if (smallHeap) continue
    const other = await startSink(SINK, 25, ['-W', 'RCPT:5'])
    const { figures: least } = await bare(other, { reuse: false, width: 10_000, count: 10_000 })
    await other.stop()
    console.log(`\n10,000 in flight, bare Node: at most ${least!.highestMiB.toFixed(0)} MiB resident`)
  }
}

async function several(measure: () => Promise<Measured>): Promise<Measured[]> {
  const all: Measured[] = []
  for (let round = 0; round < rounds; round++) all.push(await measure())
  return all
}

async function ours(sink: Sink, job: Omit<Job, 'address' | 'port'>, v8: readonly string[] = []): Promise<Measured> {
  const before = sink.sessions()
  const figures = await work('smtp-worker.ts', { ...job, address: sink.address, port: sink.port }, v8)
  const answered = Object.values(figures.answers).reduce((sum, n) => sum + n, 0)
  const told = figures.answers['catch_all accept_all'] ?? 0
  if (told !== answered) console.log(`not all were answered: ${JSON.stringify(figures.answers)}`)
  await sleep(300)
  return { perSecond: job.count / figures.wallSeconds, connections: sink.sessions() - before, figures }
}

/** Node's sockets with nothing around them: what a program in JavaScript can reach at most. */
async function bare(sink: Sink, job: Omit<Job, 'address' | 'port'>): Promise<Measured> {
  const before = sink.sessions()
  const figures = await work('bare-smtp.ts', { ...job, address: sink.address, port: sink.port })
  await sleep(300)
  return { perSecond: job.count / figures.wallSeconds, connections: sink.sessions() - before, figures }
}

function work(file: string, job: Job, v8: readonly string[] = []): Promise<Figures> {
  const profile = options['cpu-prof'] ? ['--cpu-prof', `--cpu-prof-dir=${options['cpu-prof']}`] : []
  const execArgv = [...v8, ...profile]
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, file), [JSON.stringify(job)], { execArgv })
    let figures: Figures | undefined
    child.on('message', (message) => {
      figures = message as Figures
    })
    child.on('error', reject)
    child.on('exit', (code) => (figures ? resolve(figures) : reject(new Error(`the worker ended with ${code}`))))
  })
}

/** smtp-source(1), written in C, also sends DATA and a message of one octet. */
async function source(sink: Sink, args: readonly string[], messages = count): Promise<Measured> {
  const before = sink.sessions()
  const begun = performance.now()
  const all = ['-s', String(WIDTH), '-m', String(messages), '-l', '1', '-f', 'a@bench.example', '-t', 'b@sink.example']
  await run('/usr/sbin/smtp-source', [...all, ...args, `${sink.address}:${sink.port}`])
  const perSecond = (messages * 1_000) / (performance.now() - begun)
  await sleep(300)
  return { perSecond, connections: sink.sessions() - before }
}

function row(kind: string, all: readonly Measured[]): string {
  const used = all.flatMap(({ figures }) => figures ?? [])
  const each = (of: (one: Figures) => number): string =>
    median(used.map((one) => (of(one) * 1e6) / Object.values(one.answers).reduce((sum, n) => sum + n, 0))).toFixed(0)
  const cpu = used.length === 0 ? '' : `${each((one) => one.userSeconds)} + ${each((one) => one.systemSeconds)}`
  const connections = median(all.map((one) => one.connections)).toFixed(0)
  return `| ${kind} | ${median(all.map((one) => one.perSecond)).toFixed(0)} | ${connections} | ${cpu} |`
}
