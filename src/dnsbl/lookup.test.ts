import { expect, it } from 'vitest'
import { type LabNode, type LabZone, labDns } from '../../test/lab/dns.ts'
import { LIVE_LISTS } from '../../test/lab/lists.ts'
import { failingStore, labCtx, labStore } from '../../test/lab/world.ts'
import { type Ip, ip, reversed } from '../names/ip.ts'
import { DnsError, type Resolve } from '../net/dns/resolver.ts'
import { type Blacklists, createBlacklists } from './blacklists.ts'
import { presentBlacklist, presentBlacklists, summarize } from './present.ts'
import { TEST_POINTS } from './query.ts'
import { UNTESTED } from './self-test.ts'
import { BUILT_IN_LISTS } from './zones.ts'

const V4 = ip('45.53.5.1')
const V6 = ip('2a00:1450::1')
const T0 = Date.UTC(2026, 0, 2, 3, 4, 5)
const HOUR = 3_600_000
const PSBL = 'psbl.surriel.com'
const DRONE = 'dnsbl.dronebl.org'
/** A list of which only its test tells whether it has IPv6. */
const PROVABLE = BUILT_IN_LISTS.find(({ ipv6, zone }) => ipv6 === 'unknown' && zone !== 'bl.spamcop.net')!.zone

type Behaviour = LabNode | 'SERVFAIL' | 'TIMEOUT' | 'REFUSED' | undefined

/**
 * A list that answers every question. Its negative test point is written out: the names above the positive one hold the
 * wildcard off (RFC 4592 §3.3.1).
 */
const everything = (zone: string): LabZone => ({
  [`*.${zone}`]: { A: ['127.0.0.2'] },
  [`${TEST_POINTS[4].negative}.${zone}`]: { A: ['127.0.0.2'] },
})
const about = (address: Ip, zone: string, node: Behaviour): LabZone =>
  node === undefined ? {} : { [`${reversed(address)}.${zone}`]: node }

/** A clock that a test moves. */
function clock() {
  let ms = T0
  return { now: () => ms, pass: (by: number) => void (ms += by) }
}

async function entryOf(lists: Blacklists, ctx: ReturnType<typeof labCtx>, address: Ip, zone: string) {
  const answer = await lists.lookup(ctx, address)
  return answer.entries.find((entry) => entry.list.zone === zone)!
}

const BEHAVIOURS = [
  ['unlisted', undefined, 'not_listed', undefined],
  ['listed', { A: ['127.0.0.3'], TXT: ['see https://x.example/'] }, 'listed', undefined],
  ['listed without text', { A: ['127.0.0.3'] }, 'listed', undefined],
  ['listed, text unanswered', { A: ['127.0.0.3'], TXT: 'TIMEOUT' as const }, 'listed', undefined],
  ['listed, TTL 0', { A: ['127.0.0.3'], TTL: 0 }, 'listed', undefined],
  ['a name without A records', { TXT: ['x'] }, 'not_listed', undefined],
  ['refusing us', { A: ['127.255.255.254'] }, 'blocked', 'public_resolver'],
  ['REFUSED', 'REFUSED', 'blocked', 'refused'],
  ['SERVFAIL', 'SERVFAIL', 'error', 'servfail'],
  ['silent', 'TIMEOUT', 'timeout', 'no_answer'],
  ['parked', { A: ['192.0.2.99'] }, 'error', 'rewritten_or_parked'],
] as const
const CACHES = ['empty', 'warm', 'expired', 'max_age 0'] as const
const matrix = BEHAVIOURS.flatMap(([what, node, status, reason]) =>
  ([V4, V6] as const).flatMap((address) =>
    CACHES.map((cache) => [what, address, cache, node, status, reason] as const),
  ),
)

