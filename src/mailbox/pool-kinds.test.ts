import { describe, expect, it } from 'vitest'
import { labSource } from '../../test/lab/app.ts'
import { LAB_EXIT, type LabServer, labDial } from '../../test/lab/dial.ts'
import { labProblem } from '../../test/lab/problem.ts'
import { labCtx, labStore } from '../../test/lab/world.ts'
import type { VerifyAnswer } from '../answers/verify.ts'
import { parsed, problem } from '../base/problem.ts'
import verifyExample from '../operations/examples/verify.json' with { type: 'json' }
import type { AskNode } from './attempt/state.ts'
import { presentVerification } from './present.ts'
import type { VerifyInput } from './verification.ts'
import { createVerifier } from './verify.ts'

const MX = '45.53.5.1'
const ADDRESS = '45.53.1.1'
const PROXY = 'socks5://45.53.9.1:1080'
const NODE = 'peer:north'
const ZONE = { 'x.example': { MX: [[10, 'mx.x.example']] }, 'mx.x.example': { A: [MX] } } as const
const TAKES: LabServer = { rcpt: { 'a@x.example': '250 2.1.5 Ok' } }
const BLOCKED = '550 5.7.1 Service unavailable, client host blocked using zen.spamhaus.org'
const blocks = { rcpt: { '*': BLOCKED } }

/** What the node says: the outcome of its one attempt, or why there is none. */
type NodeSays = { readonly reason: string; readonly code: number; readonly attempts?: readonly [] } | string
const answerOf = ({ reason, code, attempts }: Exclude<NodeSays, string>): VerifyAnswer => ({
  ...(verifyExample as unknown as VerifyAnswer),
  email: 'a@x.example',
  reason,
  code,
  message: 'said the host',
  catch_all: false,
  starttls: true,
  retry_after_ms: 60_000,
  attempts: attempts ?? [
    {
      ...{ ip_used: '45.53.2.7', mx_server: 'mx.x.example', address: MX, stage: 'rcpt', code },
      ...{ message: 'said the host', reason, duration_ms: 12 },
    },
  ],
})
const ACCEPTED = { reason: 'mailbox_exists', code: 250 }

function lab(pool: readonly string[], server: LabServer, node: NodeSays = ACCEPTED) {
  let now = Date.UTC(2026, 0, 2)
  const net = labDial({ [MX]: server })
  const ctx = labCtx(ZONE, { dial: net.dial, now: () => now, store: labStore() })
  const asked: { node: string; email: string }[] = []
  const askNode: AskNode = async (_, { node: name, email }) => {
    asked.push({ node: name, email })
    return typeof node === 'string' ? problem(labProblem(node)) : parsed(answerOf(node))
  }
  const sources = pool.map((text) => labSource(text).name)
  const verifier = createVerifier(ctx, { pool: () => sources, askNode })
  const ask = async (input: Partial<VerifyInput> = {}) =>
    presentVerification(
      await verifier.verify(ctx, { email: 'a@x.example', pool: true, timeoutMs: 5_000, maxAgeMs: 0, ...input }),
    )
  return { ask, asked, net, verifier, wait: (ms: number) => (now += ms) }
}
const tries = ({ attempts }: VerifyAnswer) =>
  attempts.map(({ ip_used, proxy, peer, stage, code, reason }) =>
    [ip_used, proxy ?? peer ?? '', stage, code, reason].join(' '),
  )

describe('failover from one kind of source to another', () => {
  it('from an address to a proxy to a node, each with its attempt', async () => {
    const { ask, asked } = lab([ADDRESS, PROXY, NODE], blocks)
    const got = await ask()
    expect(tries(got)).toEqual([
      `${ADDRESS}  rcpt 550 source_blocked`,
      `${LAB_EXIT} ${PROXY} rcpt 550 source_blocked`,
      '45.53.2.7 north rcpt 250 mailbox_exists',
    ])
    expect(got).toMatchObject({
      result: 'accepted',
      ip_used: '45.53.2.7',
      peer: 'north',
      catch_all: false,
      starttls: true,
    })
    expect(asked).toEqual([{ node: NODE, email: 'a@x.example' }])
  })
  it.each<[string, LabServer, NodeSays, string[], string, number]>([
    [
      'a proxy that fails',
      { from: { [PROXY]: { connect: 'proxy' } } },
      ACCEPTED,
      [' socks5://45.53.9.1:1080 connect 0 network_unreachable', '45.53.2.7 north rcpt 250 mailbox_exists'],
      'accepted',
      1,
    ],
    [
      'a proxy that cannot reach the host',
      { from: { [PROXY]: { connect: 'refuse' } } },
      ACCEPTED,
      [' socks5://45.53.9.1:1080 connect 0 connect_refused', '45.53.2.7 north rcpt 250 mailbox_exists'],
      'accepted',
      1,
    ],
    [
      'a proxy by which the mailbox is refused',
      {},
      ACCEPTED,
      [`${LAB_EXIT} ${PROXY} rcpt 550 mailbox_not_found`],
      'rejected',
      0,
    ],
    [
      'a node that gives no answer',
      { from: { [PROXY]: blocks } },
      'it answered 503',
      [`${LAB_EXIT} ${PROXY} rcpt 550 source_blocked`, ' north connect 0 network_unreachable'],
      'blocked',
      1,
    ],
    [
      'a node that is refused too',
      { from: { [PROXY]: blocks } },
      { reason: 'source_blocked', code: 550 },
      [`${LAB_EXIT} ${PROXY} rcpt 550 source_blocked`, '45.53.2.7 north rcpt 550 source_blocked'],
      'blocked',
      1,
    ],
    [
      'a node that asked nobody',
      { from: { [PROXY]: blocks } },
      { reason: 'dns_failure', code: 0, attempts: [] },
      [`${LAB_EXIT} ${PROXY} rcpt 550 source_blocked`, ' north connect 0 network_unreachable'],
      'blocked',
      1,
    ],
    [
      'a node whose stage is none',
      { from: { [PROXY]: blocks } },
      { reason: 'because', code: 250 },
      [`${LAB_EXIT} ${PROXY} rcpt 550 source_blocked`, ' north connect 0 network_unreachable'],
      'blocked',
      1,
    ],
  ])('%s', async (_, server, node, attempts, result, nodes) => {
    const { ask, asked } = lab([PROXY, NODE], server, node)
    const got = await ask()
    expect([tries(got), got.result, asked.length]).toEqual([attempts, result, nodes])
  })
})

