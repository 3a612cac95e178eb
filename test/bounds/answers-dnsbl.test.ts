import { vi } from 'vitest'
import { boundAnswer } from '../../src/answers/read-answer.ts'
import { limiter } from '../../src/base/limiter.ts'
import { nearest } from '../../src/base/value-problems.ts'
import { cleanText } from '../../src/dnsbl/ask.ts'
import { createBlacklists } from '../../src/dnsbl/blacklists.ts'
import { parseLists } from '../../src/dnsbl/parse-lists.ts'
import { expandTargets } from '../../src/dnsbl/query.ts'
import { readAnswer } from '../../src/dnsbl/read.ts'
import { nextState, type TestState, UNTESTED } from '../../src/dnsbl/self-test.ts'
import { testStates } from '../../src/dnsbl/tester.ts'
import { BUILT_IN_LISTS } from '../../src/dnsbl/zones.ts'
import { ip } from '../../src/names/ip.ts'
import { DnsError, type Resolve } from '../../src/net/dns/resolver.ts'
import { labDns } from '../lab/dns.ts'
import { labCtx, labStore } from '../lab/world.ts'
import { isRead, testBounds, text, times } from './table.ts'

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
/** The state after so many changes. */
const changed = (n: number): TestState =>
  times(n, (i) => i).reduce<TestState>(
    (state, i) =>
      nextState(state, {
        atMs: i,
        positive: i % 2 ? 'listed' : 'refused',
        negative: i % 2 ? 'absent' : 'refused',
        codes: [],
      }),
    UNTESTED,
  )
/** How many rows of the store are asked for. */
async function rowsRead(): Promise<number> {
  let limit = 0
  const store = labStore()
  const list = async (asked: { readonly limit: number }) => {
    limit = asked.limit
    return []
  }
  await testStates().loaded({ ...labCtx(), store: { ...store, selfTests: { ...store.selfTests, list } } })
  return limit
}
/** The longest timer that a rate makes, ms. */
async function longestTimer(): Promise<number> {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const over = new AbortController()
  try {
    const slow = { rate: { capacity: 1, perSecond: 1e-9 } }
    const places = limiter({ now: () => 0 })
    places.tryEnter('a', slow)
    const waiting = places.enter('a', slow, over.signal)
    over.abort()
    await isRead(waiting)
    return Math.max(...timers.mock.calls.map(([, ms]) => ms ?? 0))
  } finally {
    timers.mockRestore()
  }
}

testBounds([
  // A list and a record each count one separator more than they have.
  ['src/answers/read-answer.ts MAX_ANSWER', 1024 * 1024, (n) => !('a_left_out' in boundOf(answerOf(n - 2)))],
  ['src/answers/read-answer.ts MAX_DEPTH', 40, (n) => JSON.stringify(boundOf(nested(n))) === JSON.stringify(nested(n))],
  ['src/base/limiter.ts LONGEST_TIMER_MS', 2 ** 31 - 1, async (n) => (await longestTimer()) >= n],
  [
    'src/base/value-problems.ts MAX_EDITS',
    3,
    (n) =>
      nearest('y'.repeat(n) + text(20), [text(20)]) !== undefined &&
      nearest('y'.repeat(n) + text(20), [text(20 + n)]) !== undefined,
  ],
  ['src/dnsbl/ask.ts MAX_TXT_BYTES', 512, (n) => cleanText([text(n)], {})?.length === n],
  ['src/dnsbl/blacklists.ts MAX_SUSPECT_QUESTIONS', 8, async (n) => (await suspectAsks(n)) === n],
  [
    'src/dnsbl/parse-lists.ts MAX_CHARACTERS',
    256 * 1024,
    (n) => !JSON.stringify(parseLists('{}'.padEnd(n))).includes('KiB'),
  ],
  [
    'src/dnsbl/read.ts MAX_RECORDS',
    20,
    async (n) => {
      const { resolve } = labDns({ 'a.example': { A: times(n, (i) => `127.0.0.${i + 2}`) } })
      return readAnswer(LIST, await resolve('a.example', 'A', new AbortController().signal)).reason !== 'implausible'
    },
  ],
  ['src/dnsbl/self-test.ts MAX_HISTORY', 24, (n) => changed(n).history.length === n],
  ['src/dnsbl/query.ts MAX_TARGETS', 256, (n) => expandTargets(times(n, (i) => `45.53.${i >> 8}.${i & 255}`)).ok],
  ['src/dnsbl/tester.ts MAX_ROWS', 1_000, async (n) => (await rowsRead()) >= n],
])
