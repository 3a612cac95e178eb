import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

/**
 * The folder of the public conformance data, which is no part of this repository: `CORPORA`, by default
 * `../shared/corpora`.
 */
export const CORPORA = resolve(ROOT, process.env.CORPORA ?? '../shared/corpora')

/**
 * The environment variable that names the file in which the run notes the missing corpora (test/skipped-corpora.ts
 * prints them).
 */
export const MISSING_NOTES = 'MAILSONDE_TEST_MISSING_CORPORA'

/**
 * The parsed JSON of one file of public conformance data, such as `dns/mx-lookup.json`. Undefined where the file is
 * missing: the caller skips its tests, and the run lists the file at its end. With `CI=true` a missing file is an
 * error.
 */
// biome-ignore lint/suspicious/noExplicitAny: each file has its own shape, told in the file itself
export function corpus(file: string): any {
  const path = resolve(CORPORA, file)
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  if (process.env.CI === 'true') throw new Error(`no conformance data at ${path}; set CORPORA to their folder`)
  const notes = process.env[MISSING_NOTES]
  if (notes !== undefined) appendFileSync(notes, `${file}\n`)
  return undefined
}
