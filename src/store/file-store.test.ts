import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fileStore } from './file-store.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'store-'))))
afterEach(() => rm(folder, { recursive: true }))

it('remembers over a restart', async () => {
  const first = fileStore(join(folder, 'data'), () => {})
  await first.set('a', { n: 1 })
  await first.flush()
  expect(await fileStore(join(folder, 'data'), () => {}).get('a')).toEqual({ n: 1 })
})

it('sets a damaged file aside, says so and goes on', async () => {
  await writeFile(join(folder, 'state.json'), '{"a":')
  const said: string[] = []
  const store = fileStore(folder, (event) => said.push(event))
  expect(await store.get('a')).toBeUndefined()
  expect(said).toEqual(['what was remembered is damaged and was set aside'])
  expect(await readFile(join(folder, 'state.json.bad'), 'utf8')).toBe('{"a":')
})
