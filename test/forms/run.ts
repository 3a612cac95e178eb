import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { labServer, zoneBehaviour } from '../lab/dns-server.ts'
import { type Installed, type Times, tryForm } from './trial.ts'

/**
 * `npm run test:forms -- [form…]`: installs each form of the program as a reader does and uses it: a check, a page, a
 * report, a job, a monitor, a restart. Prints the table of times. The npm registry has to be in reach.
 */
const ROOT = resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }
const TARBALL = `mailsonde-${version}.tgz`
const work = mkdtempSync(join(tmpdir(), 'mailsonde-forms-'))

type Form = (folder: string) => Promise<Installed>

/** A command of a reader. Rejects with what it wrote if it fails. */
async function command(cwd: string, line: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [file = '', ...args] = line
  await promisify(execFile)(file, args, { cwd, env: { ...process.env, ...env }, maxBuffer: 1 << 24 })
}

/** A release of Node.js, from the npm package `node`; returns the folder of its program. */
async function nodeOf(major: number): Promise<string> {
  const folder = join(work, `node-${major}`)
  mkdirSync(folder)
  await command(folder, ['npm', 'install', '--no-audit', '--no-fund', '--prefix', folder, `node@${major}`])
  return join(folder, 'node_modules/node/bin')
}

let packing: Promise<string> | undefined
/** The packed file. */
async function packed(): Promise<string> {
  packing ??= command(ROOT, ['npm', 'pack', '--pack-destination', work]).then(() => join(work, TARBALL))
  return packing
}

/** `npm install` of the packed file in an empty folder, on a release of Node.js. */
async function npmForm(major: number, flags: readonly string[]): Promise<Form> {
  const [bin, file] = [await nodeOf(major), await packed()]
  const env = { PATH: `${bin}:${process.env.PATH}` }
  return async (folder) => {
    await command(folder, ['npm', 'install', '--no-audit', '--no-fund', ...flags, file], env)
    return { command: [join(bin, 'node'), join(folder, 'node_modules/mailsonde/dist/main.js')], env, folder }
  }
}

/** The executable, as it comes out of its archive. */
async function executableForm(): Promise<Form> {
  await command(ROOT, ['npm', 'run', '--silent', 'build:executable'])
  const name = `mailsonde-linux-${process.arch}`
  return async (folder) => {
    await command(folder, ['tar', '-xJf', join(ROOT, `build/executable/${name}.tar.xz`)])
    return { command: [join(folder, name)], folder }
  }
}

/** The forms, each with what it needs before a reader begins. */
const FORMS: Readonly<Record<string, () => Promise<Form>>> = {
  'npm-22': () => npmForm(22, ['--ignore-scripts']),
  'npm-24': () => npmForm(24, []),
  'npm-26': () => npmForm(26, ['--ignore-scripts']),
  executable: executableForm,
}

const asked = process.argv.slice(2)
const names = asked.length > 0 ? asked : Object.keys(FORMS)
const lab = await labServer(zoneBehaviour({ 'example.org': { MX: [[0, '']], TXT: ['v=spf1 -all'], SOA: [], NS: [] } }))
const rows: [name: string, times: Times | string][] = []
for (const name of names) {
  const prepare = FORMS[name]
  if (!prepare) throw new Error(`there is no form ${name}: ${Object.keys(FORMS).join(', ')}`)
  try {
    const form = await prepare()
    const folder = join(work, name)
    mkdirSync(folder)
    rows.push([name, await tryForm(() => form(folder), `127.0.0.1:${lab.server.port}`)])
  } catch (error) {
    rows.push([name, (error as Error).message])
    process.exitCode = 1
  }
  console.error(name, rows.at(-1)![1])
}
lab.close()
rmSync(work, { recursive: true, force: true })

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
console.log('| form | installed | a domain checked | a page | a report imported | a job done | `--help` |')
console.log('|---|---|---|---|---|---|---|')
for (const [name, times] of rows)
  console.log(
    typeof times === 'string'
      ? `| ${name} | failed: ${times.split('\n')[0]} | | | | | |`
      : `| ${name} | ${[times.installed, times.domain, times.page, times.report, times.job].map(seconds).join(' | ')} | ${times.help} ms |`,
  )
