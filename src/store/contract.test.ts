import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { labDatabase } from '../../test/lab/database.ts'
import { labFolder } from '../../test/lab/folder.ts'
import { labStore } from '../../test/lab/world.ts'
import { once } from '../base/share-work.ts'
import { MAX_KEY, MAX_VALUE, REPOSITORIES, type Repository, type RepositoryName, type Store } from './contract.ts'
import { filesStore } from './files/files-store.ts'
import { postgresStore } from './postgres/postgres-store.ts'

/** What every driver does alike: a new driver is a row here. `open` gives two stores on the same data. */
const DRIVERS: readonly (readonly [string, () => readonly [Store, Store]])[] = [
  [
    'files',
    () => {
      const folder = labFolder()
      return [filesStore(folder, unsaid), filesStore(folder, unsaid)]
    },
  ],
  [
    'postgres',
    () => {
      const scopes = { cluster: randomUUID(), node: randomUUID() }
      return [postgresStore(openDatabase, scopes), postgresStore(openDatabase, scopes)]
    },
  ],
  [
    'memory (for tests)',
    () => {
      const store = labStore()
      return [store, store]
    },
  ],
]
const openDatabase = once(async () => (await labDatabase()).db)
const unsaid = (event: string): never => {
  throw new Error(event)
}
const keysOf = async (repository: Repository, page: { limit: number; after?: string } = { limit: 10_000 }) =>
  (await repository.list(page)).map(({ key }) => key)

describe.each(DRIVERS)('the store: %s', (_, open) => {
  it('has nothing at first', async () => {
    const [{ peers }] = open()
    expect([await peers.get('a'), await peers.list({ limit: 10 }), await peers.delete('a')]).toEqual([
      undefined,
      [],
      false,
    ])
  })

  it.each([
    ['a text', 'text'],
    ['null', null],
    ['an object', { n: 1.5, list: [true, { deep: 'é 漢 😀 \u0000 \u2028' }] }],
    ['the largest', 'a'.repeat(MAX_VALUE - 2)],
  ])('gives back %s, here and to others', async (_, value) => {
    const [one, other] = open()
    await one.peers.put('a', value)
    for (const store of [one, other]) expect(await store.peers.get('a')).toMatchObject({ key: 'a', value })
  })

  it.each(['42', '__proto__', 'constructor', ' ', 'a'.repeat(MAX_KEY)])('keeps a row of the key %j', async (key) => {
    const [{ peers }] = open()
    await peers.putAll([
      { key, value: 1 },
      { key: 'b', value: 2 },
    ])
    expect(await peers.get(key)).toMatchObject({ key, value: 1 })
    expect(await peers.delete(key)).toBe(true)
    expect(await keysOf(peers)).toEqual(['b'])
  })

  // Bound: src/store/contract.ts MAX_KEY
  it.each(['', 'é', 'a\n', 'a'.repeat(MAX_KEY + 1)])('refuses the key %j', async (key) => {
    const [{ peers }] = open()
    await expect(peers.put(key, 1)).rejects.toThrow(TypeError)
    await expect(peers.get(key)).rejects.toThrow(TypeError)
  })

  // Bound: src/store/contract.ts MAX_VALUE
  it('refuses a value over the bound, and stores nothing of it', async () => {
    const [{ peers }] = open()
    const rows = [
      { key: 'a', value: 1 },
      { key: 'b', value: 'a'.repeat(MAX_VALUE - 1) },
    ]
    await expect(peers.putAll(rows)).rejects.toMatchObject({ name: 'StoreError', code: 'too_large' })
    expect(await keysOf(peers)).toEqual([])
  })

  it('lists in the order of the keys, page by page', async () => {
    const [{ peers }] = open()
    for (const key of ['b', 'a', 'C', 'a b', '10', '9']) await peers.put(key, key)
    const all = ['10', '9', 'C', 'a', 'a b', 'b']
    expect(await keysOf(peers)).toEqual(all)
    expect(await keysOf(peers, { limit: 2 })).toEqual(all.slice(0, 2))
    expect(await keysOf(peers, { limit: 2, after: '9' })).toEqual(['C', 'a'])
    expect(await keysOf(peers, { limit: 2, after: 'b' })).toEqual([])
    expect(await keysOf(peers, { limit: 0 })).toEqual([])
  })

  it('keeps repositories apart', async () => {
    const [store] = open()
    await store.peers.put('a', 1)
    expect(await store.sources.get('a')).toBeUndefined()
  })

  it('adds a row only where there is none', async () => {
    const [{ peers }, { peers: others }] = open()
    expect(await peers.add('a', 1)).toBe(true)
    expect(await others.add('a', 2)).toBe(false)
    expect(await peers.get('a')).toMatchObject({ value: 1 })
  })

  it('gives one of many that add at once its way', async () => {
    const [{ peers }, { peers: others }] = open()
    const work = Array.from({ length: 10 }, (_, n) => (n % 2 ? peers : others).add('a', n))
    expect((await Promise.all(work)).filter(Boolean)).toHaveLength(1)
  })

  it('loses nothing where two write other rows at the same time', async () => {
    const [{ sources }, { sources: others }] = open()
    await Promise.all(Array.from({ length: 40 }, (_, n) => (n % 2 ? sources : others).put(`row ${n}`, n)))
    expect(await keysOf(sources)).toHaveLength(40)
    expect(await keysOf(others)).toHaveLength(40)
  })

  it('drops the rows longest unchanged when it is full', async () => {
    const [{ peers }] = open()
    const { maxRows } = REPOSITORIES.peers
    await peers.putAll(Array.from({ length: maxRows }, (_, n) => ({ key: `row ${n}`, value: n })))
    await peers.put('row 0', 'changed')
    await peers.putAll([
      { key: 'new 1', value: 1 },
      { key: 'new 2', value: 2 },
    ])
    const keys = await keysOf(peers)
    expect(keys).toHaveLength(maxRows)
    expect(['row 0', 'row 1', 'row 2', 'row 3', 'new 1', 'new 2'].map((key) => keys.includes(key))).toEqual([
      true,
      false,
      false,
      true,
      true,
      true,
    ])
  })

  it('refuses one row too many where none may go', async () => {
    const [{ node }] = open()
    const { maxRows } = REPOSITORIES.node
    await node.putAll(Array.from({ length: maxRows }, (_, n) => ({ key: `row ${n}`, value: n })))
    await node.put('row 0', 'changed')
    await expect(node.put('one more', 1)).rejects.toMatchObject({ name: 'StoreError', code: 'full' })
    await expect(node.add('one more', 1)).rejects.toMatchObject({ code: 'full' })
    expect(await keysOf(node)).toHaveLength(maxRows)
  })

  it('has a repository for each name', () =>
    expect(Object.keys(REPOSITORIES).every((name) => open()[0][name as RepositoryName])).toBe(true))
})
