import { describe, expect, it } from 'vitest'
import { type LabServer, labDial, timeoutFor } from '../../test/lab/dial.ts'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { ip } from '../names/ip.ts'
import type { Verification, VerifyInput } from './verification.ts'
import { createVerifier, type VerifySettings } from './verify.ts'

/** The bounds and times of a verifier, each at its limit and one step beyond. */
const MX = '45.53.5.1'
const HOUR = 3_600_000
const ONE: LabZone = { 'x.example': { MX: [[10, 'mx1.x.example']] }, 'mx1.x.example': { A: [MX] } }

function lab(zone: LabZone, servers: Record<string, LabServer>, settings: VerifySettings = {}) {
  let now = Date.UTC(2026, 0, 2)
  const net = labDial(servers)
  const ctx = labCtx(zone, { dial: net.dial, now: () => now })
  const verifier = createVerifier(ctx, { helo: domain('us.example'), ...settings })
  const ask = (input: Partial<VerifyInput> = {}): Promise<Verification> =>
    verifier.verify(ctx, { email: 'a@x.example', timeoutMs: timeoutFor(zone, servers), ...input })
  return { net, ask, wait: (ms: number) => (now += ms) }
}

// Bound: src/mailbox/attempt/try-hosts.ts MAX_DIALOGUES
it.each([
  [19, 19],
  [20, 20],
  [21, 20],
])('%i addresses that refuse the connection: %i are dialled', async (addresses, dialled) => {
  const all = Array.from({ length: addresses }, (_, i) => `45.53.5.${i + 1}`)
  const hosts = [all.slice(0, 10), all.slice(10, 20), all.slice(20)].filter(({ length }) => length > 0)
  const zone: LabZone = {
    'x.example': { MX: hosts.map((_, i) => [i, `mx${i}.x.example`] as const) },
    ...Object.fromEntries(hosts.map((A, i) => [`mx${i}.x.example`, { A }])),
  }
  const one = lab(zone, Object.fromEntries(all.map((address) => [address, { connect: 'refuse' as const }])))
  const v = await one.ask({ timeoutMs: 10_000 })
  expect([v.attempts.length, one.net.dialled.length, v.reason]).toEqual([dialled, dialled, 'connect_refused'])
})

it.each([320, 321])('of an address of %i characters that is none 320 are shown', async (length) =>
  expect((await lab(ONE, {}).ask({ email: 'x'.repeat(length) })).email).toHaveLength(320),
)

describe('what is cached', () => {
  // Bound: src/mailbox/answer-cache.ts KEPT_MS
  it('a conclusive answer, for at most an hour whatever max_age says', async () => {
    const one = lab(ONE, { [MX]: { rcpt: { 'a@x.example': '250 ok' } } })
    await one.ask()
    one.wait(HOUR - 1)
    expect((await one.ask({ maxAgeMs: 10 * HOUR })).cached).toBe(true)
    one.wait(1)
    expect((await one.ask({ maxAgeMs: 10 * HOUR })).cached).toBe(false)
  })
  it('a conclusive answer, for ten minutes by default', async () => {
    const one = lab(ONE, { [MX]: {} })
    await one.ask()
    one.wait(600_000)
    expect((await one.ask()).cached).toBe(true)
    one.wait(1)
    expect((await one.ask()).cached).toBe(false)
  })
  it.each([
    '450 4.2.0 Greylisted',
    '554 5.7.1 Relay access denied',
    '552 5.2.2 Mailbox full',
    '550 5.7.1 blocked using a list',
  ])('not: %s', async (reply) => {
    const one = lab(ONE, { [MX]: { rcpt: { '*': reply } } })
    await one.ask()
    expect((await one.ask()).cached).toBe(false)
  })
  // Bound: src/mailbox/attempt/catch-all.ts KEPT_MS
  it('that a domain takes any name, for 6 hours', async () => {
    const one = lab(ONE, { [MX]: { rcpt: { '*': '250 ok' } } })
    const recipients = (): number => one.net.received.filter((line) => line.startsWith('RCPT')).length
    await one.ask()
    one.wait(6 * HOUR - 1)
    await one.ask({ email: 'b@x.example' })
    expect(recipients()).toBe(3)
    one.wait(1)
    await one.ask({ email: 'c@x.example' })
    expect(recipients()).toBe(5)
  })
  it('the source of a greylisted question, for a day', async () => {
    const sources = ['45.53.1.1', '45.53.1.2'].map(ip)
    const servers = { [MX]: { rcpt: { 'a@x.example': '450 4.2.0 Greylisted', 'b@x.example': '450 4.2.0 Greylisted' } } }
    const one = lab(ONE, servers, { pool: () => sources })
    await one.ask({ pool: true })
    one.wait(86_400_000 - 1)
    await one.ask({ pool: true })
    expect(one.net.dialled).toEqual([`${MX} from 45.53.1.1`, `${MX} from 45.53.1.1`])
    one.wait(86_400_000)
    await one.ask({ pool: true })
    expect(one.net.dialled.at(-1)).toBe(`${MX} from 45.53.1.2`)
  })
})

it.each([
  [2, ['45.53.1.1', '45.53.1.2']],
  [3, ['45.53.1.1', '45.53.1.2', '45.53.1.3']],
])('tries at most %i source addresses', async (poolAttempts, tried) => {
  const sources = ['45.53.1.1', '45.53.1.2', '45.53.1.3', '45.53.1.4'].map(ip)
  const one = lab(ONE, { [MX]: { banner: '554 5.7.1 blocked using a list' } }, { pool: () => sources, poolAttempts })
  await one.ask({ pool: true })
  expect(one.net.dialled).toEqual(tried.map((source) => `${MX} from ${source}`))
})

it.each([
  ['aspmx.l.google.com', '550 5.1.1 no such user', 97], // a made-up mailbox is refused
  ['x-example.olc.protection.outlook.com', '550 5.5.0 unavailable', 80], // not asked: RCPT tells existence
  ['mx.unknown.example', '451 4.3.0 later', 80],
  ['d1.ess.barracudanetworks.com', '451 4.3.0 later', 60], // a gateway: depends on the customer's settings
])('an accepted RCPT at %s, a made-up one "%s": confidence %i', async (host, other, confidence) => {
  const zone: LabZone = { 'x.example': { MX: [[10, host]] }, [host]: { A: [MX] } }
  const one = lab(zone, { [MX]: { rcpt: { 'a@x.example': '250 ok', '*': other } } })
  expect(await one.ask()).toMatchObject({ reason: 'mailbox_exists', confidence })
})

describe('the time of a stage', () => {
  const slow: LabServer = { rcpt: { '*': '250 ok' }, delayMs: { banner: 1_000 } }
  it('is all that remains at the last address', async () =>
    expect((await lab(ONE, { [MX]: slow }).ask({ timeoutMs: 1_500 })).reason).toBe('accept_all'))
  it('is a part while there are others to try', async () => {
    const zone: LabZone = { ...ONE, 'mx1.x.example': { A: [MX, '45.53.6.1'] } }
    const v = await lab(zone, { [MX]: slow, '45.53.6.1': { rcpt: { '*': '250 ok' } } }).ask({ timeoutMs: 1_500 })
    expect(v.attempts.map(({ address, reason }) => `${address} ${reason}`)).toEqual([
      `${MX} timeout`,
      '45.53.6.1 accept_all',
    ])
  })
})
