import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json } from '../base/json.ts'
import type { Store } from './store.ts'

/** Entries at most; the ones longest unchanged go first. */
const MAX_ENTRIES = 10_000

/**
 * A {@link Store} in one JSON file of the data folder, `state.json`: read at the first need, written a second after a change (to a new file that then
 * takes the old one's place, so that a kill loses at most a second and never the file). A file that cannot be read is set aside as `state.json.bad`.
 */
export function fileStore(
  folder: string,
  warn: (event: string, fields: Record<string, unknown>) => void,
): Store & { readonly flush: () => Promise<void> } {
  const path = join(folder, 'state.json')
  let loading: Promise<Map<string, Json>> | undefined
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  const load = (): Promise<Map<string, Json>> => {
    loading ??= readState(path, warn)
    return loading
  }

  async function write(): Promise<void> {
    const entries = await load()
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(`${path}.new`, JSON.stringify(Object.fromEntries(entries)), { mode: 0o600 })
      await rename(`${path}.new`, path)
    } catch (error) {
      warn('what is remembered could not be written', { path, reason: (error as Error).message })
    }
  }

  function flush(): Promise<void> {
    if (timer !== undefined) {
      clearTimeout(timer)
      timer = undefined
      writing = writing.then(write)
    }
    return writing
  }

  return {
    get: async (key) => (await load()).get(key),
    set: async (key, value) => {
      const entries = await load()
      entries.delete(key)
      entries.set(key, value)
      if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!)
      timer ??= setTimeout(() => void flush(), 1_000).unref()
    },
    flush,
  }
}

async function readState(
  path: string,
  warn: (event: string, fields: Record<string, unknown>) => void,
): Promise<Map<string, Json>> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      warn('what was remembered could not be read', { path, reason: (error as Error).message })
    return new Map()
  }
  try {
    return new Map(Object.entries(JSON.parse(text) as Record<string, Json>))
  } catch {
    await rename(path, `${path}.bad`).catch(() => {})
    warn('what was remembered is damaged and was set aside', { path: `${path}.bad` })
    return new Map()
  }
}
