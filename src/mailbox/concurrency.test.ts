import { describe, expect, it } from 'vitest'
import { type LabServer, labDial } from '../../test/lab/dial.ts'
import { labCtx } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { ip } from '../names/ip.ts'
import { REFUSED_PAUSE_MS } from './source/circuit-breaker.ts'
import type { Verification, VerifyInput } from './verification.ts'
import { createVerifier, type VerifySettings } from './verify.ts'

/** Several verifications at the same time. */
const MX = '45.53.5.1'
const S1 = ip('45.53.1.1')
const S2 = ip('45.53.1.2')
const ZONE = { 'x.example': { MX: [[10, 'mx1.x.example'] as const] }, 'mx1.x.example': { A: [MX] } }
const LISTED = '550 5.7.1 Service unavailable, client host blocked using zen.spamhaus.org'
const TAKES_ALL: LabServer = { rcpt: { '*': '250 ok' } }
const refusing = (...sources: string[]): LabServer => ({
  ...TAKES_ALL,
  from: Object.fromEntries(sources.map((source) => [source, { rcpt: { '*': LISTED } }])),
})
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A verifier at one mail host, whose connections take `delayMs`. Its clock moves by hand. */
function lab(server: LabServer, settings: VerifySettings = {}, delayMs = 0) {
  let now = Date.UTC(2026, 0, 2)
  let current = server
  const nets = new Map<LabServer, ReturnType<typeof labDial>>()
  const net = () => nets.get(current) ?? nets.set(current, labDial({ [MX]: current })).get(current)!
  let dialling = 0
  let mostAtOnce = 0
  const dialled: string[] = []
  const ctx = labCtx(ZONE, {
    now: () => now,
    dial: async (target, signal) => {
      dialled.push(String(target.localAddress ?? ''))
      mostAtOnce = Math.max(mostAtOnce, ++dialling)
      await pause(delayMs)
      dialling--
      return net().dial(target, signal)
    },
  })
  const verifier = createVerifier(ctx, { helo: domain('us.example'), ...settings })
  const ask = (input: Partial<VerifyInput> = {}): Promise<Verification> =>
    verifier.verify(ctx, { email: 'a@x.example', timeoutMs: 2_000, ...input })
  return {
    ask,
    verifier,
    dialled,
    mostAtOnce: () => mostAtOnce,
    wait: (ms: number) => (now += ms),
    serve: (other: LabServer) => (current = other),
  }
}
const names = Array.from({ length: 20 }, (_, i) => `u${i}@x.example`)
const words = (v: Verification): string => `${v.result} ${v.reason}`

describe('the half-open circuit breaker', () => {
  it('lets one verification try a source again; while it is refused, the others are not let through', async () => {
    const one = lab(refusing(S1), { pool: () => [S1] }, 10)
    await one.ask({ pool: true })
    one.wait(REFUSED_PAUSE_MS)
    const answers = await Promise.all(names.map((email) => one.ask({ email, pool: true })))
    expect(one.dialled).toHaveLength(2)
    expect(new Set(answers.map(words))).toEqual(new Set(['blocked source_blocked']))
  })
  it('lets the others through once the trial was answered', async () => {
    const one = lab(refusing(S1), { pool: () => [S1] }, 10)
    await one.ask({ pool: true })
    one.wait(REFUSED_PAUSE_MS)
    one.serve(TAKES_ALL)
    const answers = Promise.all(names.map((email) => one.ask({ email, pool: true })))
    while (one.dialled.length < 2) await turn()
    await turn()
    expect(one.dialled).toHaveLength(2) // the trial alone: its connection takes 10 ms
    expect(new Set((await answers).map(words))).toEqual(new Set(['catch_all accept_all']))
  })
  it('takes another source while one is on trial', async () => {
    const one = lab(refusing(S1), { pool: () => [S1, S2] }, 10)
    await one.ask({ pool: true })
    one.wait(REFUSED_PAUSE_MS)
    const answers = await Promise.all(names.map((email) => one.ask({ email, pool: true })))
    expect(new Set(answers.map(words))).toEqual(new Set(['catch_all accept_all']))
    expect(one.dialled.slice(2).filter((source) => source === S1).length).toBeLessThanOrEqual(1)
  })
  it('pauses once for refusals of sessions at the same time', async () => {
    const one = lab(refusing(S1), { pool: () => [S1] }, 10)
    await Promise.all(names.slice(0, 5).map((email) => one.ask({ email, pool: true })))
    const [row] = await one.verifier.pool()
    expect(row?.providers[0]?.pausedUntilMs).toBe(Date.UTC(2026, 0, 2) + REFUSED_PAUSE_MS)
  })
  it('is tried again when the trial met a dead host', async () => {
    const one = lab(refusing(S1), { pool: () => [S1], noCourtesy: true }, 5)
    await one.ask({ pool: true })
    one.wait(REFUSED_PAUSE_MS)
    one.serve({ connect: 'refuse' })
    const answers = await Promise.all(names.slice(0, 3).map((email) => one.ask({ email, pool: true })))
    expect(new Set(answers.map(words))).toEqual(new Set(['unreachable connect_refused']))
    expect([one.dialled.length, one.mostAtOnce()]).toEqual([4, 1])
  })
})

describe('equal questions at the same time', () => {
  it.each([
    ['the first one has less time', [50, 2_000], ['unreachable timeout', 'catch_all accept_all']],
    ['the second one has less time', [2_000, 50], ['catch_all accept_all', 'unreachable timeout']],
  ])('share one session, each with its own deadline: %s', async (_, timeouts, expected) => {
    const one = lab(TAKES_ALL, {}, 400)
    const answers = await Promise.all(timeouts.map((timeoutMs) => one.ask({ timeoutMs })))
    expect([answers.map(words), one.dialled.length]).toEqual([expected, 1])
  })
  it('a wait for a reply is extended for the one who has more time', async () => {
    const one = lab({ ...TAKES_ALL, delayMs: { banner: 400 } })
    const answers = await Promise.all([50, 2_000].map((timeoutMs) => one.ask({ timeoutMs })))
    expect([answers.map(words), one.dialled.length]).toEqual([['unreachable timeout', 'catch_all accept_all'], 1])
  })
  it('with max_age=0 share what no mail host was asked for yet', async () => {
    const one = lab(TAKES_ALL)
    const answers = await Promise.all([0, 0].map((maxAgeMs) => one.ask({ maxAgeMs })))
    expect([answers.map(words), one.dialled.length]).toEqual([['catch_all accept_all', 'catch_all accept_all'], 1])
  })
  it('with max_age=0 nothing is shared that was observed before the question', async () => {
    const one = lab({ ...TAKES_ALL, rcpt: { 'a@x.example': '250 ok', '*': '!silence' } })
    const first = one.ask({ timeoutMs: 300 })
    await pause(30)
    await Promise.all([first, one.ask({ timeoutMs: 300, maxAgeMs: 0 })])
    expect(one.dialled).toHaveLength(2)
  })
})
