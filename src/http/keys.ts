import { timingSafeEqual } from 'node:crypto'
import { type ApiKey, hashKey, type Scope } from '../store/key-file.ts'

/**
 * The key of a request: `Authorization: Bearer …` or `X-API-Key`, at most 512 characters. A key is never accepted in a
 * URL.
 */
export function presentedKey(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | undefined {
  const bearer =
    typeof headers.authorization === 'string' ? /^Bearer +(\S{1,512})$/i.exec(headers.authorization)?.[1] : undefined
  const header = headers['x-api-key']
  return bearer ?? (typeof header === 'string' && header.length <= 512 ? header.trim() || undefined : undefined)
}

/**
 * The key in force that equals `presented`, if any; hashes are compared in constant time, and expired keys never match.
 */
export function findKey(keys: readonly ApiKey[], presented: string, nowMs: number): ApiKey | undefined {
  const hash = Buffer.from(hashKey(presented), 'hex')
  let found: ApiKey | undefined
  for (const key of keys) if (timingSafeEqual(Buffer.from(key.hash, 'hex'), hash)) found = key
  return found && (found.expires_at === undefined || Date.parse(found.expires_at) > nowMs) ? found : undefined
}

/** Whether a key with these scopes has the permission `scope`; `admin` includes all. */
export const allows = (key: ApiKey, scope: Scope): boolean => key.scopes.includes(scope) || key.scopes.includes('admin')
