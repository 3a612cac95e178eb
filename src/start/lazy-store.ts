import { once } from '../base/once.ts'
import type { Repository, RepositoryName, Store } from '../store/contract.ts'
import type { Warn } from '../store/files/files-store.ts'

/** The store in the files of `folder`, whose code is loaded with the first call: most commands never need it. */
export function lazyStore(
  folder: string,
  warn: Warn,
): { readonly store: Store; readonly settled: () => Promise<void> } {
  let isOpen = false
  const open = once(async () => {
    isOpen = true
    return (await import('../store/files/files-store.ts')).filesStore(folder, warn)
  })
  const repository = (name: RepositoryName): Repository => ({
    get: async (key) => (await open())[name].get(key),
    list: async (page) => (await open())[name].list(page),
    put: async (key, value) => (await open())[name].put(key, value),
    putAll: async (rows) => (await open())[name].putAll(rows),
    replace: async (key, value, expected) => (await open())[name].replace(key, value, expected),
    delete: async (key) => (await open())[name].delete(key),
  })
  return {
    store: {
      node: repository('node'),
      peers: repository('peers'),
      sources: repository('sources'),
      selfTests: repository('selfTests'),
    },
    settled: async () => {
      if (isOpen) await (await open()).settled()
    },
  }
}
