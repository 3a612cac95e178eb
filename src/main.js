#!/usr/bin/env node
import { tooOld } from './start/node-version.js'

// This file and the one above are JavaScript, which any version of Node.js reads as far as the refusal.
const argv = process.argv.slice(2)
const refusal = tooOld(process.version)
if (refusal === undefined) {
  const { commandLine } = await import('./start/command-line.ts')
  process.exitCode = await commandLine(argv)
} else {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 2
}
