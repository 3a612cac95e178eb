import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'
import { hashKey, makeKey, openKeyFile } from './key-file.ts'

const NOW = Date.UTC(2026, 0, 2)

it('keeps the hash and never the key', () => {
  const path = join(labFolder(), 'data', 'keys.json')
  const { key, kept } = makeKey({ name: 'a', scopes: ['read'], nowMs: NOW, lifetimeMs: 3_600_000 })
  const file = openKeyFile(path, () => NOW)
  file.write([kept])
  expect(readFileSync(path, 'utf8')).not.toContain(key)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(file.keys()).toEqual([kept])
  expect(kept).toMatchObject({ hash: hashKey(key), expires_at: '2026-01-02T01:00:00.000Z' })
})

it.each([
  ['{', 'could not be read'],
  ['{}', 'not in order'],
  ['[{"id":"a","name":"","hash":"00","scopes":["read"],"created_at":"2026-01-02T00:00:00Z"}]', 'not in order'],
])('refuses %j', (text, why) => {
  const path = join(labFolder(), 'keys.json')
  writeFileSync(path, text)
  expect(() => openKeyFile(path, () => NOW).keys()).toThrow(why)
})

it('sees a file that changed, once a second', () => {
  const path = join(labFolder(), 'keys.json')
  let now = NOW
  const file = openKeyFile(path, () => now)
  expect(file.keys()).toEqual([])
  openKeyFile(path, () => now).write([makeKey({ name: 'a', scopes: ['admin'], nowMs: NOW }).kept])
  expect(file.keys()).toEqual([])
  now += 1_000
  expect(file.keys()).toHaveLength(1)
})

it('stays a fault while the file cannot be read, and is well once it can', () => {
  const path = join(labFolder(), 'keys.json')
  let now = NOW
  const file = openKeyFile(path, () => now)
  const { kept } = makeKey({ name: 'a', scopes: ['admin'], nowMs: NOW })
  openKeyFile(path, () => now).write([kept])
  expect(file.keys()).toHaveLength(1)
  writeFileSync(path, '{')
  now += 1_000
  expect(() => file.keys()).toThrow('could not be read')
  expect(() => file.keys()).toThrow('could not be read')
  writeFileSync(path, JSON.stringify([kept]))
  expect(file.keys()).toHaveLength(1)
})
