import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Call, formatProof, nonceMemory, type ProofCheck, parseProof, refuteProof } from './proof.ts'

const CALL: Call = {
  method: 'POST',
  origin: 'https://b.example',
  path: '/v1/peer/register',
  body: '{"url":"https://a.example"}',
}
const NOW = 1_700_000_000_000
const by = { id: 'a', nonce: 'abcdefghijklmnop', nowMs: NOW }
const proof = parseProof(formatProof(CALL, by, 's3cret'))!
const check = (over: Partial<ProofCheck> = {}): ProofCheck => ({
  secret: 's3cret',
  nowMs: NOW,
  seen: () => false,
  ...over,
})

it.each<[string, Call, Parameters<typeof refuteProof>[2], string | undefined]>([
  ['holds', CALL, check(), undefined],
  ['holds within the window', CALL, check({ nowMs: NOW + 60_000 }), undefined],
  ['another body', { ...CALL, body: '{}' }, check(), 'signature'],
  ['another path', { ...CALL, path: '/v1/peer/heartbeat' }, check(), 'signature'],
  ['another node', { ...CALL, origin: 'https://c.example' }, check(), 'signature'],
  ['another method', { ...CALL, method: 'GET' }, check(), 'signature'],
  ['another secret', CALL, check({ secret: 'other' }), 'signature'],
  ['stale', CALL, check({ nowMs: NOW + 62_000 }), 'too old'],
  ['from the future', CALL, check({ nowMs: NOW - 61_000 }), 'too old'],
  ['made just before the start', CALL, check({ notBeforeMs: NOW + 999 }), undefined], // ts is in whole seconds
  ['made before the start', CALL, check({ notBeforeMs: NOW + 1_000 }), 'before this node started'],
  ['replayed', CALL, check({ seen: () => true }), 'already received'],
])('%s', (_, call, against, why) => {
  const refuted = refuteProof(proof, call, against)
  if (why === undefined) expect(refuted).toBeUndefined()
  else expect(refuted?.text).toContain(why)
})

it('does not remember the nonce of a forged call', () => {
  let asked = 0
  refuteProof({ ...proof, sig: '0'.repeat(64) }, CALL, check({ seen: () => asked++ > 0 }))
  expect(asked).toBe(0)
})

it('never throws on a header', () =>
  fc.assert(fc.property(fc.string(), (text) => void parseProof(`Mailsonde-Peer id=${text}`))))

/** A call from a clock that is 60 s ahead is valid for 120 s, and its time is in whole seconds. */
it.each([
  [120_999, true],
  [121_000, false],
])('a nonce was seen %d ms ago: remembered is %s', (ms, expected) => {
  let now = 1_000_000
  const isSeen = nonceMemory(() => now)
  expect(isSeen('here abcdefghijklmnop')).toBe(false)
  now += ms
  expect([isSeen('here abcdefghijklmnop'), isSeen('here qrstuvwxyzabcdef')]).toEqual([expected, false])
})
