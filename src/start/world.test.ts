import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { answerTo } from '../../test/lab/answer.ts'
import { type Behaviour, labServer, type Query, response, soa, zoneBehaviour } from '../../test/lab/dns-server.ts'
import { loadConfig } from '../config.ts'
import { blacklist } from '../operations/blacklist.ts'
import { check } from '../operations/check.ts'
import { doctor } from '../operations/doctor.ts'
import { ready } from '../operations/health.ts'
import { verify } from '../operations/verify.ts'
import { createDeps } from './deps.ts'
import { openOutside, PROBE_GOOD_MS, sharedProbe } from './world.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** The real outside with a resolver on the wire that behaves as told. */
async function open(behave: Behaviour) {
  const lab = await labServer(behave)
  const resolvers = [`127.0.0.1:${lab.server.port}`]
  const flags = { resolvers, dataDir: mkdtempSync(join(tmpdir(), 'mailsonde-')), port: '0' }
  const { config } = loadConfig(flags, {})
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const outside = await openOutside(config, log, '0')
  const { provide, shutDown } = createDeps(config, outside)
  const deps = await provide([
    ...(['heloName', 'smtpPort', 'reportsHere', 'verifiedSelectors', 'acceptedHere'] as const),
    ...(['blacklists', 'verifier', 'sourcePool'] as const),
    ...([
      'probes',
      'peers',
      'canBind',
      'publicResolvers',
      'sharedDatabaseUser',
      'databaseState',
      'messages',
      'submission',
      'ownProfiles',
      'geo',
      'jobs',
    ] as const),
  ])
  closers.push(shutDown, outside.close, lab.close)
  return { ctx: { ...outside.world, signal: AbortSignal.timeout(8_000) }, deps, outside }
}
const nothing = (query: Query) => response(query, { rcode: 3 })
const nothingWithSoa = (query: Query) => response(query, { rcode: 3, authorities: [soa(300)] })
it.each([
  ['without SOA', nothing],
  ['with SOA', nothingWithSoa],
])('a resolver that answers NXDOMAIN to everything (%s) says nothing about anybody', async (_, behave) => {
  const { ctx, deps } = await open(behave)
  const [domain, lists, mailbox, isReady, health] = await Promise.all([
    answerTo(check, ctx, deps, { domain: 'example.org' }),
    answerTo(blacklist, ctx, deps, { ip: '45.53.5.1' }),
    answerTo(verify, ctx, deps, { email: 'joe@example.org' }),
    answerTo(ready, ctx, deps, {}),
    answerTo(doctor, ctx, deps, {}),
  ])
  const denied = expect.stringContaining('resolver_denies_everything')
  const unknown = { status: 'unknown', reason: denied }
  expect(domain).toMatchObject({
    status: 'unknown',
    score_min: 0,
    score_max: 100,
    mx_status: 'unknown',
    mx_reason: denied,
  })
  expect(domain).toMatchObject({
    spf: unknown,
    dkim: unknown,
    dmarc: unknown,
    ptr: unknown,
    mta_sts: unknown,
    caa: unknown,
  })
  expect(lists).toMatchObject({ total: 29, listed: 0, answered: 0, verdict: 'incomplete' })
  expect(mailbox).toMatchObject({ result: 'unreachable', reason: 'dns_failure', message: denied })
  const resolver = { name: 'resolver', status: 'failed', reason: denied }
  expect(isReady).toMatchObject({ status: 'not_ready', dependencies: [resolver, {}, { name: 'queue', status: 'ok' }] })
  expect(health).toMatchObject({ fit: false, resolver: { answers: false, reason: denied }, lists: { answering: 0 } })
  expect(health.repairs).toMatchObject({ 0: expect.stringMatching(/^The resolver cannot be used: .*captive portal/) })
})

it('believes a resolver that knows the top-level domain', async () => {
  const { ctx, deps } = await open(zoneBehaviour({ com: {}, 'example.org': { A: ['192.0.2.1'] } }))
  expect(await ctx.resolve('gone.example.org', 'A', ctx.signal)).toMatchObject({ kind: 'nxdomain' })
  expect(await answerTo(ready, ctx, deps, {})).toMatchObject({ status: 'ready' })
})

it('finds out within a minute that the resolver has begun to deny everything', async () => {
  let lying = false
  const truth = zoneBehaviour({ com: {}, 'mail.example.org': { A: ['192.0.2.1'], TTL: 0 } })
  const { ctx } = await open((query) => (lying ? nothing(query) : truth(query)))
  expect(await ctx.resolve('mail.example.org', 'A', ctx.signal)).toMatchObject({ kind: 'found' })
  expect(await ctx.resolve('gone.example.org', 'A', ctx.signal)).toMatchObject({ kind: 'nxdomain' })
  lying = true
  const later = performance.now() + 60_001
  vi.spyOn(performance, 'now').mockReturnValue(later)
  await expect(ctx.resolve('mail.example.org', 'A', ctx.signal)).rejects.toMatchObject({
    reason: 'resolver_denies_everything',
  })
  vi.restoreAllMocks()
})

const signal = new AbortController().signal

it('3,000 calls ask once, and once more when a second has passed', async () => {
  let [asked, nowMs] = [0, 0]
  const probe = sharedProbe(
    async () => {
      asked++
      await new Promise((resolve) => setImmediate(resolve))
      return asked === 1 ? undefined : 'refused'
    },
    () => nowMs,
  )
  const ask = (times: number) => Promise.all(Array.from({ length: times }, () => probe(signal)))
  expect(new Set(await ask(2_000))).toEqual(new Set([undefined]))
  nowMs = PROBE_GOOD_MS - 1
  expect(new Set(await ask(1_000))).toEqual(new Set([undefined]))
  expect(asked).toBe(1)
  nowMs += 1
  expect(await probe(signal)).toBe('refused')
  expect(asked).toBe(2)
})

it('one caller that leaves takes nothing from the others', async () => {
  let answer = (_: string | undefined): void => {}
  const probe = sharedProbe(() => new Promise((resolve) => (answer = resolve)))
  const leaving = new AbortController()
  const [first, second] = [probe(leaving.signal), probe(signal)]
  leaving.abort()
  expect(await first).toBe('no answer in time')
  answer(undefined)
  expect(await second).toBeUndefined()
})
