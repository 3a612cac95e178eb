import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'
import { labWorld } from '../../test/lab/world.ts'
import { configOf } from '../config.ts'
import { executor } from '../operations/execute.ts'
import { workOnList } from './list-file.ts'

it.each<[string, string]>([
  ['nothing', ''],
  ['a header alone', 'name,email\n'],
  ['blank lines', '\n\n\n'],
])('a list of %s is an error, and leaves no results', async (_, text) => {
  const folder = labFolder()
  const [file, out] = [join(folder, 'list.csv'), join(folder, 'results.csv')]
  writeFileSync(file, text)
  const work = workOnList({ kind: 'verify', file, out, giveUpAfter: '24h' }, configOf({}), {
    open: async () => ({
      execute: executor({ world: labWorld(), provide: () => Promise.reject(new Error('nothing is asked')) }),
      close: async () => {},
    }),
    openUpload: (path) => ({
      contentType: 'text/csv',
      octets: (async function* () {
        yield readFileSync(path)
      })(),
    }),
    tell: () => {},
    complain: () => {},
  })
  await expect(work).rejects.toMatchObject({ code: 'empty_list' })
  expect([out, `${out}.part`].filter((path) => existsSync(path))).toEqual([])
})