it.each(matrix)(
  'a list that is %s, asked about %s with the cache %s',
  async (_, address, cache, node, status, reason) => {
    const { now, pass } = clock()
    const ctx = labCtx({ ...LIVE_LISTS, ...about(address, DRONE, node) }, { now })
    const lists = createBlacklists({ now })
    await lists.test(ctx)
    if (cache !== 'empty') await lists.lookup(ctx, address)
    if (cache === 'expired') pass(HOUR - 1)
    const before = ctx.asked.length
    const answer = await lists.lookup(ctx, address, cache === 'max_age 0' ? { maxAgeMs: 0 } : {})
    expect(answer.entries.map(({ list }) => list)).toEqual(BUILT_IN_LISTS)
    const { reading } = answer.entries.find((entry) => entry.list.zone === DRONE)!
    expect([reading.status, reading.reason]).toEqual([status, reason])
    const again = ctx.asked
      .slice(before)
      .filter((name) => name.startsWith(reversed(address)) && name.endsWith(`${DRONE} A`))
    const keeps = !(typeof node === 'object' && 'TTL' in node)
    if (cache === 'warm' && keeps) expect(again).toEqual([])
    else expect(again.length).toBeGreaterThan(0)
    const others = answer.entries.filter(({ list }) => list.zone !== DRONE && (address === V4 || list.ipv6 !== 'no'))
    expect(new Set(others.map((entry) => entry.reading.status))).toEqual(new Set(['not_listed']))
  },
)

it('costs one wait when no list has the address, two when one has', async () => {
  const waits = async (node: Behaviour): Promise<number> => {
    const { resolve } = labDns({ ...LIVE_LISTS, ...about(V4, PSBL, node) })
    let tick = 0
    let open: (() => void)[] = []
    const slow: Resolve = async (name, type, signal) => {
      await new Promise<void>((go) => open.push(go))
      return resolve(name, type, signal)
    }
    const now = () => T0
    let done = false
    const answer = createBlacklists({ now })
      .lookup(labCtx({}, { resolve: slow, now }), V4)
      .then(() => (done = true))
    for (; !done && tick < 10; tick++) {
      await new Promise(setImmediate)
      const round = open
      open = []
      for (const go of round) go()
      await new Promise(setImmediate)
    }
    await answer
    return tick
  }
  expect(await waits(undefined)).toBe(1) // the first time, self-test beside it
  expect(await waits({ A: ['127.0.0.2'], TXT: ['why'] })).toBe(2)
})

it('asks each list once for all who ask at the same time', async () => {
  const ctx = labCtx(LIVE_LISTS)
  const lists = createBlacklists({ now: ctx.now })
  const answers = await Promise.all([
    lists.lookup(ctx, V4),
    lists.lookup(ctx, V4),
    lists.lookup(ctx, ip('::ffff:45.53.5.1')),
  ])
  expect(new Set(answers.map(({ entries }) => entries.length))).toEqual(new Set([29]))
  expect(ctx.asked.filter((name) => name.startsWith(`${reversed(V4)}.`))).toHaveLength(29)
})

it('asks anew for a caller who wants nothing remembered, although a lookup that remembers is under way', async () => {
  const { now, pass } = clock()
  const { resolve, asked } = labDns({ ...LIVE_LISTS, ...about(V4, DRONE, { A: ['127.0.0.3'], TTL: 10 }) })
  const held = Promise.withResolvers<void>()
  let isHeld = false
  const slow: Resolve = async (name, type, signal) => {
    const answer = resolve(name, type, signal)
    if (isHeld && name.endsWith(DRONE)) await held.promise
    return answer
  }
  const lists = createBlacklists({ now, deadlineMs: 60_000, noCourtesy: true })
  const ctx = labCtx({}, { now, resolve: slow })
  await lists.lookup(ctx, V4)
  await lists.settled()
  pass(20_000)
  isHeld = true
  const before = asked.length
  const questions = () => asked.slice(before).filter((one) => one.startsWith(`${reversed(V4)}.`) && one.endsWith(' A'))
  const remembering = lists.lookup(ctx, V4)
  await new Promise(setImmediate)
  expect(questions()).toEqual([`${reversed(V4)}.${DRONE} A`])
  const fresh = lists.lookup(ctx, V4, { maxAgeMs: 0 })
  await new Promise(setImmediate)
  expect(questions()).toHaveLength(30)
  held.resolve()
  const times = (await Promise.all([remembering, fresh])).map(({ entries }) => new Set(entries.map(({ atMs }) => atMs)))
  expect(times).toEqual([new Set([T0, T0 + 20_000]), new Set([T0 + 20_000])])
})

