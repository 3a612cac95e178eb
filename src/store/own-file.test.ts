import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'
import { openJournal } from './files/journal.ts'
import { openOwnFile, readOwnFile } from './own-file.ts'

const OTHER = 12_345
const isRoot = process.getuid?.() === 0

let [folder, path, target] = ['', '', '']
beforeEach(() => {
  folder = join(labFolder(), 'shared')
  mkdirSync(folder)
  chmodSync(folder, 0o777) // not sticky, so that the kernel's own protection of links does not apply
  path = join(folder, 'out.part')
  target = join(labFolder(), 'target')
  writeFileSync(target, '', { mode: 0o600 })
})

const LAID: readonly [string, string, () => void][] = [
  ['a link', 'link', () => symlinkSync(target, path)],
  ['a link to nothing', 'link', () => symlinkSync(join(folder, 'nowhere'), path)],
  ['a second name of our own file', 'links', () => linkSync(target, path)],
  ['a pipe', 'not_a_file', () => void spawnSync('mkfifo', [path])],
  ['a folder', 'not_a_file', () => mkdirSync(path)],
  [
    'a file that others may write',
    'mode',
    () => {
      writeFileSync(path, '')
      chmodSync(path, 0o666)
    },
  ],
  ...(isRoot
    ? [
        [
          'a file of another user',
          'owner',
          () => {
            writeFileSync(path, '')
            chownSync(path, OTHER, OTHER)
          },
        ] as [string, string, () => void],
      ]
    : []),
]

describe.each(LAID)('%s', (what, why, lay) => {
  it('is not read, and nothing is written through it', async () => {
    lay()
    await expect(readOwnFile(path, 100)).rejects.toMatchObject({ why })
    const append = openOwnFile(path, { append: true, create: true })
    await expect(append).rejects.toThrow(what === 'a folder' ? 'EISDIR' : why)
    await expect(openJournal(path, 'about', () => true)).rejects.toThrow()
    expect(readFileSync(target, 'utf8')).toBe('')
  })
})

it('a missing file is made with mode 0600; our own is opened again', async () => {
  expect(await readOwnFile(path, 100)).toBeUndefined()
  for (const text of ['a', 'b']) {
    const file = await openOwnFile(path, { append: true, create: true })
    await file.appendFile(text)
    await file.close()
  }
  expect([await readOwnFile(path, 100), statSync(path).mode & 0o777]).toEqual(['ab', 0o600])
  expect(await readOwnFile(path, 1)).toBe('a')
})
