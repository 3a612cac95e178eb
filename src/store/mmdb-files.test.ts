import { rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'
import { shippedCountryFile, watchedFile } from './mmdb-files.ts'

const folder = labFolder()

function watched(name: string) {
  let ms = 0
  const warnings: string[] = []
  const path = join(folder, name)
  const file = watchedFile(path, { now: () => ms, warn: (event) => warnings.push(event) })
  return { file, path, warnings, pass: (by: number) => void (ms += by) }
}

it('reads a file once, and again when it has changed, at most once a minute', async () => {
  const { file, path, pass } = watched('a')
  writeFileSync(path, 'one')
  const first = await file.read()
  expect(first?.toString()).toBe('one')
  writeFileSync(path, 'three')
  expect(await file.read()).toBe(first) // not looked at yet
  pass(60_000)
  expect((await file.read())?.toString()).toBe('three')
  pass(60_000)
  expect(await file.read()).toBe(await file.read()) // the same buffer while nothing changes
})

it('sees a change that keeps the size', async () => {
  const { file, path, pass } = watched('b')
  writeFileSync(path, 'one')
  await file.read()
  writeFileSync(path, 'two')
  utimesSync(path, 1, 1)
  pass(60_000)
  expect((await file.read())?.toString()).toBe('two')
})

it('keeps what it had when the file goes away, said once', async () => {
  const { file, path, pass, warnings } = watched('c')
  writeFileSync(path, 'one')
  await file.read()
  rmSync(path)
  for (let i = 0; i < 3; i++) {
    pass(60_000)
    expect((await file.read())?.toString()).toBe('one')
  }
  expect(warnings).toHaveLength(1)
})

it('has nothing where there is no file, reads it once for all who ask, and takes it up when it comes', async () => {
  const { file, path, pass } = watched('d')
  expect(await Promise.all([file.read(), file.read()])).toEqual([undefined, undefined])
  writeFileSync(path, 'here')
  pass(60_000)
  const [one, two] = await Promise.all([file.read(), file.read()])
  expect(one?.toString()).toBe('here')
  expect(two).toBe(one)
})

it('finds the shipped data', async () => {
  for (const family of [4, 6] as const) {
    const content = await shippedCountryFile(family, () => {}).read()
    expect(content?.length).toBeGreaterThan(1_000_000)
  }
})

it('reads no file of more than 1 GiB', async () => {
  const { file, path, warnings } = watched('huge')
  writeFileSync(path, '')
  truncateSync(path, 2 ** 30 + 1) // it takes no room on the disk
  expect([await file.read(), warnings]).toEqual([undefined, ['a data file could not be read']])
})
