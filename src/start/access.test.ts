import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'
import { failingStore, labStore, labWorld } from '../../test/lab/world.ts'
import { type Flags, loadConfig } from '../config.ts'
import type { Store } from '../store/contract.ts'
import { makeKey, openKeyFile } from '../store/key-file.ts'
import { type Access, openAccess } from './access.ts'
import { manageKeys } from './keys.ts'

const NOW = labWorld().now()
const put = (path: string, text: string): void => writeFileSync(path, text, { mode: 0o600 })
const key = makeKey({ name: 'a', scopes: ['admin'], nowMs: NOW }).kept

type Said = { readonly level: string; readonly event: string; readonly fields: unknown }

/** A service's access with what it logs, the keys it tells of, and a clock. */
async function open(dataDir: string, flags: Flags = {}, store: Store = labStore()) {
  const said: Said[] = []
  let nowMs = NOW
  const say = (level: string) => (event: string, fields?: unknown) => void said.push({ level, event, fields })
  const log = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
  const { config } = loadConfig({ dataDir, ...flags }, {})
  const now = (): number => nowMs
  const file = openKeyFile(join(dataDir, 'keys.json'), now)
  const access = await openAccess(config, { now, store, log }, file)
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms
    access.closed()
    await new Promise((resolve) => setTimeout(resolve, 20)) // what it looks up in the background
  }
  return { access, said, pass }
}

const stateOf = ({ keys, closed }: Access): string => {
  if (closed() !== undefined) return 'closed'
  return keys().length > 0 ? `${keys().length} keys` : 'open'
}

it.each<[string, (path: string) => unknown, string]>([
  ['removed', (path) => rmSync(path), 'closed'],
  ['emptied', (path) => put(path, ''), 'closed'],
  ['an empty list', (path) => put(path, '[]'), 'closed'],
  ['damaged', (path) => put(path, '{"a":'), 'closed'],
  ['readable by others', (path) => chmodSync(path, 0o644), 'closed'],
  ['a folder', (path) => [rmSync(path), mkdirSync(path)].length, 'closed'],
  ['untouched', () => {}, '1 keys'],
])('a key file that is %s, while the service runs and after a restart', async (_, spoil, state) => {
  const [folder, store] = [labFolder(), labStore()]
  const path = join(folder, 'keys.json')
  put(path, JSON.stringify([key]))
  const { access, pass, said } = await open(folder, {}, store)
  expect(stateOf(access)).toBe('1 keys')
  spoil(path)
  await pass(1_000)
  expect(stateOf(access)).toBe(state)
  await pass(1_000)
  expect(stateOf(access)).toBe(state)
  expect(said.filter(({ level }) => level === 'error')).toHaveLength(state === 'closed' ? 1 : 0) // said once
  expect(stateOf((await open(folder, {}, store)).access)).toBe(state)
})

it.each<[string, Flags, string, number]>([
  ['loopback: no key is asked for', {}, 'open', 0],
  ['another host: the first start makes a key and tells it', { host: '192.0.2.1' }, '1 keys', 1],
  ['another host with a key of an option', { host: '192.0.2.1', apiKeys: 'a-key-of-the-operator' }, '1 keys', 0],
  ['another host, insecure', { host: '192.0.2.1', insecureNoAuth: true }, 'open', 0],
])('no key was ever made, %s', async (_, flags, state, made) => {
  const { access } = await open(labFolder(), flags)
  expect([stateOf(access), access.made === undefined ? 0 : 1]).toEqual([state, made])
})

it('a host that needs keys does not make one in the place of those that were lost', async () => {
  const [folder, store] = [labFolder(), labStore()]
  const flags = { host: '192.0.2.1' }
  expect((await open(folder, flags, store)).access.made).toMatch(/^msk_/)
  rmSync(join(folder, 'keys.json'))
  const { access } = await open(folder, flags, store)
  expect([stateOf(access), access.made]).toEqual(['closed', undefined])
})

it('keys of options stay in force when those of the file are lost, and this is said', async () => {
  const folder = labFolder()
  put(join(folder, 'keys.json'), '{')
  const { access, said } = await open(folder, { apiKeys: 'a-key-of-the-operator' })
  expect(stateOf(access)).toBe('1 keys')
  expect(said).toMatchObject([{ level: 'error', event: 'the key file cannot be used; keys of options can' }])
})

it('says how many keys --insecure-no-auth passes over', async () => {
  const folder = labFolder()
  put(join(folder, 'keys.json'), JSON.stringify([key]))
  const flags = { host: '192.0.2.1', insecureNoAuth: true, apiKeys: 'a-key-of-the-operator' }
  const { access, said } = await open(folder, flags)
  expect(stateOf(access)).toBe('open')
  expect(said).toMatchObject([{ level: 'warn', event: /^--insecure-no-auth: /, fields: { ignored_keys: 2 } }])
})

it('requires keys where it cannot be read whether they are required', async () => {
  expect(stateOf((await open(labFolder(), {}, failingStore())).access)).toBe('closed')
})

const shown = { version: '0', look: { width: 80, colour: false, unicode: true } }

it('is opened by `keys reset --open`, running and after a restart, which then says so', async () => {
  const folder = labFolder()
  const { filesStore } = await import('../store/files/files-store.ts')
  const store = (): Store => filesStore(folder, () => {})
  const keys = (action: Parameters<typeof manageKeys>[0]) =>
    manageKeys(action, loadConfig({ dataDir: folder }, {}).config, () => {}, shown)
  await keys({ kind: 'create', name: 'a', scopes: 'read' })
  const running = await open(folder, {}, store())
  expect(stateOf(running.access)).toBe('1 keys')
  rmSync(join(folder, 'keys.json'))
  await running.pass(1_000)
  expect(stateOf(running.access)).toBe('closed')
  await expect(keys({ kind: 'reset', open: false })).rejects.toMatchObject({ message: /say --open/ })
  await keys({ kind: 'reset', open: true })
  await running.pass(1_000)
  expect(stateOf(running.access)).toBe('open')
  const restarted = await open(folder, {}, store())
  expect(stateOf(restarted.access)).toBe('open')
  expect(restarted.said).toMatchObject([{ level: 'warn', event: /since the keys were reset/ }])
  await keys({ kind: 'create', name: 'b', scopes: 'read' })
  rmSync(join(folder, 'keys.json'))
  expect(stateOf((await open(folder, {}, store())).access)).toBe('closed')
})

it('the last key is revoked: nobody is answered, and the command says so', async () => {
  const folder = labFolder()
  const { filesStore } = await import('../store/files/files-store.ts')
  put(join(folder, 'keys.json'), JSON.stringify([key]))
  const lines: string[] = []
  const { config } = loadConfig({ dataDir: folder }, {})
  await manageKeys({ kind: 'revoke', id: key.id }, config, (line) => lines.push(line), shown)
  expect(lines.join()).toMatch(/No key is left: services now answer only health/)
  expect(
    stateOf(
      (
        await open(
          folder,
          {},
          filesStore(folder, () => {}),
        )
      ).access,
    ),
  ).toBe('closed')
})
