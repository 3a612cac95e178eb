import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { labServer, zoneBehaviour } from '../lab/dns-server.ts'
import { type Chroot, chrootIn } from './chroot.ts'
import { tryFaults } from './faults.ts'
import { imageForm } from './image.ts'
import { type Installed, importReport, jobDone, serve, startJob, type Times, tryForm } from './trial.ts'

/**
 * `npm run test:forms -- [form…]`: installs each form of the program as a reader does and uses it: a check, a page, a
 * report, a job, a monitor, an upgrade. Prints the table of times. Each is tried in a bare Debian 12 (root, debootstrap, the
 * registries of npm and Debian); the executable and the Debian package are made by their scripts where they are not in
 * build/. `faults` tries what a machine may lack, with the sources.
 */
const ROOT = resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }
/** The times of every form that passed, from which the README's table is made. */
const RESULTS = join(import.meta.dirname, 'results.json')
const TARBALL = `mailsonde-${version}.tgz`
const work = mkdtempSync(join(tmpdir(), 'mailsonde-forms-'))

type Form = (folder: string) => Promise<Installed>
/** A form, and what is tried of it afterwards. */
type Prepared =
  | Form
  | { readonly form: Form; readonly afterwards: (installed: Installed, key: string) => Promise<void> }

/** A command of a reader. Rejects with what it wrote if it fails. */
async function command(cwd: string, line: readonly string[]): Promise<void> {
  const [file = '', ...args] = line
  await promisify(execFile)(file, args, { cwd, maxBuffer: 1 << 24 })
}

/** Packages of npm in a folder; returns its `node_modules`. */
async function packages(...names: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(work, 'packages-'))
  await command(folder, ['npm', 'install', '--no-audit', '--no-fund', '--prefix', folder, ...names])
  return join(folder, 'node_modules')
}