it('sends nothing to lists that have no IPv6; those that may have it wait for the test that proves it', async () => {
  const { [`${TEST_POINTS[6].positive}.bl.spamcop.net`]: _, ...withoutSpamCop } = LIVE_LISTS
  const ctx = labCtx(withoutSpamCop)
  const lists = createBlacklists({ now: ctx.now })
  const answers = await Promise.all([lists.lookup(ctx, V6), lists.lookup(ctx, V6)])
  for (const { entries } of answers) {
    const word = (zone: string) => entries.find(({ list }) => list.zone === zone)!.reading
    expect(word('psbl.surriel.com')).toMatchObject({ status: 'unsupported', reason: 'no_ipv6' })
    expect(word('bl.spamcop.net')).toMatchObject({ status: 'unsupported', reason: 'ipv6_not_proven' })
    expect(word('dnsbl.dronebl.org').status).toBe('not_listed')
    expect(word(PROVABLE).status).toBe('not_listed')
  }
  expect(ctx.asked.some((name) => name.endsWith('psbl.surriel.com A'))).toBe(false)
  expect(ctx.asked).not.toContain(`${reversed(V6)}.bl.spamcop.net A`)
})

it.each([
  ['is missing', undefined, 'test_point_missing'],
  ['is no listing', { A: ['127.255.255.254'] }, 'test_point_missing'],
  [
    'has more records than a list gives',
    { A: Array.from({ length: 21 }, (_, i) => `127.0.0.${i + 2}`) },
    'test_point_missing',
  ],
  ['is not answered', 'SERVFAIL', 'test_unanswered'],
] as const)(
  'from a list whose test point %s, "not listed" is no answer, from the first question on',
  async (_, point, reason) => {
    const { [`${TEST_POINTS[4].positive}.${PSBL}`]: __, ...others } = LIVE_LISTS
    const ctx = labCtx({ ...others, ...(point && { [`${TEST_POINTS[4].positive}.${PSBL}`]: point }) } as LabZone)
    const lists = createBlacklists({ now: ctx.now })
    for (const address of [V4, V4, ip('45.53.5.2')]) {
      expect((await entryOf(lists, ctx, address, PSBL)).reading).toMatchObject({ status: 'error', reason })
      expect(summarize(await lists.lookup(ctx, address))).toMatchObject({ answered: 28, verdict: 'incomplete' })
    }
    expect(lists.states().find(({ list }) => list.zone === PSBL)!.answers).toMatchObject({ not_listed: 0, error: 2 })
    const listed = labCtx({ ...others, ...about(ip('45.53.5.3'), PSBL, { A: ['127.0.0.2'] }) })
    expect((await entryOf(lists, listed, ip('45.53.5.3'), PSBL)).reading.status).toBe('listed')
  },
)

it.each([
  '10.0.0.1',
  '192.168.1.1',
  '127.0.0.1',
  '192.0.2.1',
  '100.64.0.1',
  '0.0.0.0',
  '::1',
  '2001:db8::1',
  'fe80::1',
  'fd00::1',
  '::ffff:10.0.0.1',
])('asks nothing about %s, which is not public', async (address) => {
  const ctx = labCtx(LIVE_LISTS)
  const answer = await createBlacklists({ now: ctx.now }).lookup(ctx, ip(address), { maxAgeMs: 0 })
  expect(new Set(answer.entries.map(({ reading }) => `${reading.status} ${reading.reason}`))).toEqual(
    new Set(['unsupported not_public']),
  )
  expect(summarize(answer)).toMatchObject({ total: 29, listed: 0, answered: 0, verdict: 'incomplete' })
  expect(ctx.asked).toEqual([])
})

it.each(['127.0.0.2', '::ffff:7f00:2'])('asks about the test point %s as about any address', async (address) => {
  const ctx = labCtx(LIVE_LISTS)
  const answer = summarize(await createBlacklists({ now: ctx.now }).lookup(ctx, ip(address)))
  expect(answer).toMatchObject({ answered: 29, verdict: 'listed' })
})

