import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { makeKey } from '../../src/store/key-file.ts'
import { labFolder } from '../lab/folder.ts'
import { type Program, startProgram } from '../lab/program.ts'

/** The real program, as its users meet it. */
let program: Program | undefined
afterEach(async () => {
  await program?.stop()
  program = undefined
})
const statusOf = async (path: string, key?: string): Promise<number> =>
  (await fetch(`${program!.url}${path}`, { headers: key ? { authorization: `Bearer ${key}` } : {} })).status

it.each<[string, (path: string) => void]>([
  ['removed', (path) => rmSync(path)],
  ['emptied', (path) => writeFileSync(path, '')],
  ['without keys', (path) => writeFileSync(path, '[]')],
])(
  'a key file that is %s opens nothing, while the service runs and after a restart',
  async (_, spoil) => {
    const folder = labFolder()
    const path = join(folder, 'keys.json')
    const { key, kept } = makeKey({ name: 'a', scopes: ['read'], nowMs: Date.now() })
    writeFileSync(path, JSON.stringify([kept]), { mode: 0o600 })
    program = await startProgram(['--data-dir', folder])
    expect([await statusOf('/v1/blacklists'), await statusOf('/v1/blacklists', key)]).toEqual([401, 200])
    spoil(path)
    await expect.poll(() => statusOf('/v1/blacklists', key), { timeout: 10_000 }).toBe(401)
    const isClosed = async (): Promise<void> => {
      expect([await statusOf('/v1/blacklists'), await statusOf('/openapi.json')]).toEqual([401, 401])
      expect(await statusOf('/v1/health')).toBe(200)
      expect(program!.output()).toContain('no request is served, because the keys are lost')
    }
    await isClosed()
    await program.stop()
    program = await startProgram(['--data-dir', folder])
    await isClosed()
  },
  60_000,
)

it('300 calls of ready ask the resolver no more than one does', async () => {
  const resolver = createSocket('udp4')
  let questions = 0
  resolver.on('message', () => questions++) // and never answers
  resolver.bind(0, '127.0.0.1')
  await once(resolver, 'listening')
  program = await startProgram(['--resolver', `127.0.0.1:${(resolver.address() as AddressInfo).port}`])
  await expect.poll(() => program!.output(), { timeout: 40_000 }).toContain('first look') // it asks the blacklists
  questions = 0
  const statuses = await Promise.all(Array.from({ length: 300 }, () => statusOf('/v1/ready')))
  expect(new Set(statuses)).toEqual(new Set([503]))
  expect(questions).toBeGreaterThan(0)
  expect(questions).toBeLessThan(30)
  resolver.close()
}, 60_000)
