import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const made: string[] = []
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A new empty folder, gone when the tests of this file have ended. */
export function labFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mailsonde-'))
  made.push(folder)
  return folder
}
