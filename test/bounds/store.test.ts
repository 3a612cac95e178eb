import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lookupMailHosts } from '../../src/mailhosts/mailhosts.ts'
import { readJsonFile } from '../../src/store/files/json-file.ts'
import { openLog, type Place, placeFor } from '../../src/store/postgres/embedded-place.ts'
import { connectOrLaunch } from '../../src/store/postgres/embedded-process.ts'
import { poolOf } from '../../src/store/postgres/pool.ts'
import { labFolder } from '../lab/folder.ts'
import { labCtx } from '../lab/world.ts'
import { isTaken, testBounds, times } from './table.ts'

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
async function isLogKept(size: number): Promise<boolean> {
  const dataDir = join(folder, `log${size}`)
  const own = await place(dataDir)
  const { logPath } = own
  await (await openLog(own)).close()
  truncateSync(logPath, size)
  await (await openLog(own)).close()
  return statSync(logPath).size === size
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

testBounds([
  ['src/mailhosts/mailhosts.ts MAX_HOSTS', 20, async (n) => (await hostsOf(n)) === n],
  ['src/mailhosts/mailhosts.ts MAX_ADDRESSES', 20, async (n) => (await addressesOf(n)) === n],
  ['src/store/files/json-file.ts MAX_BYTES', 64 * 1024 * 1024, isFileRead],
  ['src/store/postgres/embedded-place.ts MAX_LOG', 4 * 1024 * 1024, isLogKept],
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
