import { expect, it } from 'vitest'
import { runCommandLine } from '../cli/program.ts'
import { OPTIONS } from '../config-options.ts'
import { byKey } from './flags.ts'

/** What the configuration is given for words on the command line. */
async function given(...words: readonly string[]): Promise<object> {
  let flags: object = {}
  const configFlags = Object.entries(OPTIONS).map(([key, { flag, repeatable, meaning, argument }]) => ({
    ...{ key, flag, repeatable, meaning },
    ...(argument ? { argument } : {}),
  }))
  const stop = async (): Promise<number> => 0
  const config = async (typed: Readonly<Record<string, unknown>>): Promise<number> => {
    flags = byKey(typed)
    return 0
  }
  const faces = { serve: stop, operate: stop, keys: stop, config } as never
  await runCommandLine(['config', ...words], { operations: [], configFlags, version: '0', faces, complain: () => {} })
  return flags
}

it.each([
  [[], {}],
  [['--no-courtesy'], { noCourtesy: true }], // commander reads it as the negation of --courtesy
  [['--insecure-no-auth'], { insecureNoAuth: true }],
  [['--port', '81', '--data-dir', 'd'], { port: '81', dataDir: 'd' }],
  [['--config', 'c.json'], { config: 'c.json' }],
])('%j gives %j', async (words, flags) => expect(await given(...words)).toEqual(flags))
