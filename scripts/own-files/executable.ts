import { getAsset, getAssetKeys, getRawAsset } from 'node:sea'
import { inflateRawSync } from 'node:zlib'
import type * as own from '../../src/own-files.ts'
import type { Modules } from './loader.ts'

/** In place of src/own-files.ts in the executable, whose files are its assets (scripts/executable.ts). */
const inside = (path: string): Buffer => Buffer.from(getRawAsset(path)) // memory of the program itself: it is only read

export const form: own.Form = 'executable'
export const { version } = JSON.parse(getAsset('package.json', 'utf8')) as { readonly version: string }
export const namesIn: typeof own.namesIn = (folder) =>
  getAssetKeys().flatMap((key) => (key.startsWith(`${folder}/`) ? [key.slice(folder.length + 1)] : []))
export const readOwn: typeof own.readOwn = (folder, name) => inside(`${folder}/${name}`)
export const loadPackage: typeof own.loadPackage = (name) =>
  name.endsWith('.json')
    ? JSON.parse(getAsset(`packages/${name}`, 'utf8'))
    : (globalThis as unknown as Modules).mailsondeModule(`packages/${name}.js`)
// The two databases are deflated: they are a twentieth of the executable otherwise.
export const packageFile: typeof own.packageFile = (path) => inflateRawSync(inside(`packages/${path}`))
// This program itself, also while an upgrade has replaced its file.
export const heavyProgram: typeof own.heavyProgram = { file: '/proc/self/exe', args: ['--heavy-work'] }
