import { fileURLToPath } from 'node:url'
import type { Command } from '../lane/child.ts'

/**
 * How the process for heavy work is started, from this folder and from `dist/chunks`. It gets no environment: the
 * secrets of the service are none of its.
 */
export const heavyCommand = (): Command => ({
  file: process.execPath,
  args: [fileURLToPath(new URL('../heavy.js', import.meta.url))],
  env: {},
})
