import { REPOSITORIES, type Store } from '../contract.ts'
import { fileRepository } from './file-repository.ts'
import type { Values } from './rows-file.ts'

/** A store in memory for the life of the process, with the bounds of the others. */
export function memoryStore(): Store {
  const repositories = Object.entries(REPOSITORIES).map(([name, bounds]) => {
    const rows: Values = new Map()
    return [name, fileRepository({ read: async () => rows, change: async (make) => void make(rows) }, bounds)] as const
  })
  return Object.fromEntries(repositories) as unknown as Store // one for each name
}
