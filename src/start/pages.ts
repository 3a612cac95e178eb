import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Execute } from '../operations/execute.ts'
import type { Listed } from '../operations/listed.ts'
import type { Operation } from '../operations/operation.ts'
import { type StoredReports, storedReports } from '../operations/reports/stored.ts'
import type { Site } from '../pages/page.ts'
import { createSite, type SiteOptions } from '../pages/site.ts'
import type { World } from '../world.ts'

/** The pages, with the islands and documents that are installed with the program. */
export function openSite(options: {
  readonly operations: readonly (Operation | Listed)[]
  readonly execute: Execute
  readonly world: Pick<World, 'monotonic' | 'log' | 'resolve'>
  readonly version: string
  /** Whether this node knows others; none by default. */
  readonly hasPeers?: () => boolean
  /** Whether the service can send mail; by default it can. */
  readonly canMail?: boolean
  /** Whether the service receives messages; by default it does not. */
  readonly canReceive?: () => boolean
  /** The number of stored reports; by default there are none. */
  readonly storedReports?: StoredReports
}): Site {
  const {
    operations,
    execute,
    world,
    version,
    hasPeers = () => false,
    canMail = true,
    canReceive = () => false,
    storedReports: stored = storedReports({ reports: async () => ({ stored: async () => 0 }) }),
  } = options
  return createSite({
    operations,
    execute,
    version,
    now: world.monotonic,
    resolve: world.resolve,
    log: world.log,
    islands: islandFiles(),
    docs: readDocs(),
    fonts: readFonts(),
    hasPeers,
    canMail,
    canReceive,
    storedReports: stored,
  })
}

const HERE = dirname(fileURLToPath(import.meta.url))
/** In the sources `src/pages/islands`; in the bundle, beside its chunks. */
const ISLANDS = [join(HERE, '../pages/islands'), join(HERE, 'islands'), join(HERE, '../islands')]
const FONTS = [join(HERE, '../pages/fonts'), join(HERE, 'fonts'), join(HERE, '../fonts')]
const DOCS = [join(HERE, '../../docs'), join(HERE, '../docs')]

const firstOf = (folders: readonly string[]): string | undefined => folders.find((folder) => existsSync(folder))

/** The islands as JavaScript for browsers, without types, comments and indentation. */
export const readIslands = (): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(islandFiles()).map(([name, { script }]) => [name, script()]))

/** The islands by name. The compiler that removes types takes 50 ms and 10 MB: it is loaded with the first script. */
function islandFiles(): SiteOptions['islands'] {
  const folder = firstOf(ISLANDS)
  if (folder === undefined) return {}
  const files = readdirSync(folder).filter((name) => /\.(?:ts|js)$/.test(name) && !name.endsWith('.d.ts'))
  return Object.fromEntries(
    files.map((name) => {
      const source = readFileSync(join(folder, name), 'utf8')
      const script = (): string => (name.endsWith('.ts') ? islandOf(source) : source)
      return [name.replace(/\.\w+$/, ''), { source, script }]
    }),
  )
}

/** An island's source as JavaScript. */
const islandOf = (source: string): string =>
  withoutWarning(() => stripTypeScriptTypes(source))
    .replaceAll(/^\s*\/\*\*.*?\*\/$/gms, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('//') && line !== 'export {}')
    .join('\n')

/** The typefaces of the pages as WOFF2, by name. */
function readFonts(): Readonly<Record<string, Buffer>> {
  const folder = firstOf(FONTS)
  if (folder === undefined) return {}
  const names = readdirSync(folder).filter((name) => name.endsWith('.woff2'))
  return Object.fromEntries(names.map((name) => [name.slice(0, -'.woff2'.length), readFileSync(join(folder, name))]))
}

/** The Markdown documents by name. */
function readDocs(): Readonly<Record<string, string>> {
  const folder = firstOf(DOCS)
  if (folder === undefined) return {}
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  return Object.fromEntries(
    names.map((name) => [name.slice(0, -3).replaceAll('\\', '/'), readFileSync(join(folder, name), 'utf8')]),
  )
}

/** Node 22 and 24 warn that the function is experimental, which does not help an operator. */
function withoutWarning<T>(work: () => T): T {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return work()
  } finally {
    process.emitWarning = emitWarning
  }
}
