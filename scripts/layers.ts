import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'

/**
 * Enforces the import rule of contributing/architecture.md: imports go down only, modules on the same row do not import
 * each other, a check imports only the index.ts of another check, and there are no circles; only few modules may use
 * sockets, files, the clock, randomness and the environment.
 */

/** The modules of src/ from top to bottom; a module on an earlier row is above one on a later row. */
const ROWS: readonly (readonly string[])[] = [
  ['main.ts'],
  ['main.js', 'heavy.js', 'library.ts'],
  ['start'],
  ['log.ts'],
  ['http', 'cli', 'mail-in'],
  ['pages'],
  ['mcp'],
  ['operations'],
  ['documents', 'reports', 'plan', 'jobs', 'monitors', 'peers'],
  ['score', 'message', 'profiles'],
  ['checks', 'dnsbl', 'mailbox', 'geo'],
  ['mailhosts'],
  ['world.ts'],
  ['net', 'store', 'lane'],
  ['answers', 'config.ts'],
  ['config-options.ts'],
  ['config-problems.ts'],
  ['names', 'providers'],
  ['own-files.ts'],
  ['base'],
  ['client'],
]

/** Modules that may open sockets and files. */
const OUTSIDE = [
  ...['start', 'net', 'store', 'lane', 'http', 'mail-in', 'main.js', 'config.ts', 'config-options.ts', 'own-files.ts'],
]
const OUTSIDE_PACKAGES =
  /^(?:node:)?(?:net|dgram|tls|http|https|http2|fs|fs\/promises|dns|dns\/promises|child_process|undici)$/

/** What a module must not access itself: it is passed in. */
const HANDED_IN = [
  {
    pattern: /\bDate\.now\(\)|new Date\(\)/,
    why: 'the clock is handed in (World.now)',
    except: ['main.js', 'start', 'net'],
  },
  { pattern: /\bMath\.random\(\)/, why: 'chance is handed in (World.random)', except: ['main.js'] },
  {
    pattern: /\bprocess\.env\b/,
    why: 'config.ts is the only reader of the environment',
    except: ['config.ts', 'main.js', 'start'],
  },
]

const IMPORT =
  /^\s*(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm

type Import = { readonly target: string; readonly statement: string }

/** The violations of the rule in `files`, text by path below src/; one line each, empty if there are none. */
export function violations(files: ReadonlyMap<string, string>): readonly string[] {
  const graph = new Map<string, readonly string[]>()
  const found: string[] = []
  for (const [file, text] of files) {
    if (rowOf(moduleOf(file)) < 0) found.push(`${file}: the module ${moduleOf(file)} has no row in scripts/layers.ts`)
    const imports = importsOf(text)
    const inside = imports.filter(({ target }) => target.startsWith('.')).map(({ target }) => pathFrom(file, target))
    graph.set(file, inside)
    found.push(...inside.flatMap((to) => refusedImport(file, to)))
    found.push(...imports.flatMap((one) => refusedPackage(file, one)), ...reachedFor(file, text))
  }
  return [...found, ...circles(graph)]
}

/** The import statements of a file and its dynamic imports. */
export const importsOf = (text: string): readonly Import[] =>
  [...text.matchAll(IMPORT)].map((match) => ({ target: match[1] ?? match[2] ?? match[3]!, statement: match[0] }))

const moduleOf = (file: string): string => file.split('/')[0]!
const rowOf = (module: string): number => ROWS.findIndex((row) => row.includes(module))
const pathFrom = (file: string, target: string): string => posix.join(posix.dirname(file), target)

function refusedImport(file: string, to: string): string[] {
  const [from, module] = [moduleOf(file), moduleOf(to)]
  if (module === from) return refusedInside(file, to)
  if (rowOf(module) > rowOf(from) || from === 'main.js') return []
  return [`${file}: imports ${to}; imports go down only`]
}

function refusedInside(file: string, to: string): string[] {
  const [module, check, ...rest] = to.split('/')
  const isAnother = module === 'checks' && rest.length > 0 && check !== file.split('/')[1]
  return isAnother && rest[0] !== 'index.ts'
    ? [`${file}: imports ${to}; a check sees another check's index.ts only`]
    : []
}

function refusedPackage(file: string, { target, statement }: Import): string[] {
  // isIP of node:net parses a text and opens nothing.
  if (!OUTSIDE_PACKAGES.test(target) || OUTSIDE.includes(moduleOf(file)) || /\bisIP\b/.test(statement)) return []
  return [`${file}: imports ${target}; sockets and files belong in ${OUTSIDE.join(', ')}`]
}

const reachedFor = (file: string, text: string): string[] =>
  HANDED_IN.filter(({ pattern, except }) => !except.includes(moduleOf(file)) && pattern.test(text)).map(
    ({ pattern, why }) => `${file}: ${pattern.source}: ${why}`,
  )

function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const found: string[] = []
  function follow(file: string, path: readonly string[]): void {
    const at = path.indexOf(file)
    if (at >= 0) return void found.push(`circle: ${[...path.slice(at), file].join(' > ')}`)
    if (done.has(file)) return
    for (const next of graph.get(file) ?? []) follow(next, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) follow(file, [])
  return found
}

/** The sources of the program below `root`, text by path, without tests and without code for browsers. */
export function readSources(root: string): ReadonlyMap<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const isOurs = (name: string): boolean => !name.startsWith('pages/islands/') // these run in browsers
  const sources = names.filter((name) => /\.[jt]sx?$/.test(name) && !/\.(?:test|d)\.tsx?$/.test(name) && isOurs(name))
  return new Map(sources.map((name) => [name, readFileSync(join(root, name), 'utf8')]))
}

if (import.meta.main) {
  const files = readSources(resolve(import.meta.dirname, '../src'))
  const found = violations(files)
  if (found.length > 0) console.error(found.join('\n'))
  else console.log(`layers: ${files.size} files in order`)
  process.exitCode = found.length > 0 ? 1 : 0
}
