import { expect, it } from 'vitest'
import { formatProof } from '../../src/peers/proof.ts'
import { LAB_ORIGIN, LAB_SECRET, labApp, labDeps } from '../lab/app.ts'
import { labWorld } from '../lab/world.ts'

const NOW = labWorld().now()
const PATH = '/v1/peer/register'
let count = 0

type Over = {
  origin?: string
  secret?: string
  nowMs?: number
  id?: string
  signed?: string
  path?: string
  nonce?: string
}
const headersFor = (body: string, over: Over = {}) => ({
  'content-type': 'application/json',
  authorization: formatProof(
    { method: 'POST', origin: over.origin ?? LAB_ORIGIN, path: over.path ?? PATH, body: over.signed ?? body },
    {
      id: over.id ?? 'n1',
      nonce: over.nonce ?? `nonce-${String(++count).padStart(16, '0')}`,
      nowMs: over.nowMs ?? NOW,
    },
    over.secret ?? LAB_SECRET,
  ),
})
const app = () => labApp(labWorld({ 'n1.example': { A: ['45.53.1.7'] } }), { peerSecret: LAB_SECRET })
const BODY = JSON.stringify({ url: 'https://n1.example', addresses: ['45.53.1.7'] })

it.each<[string, Over, string, number, string | undefined]>([
  ['a proven call', {}, BODY, 201, undefined],
  ['white space in the body is part of it', {}, ` ${BODY}\n`, 201, undefined],
  ['a forged signature', { secret: 'a guess at the secret' }, BODY, 401, 'signature'],
  ['a changed body', { signed: '{}' }, BODY, 401, 'signature'],
  ['another path', { path: '/v1/peer/heartbeat' }, BODY, 401, 'signature'],
  ['made for another node', { origin: 'https://n2.example' }, BODY, 401, 'a node other than https://here.example'],
  ['stale', { nowMs: NOW - 61_000 }, BODY, 401, 'too old'],
  ['from the future', { nowMs: NOW + 61_000 }, BODY, 401, 'too old'],
  ['made before this node started', { nowMs: NOW - 2_000 }, BODY, 401, 'before this node started'],
  ["another's id", {}, JSON.stringify({ id: 'n2', url: 'https://n1.example' }), 403, 'may not act for n2'],
  ["this node's own id", { id: 'here' }, BODY, 403, 'id of this node;'],
])('register: %s', async (_, over, body, status, why) => {
  const response = await (await app()).inject({
    method: 'POST',
    url: PATH,
    headers: headersFor(body, over),
    payload: body,
  })
  expect(response.statusCode, response.body).toBe(status)
  if (why !== undefined) expect(response.json().detail).toContain(why)
})

it('takes a call once', async () => {
  const server = await app()
  const headers = headersFor(BODY)
  const send = () => server.inject({ method: 'POST', url: PATH, headers, payload: BODY })
  expect((await send()).statusCode).toBe(201)
  const again = await send()
  expect([again.statusCode, again.json().detail]).toEqual([401, expect.stringContaining('already received')])
})

it('refuses what is no proof at all, and proofs where there is no secret', async () => {
  const server = await app()
  const odd = { authorization: 'Mailsonde-Peer id=n1', 'content-type': 'application/json' }
  expect((await server.inject({ method: 'POST', url: PATH, headers: odd, payload: BODY })).statusCode).toBe(401)
  const open = await labApp(labWorld())
  expect((await open.inject({ method: 'POST', url: PATH, headers: headersFor(BODY), payload: BODY })).statusCode).toBe(
    401,
  )
})

it('lets nodes ask what keys of read and verify may, and not what admin may', async () => {
  const server = await labApp(labWorld(), { peerSecret: LAB_SECRET })
  const get = async (path: string) => {
    const call = { method: 'GET', origin: LAB_ORIGIN, path, body: '' }
    const by = { id: 'n1', nonce: `nonce-${String(++count).padStart(16, '0')}`, nowMs: NOW }
    return (await server.inject({ url: path, headers: { authorization: formatProof(call, by, LAB_SECRET) } }))
      .statusCode
  }
  expect(await get('/v1/peer/geo?ip=192.0.2.1')).toBe(200)
  expect(await get('/v1/verify?email=nobody')).toBe(200)
  expect(await get('/v1/verify?email=nobody&trace=true')).toBe(403)
  expect(await get('/v1/peer/peers')).toBe(200)
})

it('the secret is in no answer, log line or error', async () => {
  const lines: string[] = []
  const world = labWorld({ 'n1.example': { A: ['45.53.1.7'] } })
  const server = await labApp(world, { peerSecret: LAB_SECRET, onLine: (line) => lines.push(line) })
  const said: string[] = []
  for (const over of [{}, { secret: 'wrong' }, { nowMs: 0 }, { signed: 'x' }]) {
    const headers = headersFor(BODY, over)
    const { body, headers: answered } = await server.inject({ method: 'POST', url: PATH, headers, payload: BODY })
    said.push(body, JSON.stringify(answered))
    expect(lines.join()).not.toContain(headers.authorization)
  }
  const failing = labDeps(world, {
    geo: async () => {
      throw new Error('a bug')
    },
  })
  const broken = await labApp(world, { peerSecret: LAB_SECRET, deps: failing, onLine: (line) => lines.push(line) })
  const fault = await broken.inject({ url: '/v1/peer/geo?ip=192.0.2.1', headers: { host: 'localhost' } })
  expect([fault.statusCode, fault.json().code]).toEqual([500, 'internal'])
  expect(fault.body).not.toContain('a bug')
  expect([...said, fault.body, ...lines].join('\n')).not.toContain(LAB_SECRET)
  expect(lines.join()).toContain('a bug')
})
