import { z } from 'zod'
import { remembering, repeatable } from '../../src/checks/repeatable.ts'
import { mergeGeo } from '../../src/geo/record.ts'
import { domain } from '../../src/names/domain.ts'
import { type Ip, ip } from '../../src/names/ip.ts'
import type { Answer, Resolve } from '../../src/net/dns/resolver.ts'
import { FetchError } from '../../src/net/fetch.ts'
import { DialError } from '../../src/net/smtp/dial.ts'
import { blacklistBulk } from '../../src/operations/blacklist.ts'
import type { Deps } from '../../src/operations/deps.ts'
import { type By, type Execute, inParts } from '../../src/operations/execute.ts'
import { compareSets } from '../../src/operations/expect.ts'
import { forget } from '../../src/operations/forget.ts'
import { health } from '../../src/operations/health.ts'
import { monitorCreate } from '../../src/operations/monitors/manage.ts'
import { receiverUrl } from '../../src/operations/monitors/shared.ts'
import type { Raw } from '../../src/operations/operation.ts'
import { readOverlay, readRecords } from '../../src/operations/overlay-input.ts'
import { cursorParam, formatCursor } from '../../src/operations/params.ts'
import { report } from '../../src/operations/report.ts'
import { checkSources } from '../../src/operations/self-check.ts'
import { verify } from '../../src/operations/verify.ts'
import type { Peer } from '../../src/peers/peer.ts'
import { fromVantages } from '../../src/peers/vantage.ts'
import { nearestNodes, verifyElsewhere } from '../../src/peers/verify-elsewhere.ts'
import { answerTo, exampleOf } from '../lab/answer.ts'
import { labApp, labDeps, labExecutor, labPool } from '../lab/app.ts'
import { labProblem } from '../lab/problem.ts'
import { labCtx, labWorld } from '../lab/world.ts'
import { isTaken, meter, testBounds, text, times } from './table.ts'

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

async function lookupsAtOnce(n: number): Promise<number> {
  const { run, most } = meter()
  const ctx = labCtx()
  const { blacklists } = labDeps(ctx)
  const lookup: typeof blacklists.lookup = async (...asked) => run().then(() => blacklists.lookup(...asked))
  await answerTo(blacklistBulk, ctx, { blacklists: { ...blacklists, lookup } }, { ips: times(n, addressOf) })
  return most()
}

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

/** Asks `n` different questions, then the last of them again: whether it is asked once. */
async function isRemembered(n: number): Promise<boolean> {
  let asked = 0
  const resolve = (async (name: string) => {
    asked++
    return { name } as Answer
  }) as Resolve
  const { signal, ...ctx } = remembering({ resolve, signal: AbortSignal.timeout(60_000) })
  for (const i of [...Array(n).keys(), n - 1]) await ctx.resolve(`n${i}.example`, 'A', signal)
  return asked === n
}
async function isPageRemembered(n: number): Promise<boolean> {
  let fetched = 0
  const fetch = async () => {
    fetched++
    return Promise.reject(new FetchError('timeout', labProblem('no answer in time')))
  }
  const ctx = repeatable(labCtx({}, { fetch }), A)
  for (const i of [...Array(n).keys(), n - 1])
    await ctx.fetch(`https://n${i}.example`, ctx.signal, { maxBytes: 1 }).catch(() => undefined)
  return fetched === n
}