it('a node that its own limits hold back tells when to ask again', async () => {
  const { ask } = lab([NODE], {}, { reason: 'own_limit', code: 0, attempts: [] })
  expect(await ask()).toMatchObject({ reason: 'own_limit', retry_after_ms: 60_000 })
})

describe('the circuit breaker is the same for the three', () => {
  it.each<[string, string, LabServer, NodeSays, string]>([
    ['an address that is refused', ADDRESS, blocks, ACCEPTED, 'source_blocked'],
    ['a proxy that is refused', PROXY, blocks, ACCEPTED, 'source_blocked'],
    ['a proxy that fails', PROXY, { connect: 'proxy' }, ACCEPTED, 'network_unreachable'],
    ['a node that is refused', NODE, TAKES, { reason: 'source_blocked', code: 550 }, 'source_blocked'],
    ['a node that gives no answer', NODE, TAKES, 'it answered 503', 'network_unreachable'],
  ])('%s is paused, and tried again', async (_, source, server, node, reason) => {
    const { ask, verifier, wait, net, asked } = lab([source], server, node)
    expect((await ask()).reason).toBe(reason)
    const used = () => net.dialled.length + asked.length
    const before = used()
    const held = await ask()
    expect([held.reason, used()]).toEqual(['source_blocked', before])
    expect(held.message).toContain(`${source} is paused until`)
    expect((await verifier.pool())[0]).toMatchObject({
      address: source,
      configured: true,
      providers: [{ breaker: 'open' }],
    })
    wait(11 * 60_000)
    await ask()
    expect(used()).toBe(before + 1)
  })
  it('survives a restart', async () => {
    const store = labStore()
    const ctx = labCtx(ZONE, { dial: labDial({ [MX]: blocks }).dial, store })
    const sources = [ADDRESS, PROXY, NODE].map((text) => labSource(text).name)
    const settings = {
      pool: () => sources,
      askNode: async () => parsed(answerOf({ reason: 'source_blocked', code: 550 })),
    }
    const before = createVerifier(ctx, settings)
    await before.verify(ctx, { email: 'a@x.example', pool: true, timeoutMs: 5_000 })
    await before.close()
    const rows = await createVerifier(ctx, settings).pool()
    expect(rows.map(({ address, providers }) => [address, providers[0]?.breaker])).toEqual([
      [ADDRESS, 'open'],
      [PROXY, 'open'],
      [NODE, 'open'],
    ])
  })
})

it('the rate toward a provider is kept for a proxy and a node too', async () => {
  for (const source of [PROXY, NODE]) {
    const { ask, net, asked } = lab([source], TAKES)
    const emails = Array.from({ length: 70 }, (_, i) => `a${i}@x.example`)
    await Promise.all(emails.map((email) => ask({ email, timeoutMs: 1_000 })))
    // A burst of half a minute of 60 recipients a minute, and no more within a second but what comes back meanwhile.
    expect(net.dialled.length + asked.length).toBeLessThanOrEqual(32)
  }
})

it('a greylisted question keeps its proxy', async () => {
  const { ask, net } = lab([PROXY, ADDRESS], { rcpt: { '*': '450 4.2.0 Greylisted, try again in 5 minutes' } })
  await ask()
  const [first] = net.dialled
  await ask()
  expect(net.dialled).toEqual([first, first])
})

it('a question that came from a node goes to no node', async () => {
  const { ask, asked, net } = lab([NODE], TAKES)
  expect(await ask({ withoutNodes: true })).toMatchObject({ result: 'accepted' })
  expect([asked.length, net.dialled]).toEqual([0, [MX]])
})

it('no source that failed is blamed on the mail host: the next question goes there from another', async () => {
  const { ask } = lab([PROXY, ADDRESS], { ...TAKES, from: { [PROXY]: { connect: 'proxy' } } })
  for (let i = 0; i < 2; i++) expect(await ask()).toMatchObject({ result: 'accepted', ip_used: ADDRESS })
})
