import { join } from 'node:path'
import { isJsonRecord, type Json } from '../../base/json.ts'
import { onceUnlessFailed } from '../../base/once.ts'
import { REPOSITORIES, type RepositoryName, type Store, StoreError } from '../contract.ts'
import { storeProblem } from '../problems.ts'
import { fileRepository } from './file-repository.ts'
import { moveOldState } from './old-state.ts'
import { type Codec, rowsFile, type Values } from './rows-file.ts'

export type Warn = (event: string, fields: Record<string, unknown>) => void

/** The files of the repositories in the data folder. */
const FILES: Readonly<Record<RepositoryName, string>> = {
  node: 'node.json',
  peers: 'peers.json',
  sources: 'sources.json',
  selfTests: 'self-tests.json',
}

/**
 * A {@link Store} with one file per repository in `folder` (created with the first write, mode 0700). Several processes may use it at the same time. A
 * damaged file is renamed, reported through `warn`, and never overwritten. The `state.json` of earlier versions is imported when it is first needed.
 */
export function filesStore(folder: string, warn: Warn): Store & { readonly settled: () => Promise<void> } {
  const open = (name: RepositoryName, before?: () => Promise<void>) => {
    const path = join(folder, FILES[name])
    const onDamaged = ({ message }: StoreError, movedTo: string): void =>
      warn('a data file is damaged and was renamed', { path, moved_to: movedTo, reason: message })
    return fileRepository(rowsFile({ path, codec: rowsCodec(path), onDamaged }), REPOSITORIES[name], before)
  }
  const names = Object.keys(REPOSITORIES) as RepositoryName[]
  const plain = names.map((name) => [name, open(name)] as const)
  const moved = onceUnlessFailed(() => moveOldState(folder, Object.fromEntries(plain) as unknown as Store, warn))
  const repositories = names.map((name) => [name, open(name, moved)] as const)
  return {
    ...(Object.fromEntries(repositories) as unknown as Store),
    settled: async () => {
      await Promise.all(repositories.map(([, { settled }]) => settled()))
    },
  }
}

const FORMAT = 1

/** `{"format": 1, "rows": [[key, value], …]}`. */
function rowsCodec(path: string): Codec {
  const damaged = (why: 'no_object' | 'no_rows' | 'row'): never => {
    throw new StoreError('damaged', storeProblem('damaged', { path, why }))
  }
  return {
    read: (text) => {
      const json = parsedJson(text)
      if (!isJsonRecord(json)) return damaged('no_object')
      if (typeof json.format === 'number' && json.format > FORMAT)
        throw new StoreError('newer', storeProblem('newer', { path, version: json.format }))
      if (json.format !== FORMAT || !Array.isArray(json.rows)) return damaged('no_rows')
      const rows: Values = new Map()
      for (const row of json.rows as readonly Json[]) {
        if (!Array.isArray(row) || row.length !== 2 || typeof row[0] !== 'string') return damaged('row')
        rows.set(row[0], row[1] as Json)
      }
      return rows
    },
    write: (rows) => `${JSON.stringify({ format: FORMAT, rows: [...rows] })}\n`,
  }
}

function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
