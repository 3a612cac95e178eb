#!/usr/bin/env node
import { keepCompiled } from './start/compile-cache.js'
import { tooOld } from './start/node-version.js'

/*
 * This file and the two above are JavaScript: Node's remover of types, which is not needed for what is in the compile
 * cache, takes 60 ms and 14 MB.
 */
const argv = process.argv.slice(2)
const refusal = tooOld(process.version)
if (refusal === undefined) {
  // Imports after this line may come from the cache; those above it cannot.
  keepCompiled(argv)
  if (argv[0] === 'serve') (await import('./start/heap.ts')).keepHeapSmall()
  const { commandLine } = await import('./start/command-line.ts')
  process.exitCode = await commandLine(argv)
} else {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 2
}
