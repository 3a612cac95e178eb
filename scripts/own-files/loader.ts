import { posix } from 'node:path'
import { getAsset, getAssetKeys, getRawAsset } from 'node:sea'
import { Script } from 'node:vm'
import { wrapped } from './wrapped.ts'

/** The main script of the executable: loads the modules of the program, which are its assets, as CommonJS. */
type Load = (name: string) => unknown
export type Modules = { mailsondeModule: Load }

const loaded = new Map<string, { exports: unknown }>()
const cached = new Set(getAssetKeys().filter((key) => key.startsWith('cache/')))

const load: Load = (name) => {
  const known = loaded.get(name)
  if (known) return known.exports
  const module = { exports: {} }
  loaded.set(name, module)
  const cache = `cache/${name}`
  // Compiled at the build; V8 compiles the text itself where it refuses that.
  const cachedData = cached.has(cache) ? Buffer.from(getRawAsset(cache)) : undefined
  const script = new Script(wrapped(getAsset(name, 'utf8')), { filename: `mailsonde/${name}`, cachedData })
  const need = (id: string): unknown => (id.startsWith('.') ? load(posix.join(posix.dirname(name), id)) : require(id))
  script.runInThisContext()(module.exports, need, module)
  return module.exports
}

;(globalThis as unknown as Modules).mailsondeModule = load
load(process.argv[2] === '--heavy-work' ? 'code/heavy.js' : 'code/main.js')