it('tests a list that has 127.0.0.1 with another address that nobody lists', async () => {
  const zone = 'hostkarma.junkemailfilter.com'
  const point = `128.128.128.127.${zone}`
  const ctx = labCtx({ ...LIVE_LISTS, ...everything(zone), [point]: { A: ['127.0.0.2'] } }, { random: () => 0.5 })
  const { reading } = await entryOf(createBlacklists({ now: ctx.now }), ctx, V4, zone)
  expect(reading).toMatchObject({ status: 'error', reason: 'quarantined_answers_everything' })
  expect(ctx.asked).toContain(`${point} A`)
  expect(ctx.asked).not.toContain(`${TEST_POINTS[4].negative}.${zone} A`)
})

it('does not believe the listing of a list that begins to answer everything between two tests', async () => {
  const { now, pass } = clock()
  const lists = createBlacklists({ now })
  await lists.test(labCtx(LIVE_LISTS, { now }))
  pass(60_000)
  const ctx = labCtx({ ...LIVE_LISTS, ...everything(PSBL) }, { now })
  expect((await entryOf(lists, ctx, V4, PSBL)).reading.reason).toBe('quarantined_answers_everything')
  expect(ctx.asked.filter((question) => question === `${TEST_POINTS[4].negative}.${PSBL} A`)).toHaveLength(1)
})

it('asks nothing for a caller who has hung up, and ends the tests when nobody is left', async () => {
  const gone = { ...labCtx(LIVE_LISTS), signal: AbortSignal.abort(new DOMException('went away', 'AbortError')) }
  const lists = createBlacklists({ now: gone.now })
  expect(summarize(await lists.lookup(gone, V4))).toMatchObject({ total: 29, answered: 0 })
  await lists.settled()
  expect(gone.asked).toEqual([])
  const { resolve, asked } = labDns(LIVE_LISTS)
  const caller = new AbortController()
  const slow: Resolve = async (name, type, signal) => {
    await new Promise(setImmediate)
    return resolve(name, type, signal)
  }
  const ctx = { ...labCtx({}, { resolve: slow }), signal: caller.signal }
  const pending = lists.lookup(ctx, V4)
  await new Promise(setImmediate)
  caller.abort(new DOMException('went away', 'AbortError'))
  const before = asked.length
  await pending
  await lists.settled()
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
  expect(asked.length - before).toBe(29 * 3) // what was under way: the question and both test points, no second test
  expect(lists.states().every(({ ipv4 }) => ipv4.status === 'untested')).toBe(true)
})

it('does not believe a list that answers everything, from the first question on', async () => {
  const ctx = labCtx({ ...LIVE_LISTS, ...everything(PSBL) })
  const lists = createBlacklists({ now: ctx.now })
  const first = await entryOf(lists, ctx, V4, PSBL)
  expect(first.reading).toMatchObject({ status: 'error', reason: 'quarantined_answers_everything' })
  await lists.settled()
  const before = ctx.asked.length
  const second = await entryOf(lists, ctx, ip('45.53.5.2'), PSBL)
  expect(second.reading.reason).toBe('quarantined_answers_everything')
  expect(ctx.asked.slice(before).some((name) => name.includes(PSBL))).toBe(false) // never about users' addresses
})

it('a list without its test point is dead after three hours, and back when it is there again', async () => {
  const { now, pass } = clock()
  const { [`${TEST_POINTS[4].positive}.${PSBL}`]: point, ...dead } = LIVE_LISTS
  const lists = createBlacklists({ now })
  const seen: string[] = []
  for (let hour = 0; hour < 5; hour++, pass(HOUR)) {
    const zone = hour === 4 ? { ...dead, [`${TEST_POINTS[4].positive}.${PSBL}`]: point! } : dead
    const ctx = labCtx(zone, { now })
    await lists.lookup(ctx, V4)
    await lists.settled()
    seen.push((await entryOf(lists, ctx, V4, PSBL)).reading.reason ?? 'answered')
  }
  expect(seen).toEqual([...Array(3).fill('test_point_missing'), 'dead', 'answered'])
})

