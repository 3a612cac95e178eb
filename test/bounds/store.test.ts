import { EventEmitter } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { expect, it, vi } from 'vitest'
import { lookupMailHosts } from '../../src/mailhosts/mailhosts.ts'
import { providerOfHost } from '../../src/providers/index.ts'
import { readJsonFile, withLock } from '../../src/store/files/json-file.ts'
import { afterDeadlock } from '../../src/store/postgres/connect.ts'
import { keepOwned } from '../../src/store/postgres/embedded.ts'
import { openLog, type Place, placeFor } from '../../src/store/postgres/embedded-place.ts'
import { connectOrLaunch } from '../../src/store/postgres/embedded-process.ts'
import { poolOf } from '../../src/store/postgres/pool.ts'
import { labFolder } from '../lab/folder.ts'
import { labCtx } from '../lab/world.ts'
import { isTaken, testBounds, text, times } from './table.ts'

/** Bounds of what is stored, without a database, and of mail hosts. */
const folder = labFolder()
const none = { parse: () => new Map(), format: () => '' }

function isFileRead(size: number): Promise<boolean> {
  const path = join(folder, `rows${size}`)
  writeFileSync(path, '')
  truncateSync(path, size) // it takes no room on the disk
  return isTaken(() => readJsonFile({ path, ...none }))
}

const account = process.getuid?.() === 0 ? { uid: 0, gid: 0 } : {}
const place = (dataDir: string) => placeFor(dataDir, account)
/** Whether the socket stands in a folder whose path has so many octets. */
async function isSocketInside(octets: number): Promise<boolean> {
  const root = mkdtempSync(join(tmpdir(), 'm-'))
  const dataDir = join(root, text(octets - Buffer.byteLength(join(root, '/postgres')) - 1))
  const { socketDir } = await place(dataDir)
  rmSync(root, { recursive: true })
  if (!socketDir.startsWith(root)) rmSync(socketDir, { recursive: true })
  return socketDir === join(dataDir, 'postgres')
}
async function isLogKept(size: number): Promise<boolean> {
  const dataDir = join(folder, `log${size}`)
  const own = await place(dataDir)
  const { logPath } = own
  await (await openLog(own)).close()
  truncateSync(logPath, size)
  await (await openLog(own)).close()
  return statSync(logPath).size === size
}

/** The longest wait between two attempts to start a server that does not start, ms. */
async function longestWait(): Promise<number> {
  vi.useFakeTimers({ now: 0 })
  try {
    const first = new EventEmitter()
    const at: number[] = []
    const again = async (): Promise<pg.Client> => {
      at.push(Date.now())
      throw new Error('it does not start')
    }
    const quiet = { info: () => {}, warn: () => {} }
    const { release } = keepOwned(first as pg.Client, again, quiet)
    first.emit('end')
    await vi.advanceTimersByTimeAsync(60_000)
    await release()
    return Math.max(...at.map((ms, i) => ms - (at[i - 1] ?? 0)))
  } finally {
    vi.useRealTimers()
  }
}

/** Whether a transaction is made that met a deadlock `n` - 1 times. */
const isCommitted = (n: number): Promise<boolean> => {
  let tries = 0
  return isTaken(() =>
    afterDeadlock(async () => {
      if (++tries < n) throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
    }),
  )
}

const address = (i: number) => `45.53.0.${i + 1}`
async function hostsOf(n: number): Promise<number> {
  const ctx = labCtx({ 'a.example': { MX: times(n, (i) => [i, `mx${i}.example`] as [number, string]) } })
  const { hosts, truncated } = await lookupMailHosts(ctx, 'a.example')
  return hosts.length + truncated === n ? hosts.length : 0
}
async function addressesOf(n: number): Promise<number> {
  const ctx = labCtx({ 'a.example': { MX: [[1, 'mx.example']] }, 'mx.example': { A: times(n, address) } })
  const { hosts } = await lookupMailHosts(ctx, 'a.example')
  return hosts[0]!.addresses.length + hosts[0]!.addressesLeftOut === n ? hosts[0]!.addresses.length : 0
}

/** Whether a lock is waited for that is released after so many ms. */
async function isWaitedFor(ms: number): Promise<boolean> {
  const path = join(folder, `held${ms}`)
  writeFileSync(path, '1 elsewhere/ 0123')
  let looks = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    if (++looks === 3) rmSync(path) // it was looked at once, and waited for
    return looks === 1 ? 0 : ms
  })
  try {
    return await isTaken(() => withLock(path, async () => {}, Number.POSITIVE_INFINITY))
  } finally {
    clock.mockRestore()
  }
}

testBounds([
  ['src/store/contract.ts MAX_WAIT_MS', 10_000 - 1, isWaitedFor],
  ['src/mailhosts/mailhosts.ts MAX_HOSTS', 20, async (n) => (await hostsOf(n)) === n],
  ['src/mailhosts/mailhosts.ts MAX_ADDRESSES', 20, async (n) => (await addressesOf(n)) === n],
  [
    'src/providers/index.ts MAX_NAME',
    254,
    (n) => providerOfHost('.aspmx.l.google.com'.padStart(n, 'a.')) !== undefined,
  ],
  ['src/store/files/json-file.ts MAX_BYTES', 64 * 1024 * 1024, isFileRead],
  ['src/store/postgres/embedded.ts LONGEST_WAIT_MS', 5_000, async (n) => (await longestWait()) >= n],
  ['src/store/postgres/embedded-place.ts MAX_SOCKET_DIR', 92, isSocketInside],
  ['src/store/postgres/embedded-place.ts MAX_LOG', 4 * 1024 * 1024, isLogKept],
  ['src/store/postgres/connect.ts MAX_TRIES', 5, isCommitted],
  ['src/store/postgres/pool.ts MAX_CONNECTIONS', 12, (n) => poolOf({}, { warn: () => {} }).options.max >= n],
])

// src/store/postgres/embedded-process.ts MAX_LAUNCHES
it('a server that ends at once is started 15 times, and not once more', async () => {
  const started = join(folder, 'started')
  const postgres = join(folder, 'postgres')
  writeFileSync(postgres, `#!/bin/sh\necho x >> ${started}\n`, { mode: 0o700 })
  const own: Place = {
    folder,
    cluster: folder,
    socketDir: folder,
    logPath: join(folder, 'log'),
  }
  const connection = { host: folder, user: 'x', password: 'x', database: 'x' }
  await expect(
    connectOrLaunch(connection, own, { initdb: '/bin/initdb', postgres, major: 18 }, {}, AbortSignal.timeout(20_000)),
  ).rejects.toThrow('stopped immediately')
  expect(readFileSync(started, 'utf8')).toBe('x\n'.repeat(15))
})
