import { expect, it } from 'vitest'
import { labKey } from '../../test/lab/app.ts'
import { sessionsOf } from './sessions.ts'

const KEY = labKey('live', ['read'])
type Request = Parameters<ReturnType<typeof sessionsOf>['keyOf']>[0]

function begun(sessions: ReturnType<typeof sessionsOf>, key = 'live'): Request {
  let cookie = ''
  const reply = { header: (_: string, value: unknown) => void (cookie = String(value).split(';')[0]!) } as never
  expect(sessions.begin({ headers: {}, method: 'POST' }, reply, key)).toBe(true)
  return { headers: { cookie }, method: 'GET' }
}

// Bound: src/http/sessions.ts MAX_SESSIONS
it('the longest unused goes when one more begins than may be', () => {
  const sessions = sessionsOf({ keys: () => [KEY], now: () => 0, monotonic: () => 0, maxSessions: 3 })
  const all = [begun(sessions), begun(sessions), begun(sessions)]
  expect(sessions.keyOf(all[0]!)).toBe(KEY) // used: the second is the longest unused now
  all.push(begun(sessions))
  expect(all.map((one) => sessions.keyOf(one) !== undefined)).toEqual([true, false, true, true])
  expect(sessions.size()).toBe(3)
})

it('lasts 12 hours from its last use', () => {
  let now = 0
  const sessions = sessionsOf({ keys: () => [KEY], now: () => now, monotonic: () => now })
  const one = begun(sessions)
  const hours = (n: number): number => n * 3_600_000
  now = hours(11)
  expect(sessions.keyOf(one)).toBe(KEY)
  now = hours(22)
  expect(sessions.keyOf(one)).toBe(KEY)
  now = hours(35)
  expect(sessions.keyOf(one)).toBeUndefined()
})

// Bound: src/http/sessions.ts MAX_OF_KEY
it('a key has at most 100 sessions: one more ends its own, and none of another key', () => {
  const others = labKey('other', ['admin'])
  const sessions = sessionsOf({ keys: () => [KEY, others], now: () => 0, monotonic: () => 0, maxSessions: 150 })
  const admin = begun(sessions, 'other')
  const all = Array.from({ length: 100 }, () => begun(sessions))
  expect([admin, all[1]!, all[0]!].map((one) => sessions.keyOf(one)?.id)).toEqual([others.id, KEY.id, KEY.id])
  for (let i = 0; i < 99; i++) all.push(begun(sessions))
  expect(all.map((one) => sessions.keyOf(one) !== undefined).indexOf(true)).toBe(0) // used last
  expect(all.filter((one) => sessions.keyOf(one) !== undefined)).toHaveLength(100)
  for (let i = 0; i < 500; i++) begun(sessions)
  expect(sessions.keyOf(admin)).toBe(others)
  expect(sessions.size()).toBe(101)
})

it('ends with its key: one of the same id with other secrets has none of its sessions', () => {
  let keys = [KEY]
  const sessions = sessionsOf({ keys: () => keys, now: () => 0, monotonic: () => 0 })
  const one = begun(sessions)
  keys = [{ ...KEY, hash: labKey('another', ['read']).hash }]
  expect(sessions.keyOf(one)).toBeUndefined()
  keys = [labKey('another', ['read'])]
  expect(sessions.keyOf(one)).toBeUndefined()
})
