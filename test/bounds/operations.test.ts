import { z } from 'zod'
import { domain } from '../../src/names/domain.ts'
import { type Ip, ip } from '../../src/names/ip.ts'
import { FetchError } from '../../src/net/fetch.ts'
import { DialError } from '../../src/net/smtp/dial.ts'
import type { Deps } from '../../src/operations/deps.ts'
import { type By, type Execute, inParts } from '../../src/operations/execute.ts'
import { health } from '../../src/operations/health.ts'
import type { Raw } from '../../src/operations/operation.ts'
import { readOverlay } from '../../src/operations/overlay-input.ts'
import { report } from '../../src/operations/report.ts'
import { verify } from '../../src/operations/verify.ts'
import type { Peer } from '../../src/peers/peer.ts'
import { fromVantages } from '../../src/peers/vantage.ts'
import { verifyElsewhere } from '../../src/peers/verify-elsewhere.ts'
import { answerTo, exampleOf } from '../lab/answer.ts'
import { labDeps, labExecutor, labPool } from '../lab/app.ts'
import { labProblem } from '../lab/problem.ts'
import { labCtx, labWorld } from '../lab/world.ts'
import { isTaken, meter, testBounds, times } from './table.ts'

/** Bounds of operations: what one request reads, asks, remembers and does at the same time. */
const A = domain('a.example')
const addressOf = (i: number): Ip => ip(`45.53.${i >> 8}.${i & 255}`)
const away = {
  dial: async (host: unknown) => Promise.reject(new DialError('timeout', labProblem(String(host)))),
  fetch: async () => Promise.reject(new FetchError('timeout', labProblem('no answer in time'))),
}

/** Nodes that are alive; each call of one fails after it was counted. */
function nodes(n: number, called: () => Promise<void>): Deps['peers'] {
  const { peers } = labDeps(labWorld())
  const all = new Map(times(n, (i) => [`n${i}`, node(i)] as const))
  const call = async () =>
    called().then(() => Promise.reject(new FetchError('connect', labProblem('it does not answer'))))
  return { ...peers, all: async () => all, choose: async () => [...all.values()], ask: call, tell: call }
}
const node = (i: number): Peer => ({
  ...{ id: `n${i}`, url: `https://n${i}.example`, name: '', region: '', addresses: [addressOf(i)], version: '0' },
  ...{ capabilities: ['verify', 'check'], load: undefined, registeredAtMs: 0, lastSeenAtMs: labWorld().now() },
})

/** Lookups of a report about a domain whose mail host has `n` addresses, or of a pool of as many. */
async function reportLookups(n: number, of: 'mx' | 'pool'): Promise<{ readonly calls: number; readonly most: number }> {
  const { run, most } = meter()
  const hosts = times(2, (i) => `mx${i}.example`)
  const half = (i: number): Ip[] => times(n, addressOf).filter((_, at) => at % 2 === i)
  const zone =
    of === 'pool'
      ? {}
      : {
          'a.example': { MX: hosts.map((host, i) => [i, host] as [number, string]) },
          ...Object.fromEntries(hosts.map((host, i) => [host, { A: half(i) }])),
        }
  const ctx = labCtx(zone, away)
  const deps = labDeps(ctx)
  let calls = 0
  const lookup: typeof deps.blacklists.lookup = async (...asked) => {
    calls++
    await run()
    return deps.blacklists.lookup(...asked)
  }
  const sourcePool = labPool(ctx, deps.blacklists, of === 'pool' ? times(n, addressOf) : [])
  await answerTo(report, ctx, { ...deps, blacklists: { ...deps.blacklists, lookup }, sourcePool }, { domain: A })
  return { calls, most: most() }
}

/** Parts that are told to a reader who comes late. */
async function partsTold(n: number): Promise<number> {
  const { lines } = labExecutor(labWorld(), labDeps(labWorld()))
  const run = async (_operation: unknown, _raw: Raw, by: By): Promise<never> => {
    for (const i of Array(n).keys()) by.onPart?.({ check: `c${i}` })
    throw new Error('the parts are enough')
  }
  const execute: Execute = Object.assign(run, { lines })
  let told = 0
  for await (const one of inParts(execute, health, {}, {})) if (one.kind === 'part') told++
  return told
}

const zone = (n: number): string => times(n, (i) => `n${i} A 192.0.2.1`).join('\n')
const more = [{ name: '@', type: 'A', value: '192.0.2.1' }]

async function nodesAsked(n: number): Promise<number> {
  let asked = 0
  const peers = nodes(n, async () => void asked++)
  const answer = z.object({ verdict: z.string() })
  const own = async () => ({ verdict: 'x' })
  const [verdict, subject] = [() => 'x', () => 'x']
  const question = { path: '/v1/x', schema: answer, query: {}, timeoutMs: 1_000, needs: [], subject, verdict }
  await fromVantages(labCtx(), peers, 'all', { ...question, add: (one) => one }, own)
  return asked
}
async function nodesThatVerify(n: number): Promise<number> {
  let asked = 0
  const ctx = labCtx()
  const deps = { ...labDeps(ctx), peers: nodes(n, async () => void asked++) }
  const email = 'joe@a.example'
  const elsewhere = { peer: 'auto', email, pool: false, query: () => ({ email }), timeoutMs: 100_000 }
  await verifyElsewhere(ctx, deps, elsewhere, async () => exampleOf(verify))
  return asked
}

testBounds([
  ['src/operations/execute.ts MAX_WAITING', 200, async (n) => (await partsTold(n)) === n],
  ['src/operations/overlay-input.ts MAX_RECORDS', 5_000, (n) => isTaken(() => readOverlay(A, more, zone(n - 1)))],
  ['src/operations/overlay-input.ts MAX_BYTES', 512_000, (n) => isTaken(() => readOverlay(A, [], zone(1).padEnd(n)))],
  ['src/operations/report.ts MAX_ADDRESSES', 20, async (n) => (await reportLookups(n, 'mx')).calls === n],
  ['src/peers/vantage.ts MAX_NODES', 8, async (n) => (await nodesAsked(n)) === n],
  ['src/peers/verify-elsewhere.ts MAX_NODES', 3, async (n) => (await nodesThatVerify(n)) === n],
  // The same bounds for the addresses of the pool.
  ['src/operations/report.ts MAX_ADDRESSES', 20, async (n) => (await reportLookups(n, 'pool')).calls === n],
])
