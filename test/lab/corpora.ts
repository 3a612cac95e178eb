import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

/** The parsed JSON of one public conformance file (`dns/mx-lookup.json`), from the folder in `CORPORA` or `../shared/corpora`; undefined, said loudly, where it is missing. */
// biome-ignore lint/suspicious/noExplicitAny: each file has its own shape, told in the file itself
export function corpus(file: string): any {
  const path = resolve(ROOT, process.env.CORPORA ?? '../shared/corpora', file)
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  console.warn(`NOT TESTED: the conformance data ${path} is missing; name its folder in CORPORA`)
  return undefined
}
