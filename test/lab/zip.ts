import { crc32 } from 'node:zlib'

/** What is wrong with an archive of {@link zipOf}. */
type Damage = { readonly flags?: number; readonly isOtherSum?: true }

/** A zip archive of files that are not packed (APPNOTE.TXT 4.3). */
export function zipOf(
  files: readonly (readonly [name: string, octets: Buffer])[],
  { flags = 0, isOtherSum }: Damage = {},
): Buffer {
  const pieces: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, octets] of files) {
    const head = Buffer.alloc(26)
    head.writeUInt16LE(20, 0)
    head.writeUInt16LE(flags, 2)
    head.writeUInt32LE(isOtherSum ? 0 : crc32(octets), 10)
    head.writeUInt32LE(octets.length, 14)
    head.writeUInt32LE(octets.length - (flags & 1 ? 12 : 0), 18) // a header of encryption
    head.writeUInt16LE(Buffer.byteLength(name), 22)
    const entry = Buffer.alloc(14)
    entry.writeUInt32LE(at, 10)
    const file = [Buffer.from('PK\u0003\u0004'), head, Buffer.from(name), octets]
    directory.push(Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), head, entry, Buffer.from(name))
    pieces.push(...file)
    at += file.reduce((sum, one) => sum + one.length, 0)
  }
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(
    directory.reduce((sum, one) => sum + one.length, 0),
    8,
  )
  end.writeUInt32LE(at, 12)
  return Buffer.concat([...pieces, ...directory, Buffer.from('PK\u0005\u0006'), end])
}
