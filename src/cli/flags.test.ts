import { expect, it } from 'vitest'
import { labActions } from '../../test/lab/actions.ts'
import { OPTIONS } from '../config-options.ts'
import { byKey, type FlagValues } from './flags.ts'
import { runCommandLine } from './program.ts'

/** The configuration values for the words of a command line. */
async function given(...words: readonly string[]): Promise<object> {
  let flags: object = {}
  const configFlags = Object.entries(OPTIONS).map(([key, { flag, repeatable, meaning, argument }]) => ({
    ...{ key, flag, repeatable, meaning },
    ...(argument ? { argument } : {}),
  }))
  const config = async (typed: FlagValues): Promise<number> => {
    flags = byKey(configFlags, typed)
    return 0
  }
  await runCommandLine(['config', ...words], {
    operations: [],
    configFlags,
    version: '0',
    actions: labActions({ config }),
    complain: () => {},
    readFile: () => '',
  })
  return flags
}

it.each([
  [[], {}],
  [['--no-courtesy'], { noCourtesy: true }], // commander reads it as the negation of --courtesy
  [['--insecure-no-auth'], { insecureNoAuth: true }],
  [['--port', '81', '--data-dir', 'd'], { port: '81', dataDir: 'd' }],
  [['--config', 'c.json'], { config: 'c.json' }],
])('%j gives %j', async (words, flags) => expect(await given(...words)).toEqual(flags))
