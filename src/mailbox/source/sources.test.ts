import { expect, it } from 'vitest'
import { failingStore, labStore, labWorld } from '../../../test/lab/world.ts'
import type { Json } from '../../base/json.ts'
import { newSourceState } from './circuit-breaker.ts'
import { sources } from './sources.ts'

const NOW = labWorld().now()
const STATE = newSourceState(10)
const row = (over: object = {}): Json => ({ source: null, provider: 'gmail', state: { ...STATE, ...over } }) as Json

it.each<[string, Json, number]>([
  ['in order', row(), 1],
  ['with a refusal', row({ lastRefusal: { reason: 'a', text: 'b', atMs: NOW } }), 1],
  ['a pause that no date can hold', row({ pausedUntilMs: 1e300 }), 0],
  ['a pause before all time', row({ pausedUntilMs: -1 }), 0],
  ['a refusal at no time', row({ lastRefusal: { reason: 'a', text: 'b', atMs: 1e16 } }), 0],
  ['a rate that is no number', row({ perMinute: null }), 0],
  ['no object', 'x', 0],
])('a stored row: %s', async (_, value, rows) => {
  const store = labStore()
  await store.sources.put(' gmail', value)
  const known = sources({ ...labWorld(), store })
  await known.load()
  expect(known.rows()).toHaveLength(rows)
})

it('stores what has changed, and each row by itself', async () => {
  const store = labStore()
  const [one, other] = [sources({ ...labWorld(), store }), sources({ ...labWorld(), store })]
  one.begin(undefined, { key: 'gmail', perMinute: 10 }, true)
  other.begin(undefined, { key: 'outlook', perMinute: 10 }, true)
  await one.save()
  await other.save()
  expect((await store.sources.list({ limit: 10 })).map(({ key }) => key)).toEqual([' gmail', ' outlook'])
})

it('reads again, and saves again, what the store could not do', async () => {
  const store = labStore()
  await store.sources.put(' gmail', row())
  let current = failingStore()
  const known = sources({
    ...labWorld(),
    get store() {
      return current
    },
  })
  await known.load()
  expect(known.rows()).toEqual([])
  known.begin(undefined, { key: 'outlook', perMinute: 10 }, true)
  await expect(known.save()).rejects.toMatchObject({ code: 'unavailable' })
  current = store
  await known.load()
  await known.save()
  expect(known.rows()).toHaveLength(2)
  expect(await store.sources.list({ limit: 10 })).toHaveLength(2)
})

it('a pause lasts as long where the system clock steps; what is shown and stored goes by that clock', async () => {
  const store = labStore()
  let [stepMs, passedMs] = [0, 0]
  const world = { ...labWorld(), store, now: () => NOW + passedMs + stepMs, monotonic: () => NOW + passedMs }
  const known = sources(world)
  const gmail = { key: 'gmail', perMinute: 10 }
  const use = known.begin(undefined, gmail, false)
  if (use.ok) use.end({ kind: 'refused', reason: 'a', text: 'b' })
  for (stepMs of [3_600_000, -3_600_000]) {
    const until = new Date(NOW + 600_000 + stepMs).toISOString()
    expect(known.unavailable(undefined, gmail)).toMatchObject({ why: `is paused until ${until} after a: b` })
    expect(known.rows().map(({ state }) => state.pausedUntilMs)).toEqual([NOW + 600_000 + stepMs])
    await known.save()
    const started = sources({ ...world, monotonic: world.now }) // a process that begins after the step
    await started.load()
    expect(started.health(undefined, gmail)).toBe(3)
  }
  passedMs = 600_000
  expect(known.unavailable(undefined, gmail)).toBeUndefined()
})
