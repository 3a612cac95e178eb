import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'
import { warnOfOpenFolder } from './data-folder.ts'

it.each([
  [0o700, []],
  [0o755, []],
  [0o777, ['0777']],
  [0o770, ['0770']],
  [0o702, ['0702']],
])('a data folder of mode %o', (mode, warned) => {
  const folder = labFolder()
  chmodSync(folder, mode)
  const modes: unknown[] = []
  warnOfOpenFolder(folder, { warn: (_event, fields) => modes.push(fields?.mode) })
  expect(modes).toEqual(warned)
})

it('a data folder that is not there yet', () =>
  warnOfOpenFolder(join(labFolder(), 'none'), { warn: (event) => expect.unreachable(event) }))
