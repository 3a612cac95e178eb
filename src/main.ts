#!/usr/bin/env node
import { keepCompiled } from './start/compile-cache.ts'

// What is imported after this line may come from the cache; what is imported above it cannot.
keepCompiled(process.argv.slice(2))
const { commandLine } = await import('./start/command-line.ts')
process.exitCode = await commandLine(process.argv.slice(2))
