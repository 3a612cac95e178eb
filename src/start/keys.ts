import { join } from 'node:path'
import { invalidFlag } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import { parseDuration } from '../base/time.ts'
import { valueProblem } from '../base/value-problems.ts'
import type { KeysAction } from '../cli/admin-commands.ts'
import type { Config } from '../config.ts'
import type { Look } from '../documents/terminal/terminal.ts'
import { parseDomainPattern } from '../names/domain.ts'
import { StoreError } from '../store/contract.ts'
import { filesStore } from '../store/files/files-store.ts'
import { type ApiKey, type KeyFile, makeKey, openKeyFile, SCOPES, type Scope } from '../store/key-file.ts'
import { keysRequired, openWithoutKeys } from './access.ts'
import { keyError } from './problems.ts'

type Print = (text: string) => void
/** The program's version for the output. */
type Shown = { readonly version: string; readonly look: Look }

/**
 * `mailsonde keys create|list|revoke|reset` on the key file. A running service applies the change within a second.
 * Throws AppError.
 */
export async function manageKeys(action: KeysAction, config: Config, print: Print, shown: Shown): Promise<number> {
  const file = openKeyFile(keyPath(config), now)
  try {
    if (action.kind === 'list') await list(keysOf(file), print, shown)
    else if (action.kind === 'create') await create(action, config, file, print)
    else if (action.kind === 'revoke') await revoke(action.id, file, print)
    else await reset(action.open, config, file, print)
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause
    throw keyError('unusable', { why: cause.problem }, { cause })
  }
  return 0
}

const now = (): number => Date.now()
const warnAloud = (event: string, fields: Record<string, unknown> = {}): void =>
  void process.stderr.write(`mailsonde: ${printable(`${event}: ${JSON.stringify(fields)}`, 2_000)}\n`)
const quiet = { debug: () => {}, info: () => {}, warn: warnAloud, error: warnAloud }

async function list(keys: readonly ApiKey[], print: Print, { version, look }: Shown): Promise<void> {
  const [{ keysDocument }, { formatTerminal }] = await Promise.all([
    import('../documents/service.ts'),
    import('../documents/terminal/terminal.ts'),
  ])
  print(formatTerminal(keysDocument(keys, version), look))
}

async function create(
  action: Extract<KeysAction, { kind: 'create' }>,
  config: Config,
  file: KeyFile,
  print: Print,
): Promise<void> {
  const lifetime = action.expires === undefined ? undefined : parseDuration(action.expires)
  if (lifetime && !lifetime.ok) throw invalidFlag('expires', lifetime.problem, { code: 'invalid_duration' })
  const { key, kept } = makeKey({
    name: printable(action.name, 100),
    scopes: readScopes(action.scopes),
    ...(action.domains === undefined ? {} : { domains: readDomains(action.domains) }),
    nowMs: now(),
    ...(lifetime ? { lifetimeMs: lifetime.value } : {}),
  })
  const isFirst = keysOf(file).length === 0
  await file.add(kept)
  const required = await keysRequired({ store: filesStore(config.dataDir, warnAloud), log: quiet, now })
  await required.note()
  print(
    `${key}\n\nid ${kept.id}, scopes ${kept.scopes.join(',')}. The key is not shown again; its hash is in ${file.path}.`,
  )
  if (isFirst)
    print(
      'This is the first key: from now on every request needs one, those of this machine too, and the pages ask for it (/login). A key with the scopes that it needs: --scopes read,verify,jobs,reports.',
    )
}

async function revoke(id: string, file: KeyFile, print: Print): Promise<void> {
  if (!(await file.remove(id))) throw keyError('unknown', { id })
  print(`revoked ${id}`)
  if (keysOf(file).length === 0)
    print(
      'No key is left: services now answer only health, until `mailsonde keys create` or `mailsonde keys reset --open`.',
    )
}

async function reset(open: boolean, config: Config, file: KeyFile, print: Print): Promise<void> {
  if (!open) throw keyError('reset')
  const keptAs = await file.discard()
  await openWithoutKeys({ store: filesStore(config.dataDir, warnAloud), now })
  print(
    `${file.path} ${keptAs === undefined ? 'was removed' : `could not be used and was moved to ${keptAs}`}. On a loopback host, callers need no key until one is created; on another host, the next start creates one.`,
  )
}

function keysOf(file: KeyFile): readonly ApiKey[] {
  const content = file.read()
  if (content.kind === 'unusable') throw keyError('unusable', { why: content.why })
  return content.kind === 'keys' ? content.keys : []
}

function readScopes(text: string): Scope[] {
  const scopes = text.split(',').map((scope) => scope.trim())
  const wrong = scopes.find((scope) => !(SCOPES as readonly string[]).includes(scope))
  if (wrong !== undefined) throw invalidFlag('scopes', valueProblem('choice', { text: wrong, known: SCOPES }))
  return scopes as Scope[]
}

function readDomains(text: string): string[] {
  return text.split(',').map((one) => {
    const pattern = parseDomainPattern(one.trim())
    if (!pattern.ok) throw invalidFlag('domains', pattern.problem, { code: 'invalid_domain' })
    return pattern.value
  })
}

export const keyPath = (config: Config): string => config.apiKeysFile ?? join(config.dataDir, 'keys.json')
