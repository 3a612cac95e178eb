import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { labFolder } from '../../../test/lab/folder.ts'
import { embeddedConnection, startEmbedded } from './embedded.ts'

/**
 * What the user of the private server, or another user of the machine, can make the program do that started it as root.
 * The kernel's own protection of links does not apply: the folders are not sticky.
 */
const log = { info: () => {}, warn: () => {} }
const NOBODY = Number(execFileSync('id', ['-u', 'nobody']).toString())
const signal = (): AbortSignal => AbortSignal.timeout(60_000)

let [root, dataDir, secret] = ['', '', '']
const sleepers: ReturnType<typeof spawn>[] = []
afterAll(() => {
  for (const one of sleepers) one.kill('SIGKILL')
})
beforeEach(() => {
  root = labFolder()
  chmodSync(root, 0o711)
  dataDir = join(root, 'data')
  secret = join(root, 'secret')
  writeFileSync(secret, 'of root', { mode: 0o600 })
})
const start = () => startEmbedded({ dataDir, user: 'nobody', log }, signal())
const cluster = () => join(dataDir, 'postgres/cluster')
/** Runs a shell line as nobody. */
const asNobody = (line: string): void =>
  void execFileSync('/bin/sh', ['-c', line], { uid: NOBODY, gid: NOBODY, cwd: '/', stdio: 'ignore' })
const isUntouched = (): void => {
  expect(readFileSync(secret, 'utf8')).toBe('of root')
  expect([statSync(secret).uid, statSync(secret).mode & 0o777]).toEqual([0, 0o600])
}

describe.runIf(process.getuid?.() === 0)('as root, with a hostile user of the server', () => {
  it('no name in its folder leads root elsewhere: log, socket folder, cluster, password', async () => {
    const first = await start()
    await first.stop()
    const folder = join(dataDir, 'postgres')
    asNobody(`cd ${folder} && for name in server.log run cluster.1.password; do ln -s ${secret} $name; done`)
    const second = await start()
    await second.stop()
    isUntouched()
    expect(lstatSync(`${folder}.log`).uid).toBe(0)
  })

  it.each<[string, (path: string) => void]>([
    ['a link', (path) => symlinkSync(secret, path)],
    ['a second name of a file', (path) => linkSync(secret, path)],
    ['a pipe', (path) => void spawnSync('mkfifo', [path])],
    [
      'a file of another user',
      (path) => {
        writeFileSync(path, '')
        chownSync(path, NOBODY, NOBODY)
      },
    ],
  ])('%s in the place of the log is refused', async (_, lay) => {
    mkdirSync(dataDir, { mode: 0o711 })
    lay(join(dataDir, 'postgres.log'))
    await expect(start()).rejects.toThrow('is not used')
    isUntouched()
  })

  it.each<[string, (path: string) => void]>([
    ['a link to a folder of root', (path) => symlinkSync(join(root, 'target'), path)],
    [
      'a folder of another user',
      (path) => {
        mkdirSync(path)
        chownSync(path, 12_345, 12_345)
      },
    ],
    ['a file', (path) => writeFileSync(path, '')],
  ])('%s in the place of its folder is refused, and keeps its owner', async (_, lay) => {
    mkdirSync(join(root, 'target'), { mode: 0o755 })
    mkdirSync(dataDir, { mode: 0o711 })
    lay(join(dataDir, 'postgres'))
    await expect(start()).rejects.toThrow('cannot be the folder of the private database')
    expect([statSync(join(root, 'target')).uid, statSync(join(root, 'target')).mode & 0o777]).toEqual([0, 0o755])
  })

  it('a password file that is a link is refused', async () => {
    mkdirSync(dataDir, { mode: 0o711 })
    symlinkSync(secret, join(dataDir, 'postgres.password'))
    await expect(start()).rejects.toThrow('is not used')
    isUntouched()
  })

  it.each(['of root', 'of its own user'])('a process %s that it names as the server gets no signal', async (whose) => {
    const server = await start()
    const own = readFileSync(join(cluster(), 'postmaster.pid'), 'utf8')
    const account = whose === 'of root' ? {} : { uid: NOBODY, gid: NOBODY }
    const sleeper = spawn('/bin/sleep', ['600'], { ...account, cwd: '/', stdio: 'ignore' })
    sleepers.push(sleeper)
    asNobody(`echo ${sleeper.pid} > ${join(cluster(), 'postmaster.pid')}`)
    void server.stop() // it has no process that it may stop, and waits for the file to go
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect([sleeper.exitCode, sleeper.signalCode]).toEqual([null, null])
    process.kill(Number(own.split('\n')[0]), 'SIGQUIT')
  })

  it('a pipe in the place of its pid file holds nothing up', async () => {
    const server = await start()
    const pid = Number(readFileSync(join(cluster(), 'postmaster.pid'), 'utf8').split('\n')[0])
    asNobody(`cd ${cluster()} && rm postmaster.pid && mkfifo postmaster.pid`)
    await server.stop()
    process.kill(pid, 'SIGKILL') // it may itself wait at the pipe, where it takes no other signal
  })

  it('the socket of a long path is in a folder with a random name, whatever others laid there', async () => {
    dataDir = join(root, 'x'.repeat(90))
    const { host } = await embeddedConnection(dataDir, 'nobody')
    expect(host.startsWith(join(tmpdir(), 'mailsonde-'))).toBe(true)
    expect([lstatSync(host).uid, lstatSync(host).mode & 0o777]).toEqual([NOBODY, 0o700])
    expect((await embeddedConnection(dataDir, 'nobody')).host).toBe(host)
    rmSync(host, { recursive: true })
    symlinkSync(root, host)
    const other = (await embeddedConnection(dataDir, 'nobody')).host
    expect(basename(other)).not.toBe(basename(host))
    expect(statSync(root).uid).toBe(0)
    for (const path of [host, other]) rmSync(path, { recursive: true })
    expect(existsSync(root)).toBe(true)
  })
})
