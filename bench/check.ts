import { type Domain, domain } from '../src/names/domain.ts'
import { cached, merged } from '../src/net/dns/wrap.ts'
import { checkDomain } from '../src/operations/check.ts'
import type { Ctx, World } from '../src/world.ts'
import { countedWorld } from '../test/golden/worlds.ts'
import { flags, machine, report } from './figures.ts'
import type { Figure } from './history.ts'

/**
 * What a check costs this machine without the DNS: all records come from the program's own cache, no results of earlier
 * checks are reused, and the answer is serialized to JSON. A domain in order, domains with faults whose fixes are tried,
 * and all in turn. Beside it the processor time of a check with its plan.
 * `node bench/check.ts [--seconds 3]`; `node --cpu-prof bench/check.ts` shows where the time is spent.
 */
const seconds = Number(flags(process.argv.slice(2)).seconds ?? 3)
const DOMAINS = ['healthy.test', 'accept.test', 'neglected.test', 'parked.test', 'manylookups.test'] as const
/** Checks in progress at a time. */
const IN_FLIGHT = 16

const { resolve: behind, ...world } = countedWorld()
const now = (): number => Date.now()
// The wrappers of `openDns`, around answers in memory.
const resolve = cached(merged(behind), { now, maxEntries: 100_000, maxBytes: 32 << 20 })
const askServer: World['askServer'] = async (_, name, type, signal) => ({
  ...(await resolve(name, type, signal)),
  authoritative: true,
})
const deps = { smtpPort: 25, heloName: async () => 'sonde.test' }

const measured: Figure[] = []
console.log(machine())
console.log(
  'domain'.padEnd(20),
  'checks/s'.padStart(9),
  'per CPU-second'.padStart(15),
  'CPU ms'.padStart(8),
  'JSON kB'.padStart(8),
  'plan CPU ms'.padStart(12),
  'plan/check'.padStart(11),
)
for (const name of [...DOMAINS, undefined]) {
  await run(name, 1_000, check)
  const { count, wallMs, cpuMs, bytes } = await quickest(name, check)
  await run(name, 500, plan)
  const planned = await quickest(name, plan)
  const planMs = planned.cpuMs / planned.count
  const figures = [(count / wallMs) * 1_000, (count / cpuMs) * 1_000, cpuMs / count, bytes / count / 1_000]
  const [rate, perCpu, each, size] = figures.map((value) => value.toFixed(value < 100 ? 2 : 0))
  console.log(
    (name ?? 'all in turn').padEnd(20),
    rate!.padStart(9),
    perCpu!.padStart(15),
    each!.padStart(8),
    size!.padStart(8),
    planMs.toFixed(2).padStart(12),
    (planMs / (cpuMs / count)).toFixed(2).padStart(11),
  )
  const what = `checks per CPU-second, DNS answers in memory, ${name ?? 'all domains in turn'}`
  measured.push({ what, value: (count / cpuMs) * 1_000, unit: '/s', ...(name === undefined && { goal: 900 }) })
  if (name === undefined)
    measured.push({
      what: 'checks with their plan per CPU-second, all domains in turn',
      value: 1_000 / planMs,
      unit: '/s',
      goal: 450,
    })
}
report('check', measured)

type Work = (at: Domain, ctx: Ctx) => Promise<object>
function check(at: Domain, ctx: Ctx) {
  return checkDomain(ctx, deps, at, {})
}
function plan(at: Domain, ctx: Ctx) {
  return checkDomain(ctx, deps, at, { plan: true })
}

/** Of three times `seconds` the one with the least processor time: other work on the machine only adds to it. */
async function quickest(only: string | undefined, work: Work) {
  const runs = [await run(only, seconds * 1_000, work)]
  while (runs.length < 3) runs.push(await run(only, seconds * 1_000, work))
  return runs.reduce((least, one) => (one.cpuMs / one.count < least.cpuMs / least.count ? one : least))
}

/** Does the work for one domain, or for all in turn, for the given time. */
async function run(only: string | undefined, ms: number, work: Work) {
  const end = performance.now() + ms
  const before = process.cpuUsage()
  const began = performance.now()
  let count = 0
  let bytes = 0
  async function worker(): Promise<void> {
    while (performance.now() < end) {
      const at = domain(only ?? DOMAINS[count % DOMAINS.length]!)
      count++
      const ctx = { ...world, resolve, askServer, now, signal: AbortSignal.timeout(20_000) }
      bytes += Buffer.byteLength(JSON.stringify(await work(at, ctx)))
      // Every answer is immediate: without a turn of the event loop no timer would fire.
      await new Promise((done) => setImmediate(done))
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  const { user, system } = process.cpuUsage(before)
  return { count, bytes, wallMs: performance.now() - began, cpuMs: (user + system) / 1_000 }
}
