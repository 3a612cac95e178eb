import { describe, expect, it } from 'vitest'
import { type LabServer, type LabStep, labDial, timeoutFor } from '../../../test/lab/dial.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import type { Verification, VerifyInput } from '../verification.ts'
import { createVerifier } from '../verify.ts'

/** Microsoft 365: a second RCPT is throttled, so the made-up mailbox is asked for in a session of its own. */
const MX = '45.53.5.1'
const HOST = 'x-example.mail.protection.outlook.com'
const ZONE = { 'x.example': { MX: [[0, HOST] as const] }, [HOST]: { A: [MX] } }
const DAY = 86_400_000
const NO_USER = '550 5.4.1 Recipient address rejected: Access denied. AS(201806281)'

/** A tenant with two users; `other` is what it says of everybody else. */
function tenant(other: LabStep | readonly LabStep[], server: LabServer = {}) {
  let now = Date.UTC(2026, 0, 2)
  const users = { 'a@x.example': '250 2.1.5 Recipient OK', 'b@x.example': '250 2.1.5 Recipient OK' }
  const net = labDial({ [MX]: { ...server, rcpt: { ...users, '*': other } } })
  const ctx = labCtx(ZONE, { dial: net.dial, now: () => now })
  const verifier = createVerifier(ctx, { helo: domain('us.example') })
  const ask = (input: Partial<VerifyInput> = {}): Promise<Verification> =>
    verifier.verify(ctx, { email: 'a@x.example', timeoutMs: timeoutFor(other, server), ...input })
  return { net, ask, wait: (ms: number) => (now += ms) }
}
const words = (v: Verification): string => `${v.result} ${v.reason} ${v.deliverability} ${v.catchAll}`

describe('what the made-up mailbox gets decides what an accepted RCPT tells', () => {
  it.each<[other: LabStep, expected: string]>([
    [NO_USER, 'accepted mailbox_exists deliverable false'],
    ['250 2.1.5 Recipient OK', 'catch_all accept_all risky true'],
    ['451 4.4.4 Mail received as unauthenticated', 'accepted unverifiable_provider unknown null'],
    ['452 4.5.3 Too many recipients (AS780090)', 'accepted unverifiable_provider unknown null'],
    ['!close', 'accepted unverifiable_provider unknown null'],
    ['!silence', 'accepted unverifiable_provider unknown null'],
  ])('%s: %s', async (other, expected) => {
    const { net, ask } = tenant(other)
    const v = await ask()
    expect([words(v), net.dialled.length, v.attempts.length, net.open()]).toEqual([expected, 2, 1, 0])
    expect(v.attempts[0]?.reason).toBe(v.reason)
    expect(v.deliverability === 'unknown' ? v.confidence : 1).toBe(v.deliverability === 'unknown' ? 0 : 1)
    const perSession = net.received.join(' ').split('EHLO').slice(1)
    expect(perSession.map((said) => said.split('RCPT').length - 1)).toEqual([1, 1])
  })
  it('is not asked after a refusal', async () => {
    const { net, ask } = tenant(NO_USER)
    expect(words(await ask({ email: 'nobody@x.example' }))).toBe('rejected mailbox_not_found undeliverable null')
    expect(net.dialled).toHaveLength(1)
  })
})

describe('once a domain and day', () => {
  it.each<[other: LabStep, expected: string]>([
    [NO_USER, 'accepted mailbox_exists deliverable false'],
    ['451 4.4.4 Mail received as unauthenticated', 'accepted unverifiable_provider unknown null'],
  ])('%s', async (other, expected) => {
    const { net, ask, wait } = tenant(other)
    await ask()
    wait(DAY - 1)
    expect([words(await ask({ email: 'b@x.example', maxAgeMs: 0 })), net.dialled.length]).toEqual([expected, 3])
    wait(1)
    expect([words(await ask({ maxAgeMs: 0 })), net.dialled.length]).toEqual([expected, 5])
  })
  it('sooner where the made-up mailbox could not be asked for', async () => {
    const { net, ask, wait } = tenant('!close')
    await ask()
    await ask({ email: 'b@x.example' })
    expect(net.dialled).toHaveLength(3)
    wait(600_000)
    await ask({ email: 'b@x.example', maxAgeMs: 0 })
    expect(net.dialled).toHaveLength(5)
  })
  it('also when many addresses are asked about at the same time', async () => {
    const { net, ask } = tenant([NO_USER, '250 2.1.5 Recipient OK'], { delayMs: { rcpt: 20 } })
    const answers = await Promise.all(['a@x.example', 'b@x.example'].map((email) => ask({ email })))
    expect(new Set(answers.map(words))).toEqual(new Set(['accepted mailbox_exists deliverable false']))
    expect(net.dialled).toHaveLength(3)
  })
  it('an open question is not kept as an answer', async () => {
    const { ask } = tenant('!silence')
    await ask()
    expect((await ask()).cached).toBe(false)
  })
})
