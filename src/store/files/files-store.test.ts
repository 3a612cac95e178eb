import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { labFolder } from '../../../test/lab/folder.ts'
import { filesStore } from './files-store.ts'

const run = promisify(execFile)
const unsaid = (event: string): never => {
  throw new Error(event)
}
const valuesOf = async (store: ReturnType<typeof filesStore>, name: 'peers' | 'sources' | 'selfTests' | 'node') =>
  Object.fromEntries((await store[name].list({ limit: 10_000 })).map(({ key, value }) => [key, value]))

it('two processes that write in turns lose nothing', async () => {
  const folder = labFolder()
  const writer = new URL('../../../test/lab/store-writer.ts', import.meta.url).pathname
  await Promise.all(['a', 'b', 'c'].map((name) => run(process.execPath, [writer, folder, name, '30'])))
  const rows = await valuesOf(filesStore(folder, unsaid), 'sources')
  expect(Object.keys(rows)).toHaveLength(120)
  expect(readdirSync(folder)).toEqual(['sources.json'])
}, 60_000)

it('is there after a restart, for this user alone', async () => {
  const folder = join(labFolder(), 'data')
  await filesStore(folder, unsaid).peers.put('a', { n: 1 })
  expect(await filesStore(folder, unsaid).peers.get('a')).toMatchObject({ value: { n: 1 } })
  expect([statSync(folder).mode & 0o777, statSync(join(folder, 'peers.json')).mode & 0o777]).toEqual([0o700, 0o600])
})

it('settles when what was asked for is written', async () => {
  const folder = labFolder()
  const store = filesStore(folder, unsaid)
  for (let i = 0; i < 5; i++) void store.peers.put(`${i}`, i)
  await store.settled()
  expect(Object.keys(await valuesOf(filesStore(folder, unsaid), 'peers'))).toHaveLength(5)
})

it.each([
  ['no JSON', '{"format":1,"rows":[["a",'],
  ['nothing', ''],
  ['another shape', '{"a":1}'],
  ['a row that is none', '{"format":1,"rows":[["a",1],["b"]]}'],
])('a damaged file (%s) is said, moved aside and never overwritten', async (_, text) => {
  const folder = labFolder()
  writeFileSync(join(folder, 'peers.json'), text)
  const said: unknown[] = []
  const store = filesStore(folder, (event, { moved_to }) => said.push([event, moved_to]))
  expect(await store.peers.get('a')).toBeUndefined()
  await store.peers.put('a', 1)
  const aside = readdirSync(folder).filter((name) => /^peers\.json\.damaged-/.test(name))
  expect(said).toEqual([['a data file is damaged and was renamed', join(folder, aside[0]!)]])
  expect(readFileSync(join(folder, aside[0]!), 'utf8')).toBe(text)
  expect(await valuesOf(filesStore(folder, unsaid), 'peers')).toEqual({ a: 1 })
})

it('leaves a file of a later version as it is', async () => {
  const folder = labFolder()
  const text = '{"format":2,"rows":{}}'
  writeFileSync(join(folder, 'peers.json'), text)
  const store = filesStore(folder, unsaid)
  await expect(store.peers.get('a')).rejects.toMatchObject({ name: 'StoreError', code: 'newer' })
  await expect(store.peers.put('a', 1)).rejects.toMatchObject({ code: 'newer' })
  expect(readFileSync(join(folder, 'peers.json'), 'utf8')).toBe(text)
})

it('tries a failed load again', async () => {
  const folder = labFolder()
  const path = join(folder, 'peers.json')
  await filesStore(folder, unsaid).peers.put('a', 1)
  const text = readFileSync(path)
  const store = filesStore(folder, unsaid)
  rmSync(path)
  mkdirSync(path) // what should be a file cannot be read
  await expect(store.peers.get('a')).rejects.toMatchObject({ code: 'unavailable' })
  rmdirSync(path)
  writeFileSync(path, text)
  expect(await store.peers.get('a')).toMatchObject({ value: 1 })
})

it('follows no link that somebody laid where it writes', async () => {
  const [folder, elsewhere] = [labFolder(), labFolder()]
  const target = join(elsewhere, 'target')
  writeFileSync(target, 'not ours')
  for (const name of ['peers.json.new', 'peers.json']) symlinkSync(target, join(folder, name))
  const store = filesStore(folder, () => {})
  await store.peers.put('a', 1)
  expect(readFileSync(target, 'utf8')).toBe('not ours')
  expect(await valuesOf(filesStore(folder, unsaid), 'peers')).toEqual({ a: 1 })
})

it('removes what a killed process left behind', async () => {
  const folder = labFolder()
  writeFileSync(join(folder, `peers.json.${'a'.repeat(16)}.new`), '{')
  await filesStore(folder, unsaid).peers.put('a', 1)
  expect(readdirSync(folder)).toEqual(['peers.json'])
})
