import { stripTypeScriptTypes } from 'node:module'
import { once } from '../base/share-work.ts'
import type { Execute } from '../operations/execute.ts'
import type { Operation, Provide } from '../operations/operation.ts'
import { type StoredReports, storedReports } from '../operations/reports/shared.ts'
import { namesIn, readOwn } from '../own-files.ts'
import type { Site } from '../pages/page.ts'
import { createSite } from '../pages/site.ts'
import type { World } from '../world.ts'

/** The pages, with the islands and documents that are installed with the program. */
export function openSite(options: {
  readonly operations: readonly Operation[]
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
  const { world, hasPeers = () => false, canMail = true, canReceive = () => false, ...rest } = options
  return createSite({
    storedReports: storedReports({ reports: async () => ({ stored: async () => 0 }) }),
    ...rest,
    hasPeers,
    canMail,
    canReceive,
    now: world.monotonic,
    resolve: world.resolve,
    log: world.log,
    islands: readIslands(),
    docs: readDocs(),
    fonts: readFonts(),
  })
}

/** How long the answer of {@link knowsPeers} is repeated, ms. */
const KNOWN_MS = 30_000

/**
 * Whether this node knows others, for the navigation of every page: the last known answer, which the next call has
 * anew. Never waits and never throws.
 */
export function knowsPeers(provide: Provide, monotonic: () => number): () => boolean {
  let known = false
  let nextMs = Number.NEGATIVE_INFINITY
  const look = async (): Promise<void> => {
    const { peers } = await provide(['peers'])
    const ids = [...(await peers.all()).keys()]
    known = ids.some((id) => id !== peers.self.id)
  }
  return () => {
    if (monotonic() >= nextMs) {
      nextMs = monotonic() + KNOWN_MS
      look().catch(() => {}) // the page about the nodes reports a list that cannot be read
    }
    return known
  }
}

/** The islands by name, as JavaScript for browsers, without types, comments and indentation. */
export function readIslands(): Readonly<Record<string, string>> {
  const files = namesIn('islands').filter((name) => /\.(?:ts|js)$/.test(name) && !name.endsWith('.d.ts'))
  return Object.fromEntries(files.map((name) => [name.replace(/\.\w+$/, ''), scriptOf(name)]))
}

/** In the built program the islands are scripts already. */
function scriptOf(name: string): string {
  const source = readOwn('islands', name).toString()
  return name.endsWith('.ts') ? shortened(withoutWarning(() => stripTypeScriptTypes(source))) : source
}

/** A script without comments, indentation, and the spaces in place of types. */
const shortened = (script: string): string =>
  script
    .replaceAll(/^\s*\/\*\*.*?\*\/$/gms, '')
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/ \/\/ .*$/, '')
        .replaceAll(/ {2,}/g, ' '),
    )
    .filter((line) => line !== '' && !line.startsWith('//') && line !== 'export {}')
    .join('\n')

/** The typefaces of the pages as WOFF2, by name. */
function readFonts(): Readonly<Record<string, Buffer>> {
  const names = namesIn('fonts').filter((name) => name.endsWith('.woff2'))
  return Object.fromEntries(names.map((name) => [name.slice(0, -'.woff2'.length), readOwn('fonts', name)]))
}

/** The Markdown documents by name, each read when it is first needed. */
function readDocs(): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const name of namesIn('docs').filter((one) => one.endsWith('.md'))) {
    const get = once(() => readOwn('docs', name).toString())
    Object.defineProperty(texts, name.slice(0, -3).replaceAll('\\', '/'), { get, enumerable: true })
  }
  return texts
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
