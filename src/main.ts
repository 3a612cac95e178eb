#!/usr/bin/env node
import { keepCompiled } from './start/compile-cache.ts'
import { keepHeapSmall } from './start/heap.ts'

const argv = process.argv.slice(2)
if (argv[0] === 'serve') keepHeapSmall()
// What is imported after this line may come from the cache; what is imported above it cannot.
keepCompiled(argv)
const { commandLine } = await import('./start/command-line.ts')
process.exitCode = await commandLine(argv)
