#!/usr/bin/env node
import { keepCompiled } from './start/compile-cache.ts'
import { tooOld } from './start/node-version.ts'

const argv = process.argv.slice(2)
const refusal = tooOld(process.version)
if (refusal === undefined) {
  if (argv[0] === 'serve') (await import('./start/heap.ts')).keepHeapSmall()
  // Imports after this line may come from the cache; those above it cannot.
  keepCompiled(argv)
  const { commandLine } = await import('./start/command-line.ts')
  process.exitCode = await commandLine(argv)
} else {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 2
}
