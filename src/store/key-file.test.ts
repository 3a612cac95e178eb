import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'
import { hashKey, MAX_KEYS, makeKey, openKeyFile } from './key-file.ts'

const NOW = Date.UTC(2026, 0, 2)
const newKey = (name = 'a') => makeKey({ name, scopes: ['admin'], nowMs: NOW }).kept
const put = (path: string, text: string): void => writeFileSync(path, text, { mode: 0o600 })
const clock = (nowMs = NOW) => ({ now: () => nowMs, pass: (ms: number) => void (nowMs += ms) })

it('keeps the hash and never the key', async () => {
  const path = join(labFolder(), 'data', 'keys.json')
  const { key, kept } = makeKey({ name: 'a', scopes: ['read'], nowMs: NOW, lifetimeMs: 3_600_000 })
  const file = openKeyFile(path, () => NOW)
  expect(file.read()).toEqual({ kind: 'missing' })
  await file.add(kept)
  expect(readFileSync(path, 'utf8')).not.toContain(key)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(file.read()).toEqual({ kind: 'keys', keys: [kept] })
  expect(kept).toMatchObject({ hash: hashKey(key), expires_at: '2026-01-02T01:00:00.000Z' })
})

it.each([
  ['', 'could not be read'],
  ['{', 'could not be read'],
  ['{}', 'not valid'],
  ['[{"id":"a","name":"","hash":"00","scopes":["read"],"created_at":"2026-01-02T00:00:00Z"}]', 'not valid'],
])('refuses %j, and does not overwrite it', async (text, why) => {
  const path = join(labFolder(), 'keys.json')
  put(path, text)
  const file = openKeyFile(path, () => NOW)
  expect(file.read()).toMatchObject({ kind: 'unusable', why: { text: expect.stringContaining(why) } })
  await expect(file.add(newKey())).rejects.toMatchObject({ name: 'StoreError', code: 'damaged' })
  expect(readFileSync(path, 'utf8')).toBe(text)
})

it.each([
  [0o600, 'keys'],
  [0o400, 'keys'],
  [0o640, 'unusable'],
  [0o604, 'unusable'],
  [0o602, 'unusable'],
  [0o666, 'unusable'],
])('mode %o: %s', async (mode, kind) => {
  const path = join(labFolder(), 'keys.json')
  const file = openKeyFile(path, () => NOW)
  await file.add(newKey())
  chmodSync(path, mode)
  const content = file.read()
  expect(content.kind).toBe(kind)
  if (content.kind === 'unusable') expect(content.why.text).toMatch(/gives other users access to the keys: chmod 600 /)
  if (kind === 'unusable') await expect(file.add(newKey('b'))).rejects.toThrow('chmod 600')
})

it('sees a file that changed, once a second', async () => {
  const path = join(labFolder(), 'keys.json')
  const { now, pass } = clock()
  const file = openKeyFile(path, now)
  expect(file.read().kind).toBe('missing')
  await openKeyFile(path, now).add(newKey())
  expect(file.read().kind).toBe('missing')
  pass(1_000)
  expect(file.read().kind).toBe('keys')
})

it('sees that a key was revoked although the clock stepped back', async () => {
  const path = join(labFolder(), 'keys.json')
  const { now, pass } = clock()
  const [file, other] = [openKeyFile(path, now), openKeyFile(path, now)]
  const key = newKey()
  await other.add(key)
  expect(file.read()).toEqual({ kind: 'keys', keys: [key] })
  expect(await other.remove(key.id)).toBe(true)
  pass(-3_600_000)
  expect(file.read()).toEqual({ kind: 'keys', keys: [] })
})

it('stays a fault while the file cannot be read, and is well once it can', async () => {
  const path = join(labFolder(), 'keys.json')
  const { now, pass } = clock()
  const file = openKeyFile(path, now)
  await file.add(newKey())
  expect(file.read().kind).toBe('keys')
  const text = readFileSync(path, 'utf8')
  put(path, '{')
  pass(1_000)
  expect([file.read().kind, file.read().kind]).toEqual(['unusable', 'unusable'])
  put(path, text)
  expect(file.read().kind).toBe('keys')
})

it('loses no key of two that are made at the same time', async () => {
  const path = join(labFolder(), 'keys.json')
  const [one, other] = [openKeyFile(path, () => NOW), openKeyFile(path, () => NOW)]
  await Promise.all([one, other, one, other].map((file, n) => file.add(newKey(`${n}`))))
  expect(one.read()).toMatchObject({ kind: 'keys', keys: { length: 4 } })
})

it('follows no link that somebody laid where it writes', async () => {
  const folder = labFolder()
  const [path, target] = [join(folder, 'keys.json'), join(folder, 'target')]
  put(target, 'not ours')
  symlinkSync(target, `${path}.new`)
  await openKeyFile(path, () => NOW).add(newKey())
  expect(readFileSync(target, 'utf8')).toBe('not ours')
})

// Bound: src/store/key-file.ts MAX_KEYS
it('takes the most keys it may, and no more', async () => {
  const path = join(labFolder(), 'keys.json')
  const key = newKey()
  put(path, JSON.stringify(Array.from({ length: MAX_KEYS - 1 }, (_, n) => ({ ...key, id: `id-${n}` }))))
  const file = openKeyFile(path, () => NOW)
  await file.add(newKey('the last'))
  expect(file.read()).toMatchObject({ keys: { length: MAX_KEYS } })
  await expect(file.add(newKey('one more'))).rejects.toMatchObject({ code: 'full' })
})

it('discards keys, and keeps what it cannot read under another name', async () => {
  const path = join(labFolder(), 'keys.json')
  const file = openKeyFile(path, () => NOW)
  expect(await file.discard()).toBeUndefined()
  await file.add(newKey())
  expect(await file.discard()).toBeUndefined()
  expect(file.read().kind).toBe('missing')
  put(path, '{')
  expect(readFileSync((await file.discard())!, 'utf8')).toBe('{')
  expect(file.read().kind).toBe('missing')
})
