import type { Setting } from '../../src/cli/session.ts'
import { allOperations } from '../../src/operations/registry.ts'

/** What the command line needs beside a service: a terminal that nobody looks at, and no files. */
export const labSetting: Pick<
  Setting,
  'look' | 'tell' | 'complain' | 'writeFile' | 'readLines' | 'openUpload' | 'find'
> = {
  look: { width: 80, colour: false, unicode: true },
  tell: () => {},
  complain: () => {},
  writeFile: (path) => {
    throw new Error(`the lab has no file ${path}`)
  },
  readLines: async function* () {},
  openUpload: (path) => {
    throw new Error(`the lab has no file ${path}`)
  },
  find: async (name) => (await allOperations()).find((one) => one.name === name),
}
