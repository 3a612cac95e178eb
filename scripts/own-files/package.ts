import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type * as own from '../../src/own-files.ts'

/** In place of src/own-files.ts in the built program. It is in a chunk, one folder below `dist`. */
const at = (path: string): URL => new URL(`../${path}`, import.meta.url)
const require = createRequire(at('packages/'))

export const form: own.Form = 'package'
export const { version } = JSON.parse(readFileSync(at('../package.json'), 'utf8')) as { readonly version: string }
export const namesIn: typeof own.namesIn = (folder) => {
  try {
    return readdirSync(at(`${folder}/`), { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
}
export const readOwn: typeof own.readOwn = (folder, name) => readFileSync(at(`${folder}/${name}`))
export const loadPackage: typeof own.loadPackage = (name) => require(`./${name}`)
export const packageFile: typeof own.packageFile = (path) => readFileSync(at(`packages/${path}`))
export const heavyProgram: typeof own.heavyProgram = { file: process.execPath, args: [fileURLToPath(at('heavy.js'))] }
