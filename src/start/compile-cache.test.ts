import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'
import { dataDirOf, isOurs } from './compile-cache.js'

it.each([
  [['serve'], {}, './data'],
  [['serve', '--data-dir', '/var/lib/x'], {}, '/var/lib/x'],
  [['serve', '--data-dir=/var/lib/x=y'], {}, '/var/lib/x=y'], // only the first = parts
  [['serve', '--data-dir', 'a', '--data-dir', 'b'], {}, 'b'], // the last one counts, as for every option
  [['serve'], { MAILSONDE_DATA_DIR: '/srv/m' }, '/srv/m'],
  [['serve', '--data-dir', 'a'], { MAILSONDE_DATA_DIR: '/srv/m' }, 'a'], // a flag before the environment
  [['serve', '--data-dir'], {}, './data'], // without its value: told by whoever reads the arguments in earnest
])('%j in %j keeps its data in %s', (argv, env, folder) => expect(dataDirOf(argv, env)).toBe(folder))

it.each([
  [0o700, true],
  [0o755, true], // others may read what was compiled
  [0o777, false], // anybody could leave code for us
  [0o770, false],
])('a folder of mode %o is used: %s', (mode, used) => {
  const folder = join(labFolder(), 'c')
  mkdirSync(folder)
  chmodSync(folder, mode)
  expect(isOurs(folder)).toBe(used)
})

it('a folder that is not there is not used', () => expect(isOurs('/nowhere/compile-cache')).toBe(false))
