import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { wrapped } from './wrapped.ts'

/** `node compile.ts FROM TO NAME…`: writes V8's compiled form of each module, for the executable. */
const [, , from = '', to = '', ...names] = process.argv
for (const name of names) {
  const script = new Script(wrapped(readFileSync(join(from, name), 'utf8')), { filename: `mailsonde/${name}` })
  mkdirSync(dirname(join(to, name)), { recursive: true })
  writeFileSync(join(to, name), script.createCachedData())
}
