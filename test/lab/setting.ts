import type { Setting } from '../../src/cli/session.ts'
import { allOperations } from '../../src/operations/registry.ts'

/** What the command line needs beside a service: a terminal that nobody looks at, and no files. */
export const labSetting: Pick<Setting, 'look' | 'tell' | 'complain' | 'readLines' | 'openUpload' | 'find'> = {
  look: { width: 80, colour: false, unicode: true },
  tell: () => {},
  complain: () => {},
  readLines: async function* () {},
  openUpload: (path) => {
    throw new Error(`the lab has no file ${path}`)
  },
  find: async (name) => (await allOperations()).find((one) => one.name === name),
}
