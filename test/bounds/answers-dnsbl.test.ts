import { boundAnswer } from '../../src/answers/read-answer.ts'
import { createBlacklists } from '../../src/dnsbl/blacklists.ts'
import { expandTargets } from '../../src/dnsbl/query.ts'
import { BUILT_IN_LISTS } from '../../src/dnsbl/zones.ts'
import { ip } from '../../src/names/ip.ts'
import { DnsError, type Resolve } from '../../src/net/dns/resolver.ts'
import { labDns } from '../lab/dns.ts'
import { labCtx } from '../lab/world.ts'
import { testBounds, text, times } from './table.ts'

const LIST = BUILT_IN_LISTS.find(({ zone }) => zone === 'psbl.surriel.com')!
const boundOf = <T>(answer: T): T => boundAnswer(answer, (copy) => ({ ok: true, value: copy as T }))
/** An answer of so many bytes of JSON, of texts that are within their bound: each takes three bytes more. */
function answerOf(bytes: number): { readonly a: readonly string[] } {
  const left = bytes - '{"a":]}'.length
  return { a: [...times(Math.floor(left / 4_003), () => text(4_000)), text((left % 4_003) - 3)] }
}
/** A value at so many levels below an answer. */
const nested = (levels: number): unknown =>
  times(levels, () => 'a').reduce<unknown>((value, name) => ({ [name]: value }), 'x')

/** How many of `n` addresses a list that has left two without an answer is asked about at once. */
async function suspectAsks(n: number): Promise<number> {
  let inFlight = 0
  let isSilent = false
  const resolve: Resolve = (name, type, signal, options) => {
    if (!name.endsWith(LIST.zone)) return labDns({ [LIST.zone]: {} }).resolve(name, type, signal, options)
    if (!isSilent) return Promise.reject(new DnsError('timeout', { name, type }))
    if (name.includes('.9.53.45.')) inFlight++
    return new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(new DnsError('aborted', { name, type }))),
    )
  }
  const over = new AbortController()
  const ctx = { ...labCtx({}), resolve, signal: over.signal }
  const lists = createBlacklists({ now: () => 0, noCourtesy: true })
  for (const address of ['45.53.8.1', '45.53.8.2']) await lists.lookup(ctx, ip(address))
  isSilent = true
  const asked = times(n, (i) => lists.lookup(ctx, ip(`45.53.9.${i}`)))
  await new Promise((done) => setTimeout(done, 20))
  over.abort()
  await Promise.all(asked)
  return inFlight
}

testBounds([
  // A list and a record each count one separator more than they have.
  ['src/answers/read-answer.ts MAX_ANSWER', 1024 * 1024, (n) => !('a_left_out' in boundOf(answerOf(n - 2)))],
  ['src/answers/read-answer.ts MAX_DEPTH', 40, (n) => JSON.stringify(boundOf(nested(n))) === JSON.stringify(nested(n))],
  ['src/dnsbl/blacklists.ts MAX_SUSPECT_QUESTIONS', 8, async (n) => (await suspectAsks(n)) === n],
  ['src/dnsbl/query.ts MAX_TARGETS', 256, (n) => expandTargets(times(n, (i) => `45.53.${i >> 8}.${i & 255}`)).ok],
])
