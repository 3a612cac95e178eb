import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { labFolder } from '../../../test/lab/folder.ts'
import { withLock } from './json-file.ts'

it('lets one in at a time', async () => {
  const path = join(labFolder(), 'lock')
  let [inside, most] = [0, 0]
  const work = Array.from({ length: 8 }, () =>
    withLock(path, async () => {
      most = Math.max(most, ++inside)
      await new Promise((resolve) => setTimeout(resolve, 2))
      inside--
    }),
  )
  await Promise.all(work)
  expect([most, existsSync(path)]).toEqual([1, false])
})

it('is free again when the work has failed', async () => {
  const path = join(labFolder(), 'lock')
  await expect(withLock(path, () => Promise.reject(new Error('x')))).rejects.toThrow('x')
  expect(await withLock(path, async () => 'in')).toBe('in')
})

it.each([
  ['of a machine that is not this one', '1 elsewhere/ 0123'],
  ['that is not written yet', ''],
])('takes over a lock %s when it does not change for long', async (_, content) => {
  const folder = labFolder()
  const path = join(folder, 'lock')
  writeFileSync(path, content)
  expect(await withLock(path, async () => 'in', 20)).toBe('in')
  expect(readdirSync(folder)).toEqual([])
})

it('follows no link that lies where the lock should be', async () => {
  const folder = labFolder()
  const [path, target] = [join(folder, 'lock'), join(folder, 'target')]
  writeFileSync(target, 'not ours')
  symlinkSync(target, path)
  await withLock(path, async () => {}, 20)
  expect(readdirSync(folder)).toEqual(['target'])
  expect(readFileSync(target, 'utf8')).toBe('not ours')
})

it('takes over the lock of a process that has died, at once', async () => {
  const path = join(labFolder(), 'lock')
  const mine = await withLock(path, async () => readFileSync(path, 'utf8'))
  writeFileSync(path, mine.replace(/^\d+/, '4194304')) // over the largest process id of Linux
  expect(await withLock(path, async () => 'in', Number.POSITIVE_INFINITY)).toBe('in')
})

it('leaves a lock that was taken over in the meantime', async () => {
  const path = join(labFolder(), 'lock')
  await withLock(path, async () => writeFileSync(path, 'somebody else'))
  expect(readFileSync(path, 'utf8')).toBe('somebody else')
})

it('says why it cannot be had', async () => {
  await expect(withLock('/nowhere/lock', async () => {})).rejects.toMatchObject({
    code: 'unavailable',
    message: /\/nowhere\/lock/,
  })
})