async function isForgottenAtOnce(n: number): Promise<boolean> {
  const { run, most } = meter()
  const ctx = labCtx()
  await answerTo(forget, ctx, { ...labDeps(ctx), peers: nodes(n, run) }, { domain: A })
  return most() === n
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

const isOptionTaken = (n: number): boolean => {
  const schema = monitorCreate.params.options.schema
  return schema.safeParse({ [text(n)]: 'x' }).success
}
const areReceivers = (n: number): Promise<boolean> =>
  isTaken(() => {
    const notify = times(n, (i) => ({ type: 'mail', to: `joe${i}@a.example` }))
    return monitorCreate.read({ kind: 'check', target: 'a.example', notify, when: ['changed'] })
  })

async function nodesPlacedAtOnce(n: number): Promise<number> {
  const { run, most } = meter()
  const geo = async (address: Ip) => run().then(() => mergeGeo(address, []))
  const { verifier } = labDeps(labWorld())
  await nearestNodes({ geo, verifier }, times(n, node), {
    address: ip('45.53.5.1'),
    provider: { key: 'x.example', perMinute: 60 },
  })
  return most()
}

const zone = (n: number): string => times(n, (i) => `n${i} A 192.0.2.1`).join('\n')
const more = [{ name: '@', type: 'A', value: '192.0.2.1' }]
const app = await labApp(labWorld({}, away))
const isBodyTaken = async (size: number): Promise<boolean> => {
  const payload = JSON.stringify({ domain: 'a.example', records: more }).padEnd(size)
  const headers = { 'content-type': 'application/json' }
  const statuses = await Promise.all(
    ['/v1/check', '/v1/expect'].map(
      async (url) => (await app.inject({ method: 'POST', url, headers, payload })).statusCode,
    ),
  )
  return statuses.every((status) => status === 200)
}

/** Whether a cursor of so many characters is read. */
function isCursorRead(n: number): boolean {
  const cursor = formatCursor(text(Math.floor((n * 3) / 4) - 12)).padEnd(n, '=')
  return cursor.length === n && cursorParam(z.string()).schema.safeParse(cursor).success
}

async function setsAtOnce(n: number): Promise<number> {
  const { run, most } = meter()
  const ctx = labCtx()
  const resolve: Resolve = async (...asked) => run().then(() => ctx.resolve(...asked))
  await compareSets({ ...ctx, resolve }, readRecords(A, [], zone(n)).laid)
  return most()
}

async function sourcesChecked(n: number): Promise<{ readonly checked: number; readonly most: number }> {
  const { run, most } = meter()
  const ctx = labCtx()
  const { peers, blacklists } = labDeps(ctx)
  const heloName = async () => run().then(() => 'mail.a.example')
  const sourcePool = labPool(ctx, blacklists, times(n, addressOf))
  return { checked: (await checkSources(ctx, { heloName, sourcePool, peers })).length, most: most() }
}

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
  ['src/operations/blacklist.ts AT_A_TIME', 8, async (n) => (await lookupsAtOnce(n)) === n],
  ['src/checks/repeatable.ts MAX_CACHED', 5_000, isRemembered],
  ['src/checks/repeatable.ts MAX_PAGES', 100, isPageRemembered],
  ['src/operations/forget.ts NODES_AT_A_TIME', 8, isForgottenAtOnce],
  ['src/operations/execute.ts MAX_WAITING', 200, async (n) => (await partsTold(n)) === n],
  ['src/operations/monitors/shared.ts MAX_NOTIFY', 10, areReceivers],
  ['src/operations/monitors/shared.ts MAX_OPTION_NAME', 40, isOptionTaken],
  [
    'src/operations/monitors/shared.ts MAX_URL',
    2_000,
    (n) => receiverUrl.safeParse('https://a.example/'.padEnd(n, 'x')).success,
  ],
  ['src/peers/verify-elsewhere.ts AT_A_TIME', 8, async (n) => (await nodesPlacedAtOnce(n)) === n],
  ['src/operations/overlay-input.ts MAX_RECORDS', 5_000, (n) => isTaken(() => readOverlay(A, more, zone(n - 1)))],
  ['src/operations/overlay-input.ts MAX_BYTES', 512_000, (n) => isTaken(() => readOverlay(A, [], zone(1).padEnd(n)))],
  ['src/operations/overlay-input.ts BODY_LIMIT', 2 * 512_000 + 65_536, isBodyTaken],
  ['src/operations/params.ts MAX_CURSOR', 512, isCursorRead],
  ['src/operations/expect.ts AT_A_TIME', 16, async (n) => (await setsAtOnce(n)) === n],
  ['src/operations/report.ts MAX_ADDRESSES', 20, async (n) => (await reportLookups(n, 'mx')).calls === n],
  ['src/operations/report.ts AT_A_TIME', 5, async (n) => (await reportLookups(n, 'mx')).most === n],
  ['src/operations/self-check.ts MAX_SOURCES', 64, async (n) => (await sourcesChecked(n)).checked === n],
  ['src/operations/self-check.ts AT_A_TIME', 8, async (n) => (await sourcesChecked(n)).most === n],
  ['src/peers/vantage.ts MAX_NODES', 8, async (n) => (await nodesAsked(n)) === n],
  ['src/peers/verify-elsewhere.ts MAX_NODES', 3, async (n) => (await nodesThatVerify(n)) === n],
  // The same bounds for the addresses of the pool.
  ['src/operations/report.ts MAX_ADDRESSES', 20, async (n) => (await reportLookups(n, 'pool')).calls === n],
  ['src/operations/report.ts AT_A_TIME', 5, async (n) => (await reportLookups(n, 'pool')).most === n],
])
