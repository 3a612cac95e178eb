import { getCompileCacheDir } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Command } from '../lane/child.ts'

/** How the process for heavy work is started. It gets no environment: the secrets of the service are none of its. */
export function heavyCommand(): Command {
  const cache = getCompileCacheDir()
  return {
    file: process.execPath,
    args: [fileURLToPath(new URL('../heavy.js', import.meta.url))], // from this folder, and from `dist/chunks`
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
  }
}