it('a zone whose answer changes with every question ends in quarantine', async () => {
  const { resolve } = labDns(LIVE_LISTS)
  let turn = 0
  const moody: Resolve = async (name, type, signal) => {
    if (name.endsWith(PSBL))
      return labDns(turn++ % 2 ? {} : { [name]: { A: ['127.0.0.2'] } }).resolve(name, type, signal)
    return resolve(name, type, signal)
  }
  const ctx = labCtx({}, { resolve: moody })
  const lists = createBlacklists({ now: ctx.now })
  await lists.lookup(ctx, V4)
  await lists.settled()
  expect((await entryOf(lists, ctx, V4, PSBL)).reading.reason).toBe('quarantined_answers_everything')
})

it.each([
  ['SERVFAIL', 'SERVFAIL'],
  ['no answer', 'TIMEOUT'],
  ['REFUSED', 'REFUSED'],
  ['a refusal of our resolver', { A: ['127.255.255.254'] }],
] as const)('a listing is no answer while the negative test point gets %s', async (_, point) => {
  const { now, pass } = clock()
  const lists = createBlacklists({ now })
  await lists.test(labCtx(LIVE_LISTS, { now }))
  pass(60_000)
  const negative = `${TEST_POINTS[4].negative}.${PSBL}`
  const listed = { ...LIVE_LISTS, ...about(V4, PSBL, { A: ['127.0.0.2'], TXT: ['why'] }) }
  const unproven = labCtx({ ...listed, [negative]: point } as LabZone, { now })
  const { reading, txt } = await entryOf(lists, unproven, V4, PSBL)
  expect([reading.status, reading.reason, txt]).toEqual(['error', 'test_unanswered', null])
  // nothing was remembered
  expect((await entryOf(lists, labCtx(listed, { now }), V4, PSBL)).reading.status).toBe('listed')
})

it('a listing whose negative test point is not answered within the deadline does not stand', async () => {
  const { now, pass } = clock()
  const lists = createBlacklists({ now, deadlineMs: 60 })
  await lists.test(labCtx(LIVE_LISTS, { now }))
  pass(60_000)
  const { resolve } = labDns({ ...LIVE_LISTS, ...about(V4, PSBL, { A: ['127.0.0.2'] }) })
  const late: Resolve = (name, type, signal) =>
    name === `${TEST_POINTS[4].negative}.${PSBL}`
      ? new Promise((_, reject) => {
          const stop = () => reject(new DnsError('timeout', { name, type }))
          signal.addEventListener('abort', stop, { once: true })
        })
      : resolve(name, type, signal)
  const { status } = (await entryOf(lists, labCtx({}, { now, resolve: late }), V4, PSBL)).reading
  expect(['timeout', 'error']).toContain(status)
})

it('a list that answers everything now and then gives no listing within the hour of it', async () => {
  const { now, pass } = clock()
  const lists = createBlacklists({ now })
  const honest = labCtx(LIVE_LISTS, { now })
  const lying = labCtx({ ...LIVE_LISTS, ...everything(PSBL) }, { now })
  await lists.test(honest)
  const said: (string | undefined)[] = []
  for (let minute = 0; minute < 60; minute += 5) {
    pass(5 * 60_000)
    const ctx = minute % 10 === 0 ? lying : honest
    const entry = await entryOf(lists, ctx, ip(`45.53.6.${minute}`), PSBL)
    await lists.settled()
    said.push(entry.reading.reason)
  }
  expect(said).toEqual(Array(12).fill('quarantined_answers_everything'))
})

it('remembers how the lists stand over a restart, and tests at most hourly', async () => {
  const { now, pass } = clock()
  const store = labStore()
  const zone = { ...LIVE_LISTS, ...everything(PSBL) }
  const first = createBlacklists({ now })
  await first.test(labCtx(zone, { now, store }))
  expect(await store.selfTests.get(`4 ${PSBL}`)).toMatchObject({ value: { status: 'quarantined' } })
  pass(HOUR - 1)
  const ctx = labCtx(zone, { now, store })
  const second = createBlacklists({ now })
  expect((await entryOf(second, ctx, V4, PSBL)).reading.reason).toBe('quarantined_answers_everything')
  expect(ctx.asked).toHaveLength(28)
  pass(1)
  await second.lookup(ctx, V4)
  await second.settled()
  expect(ctx.asked.some((name) => name.startsWith('1.0.0.127.'))).toBe(true)
})

