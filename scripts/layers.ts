import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** Enforces the import rule of docs/architecture.md: imports go down only, rooms on one row do not see each other, no circles; sockets and files in few rooms. */
const ROWS: readonly (readonly string[])[] = [
  ['main.ts'],
  ['start'],
  ['config.ts'],
  ['config-options.ts', 'log.ts'],
  ['http', 'cli'],
  ['operations'],
  ['report', 'jobs', 'peers'],
  ['checks', 'dnsbl', 'mailbox', 'geo'],
  ['mailhosts'],
  ['world.ts'],
  ['net', 'store'],
  ['answers', 'names'],
  ['base'],
]
const OUTSIDE = ['start', 'net', 'store', 'http', 'main.ts', 'config.ts', 'config-options.ts']
const OUTSIDE_MODULES =
  /^(?:node:)?(?:net|dgram|tls|http|https|http2|fs|fs\/promises|dns|dns\/promises|child_process|undici)$/
const WORLDLY = [
  {
    pattern: /\bDate\.now\(\)|new Date\(\)/,
    why: 'the clock is handed in (World.now)',
    except: ['main.ts', 'start', 'net'],
  },
  { pattern: /\bMath\.random\(\)/, why: 'chance is handed in (World.random)', except: ['main.ts'] },
  {
    pattern: /\bprocess\.env\b/,
    why: 'config.ts is the only reader of the environment',
    except: ['config.ts', 'main.ts', 'start'],
  },
]

const ROOT = resolve(import.meta.dirname, '../src')
const IMPORT =
  /^\s*(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm

const roomOf = (file: string): string => relative(ROOT, file).split('/')[0]!
const rowOf = (room: string): number => ROWS.findIndex((row) => row.includes(room))
const problems: string[] = []
const graph = new Map<string, string[]>()

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.endsWith('.d.ts'))
  .map((name) => join(ROOT, name))

for (const file of files) {
  const text = readFileSync(file, 'utf8')
  const room = roomOf(file)
  const shown = relative(ROOT, file)
  if (rowOf(room) < 0) problems.push(`${shown}: the room ${room} has no row in scripts/layers.ts`)
  const edges: string[] = []
  for (const match of text.matchAll(IMPORT)) {
    const target = match[1] ?? match[2] ?? match[3]!
    if (!target.startsWith('.')) {
      if (OUTSIDE_MODULES.test(target) && !OUTSIDE.includes(room) && !/\bisIP\b/.test(match[0])) {
        problems.push(`${shown}: imports ${target}; sockets and files belong in ${OUTSIDE.join(', ')}`)
      }
      continue
    }
    const to = resolve(dirname(file), target)
    edges.push(to)
    const toRoom = roomOf(to)
    if (toRoom === room) {
      const [, check, ...rest] = relative(ROOT, to).split('/')
      const own = relative(ROOT, file).split('/')[1]
      if (room === 'checks' && rest.length > 0 && check !== own && rest[0] !== 'index.ts') {
        problems.push(`${shown}: imports ${relative(ROOT, to)}; a check sees another check's index.ts only`)
      }
      continue
    }
    if (rowOf(toRoom) <= rowOf(room) && room !== 'main.ts')
      problems.push(`${shown}: imports ${relative(ROOT, to)}; imports go down only`)
  }
  graph.set(file, edges)
  for (const { pattern, why, except } of WORLDLY) {
    if (!except.includes(room) && pattern.test(text)) problems.push(`${shown}: ${pattern.source}: ${why}`)
  }
}

const done = new Set<string>()
function visit(file: string, path: readonly string[]): void {
  const at = path.indexOf(file)
  if (at >= 0) {
    problems.push(`circle: ${[...path.slice(at), file].map((name) => relative(ROOT, name)).join(' > ')}`)
    return
  }
  if (done.has(file)) return
  for (const next of graph.get(file) ?? []) visit(next, [...path, file])
  done.add(file)
}
for (const file of files) visit(file, [])

if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}
console.log(`layers: ${files.length} files in order`)
