import { join } from 'node:path'
import Table from 'cli-table3'
import { parseDuration } from '../base/duration.ts'
import { AppError } from '../base/errors.ts'
import type { KeysAction } from '../cli/program.ts'
import type { Config } from '../config.ts'
import { type KeyFile, makeKey, openKeyFile, SCOPES, type Scope } from '../store/key-file.ts'

/** `mailsonde keys create|list|revoke` on the key file. A running service sees the change within a second. */
export function manageKeys(action: KeysAction, config: Config, print: (text: string) => void): number {
  const now = (): number => Date.now()
  const file = usableKeyFile(config, now)
  if (action.kind === 'list') {
    const table = new Table({ head: ['id', 'name', 'scopes', 'created', 'expires'], style: { head: [], border: [] } })
    for (const key of file.keys())
      table.push([key.id, key.name, key.scopes.join(','), key.created_at, key.expires_at ?? 'never'])
    print(table.toString())
    return 0
  }
  if (action.kind === 'revoke') {
    const rest = file.keys().filter((key) => key.id !== action.id)
    if (rest.length === file.keys().length)
      throw new AppError(
        'invalid_parameter',
        `there is no key with the id ${JSON.stringify(action.id)}; \`mailsonde keys list\` shows them`,
      )
    file.write(rest)
    print(`revoked ${action.id}`)
    return 0
  }
  const lifetime = action.expires === undefined ? undefined : parseDuration(action.expires)
  if (lifetime && !lifetime.ok) throw new AppError('invalid_duration', `--expires: ${lifetime.problem}`)
  const { key, kept } = makeKey({
    name: action.name.slice(0, 100),
    scopes: readScopes(action.scopes),
    nowMs: now(),
    ...(lifetime ? { lifetimeMs: lifetime.value } : {}),
  })
  file.write([...file.keys(), kept])
  print(
    `${key}\n\nid ${kept.id}, scopes ${kept.scopes.join(',')}. The key is shown this once; its hash is in ${keyPath(config)}.`,
  )
  return 0
}

function readScopes(text: string): Scope[] {
  const scopes = text.split(',').map((scope) => scope.trim())
  const wrong = scopes.find((scope) => !(SCOPES as readonly string[]).includes(scope))
  if (wrong !== undefined)
    throw new AppError('invalid_parameter', `--scopes: ${JSON.stringify(wrong)} is not one of ${SCOPES.join(', ')}`)
  return scopes as Scope[]
}

/** The key file, read once. Throws AppError when it cannot be read; later reads throw plain errors, which are no caller's business. */
export function usableKeyFile(config: Config, now: () => number): KeyFile {
  const path = keyPath(config)
  const file = openKeyFile(path, now)
  inWords(file.keys, '')
  return { ...file, write: (keys) => inWords(() => file.write(keys), `the keys could not be written to ${path}: `) }
}

function inWords<T>(work: () => T, lead: string): T {
  try {
    return work()
  } catch (cause) {
    throw new AppError('invalid_parameter', `${lead}${(cause as Error).message}`, { cause })
  }
}

export const keyPath = (config: Config): string => config.apiKeysFile ?? join(config.dataDir, 'keys.json')
