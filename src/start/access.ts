import { messageOf } from '../base/errors.ts'
import { isJsonRecord } from '../base/json.ts'
import type { Problem } from '../base/problem.ts'
import type { Config } from '../config.ts'
import { isLoopbackHost } from '../http/caller.ts'
import { type ApiKey, hashKey, type KeyFile, type KeyFileContent, makeKey } from '../store/key-file.ts'
import { keyFileProblem } from '../store/problems.ts'
import type { World } from '../world.ts'

/**
 * Who gets answers: callers with one of the keys; with none in force everybody who can reach the service, or nobody
 * (`closed` says why).
 */
export type Access = {
  readonly keys: () => readonly ApiKey[]
  readonly closed: () => string | undefined
  /** The key that this start has created, which is told once. */
  readonly made?: string | undefined
}

const CLOSED =
  'no request is served, because the keys are lost: create one (`keys create`), or allow access without keys (`keys reset --open`)'
/** Interval at which a closed service checks whether the operator has opened it, ms. */
const LOOK_EVERY_MS = 1_000

/**
 * The keys in force: those of options (all scopes), and those of the file. Fails closed: if keys once existed and the
 * file is missing, empty or unusable, nobody gets answers until keys exist again or the operator has run
 * `keys reset --open`. A host that is not loopback requires a key: the first start creates it, unless
 * `--insecure-no-auth`. Rejects with AppError or StoreError if that key cannot be stored.
 */
export async function openAccess(
  config: Config,
  { now, store, log }: Pick<World, 'now' | 'store' | 'log'>,
  file: KeyFile,
): Promise<Access> {
  const given = givenKeys(config, now())
  const isLocal = isLoopbackHost(config.host)
  if (!isLocal && config.insecureNoAuth) {
    const content = file.read()
    const ignored = given.length + (content.kind === 'keys' ? content.keys.length : 0)
    log.warn('--insecure-no-auth: everybody who reaches this address is answered without a key', {
      ignored_keys: ignored,
    })
    return { keys: () => [], closed: () => undefined }
  }
  const required = await keysRequired({ store, log, now })
  let made: string | undefined
  if (!isLocal && given.length === 0 && !required.is() && file.read().kind === 'missing') {
    const { key, kept } = makeKey({ name: 'made at the first start', scopes: ['admin'], nowMs: now() })
    await file.add(kept)
    await required.note()
    made = key
  }
  const access = accessOf({ file, given, required, isLocal, now, log })
  const openedAt = required.openedAt()
  if (access.closed() === undefined && access.keys().length === 0 && openedAt !== undefined)
    log.warn('callers are answered without a key, since the keys were reset', { reset_at: openedAt })
  return { ...access, made }
}

function accessOf(parts: {
  readonly file: KeyFile
  readonly given: readonly ApiKey[]
  readonly required: KeysRequired
  readonly isLocal: boolean
  readonly now: () => number
  readonly log: World['log']
}): Access {
  const { file, given, required, isLocal, now, log } = parts
  let lookedAtMs = now()
  let told: string | undefined

  /** Why the file has no usable key; undefined if it has one, or if none is required. */
  function faultOf(content: KeyFileContent): Problem | undefined {
    if (content.kind === 'unusable') return content.why
    if (content.kind === 'keys')
      return content.keys.length > 0 ? undefined : keyFileProblem('empty', { path: file.path })
    if (required.is()) return keyFileProblem('gone', { path: file.path })
    return isLocal ? undefined : keyFileProblem('missing', { path: file.path })
  }

  function closed(): string | undefined {
    const content = file.read()
    const why = faultOf(content)?.text
    if (why !== told && why !== undefined && (given.length === 0 || content.kind === 'unusable'))
      log.error(given.length === 0 ? CLOSED : 'the key file cannot be used; keys of options can', { reason: why })
    told = why
    if (why === undefined && content.kind === 'keys' && !required.is()) void required.note()
    if (content.kind === 'missing' && required.is()) lookAgain()
    return given.length > 0 ? undefined : why
  }

  /** The operator may have opened the service. */
  function lookAgain(): void {
    const sinceMs = now() - lookedAtMs
    if (sinceMs >= 0 && sinceMs < LOOK_EVERY_MS) return
    lookedAtMs = now()
    void required.look()
  }
  return {
    keys: () => {
      const content = file.read()
      return content.kind === 'keys' ? [...given, ...content.keys] : given
    },
    closed,
  }
}

function givenKeys(config: Config, nowMs: number): readonly ApiKey[] {
  return config.apiKeys.map((key, i) => ({
    id: `option-${i + 1}`,
    name: 'from --api-key',
    hash: hashKey(key),
    scopes: ['admin'],
    created_at: new Date(nowMs).toISOString(),
  }))
}

/** The row that records that keys existed. It is stored apart from them, so that a missing key file opens nothing. */
const KEY = 'keys'

/** Whether callers need a key although none may be in force. */
type KeysRequired = Awaited<ReturnType<typeof keysRequired>>

/** Reads whether keys ever existed. If that cannot be read, they are required. */
export async function keysRequired({ store, log, now }: Pick<World, 'store' | 'log' | 'now'>) {
  let state: { readonly isRequired: boolean; readonly openedAt?: string } = { isRequired: true }

  /** Reads the state again: the operator may have opened the service. Never rejects. */
  async function look(): Promise<void> {
    try {
      const value = (await store.node.get(KEY))?.value
      const { required, at } = isJsonRecord(value) ? value : {}
      state = { isRequired: required === true, ...(required === false && { openedAt: String(at) }) }
    } catch (error) {
      state = { isRequired: true }
      log.error('whether keys are required could not be read; keys are required', { reason: messageOf(error) })
    }
  }

  async function write(): Promise<void> {
    try {
      await store.node.put(KEY, { required: true, at: new Date(now()).toISOString() })
    } catch (error) {
      log.warn('the requirement of keys could not be stored', { reason: messageOf(error) })
    }
  }
  await look()
  return {
    is: () => state.isRequired,
    /** When the operator declared that none is needed; undefined: never, or keys were created later. */
    openedAt: () => state.openedAt,
    /** Keys exist now: from here on they are required, also after a restart. Never rejects. */
    note: (): Promise<void> => {
      state = { isRequired: true }
      return write()
    },
    look,
  }
}

/** The operator declares that no key is needed, until one is created. Rejects with StoreError. */
export const openWithoutKeys = ({ store, now }: Pick<World, 'store' | 'now'>): Promise<void> =>
  store.node.put(KEY, { required: false, at: new Date(now()).toISOString() })
