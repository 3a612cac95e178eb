import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { spoolIn } from './spool.ts'

const folder = mkdtempSync(join(tmpdir(), 'spool-'))
afterAll(() => rmSync(folder, { recursive: true }))

const never = new AbortController().signal
const by = (caller: string, signal = never) => ({ caller, signal })

/** A body that comes in pieces of so many octets, of which each says where it is. */
async function* bodyOf(size: number, piece: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; at += piece)
    yield Uint8Array.from({ length: Math.min(piece, size - at) }, (_, i) => (at + i) % 251)
}
/** A body that never ends. */
async function* stalled(size = 10): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(size)
  await new Promise(() => {})
}
async function all(octets: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of octets) pieces.push(piece)
  return Buffer.concat(pieces)
}

it.each<[string, size: number, piece: number, kept: number]>([
  ['nothing', 0, 1, 0],
  ['a little', 10, 3, 10],
  ['as much as is in memory', 262_144, 65_536, 262_144],
  ['an octet more', 262_145, 65_536, 262_145],
  ['many blocks, in pieces that cross them', 1_000_000, 99_991, 1_000_000],
  ['a piece larger than a block', 1_000_000, 1_000_000, 1_000_000],
  ['more than it may: the reader sees that there is more than its own bound', 2_000_000, 65_536, 1_200_000],
])('%s comes out as it came', async (_, size, piece, kept) => {
  const spool = spoolIn({ folder, maxOctets: 1_200_000 })
  const octets = await spool(bodyOf(size, piece), by('a'), all)
  expect(octets.equals(await all(bodyOf(kept, kept || 1)))).toBe(true)
})

it('a large body leaves no name in the folder, while it comes and while it is read', async () => {
  const spool = spoolIn({ folder, maxOctets: 10_000_000 })
  const seen: string[] = []
  async function* watched() {
    for await (const piece of bodyOf(3_000_000, 500_000)) {
      seen.push(...readdirSync(folder))
      yield piece
    }
  }
  await spool(watched(), by('a'), async (octets) => {
    for await (const _ of octets) seen.push(...readdirSync(folder))
  })
  expect(seen).toEqual([])
})

it('bodies that stall keep their sender alone from sending', async () => {
  const spool = spoolIn({ folder, maxOctets: 1_000 })
  for (let i = 0; i < 8; i++) spool(stalled(), by('slow'), all).catch(() => {})
  await expect(spool(bodyOf(1, 1), by('slow'), all)).rejects.toMatchObject({ code: 'too_many_uploads' })
  expect(await spool(bodyOf(5, 1), by('other'), all)).toHaveLength(5)
  for (const caller of ['b', 'c', 'd']) for (let i = 0; i < 8; i++) spool(stalled(), by(caller), all).catch(() => {})
  await expect(spool(bodyOf(1, 1), by('other'), all)).rejects.toMatchObject({ code: 'too_many_uploads' })
})

it('a place is free again when the body broke off, and when its work failed', async () => {
  const spool = spoolIn({ folder, maxOctets: 1_000_000 })
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(500_000)
    throw new Error('the client went away')
  }
  for (let i = 0; i < 20; i++) {
    await expect(spool(broken(), by('a'), all)).rejects.toThrow('the client went away')
    const failing = spool(bodyOf(500_000, 500_000), by('a'), async () => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
  }
})

it('a client that goes away in the middle is told from a fault', async () => {
  const spool = spoolIn({ folder, maxOctets: 1_000_000 })
  async function* gone(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(10)
    throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
  }
  await expect(spool(gone(), by('a'), all)).rejects.toMatchObject({ code: 'invalid_parameter' })
})

it('large bodies of a caller are in memory two at a time, small ones at once', async () => {
  const spool = spoolIn({ folder, maxOctets: 1_000_000 })
  const read = { large: 0, small: 0 }
  const end = Promise.withResolvers<void>()
  const work = (kind: keyof typeof read) => async () => {
    read[kind]++
    await end.promise
  }
  const large = Array.from({ length: 3 }, () => spool(bodyOf(300_000, 300_000), by('a'), work('large')))
  const small = Array.from({ length: 3 }, () => spool(bodyOf(100, 100), by('a'), work('small')))
  await expect.poll(() => read).toEqual({ large: 2, small: 3 })
  end.resolve()
  await Promise.all([...large, ...small])
  expect(read).toEqual({ large: 3, small: 3 })
})

it('a body that does not come in its time ends', async () => {
  async function* slow(): AsyncGenerator<Uint8Array> {
    for (;;) {
      yield Buffer.alloc(1)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const spool = spoolIn({ folder, maxOctets: 1_000_000 }, 50)
  await expect(spool(slow(), by('a'), all)).rejects.toMatchObject({ code: 'timeout' })
})

it('a folder that cannot be written is told', async () => {
  const spool = spoolIn({ folder: '/dev/null/x', maxOctets: 1_000_000 })
  await expect(spool(bodyOf(300_000, 300_000), by('a'), all)).rejects.toMatchObject({ code: 'storage_full' })
})