it.each([
  ['nonsense', 'x'],
  ['another shape', { states: [] }],
  ['a time that no date can hold', { ...UNTESTED, history: [], codes: [], testedAtMs: 1e300 }],
])('goes on when the store holds %s', async (_, kept) => {
  const store = labStore()
  await store.selfTests.put(`4 ${PSBL}`, kept)
  const ctx = labCtx(LIVE_LISTS, { store })
  expect(summarize(await createBlacklists({ now: ctx.now }).lookup(ctx, V4)).verdict).toBe('clean')
})

it('goes on when the store fails', async () => {
  const ctx = labCtx(LIVE_LISTS, { store: failingStore() })
  const lists = createBlacklists({ now: ctx.now })
  expect(summarize(await lists.lookup(ctx, V4)).answered).toBe(29)
  await lists.settled()
})

it('keeps to a list its allowance, and says that it was ours', async () => {
  const ctx = labCtx(LIVE_LISTS)
  const lists = createBlacklists({ now: ctx.now })
  const words: string[] = []
  for (let i = 1; i <= 6; i++) {
    const entry = await entryOf(
      lists,
      { ...ctx, signal: AbortSignal.timeout(50) },
      ip(`45.53.5.${i}`),
      'bl.spameatingmonkey.net',
    )
    words.push(entry.reading.reason ?? entry.reading.status)
  }
  expect(words.slice(0, 5)).toEqual(Array(5).fill('not_listed'))
  expect(['own_limit', 'no_answer']).toContain(words[5]) // no time to wait for the sixth
})

it('an allowance that was spent says nothing of the list: it is asked as soon as there is leave', async () => {
  const { now, pass } = clock()
  const ctx = labCtx(LIVE_LISTS, { now })
  const lists = createBlacklists({ now })
  const zone = 'bl.spameatingmonkey.net'
  for (let i = 1; i <= 5; i++) await entryOf(lists, ctx, ip(`45.53.5.${i}`), zone)
  const hasty = { ...ctx, signal: AbortSignal.timeout(50) }
  expect((await entryOf(lists, hasty, ip('45.53.5.6'), zone)).reading.status).not.toBe('not_listed')
  await lists.settled()
  pass(900) // less than a failure is kept
  expect((await entryOf(lists, ctx, ip('45.53.5.6'), zone)).reading.status).toBe('not_listed')
})

it('asks the negative test point of a listing once a minute', async () => {
  const { now, pass } = clock()
  const ctx = labCtx({ ...LIVE_LISTS, ...about(V4, PSBL, { A: ['127.0.0.2'] }) }, { now })
  const lists = createBlacklists({ now })
  const negatives = () => ctx.asked.filter((question) => question === `${TEST_POINTS[4].negative}.${PSBL} A`).length
  await lists.test(ctx)
  const before = negatives()
  await lists.lookup(ctx, V4, { maxAgeMs: 0 })
  expect(negatives()).toBe(before) // tested at this very moment
  pass(59_999)
  await lists.lookup(ctx, V4, { maxAgeMs: 0 })
  expect(negatives()).toBe(before)
  pass(1)
  await lists.lookup(ctx, V4, { maxAgeMs: 0 })
  expect(negatives()).toBe(before + 1)
})

it('has no limits with noCourtesy', async () => {
  const ctx = labCtx(LIVE_LISTS)
  const lists = createBlacklists({ now: ctx.now, noCourtesy: true })
  const all = await Promise.all(Array.from({ length: 60 }, (_, i) => lists.lookup(ctx, ip(`45.53.5.${i}`))))
  expect(all.every((answer) => summarize(answer).answered === 29)).toBe(true)
})

