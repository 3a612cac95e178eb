import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
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
  expect(rows.n).toBe(90)
  expect(Object.keys(rows)).toHaveLength(91)
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
  writeFileSync(path, '')
  mkdirSync(join(folder, 'state.json')) // what should be a file cannot be read
  await expect(store.peers.get('a')).rejects.toMatchObject({ code: 'unavailable' })
  await run('rmdir', [join(folder, 'state.json')])
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

const STATE = {
  'node-id': 'n-1',
  peers: [{ id: 'p-1', url: 'https://a.example' }],
  'mailbox/sources': [
    { source: '192.0.2.1', provider: 'gmail', standing: { breaker: 'closed' } },
    { provider: 'x', standing: {} },
  ],
  'dnsbl.self_test': { 4: { 'zen.example': { status: 'healthy' } }, 6: { 'zen.example': { status: 'dead' } } },
}

it('takes over state.json of version 0.1, once', async () => {
  const folder = labFolder()
  writeFileSync(join(folder, 'state.json'), JSON.stringify(STATE))
  const store = filesStore(folder, unsaid)
  const other = filesStore(folder, unsaid)
  await Promise.all([store.node.get('id'), other.node.get('id')])
  expect([await valuesOf(store, 'node'), await valuesOf(store, 'peers')]).toEqual([
    { id: 'n-1' },
    { 'p-1': STATE.peers[0] },
  ])
  expect(await valuesOf(store, 'sources')).toEqual({
    '192.0.2.1 gmail': STATE['mailbox/sources'][0],
    ' x': STATE['mailbox/sources'][1],
  })
  expect(await valuesOf(store, 'selfTests')).toEqual({
    '4 zen.example': { status: 'healthy' },
    '6 zen.example': { status: 'dead' },
  })
  expect(readdirSync(folder).filter((name) => name.startsWith('state'))).toEqual(['state.json.old'])
})

it('what is newer than state.json stays', async () => {
  const folder = labFolder()
  await filesStore(folder, unsaid).node.put('id', 'n-2')
  writeFileSync(join(folder, 'state.json'), JSON.stringify(STATE))
  expect(await filesStore(folder, unsaid).node.get('id')).toMatchObject({ value: 'n-2' })
})

it('a damaged state.json is said and kept', async () => {
  const folder = labFolder()
  writeFileSync(join(folder, 'state.json'), '{"peers":')
  const said: string[] = []
  expect(await filesStore(folder, (event) => said.push(event)).node.get('id')).toBeUndefined()
  expect(said).toEqual(['the state of an earlier version is damaged and was renamed'])
  expect(readFileSync(join(folder, 'state.json.damaged'), 'utf8')).toBe('{"peers":')
})
