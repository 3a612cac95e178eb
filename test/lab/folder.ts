import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []
const remove = (): void => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
}
if (process.env.VITEST) (await import('vitest')).afterAll(remove)
else process.once('exit', remove) // a benchmark

/** A new empty folder, gone when the tests of this file, or the benchmark, have ended. */
export function labFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mailsonde-'))
  made.push(folder)
  return folder
}