/** A bare Debian 12 of a reader who has git, npm and a release of Node.js. */
async function nodeChroot(name: string, major: number): Promise<Chroot> {
  const [modules, chroot] = await Promise.all([
    packages(`node@${major}`, 'npm@10'),
    chrootIn(join(work, `chroot-${name}`), BASES),
  ])
  const local = join(chroot.root, 'usr/local')
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true })
  await command(work, ['cp', '-a', join(modules, 'npm'), join(local, 'lib/node_modules')])
  copyFileSync(join(modules, 'node/bin/node'), join(local, 'bin/node'))
  for (const tool of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${tool}-cli.js`, join(local, 'bin', tool))
  await chroot.sh('apt-get -q install -y --no-install-recommends git libatomic1 && mkdir /srv/trial')
  return chroot
}

let packing: Promise<string> | undefined
/** The packed file. */
async function packed(): Promise<string> {
  packing ??= command(ROOT, ['npm', 'pack', '--pack-destination', work]).then(() => join(work, TARBALL))
  return packing
}

/** `npm install` of the packed file in an empty folder of a bare Debian 12, on a release of Node.js. */
async function npmForm(major: number, flags: string): Promise<Form> {
  const [{ root, enter, sh }, file] = await Promise.all([nodeChroot(`npm-${major}`, major), packed()])
  const install = async (what: string): Promise<void> => {
    copyFileSync(what, join(root, 'srv', basename(what)))
    await sh(`cd /srv/trial && npm install --no-audit --no-fund ${flags} /srv/${basename(what)}`)
  }
  return async () => {
    await install(file)
    const upgrade = async () => {
      await install(await newer(file))
      return {}
    }
    const program = ['node', '/srv/trial/node_modules/mailsonde/dist/main.js']
    return { command: [...enter, ...program], folder: join(root, 'srv/trial'), seenAs: '/srv/trial', upgrade }
  }
}

/** The packed file as that of a newer version. */
async function newer(file: string): Promise<string> {
  const folder = mkdtempSync(join(work, 'newer-'))
  await command(folder, ['tar', '-xzf', file])
  const manifest = join(folder, 'package/package.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(`"version": "${version}"`, '"version": "99.0.0"'))
  await command(folder, ['tar', '-czf', 'mailsonde-99.0.0.tgz', 'package'])
  return join(folder, 'mailsonde-99.0.0.tgz')
}

/** What `npm run build:…` has made below `build`; it is made where it is missing. */
async function built(script: string, path: string): Promise<string> {
  const file = join(ROOT, 'build', path)
  if (!existsSync(file)) await command(ROOT, ['npm', 'run', '--silent', script])
  return file
}

const EXECUTABLE = `mailsonde-linux-${process.arch}`
const BASES = join(ROOT, 'build')

/** The executable, in a bare Debian 12. */
async function executableForm(): Promise<Form> {
  const archive = await built('build:executable', `executable/${EXECUTABLE}.tar.xz`)
  const { root, enter, sh } = await chrootIn(join(work, 'chroot-executable'), BASES)
  return async () => {
    const unpack = () => command(root, ['tar', '-xJf', archive, '-C', join(root, 'srv')])
    await unpack()
    await sh('apt-get -q install -y --no-install-recommends libatomic1 postgresql')
    const upgrade = async () => {
      await unpack()
      return {}
    }
    return { command: [...enter, `/srv/${EXECUTABLE}`], folder: join(root, 'srv'), seenAs: '/srv', upgrade }
  }
}

/** The Debian package, in a bare Debian 12. The service starts as its unit starts it, without systemd. */
async function debForm(): Promise<Prepared> {
  const file = await built(
    'build:deb',
    `deb/mailsonde_${version}_${process.arch === 'x64' ? 'amd64' : process.arch}.deb`,
  )
  const { root, enter, sh } = await chrootIn(join(work, 'chroot-deb'), BASES)
  const unit = ['setpriv', '--reuid=mailsonde', '--regid=mailsonde', '--clear-groups', '--no-new-privs']
  const folder = join(root, 'var/lib/mailsonde')
  return {
    form: async () => {
      copyFileSync(file, join(root, 'srv/mailsonde.deb'))
      await sh('apt-get -q install -y --no-install-recommends /srv/mailsonde.deb postgresql')
      await sh('install -d -m 700 -o mailsonde -g mailsonde /var/lib/mailsonde')
      const upgrade = async () => {
        await sh('dpkg -i /srv/mailsonde.deb')
        return {}
      }
      return { command: [...enter, ...unit, '/usr/bin/mailsonde'], folder, seenAs: '/var/lib/mailsonde', upgrade }
    },
    afterwards: async (installed, key) => {
      const modes = await sh(
        'stat -c "%a %U %n" /etc/mailsonde/mailsonde.env; man -w mailsonde 2>/dev/null || ls /usr/share/man/man1/mailsonde.1.gz',
      )
      if (!modes.startsWith('640 root ')) throw new Error(`the configuration has another mode: ${modes}`)
      const service = await serve(installed, resolver, [], key)
      const id = await startJob(service, 200)
      await sh('echo MAILSONDE_REGION=here >> /etc/mailsonde/mailsonde.env; dpkg -i /srv/mailsonde.deb')
      await importReport(installed, service)
      await service.stop()
      const again = await serve(installed, resolver, [], key)
      await jobDone(again, id)
      await again.stop()
      if (!(await sh('cat /etc/mailsonde/mailsonde.env')).includes('REGION'))
        throw new Error('the configuration is lost')
      await sh(
        'dpkg --remove mailsonde; test ! -e /usr/bin/mailsonde; test -e /var/lib/mailsonde/data; test -e /etc/mailsonde/mailsonde.env',
      )
      await sh('dpkg --purge mailsonde; test ! -e /var/lib/mailsonde; test ! -e /etc/mailsonde')
    },
  }
}

/** A clone in a bare Debian 12, which brings Node.js 24 with it. */
async function cloneForm(): Promise<Form> {
  const { root, enter, sh } = await nodeChroot('clone', 20)
  await command(work, ['git', 'clone', '--quiet', '--bare', ROOT, join(root, 'srv/origin.git')])
  return async () => {
    await sh('git clone --quiet /srv/origin.git /srv/clone && cd /srv/clone && npm ci')
    const upgrade = async () => {
      await sh('cd /srv/clone && git pull --quiet && npm ci')
      return {}
    }
    const program = ['/srv/clone/node_modules/.bin/node', '/srv/clone/src/main.js']
    return { command: [...enter, ...program], folder: join(root, 'srv/trial'), seenAs: '/srv/trial', upgrade }
  }
}

/** The forms, each with what it needs before a reader begins. */
const FORMS: Readonly<Record<string, () => Promise<Prepared>>> = {
  clone: cloneForm,
  'npm-22': () => npmForm(22, '--ignore-scripts'),
  'npm-24': () => npmForm(24, ''),
  'npm-26': () => npmForm(26, '--ignore-scripts'),
  executable: executableForm,
  deb: debForm,
  image: async () =>
    imageForm({ root: ROOT, work, bases: BASES, node: join(await packages('node@24'), 'node/bin'), resolver }),
}

const asked = process.argv.slice(2)
const names = (asked.length > 0 ? asked : Object.keys(FORMS)).filter((name) => name !== 'faults')
const lab = await labServer(zoneBehaviour({ 'example.org': { MX: [[0, '']], TXT: ['v=spf1 -all'], SOA: [], NS: [] } }))
const resolver = `127.0.0.1:${lab.server.port}`
const rows: [name: string, times: Times | string][] = []
for (const name of names) {
  const prepare = FORMS[name]
  if (!prepare) throw new Error(`there is no form ${name}: ${Object.keys(FORMS).join(', ')}`)
  try {
    const prepared = await prepare()
    const form = typeof prepared === 'function' ? prepared : prepared.form
    const folder = join(work, name)
    mkdirSync(folder)
    const { times, key, upgraded } = await tryForm(() => form(folder), resolver)
    if (typeof prepared !== 'function') await prepared.afterwards(upgraded, key)
    rows.push([name, times])
  } catch (error) {
    rows.push([name, (error as Error).message])
    process.exitCode = 1
  }
  console.error(name, rows.at(-1)![1])
}
if (asked.length === 0 || asked.includes('faults')) {
  console.error('faults')
  await tryFaults([join(ROOT, 'node_modules/node/bin/node'), join(ROOT, 'src/main.js')], work, resolver).catch(
    (error) => {
      console.error(error)
      process.exitCode = 1
    },
  )
}
lab.close()

const measured = rows.filter((row): row is [string, Times] => typeof row[1] !== 'string')
const kept = JSON.parse(readFileSync(RESULTS, 'utf8')) as Readonly<Record<string, Times>>
writeFileSync(RESULTS, `${JSON.stringify({ ...kept, ...Object.fromEntries(measured) }, null, 2)}\n`)
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
console.log('| form | installed | a domain checked | a page | a report imported | a job done | `--help` |')
console.log('|---|---|---|---|---|---|---|')
for (const [name, times] of rows)
  console.log(
    typeof times === 'string'
      ? `| ${name} | failed: ${times.split('\n')[0]} | | | | | |`
      : `| ${name} | ${[times.installed, times.domain, times.page, times.report, times.job].map(seconds).join(' | ')} | ${times.help} ms |`,
  )
// What still runs of a form that failed ends with this process.
process.once('exit', () => rmSync(work, { recursive: true, force: true }))
process.exit()
