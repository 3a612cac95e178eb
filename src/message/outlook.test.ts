import { utils, write } from 'cfb'
import { afterAll, describe, expect, it } from 'vitest'
import { LaneError } from '../lane/heavy.ts'
import { openLane } from '../lane/lane.ts'
import { heavyProgram } from '../own-files.ts'
import { form, readForm } from './form.ts'

const HEADER = `Received: from a.example ([192.0.2.1]) by b.example; Mon, 23 Nov 2026 09:00:02 +0000\r
From: =?utf-8?q?J=C3=B6rg?= <a@a.example>\r
Subject: Grüße\r
\r
`
const wide = (text: string): Buffer => Buffer.from(text, 'utf16le')

/** A compound file with these streams. */
function compound(streams: Readonly<Record<string, Buffer>>): Buffer {
  const file = utils.cfb_new()
  for (const [path, content] of Object.entries(streams)) utils.cfb_add(file, path, content)
  return Buffer.from(write(file, { type: 'buffer' }))
}
const item = (streams: Readonly<Record<string, Buffer>> = {}): Buffer =>
  compound({ '/__properties_version1.0': Buffer.alloc(32), '/__substg1.0_1000001F': wide('Hello'), ...streams })

describe('an Outlook item', () => {
  it.each([
    ['text in UTF-16', { '/__substg1.0_007D001F': wide(HEADER) }],
    ['octets', { '/__substg1.0_007D001E': Buffer.from(HEADER) }],
    [
      'a long header',
      { '/__substg1.0_007D001F': wide(HEADER.replace('\r\n\r\n', `\r\nX-A: ${'a'.repeat(9_000)}\r\n\r\n`)) },
    ],
    ['a line end in front and a zero behind', { '/__substg1.0_007D001F': wide(`\r\n${HEADER}\0`) }],
  ])('is read for the header that it keeps as %s', (_, streams) => {
    const found = readForm(item(streams))
    if ('is' in found) throw new Error(found.is)
    expect(found).toMatchObject({ kind: 'msg', headerOnly: { intact: false } })
    expect(found.notes).toEqual([expect.stringMatching(/\.msg/)])
    const text = Buffer.from(found.octets).toString()
    expect(text).toMatch(/^Received: /)
    expect(text).toContain('\r\nSubject: Grüße\r\n')
  })

  const received = item({ '/__substg1.0_007D001F': wide(HEADER) })
  /** The file with a number in place of another one; sectors have 512 octets. */
  const with32 = (at: (file: Buffer) => number, value: number): Buffer => {
    const copy = Buffer.from(received)
    copy.writeInt32LE(value, at(copy))
    return copy
  }
  const directoryAt = (file: Buffer): number => (file.readInt32LE(48) + 1) * 512
  it.each<[string, Buffer, string]>([
    ['a draft', item(), 'outlook'],
    ['an empty header', item({ '/__substg1.0_007D001F': Buffer.alloc(0) }), 'outlook'],
    ['a header without a field', item({ '/__substg1.0_007D001F': wide('Hello') }), 'outlook'],
    ['a document of Word', compound({ '/WordDocument': Buffer.alloc(64) }), 'office'],
    ['one that is cut off', received.subarray(0, 1_200), 'outlook_damaged'],
    ['eight octets', received.subarray(0, 8), 'outlook_damaged'],
    ['a directory outside', with32(() => 48, 0x7ffffff0), 'outlook_damaged'],
    ['a table of sectors outside', with32(() => 76, 0x7ffffff0), 'outlook_damaged'],
    ['a list of tables that is a circle', with32(() => 72, 0x7fffffff), 'outlook_damaged'],
    ['2 GiB announced', with32((file) => directoryAt(file) + 3 * 128 + 120, 0x7fffffff), 'msg'],
  ])('%s is read or refused', (_, file, is) => {
    const found = readForm(file)
    expect('is' in found ? found.is : found.kind).toBe(is)
  })
})

describe('a compound file whose sectors form a circle', () => {
  const lane = openLane({ command: { ...heavyProgram, env: {} }, log: { warn: () => {} } })
  afterAll(() => lane.close())

  it('ends with its own work, and the next file is read', { timeout: 60_000 }, async () => {
    const long = item({ '/__substg1.0_007D001F': wide(HEADER + 'x'.repeat(9_000)) })
    const fat = (long.readInt32LE(76) + 1) * 512
    const entry = long.indexOf(wide('__substg1.0_007D001F'))
    const start = long.readInt32LE(entry + 116)
    const hostile = Buffer.from(long)
    hostile.writeInt32LE(start + 1, fat + 4 * (start + 1)) // the second sector is its own successor
    hostile.writeInt32LE(start + 1, entry + 116) // and the stream begins with it
    const ask = { caller: 'a', signal: AbortSignal.timeout(50_000) }
    const read = (file: Buffer) => lane.heavy(form, file, null, ask)
    await expect(read(hostile)).rejects.toBeInstanceOf(LaneError)
    expect(await read(item({ '/__substg1.0_007D001F': wide(HEADER) }))).toMatchObject({ kind: 'msg' })
  })
})