it('waits for a list that stays silent only until it is known to, and no longer than the others from then on', async () => {
  const { resolve } = labDns(LIVE_LISTS)
  let hanging = 0
  let most = 0
  const hung: Resolve = (name, type, signal) =>
    name.endsWith(PSBL)
      ? new Promise((_, reject) => {
          hanging += 1
          most = Math.max(most, hanging)
          const stop = () => {
            hanging -= 1
            reject(new DnsError('timeout', { name, type }))
          }
          if (signal.aborted) stop()
          else signal.addEventListener('abort', stop, { once: true })
        })
      : resolve(name, type, signal)
  const ctx = labCtx({}, { resolve: hung })
  const lists = createBlacklists({ now: ctx.now, deadlineMs: 60, noCourtesy: true })
  for (const address of ['45.53.5.1', '45.53.5.2']) {
    expect((await entryOf(lists, ctx, ip(address), PSBL)).reading.status).toBe('timeout')
  }
  const patient = createBlacklists({ now: ctx.now, deadlineMs: 60_000 })
  const leaving = AbortSignal.timeout(20)
  // the caller's deadline: 28 of 29 stand
  const cut = await patient.lookup({ ...ctx, signal: leaving }, ip('45.53.5.3'))
  expect(summarize(cut)).toMatchObject({ answered: 28, verdict: 'incomplete' })
  let settled = false
  void lists.lookup(ctx, ip('45.53.5.4')).then(() => (settled = true))
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  expect(settled).toBe(true)
  await lists.settled()
  await new Promise((done) => setTimeout(done, 80)) // the question about 45.53.5.4 ends
  most = hanging = 0 // what the patient caller began is not counted
  const many = Array.from({ length: 30 }, (_, i) => lists.lookup(ctx, ip(`45.53.6.${i}`)))
  expect((await Promise.all(many)).every((answer) => summarize(answer).answered === 28)).toBe(true)
  expect(most).toBe(8)
})

it('ends the work when the last caller leaves', async () => {
  const given: AbortSignal[] = []
  const never: Resolve = (_, __, signal) => {
    given.push(signal)
    return new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(new DnsError('aborted', { name: '', type: 'A' }))),
    )
  }
  const caller = new AbortController()
  const ctx = { ...labCtx({}, { resolve: never }), signal: caller.signal }
  const pending = createBlacklists({ now: ctx.now }).lookup(ctx, V4)
  await new Promise(setImmediate)
  caller.abort()
  expect(summarize(await pending)).toMatchObject({ total: 29, answered: 0, verdict: 'incomplete' })
  expect(given.slice(0, 29).every((signal) => signal.aborted)).toBe(true)
})

it('never shows a key', async () => {
  const keys = { dqs: 'dqssecret', spamrats: 'ratssecret' }
  const name = `${reversed(V4)}.dqssecret.zen.dq.spamhaus.net`
  const ctx = labCtx({ ...LIVE_LISTS, [name]: { A: ['127.0.0.2'], TXT: ['https://check.example/?k=DQSSECRET'] } })
  const lists = createBlacklists({ now: ctx.now, keys })
  const answer = presentBlacklist(await lists.lookup(ctx, V4), ctx)
  await lists.settled()
  const shown = JSON.stringify([
    answer,
    presentBlacklists(lists.set, lists.states()),
    await ctx.store.selfTests.list({ limit: 1_000 }),
  ])
  expect(ctx.asked).toContain(`${name} A`)
  expect(shown).toContain('zen.spamhaus.org')
  expect(shown.toLowerCase()).not.toMatch(/dqssecret|ratssecret/)
})

it.each([
  ['escape sequences', '\u001b[31mred\u0007\u009b2J\r\nX: y', '[31mred 2J X: y'],
  ['HTML', '<script>alert(1)</script>', '<script>alert(1)</script>'], // harmless in JSON; renderers escape
  ['64 kB', 'é'.repeat(32_768), 'é'.repeat(256)], // 512 bytes, never within a character
  ['reordering', 'a\u202eb', 'a b'],
  ['a lone surrogate', 'a\ud800b', 'a b'],
  ['nothing but controls', '\u0000\u0001', null],
])('makes a text with %s harmless', async (_, text, expected) => {
  const ctx = labCtx({ ...LIVE_LISTS, ...about(V4, PSBL, { A: ['127.0.0.2'], TXT: [text] }) })
  const { txt } = await entryOf(createBlacklists({ now: ctx.now }), ctx, V4, PSBL)
  expect(txt).toBe(expected)
  expect(Buffer.byteLength(txt ?? '')).toBeLessThanOrEqual(512)
})
