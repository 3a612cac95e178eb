import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'

/** What a key may do; `admin` may do everything. */
export const SCOPES = ['read', 'verify', 'jobs', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** A key that callers may use; the key itself is never kept. */
const apiKey = z.strictObject({
  id: z.string().min(1).max(40),
  name: z.string().max(100),
  /** SHA-256 of the key, hex. Keys are 256 random bits, so that a fast hash is enough. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  scopes: z.array(z.enum(SCOPES)).min(1),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().optional(),
})
export type ApiKey = z.output<typeof apiKey>

/** Keys that a file may hold. */
const MAX_KEYS = 10_000
const keyFile = z.array(apiKey).max(MAX_KEYS)

export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** A new key and what is kept of it. The key is 43 characters after its prefix, 256 random bits. */
export function makeKey(about: {
  readonly name: string
  readonly scopes: readonly Scope[]
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
    created_at: new Date(about.nowMs).toISOString(),
    ...expires,
  }
  return { key, kept }
}

export type KeyFile = {
  /** The keys as the file has them now: it is looked at again when it has changed, at most once a second. */
  readonly keys: () => readonly ApiKey[]
  /** Takes the place of the file (mode 0600), whole or not at all. Throws when it cannot be written. */
  readonly write: (keys: readonly ApiKey[]) => void
}

/** The keys of a JSON file; one that is not there holds none. Throws (with the path and the fault) on a file that cannot be read or is of another shape. */
export function openKeyFile(path: string, now: () => number): KeyFile {
  let kept: readonly ApiKey[] = []
  let stamp = ''
  let lookedAtMs = Number.NEGATIVE_INFINITY

  function keys(): readonly ApiKey[] {
    if (now() - lookedAtMs < 1_000) return kept
    lookedAtMs = now()
    const stat = statSync(path, { throwIfNoEntry: false })
    const current = stat ? `${stat.mtimeMs} ${stat.size} ${stat.ino}` : ''
    if (current !== stamp) {
      lookedAtMs = Number.NEGATIVE_INFINITY // a file that cannot be read stays a fault until it can: old keys may have been revoked in it
      kept = stat ? readKeys(path) : []
      stamp = current
      lookedAtMs = now()
    }
    return kept
  }

  function write(next: readonly ApiKey[]): void {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(`${path}.new`, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
    lookedAtMs = Number.NEGATIVE_INFINITY
  }
  return { keys, write }
}

function readKeys(path: string): readonly ApiKey[] {
  let json: unknown
  try {
    json = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new Error(`the keys of ${path} could not be read: ${(cause as Error).message}`, { cause })
  }
  const result = keyFile.safeParse(json)
  if (result.success) return result.data
  throw new Error(
    `the keys of ${path} are not in order: ${result.error.issues[0]?.path.join('.')}: ${result.error.issues[0]?.message}`,
  )
}
