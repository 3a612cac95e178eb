import { fork } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { Pool } from 'undici'
import { startProgram } from '../test/real/program.ts'
import { flags, machine, median, sleep } from './figures.ts'
import { insideLab } from './inside-lab.ts'

/**
 * `serve --workers 2` beside one process, in turns: `node bench/workers.ts [--rounds 3] [--seconds 8] [--connections 64]`.
 * Checks of one domain, whose DNS answers are in memory, from a process of its own; meanwhile `/v1/health` is asked
 * every 10 ms. The load takes a part of the two cores of a small machine, so the ratio is below that of the service.
 */
const options = flags(process.argv.slice(2))
const [rounds, seconds, connections] = [
  Number(options.rounds ?? 3),
  Number(options.seconds ?? 8),
  Number(options.connections ?? 64),
]
const PATH = '/v1/check?domain=accept.test'
const HEALTH_EVERY_MS = 10

type Measured = { readonly perSecond: number; readonly healthMs: number; readonly refused: number }

if (process.send && options.url !== undefined) await load(options.url)
else if (await insideLab()) await compare()

async function compare(): Promise<void> {
  console.log(`${machine()}\n`)
  const seen: Record<1 | 2, Measured[]> = { 1: [], 2: [] }
  for (let round = 0; round < rounds; round++)
    for (const workers of [1, 2] as const) seen[workers].push(await measure(workers))
  const of = (workers: 1 | 2, what: keyof Measured): number => median(seen[workers].map((one) => one[what]))
  console.log('| processes | checks a second | health p99, ms | not answered with 200 |\n|---|--:|--:|--:|')
  for (const workers of [1, 2] as const)
    console.log(
      `| ${workers} | ${of(workers, 'perSecond').toFixed(0)} | ${of(workers, 'healthMs').toFixed(1)} | ${of(workers, 'refused')} |`,
    )
  console.log(
    `| **two / one** (goal 1.7; health 50) | **${(of(2, 'perSecond') / of(1, 'perSecond')).toFixed(2)}** | | |`,
  )
}

async function measure(workers: number): Promise<Measured> {
  const program = await startProgram(['--workers', String(workers)])
  const pool = new Pool(program.url, { connections: 8 })
  for (let n = 0; n < 400; n++) await (await pool.request({ path: PATH, method: 'GET' })).body.dump()
  await pool.close()
  const health: number[] = []
  const child = fork(import.meta.filename, [
    '--url',
    program.url,
    '--seconds',
    String(seconds),
    '--connections',
    String(connections),
  ])
  const told = new Promise<{ readonly answered: number; readonly refused: number }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { answered: number; refused: number }))
    child.once('exit', (code) => reject(new Error(`the load ended with ${code}`)))
  })
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until) {
    const begun = performance.now()
    await program.get('/v1/health')
    health.push(performance.now() - begun)
    await sleep(HEALTH_EVERY_MS)
  }
  const { answered, refused } = await told
  await program.stop()
  const sorted = health.toSorted((a, b) => a - b)
  return { perSecond: answered / seconds, healthMs: sorted[Math.floor(sorted.length * 0.99)] ?? 0, refused }
}

/** In a process of its own: as many checks as are answered. */
async function load(url: string): Promise<void> {
  const pool = new Pool(url, { connections, pipelining: 1 })
  let [answered, refused] = [0, 0]
  const until = performance.now() + seconds * 1_000
  const one = async (): Promise<void> => {
    while (performance.now() < until) {
      const { statusCode, body } = await pool.request({ path: PATH, method: 'GET' })
      await body.dump()
      if (statusCode === 200) answered++
      else refused++
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  await pool.close()
  process.send!({ answered, refused })
  process.disconnect()
}
