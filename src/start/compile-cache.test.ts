import { expect, it } from 'vitest'
import { dataDirOf } from './compile-cache.ts'

it.each([
  [['serve'], {}, './data'],
  [['serve', '--data-dir', '/var/lib/x'], {}, '/var/lib/x'],
  [['serve', '--data-dir=/var/lib/x=y'], {}, '/var/lib/x=y'], // only the first = parts
  [['serve', '--data-dir', 'a', '--data-dir', 'b'], {}, 'b'], // the last one counts, as for every option
  [['serve'], { MAILSONDE_DATA_DIR: '/srv/m' }, '/srv/m'],
  [['serve', '--data-dir', 'a'], { MAILSONDE_DATA_DIR: '/srv/m' }, 'a'], // a flag before the environment
  [['serve', '--data-dir'], {}, './data'], // without its value: told by whoever reads the arguments in earnest
])('%j in %j keeps its data in %s', (argv, env, folder) => expect(dataDirOf(argv, env)).toBe(folder))
