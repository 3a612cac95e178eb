import { messageOf } from '../base/errors.ts'
import { isJsonRecord } from '../base/json.ts'
import type { World } from '../world.ts'

/** The row that records that keys existed. It is stored apart from them, so that a missing key file opens nothing. */
const KEY = 'keys'

/** Whether callers need a key although none may be in force. */
export type KeysRequired = {
  readonly is: () => boolean
  /** When the operator declared that none is needed; undefined: never, or keys were created later. */
  readonly openedAt: () => string | undefined
  /** Keys exist now: from here on they are required, also after a restart. Never rejects. */
  readonly note: () => Promise<void>
  /** Reads the state again: the operator may have opened the service. Never rejects. */
  readonly look: () => Promise<void>
}

/** Reads whether keys ever existed. If that cannot be read, they are required. */
export async function keysRequired({ store, log, now }: Pick<World, 'store' | 'log' | 'now'>): Promise<KeysRequired> {
  let state: { readonly isRequired: boolean; readonly openedAt?: string } = { isRequired: true }

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
    openedAt: () => state.openedAt,
    note: () => {
      state = { isRequired: true }
      return write()
    },
    look,
  }
}

/** The operator declares that no key is needed, until one is created. Rejects with StoreError. */
export const openWithoutKeys = ({ store, now }: Pick<World, 'store' | 'now'>): Promise<void> =>
  store.node.put(KEY, { required: false, at: new Date(now()).toISOString() })
