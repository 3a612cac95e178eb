import { readdirSync } from 'node:fs'
import { atMost } from '../src/base/at-most.ts'
import { type Program, startProgram } from '../test/real/program.ts'
import { DOMAINS } from '../test/real/world.ts'
import { flags, machine, residentMiB, sleep } from './figures.ts'
import { insideLab } from './inside-lab.ts'

/**
 * Verifications against every mail host of the test network, normal and hostile, with samples of memory and open
 * sockets: `node bench/soak.ts [--count 20000] [--width 50] [--seconds 360]`. It ends at the count or at the time
 * limit; the slope of the second half shows the growth.
 */
const options = flags(process.argv.slice(2))
const count = Math.min(Number(options.count ?? 20_000), 200_000)
const width = Number(options.width ?? 50)
const seconds = Number(options.seconds ?? 360)
/** Hosts that hold a verification until its deadline; they get few verifications, or nothing else would be measured. */
const SLOW = ['silent', 'dribble', 'silentrcpt', 'deadhost', 'deadfirst', 'slow', 'pregreet'].map(
  (name) => `${name}.test`,
)
const SLOW_EVERY = 200

type Sample = { readonly done: number; readonly residentMiB: number; readonly sockets: number }

const mailboxes = DOMAINS.flatMap(({ name, mailboxes: rows }) => rows.map((row) => ({ name, local: row.local })))
const quick = mailboxes.filter(({ name }) => !SLOW.includes(name))
const slow = mailboxes.filter(({ name }) => SLOW.includes(name))

if (await insideLab()) {
  const program = await startProgram(['--log-level', 'error', '--max-concurrency', String(width * 2)])
  console.log(`${machine()}; ${quick.length} mailboxes, ${slow.length} slow ones, ${width} at a time\n`)
  console.log('| verified | resident MiB | open files | verifications/s |\n|--:|--:|--:|--:|')
  const { samples, results } = await soak(program)
  await sleep(12_000) // until every deadline has passed
  const rest = sample(program, samples.at(-1)!.done)
  console.log(`| at rest | ${rest.residentMiB.toFixed(0)} | ${rest.sockets} | |\n`)
  const half = samples.slice(samples.length >> 1)
  console.log(
    `slope of the second half, per 10,000: ${slope(half, 'residentMiB')} MiB, ${slope(half, 'sockets')} open files`,
  )
  console.log(JSON.stringify(Object.fromEntries([...results].sort((a, b) => b[1] - a[1]))))
  await program.stop()
}

async function soak(program: Program): Promise<{ samples: readonly Sample[]; results: ReadonlyMap<string, number> }> {
  const samples: Sample[] = []
  const results = new Map<string, number>()
  const end = performance.now() + seconds * 1_000
  const step = Math.max(width, Math.ceil(count / 20))
  for (let done = 0; done < count && performance.now() < end; done += step) {
    const begun = performance.now()
    await atMost(
      width,
      Array.from({ length: step }, (_, i) => done + i),
      async (n) => {
        if (performance.now() > end) return
        const reason = await verify(program, n)
        results.set(reason, (results.get(reason) ?? 0) + 1)
      },
    )
    const now = sample(program, done + step)
    samples.push(now)
    const rate = (step * 1_000) / (performance.now() - begun)
    console.log(`| ${now.done} | ${now.residentMiB.toFixed(0)} | ${now.sockets} | ${rate.toFixed(0)} |`)
  }
  return { samples, results }
}

/** Every verification is new. Returns the reason, or the status of an error response. */
async function verify(program: Program, n: number): Promise<string> {
  const isSlow = n % SLOW_EVERY === 0
  const { name, local } = isSlow ? slow[(n / SLOW_EVERY) % slow.length]! : quick[n % quick.length]!
  const email = encodeURIComponent(`${local}@${name}`)
  const { status, body } = await program.get(`/v1/verify?email=${email}&max_age=1ms&timeout=3s`)
  return status === 200 ? String((body as { reason: string }).reason) : `HTTP ${status}`
}

function sample({ pid }: Program, done: number): Sample {
  return { done, residentMiB: residentMiB(pid).now, sockets: readdirSync(`/proc/${pid}/fd`).length }
}

/** Growth per 10,000 verifications, by least squares. */
function slope(samples: readonly Sample[], of: 'residentMiB' | 'sockets'): string {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(samples.map(({ done }) => done)), mean(samples.map((one) => one[of]))]
  const over = samples.reduce((sum, one) => sum + (one.done - x) * (one[of] - y), 0)
  const under = samples.reduce((sum, one) => sum + (one.done - x) ** 2, 0)
  return under === 0 ? '0' : ((over / under) * 10_000).toFixed(1)
}
