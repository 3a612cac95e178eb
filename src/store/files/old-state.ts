import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonRecord, type Json } from '../../base/json.ts'
import { checkRow, type RepositoryName, type Row, type Store, unavailable } from '../contract.ts'
import { withLock } from './lock.ts'

type Warn = (event: string, fields: Record<string, unknown>) => void
type NewRow = Pick<Row, 'key' | 'value'>

/**
 * Imports the content of `state.json` of version 0.1 into the repositories, once: existing rows stay unchanged, and the file becomes `state.json.old`. A
 * damaged file becomes `state.json.damaged`, reported through `warn`. Rejects with StoreError; the file then stays for another attempt.
 */
export async function moveOldState(folder: string, store: Store, warn: Warn): Promise<void> {
  const path = join(folder, 'state.json')
  if ((await textOf(path)) === undefined) return
  await withLock(`${path}.lock`, async () => {
    const text = await textOf(path) // another process may have moved it in the meantime
    if (text === undefined) return
    const state = parsedObject(text)
    if (state === undefined) {
      await rename(path, `${path}.damaged`)
      warn('the state of an earlier version is damaged and was renamed', { path: `${path}.damaged` })
      return
    }
    for (const [name, rows] of Object.entries(rowsOf(state))) await putNew(store, name as RepositoryName, rows)
    await rename(path, `${path}.old`)
  })
}

async function putNew(store: Store, name: RepositoryName, rows: readonly NewRow[]): Promise<void> {
  const known = new Set((await store[name].list({ limit: 10_000 })).map(({ key }) => key))
  await store[name].putAll(rows.filter(({ key, value }) => !known.has(key) && isRow(key, value)))
}

function isRow(key: string, value: Json): boolean {
  try {
    checkRow(key, value)
    return true
  } catch {
    return false
  }
}

/** The rows of each repository; rows with another shape than in version 0.1 are ignored. */
function rowsOf(state: Readonly<Record<string, Json | undefined>>): Partial<Record<RepositoryName, readonly NewRow[]>> {
  const list = (
    value: Json | undefined,
    keyOf: (row: Readonly<Record<string, Json | undefined>>) => string,
  ): NewRow[] =>
    Array.isArray(value) ? value.filter(isJsonRecord).map((row) => ({ key: keyOf(row), value: row })) : []
  const tests = state['dnsbl.self_test']
  const selfTests = (['4', '6'] as const).flatMap((family) => {
    const zones = isJsonRecord(tests) ? tests[family] : undefined
    if (!isJsonRecord(zones)) return []
    return Object.entries(zones).map(([zone, value]) => ({ key: `${family} ${zone}`, value: value ?? null }))
  })
  const id = state['node-id']
  return {
    node: typeof id === 'string' ? [{ key: 'id', value: id }] : [],
    peers: list(state.peers, ({ id: peer }) => String(peer)),
    sources: list(state['mailbox/sources'], ({ source, provider }) => `${source ?? ''} ${provider}`),
    selfTests,
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw unavailable('not_read', path, cause)
  }
}

function parsedObject(text: string): Readonly<Record<string, Json | undefined>> | undefined {
  try {
    const json = JSON.parse(text) as Json
    return isJsonRecord(json) ? json : undefined
  } catch {
    return undefined
  }
}
