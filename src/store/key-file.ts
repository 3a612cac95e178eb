import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, type Stats, statSync } from 'node:fs'
import { rename, unlink } from 'node:fs/promises'
import { z } from 'zod'
import { messageOf } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Problem } from '../base/problem.ts'
import { problemOf } from '../base/schema-problems.ts'
import { StoreError, unavailable } from './contract.ts'
import { changeJsonFile, type JsonFile, type Values } from './files/json-file.ts'
import { keyFileProblem, storeProblem } from './problems.ts'

/** The permissions of a key; `admin` includes all. */
export const SCOPES = ['read', 'verify', 'jobs', 'reports', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** A key that callers may use; the key itself is never stored. */
const apiKey = z.strictObject({
  id: z.string().min(1).max(40),
  name: z.string().max(100),
  /** SHA-256 of the key, hex. Keys are 256 random bits, so a fast hash is sufficient. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  scopes: z.array(z.enum(SCOPES)).min(1),
  /**
   * Of the scope `reports`: the domains whose reports it sees and brings, `example.org` or `*.example.net`; absent:
   * all.
   */
  domains: z.array(z.string().max(255)).min(1).max(1_000).optional(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().optional(),
})
export type ApiKey = z.output<typeof apiKey>

export const MAX_KEYS = 10_000
const keyList = z.array(apiKey).max(MAX_KEYS)
/** Minimum interval at which a running service checks the file, ms. */
const LOOK_EVERY_MS = 1_000

export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** A new key and its stored form. The key is 43 characters after its prefix, 256 random bits. */
export function makeKey(about: {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly domains?: readonly string[]
  readonly nowMs: number
  readonly lifetimeMs?: number
}): { readonly key: string; readonly kept: ApiKey } {
  const key = `msk_${randomBytes(32).toString('base64url')}`
  const expires =
    about.lifetimeMs === undefined ? {} : { expires_at: new Date(about.nowMs + about.lifetimeMs).toISOString() }
  const kept = {
    id: hashKey(key).slice(0, 12),
    name: about.name,
    hash: hashKey(key),
    scopes: [...about.scopes],
    ...(about.domains && { domains: [...about.domains] }),
    created_at: new Date(about.nowMs).toISOString(),
    ...expires,
  }
  return { key, kept }
}

/** The content of a key file: keys (perhaps none), nothing, or a fault as text. */
export type KeyFileContent =
  | { readonly kind: 'keys'; readonly keys: readonly ApiKey[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unusable'; readonly why: Problem }

/** A JSON list of keys in a file of mode 0600. */
export type KeyFile = ReturnType<typeof openKeyFile>

/** Opens a key file that several processes may change at the same time. Nothing is read or written yet. */
export function openKeyFile(path: string, now: () => number) {
  const file: JsonFile = {
    path,
    parse: (text) => new Map(parseKeys(path, text).map((key) => [key.id, key as unknown as Json])),
    format: (rows) => `${JSON.stringify([...rows.values()], null, 2)}\n`,
    durable: true,
  }
  let seen: { readonly content: KeyFileContent; readonly stamp: string } | undefined
  let lookedAtMs = Number.NEGATIVE_INFINITY

  /** The present content of the file: read if it has changed, at most once a second. */
  function read(): KeyFileContent {
    const sinceMs = now() - lookedAtMs
    // a clock that stepped back ends the second
    if (seen && sinceMs >= 0 && sinceMs < LOOK_EVERY_MS) return seen.content
    const stat = statOf(path)
    const stamp = stampOf(stat)
    if (seen?.stamp !== stamp) seen = { content: contentOf(path, stat), stamp }
    // An unusable file is read every time, so that its repair is noticed at once.
    lookedAtMs = seen.content.kind === 'unusable' ? Number.NEGATIVE_INFINITY : now()
    return seen.content
  }

  async function change<T>(make: (rows: Values) => boolean, result: () => T): Promise<T> {
    refuseOpenMode(path, statOf(path))
    await changeJsonFile(file, make)
    lookedAtMs = Number.NEGATIVE_INFINITY
    return result()
  }

  return {
    path,
    read,
    /** Adds a key. Rejects with StoreError: unusable file, cannot be written, 10,000 keys already. */
    add: (key: ApiKey) =>
      change(
        (rows) => {
          if (rows.size >= MAX_KEYS) throw new StoreError('full', keyFileProblem('full', { path, max: MAX_KEYS }))
          rows.set(key.id, key as unknown as Json)
          return true
        },
        () => undefined,
      ),
    /** Revokes a key; false: there is none with this id. Rejects with StoreError. */
    remove: (id: string): Promise<boolean> => {
      let isThere = false
      return change(
        (rows) => (isThere = rows.delete(id)),
        () => isThere,
      )
    },
    /** Removes the file. A file that cannot be read is renamed, and its new name returned. Rejects with StoreError. */
    discard: async (): Promise<string | undefined> => {
      const content = contentOf(path, statOf(path))
      lookedAtMs = Number.NEGATIVE_INFINITY
      if (content.kind === 'missing') return undefined
      const aside = `${path}.unusable-${randomBytes(4).toString('hex')}`
      try {
        await (content.kind === 'keys' ? unlink(path) : rename(path, aside))
      } catch (cause) {
        throw unavailable('not_removed', path, cause)
      }
      return content.kind === 'keys' ? undefined : aside
    },
  }
}

const statOf = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false })
const stampOf = (stat: Stats | undefined): string =>
  stat ? `${stat.mtimeMs} ${stat.ctimeMs} ${stat.size} ${stat.ino} ${stat.mode}` : ''

function contentOf(path: string, stat: Stats | undefined): KeyFileContent {
  if (!stat) return { kind: 'missing' }
  try {
    refuseOpenMode(path, stat)
    return { kind: 'keys', keys: parseKeys(path, readFileSync(path, 'utf8')) }
  } catch (error) {
    const why =
      error instanceof StoreError ? error.problem : storeProblem('not_read', { path, reason: messageOf(error) })
    return { kind: 'unusable', why }
  }
}

/** Like ssh: a key file that other users may read or write is not used. */
function refuseOpenMode(path: string, stat: Stats | undefined): void {
  const user = process.getuid?.()
  if (!stat || user === undefined) return // Windows has no such modes
  const forbidden = stat.uid === user ? 0o077 : 0o007
  if ((stat.mode & forbidden) === 0) return
  const mode = (stat.mode & 0o777).toString(8).padStart(4, '0')
  throw new StoreError('damaged', keyFileProblem('mode', { path, mode }))
}

function parseKeys(path: string, text: string): readonly ApiKey[] {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new StoreError('damaged', keyFileProblem('not_read', { path, reason: messageOf(cause) }), { cause })
  }
  const result = keyList.safeParse(json)
  if (result.success) return result.data
  const issue = result.error.issues[0]!
  throw new StoreError(
    'damaged',
    keyFileProblem('invalid', { path, place: issue.path.map(String).join('.'), reason: problemOf(issue).text }),
  )
}
