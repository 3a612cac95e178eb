import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { labFolder } from '../../test/lab/folder.ts'

const run = promisify(execFile)
const MAIN = new URL('../main.js', import.meta.url).pathname

it('six processes that make a key at the same time make six', async () => {
  const dataDir = join(labFolder(), 'data')
  const make = (n: number) =>
    run(process.execPath, [MAIN, 'keys', 'create', '--name', `key ${n}`, '--data-dir', dataDir], {
      cwd: labFolder(),
      env: {},
    })
  const said = await Promise.all([1, 2, 3, 4, 5, 6].map(make))
  const printed = said.map(({ stdout }) => /id (\w+)/.exec(stdout)![1])
  const kept = (JSON.parse(readFileSync(join(dataDir, 'keys.json'), 'utf8')) as { id: string }[]).map(({ id }) => id)
  expect(new Set(kept)).toEqual(new Set(printed))
}, 60_000)
