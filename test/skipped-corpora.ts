import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CORPORA, MISSING_NOTES } from './lab/corpora.ts'

/** Prints once, after the results, which public conformance suites were skipped because their data is missing. */
let folder: string | undefined

export function setup(): void {
  folder = mkdtempSync(join(tmpdir(), 'mailsonde-test-'))
  const notes = join(folder, 'missing')
  writeFileSync(notes, '')
  process.env[MISSING_NOTES] = notes
}

export function teardown(): void {
  if (folder === undefined) return
  const missing = [...new Set(readFileSync(join(folder, 'missing'), 'utf8').split('\n').filter(Boolean))].sort()
  rmSync(folder, { recursive: true })
  if (missing.length > 0) console.log(skippedNotice(CORPORA, missing))
}

/** The lines that say which files of conformance data were not found in `at`. */
export const skippedNotice = (at: string, missing: readonly string[]): string =>
  [
    '',
    `SKIPPED: ${missing.length} public conformance suites, because their data is not in ${at}:`,
    `  ${missing.join(', ')}`,
    '  The data belongs to other projects and is not in this repository. To run these suites, set CORPORA to its folder.',
    '  All other tests ran. With CI=true missing data is a failure.',
    '',
  ].join('\n')
