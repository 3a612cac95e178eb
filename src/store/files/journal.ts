import type { FileHandle } from 'node:fs/promises'
import { isJsonRecord, type Json, type JsonRecord } from '../../base/json.ts'
import { openOwnFile } from '../own-file.ts'

/** Answers by number, in an append-only file: appended answers survive the end of the process, however it ends. */
export type Journal = ReturnType<typeof journalOf>

/** Number of octets that are read at a time. */
const CHUNK = 256 * 1024
/** Maximum size of a line; a longer one is none of ours, octets. */
const MAX_LINE = 4 * 1024 * 1024

/** Whether a value of a journal is an answer, as it is written there. */
type IsAnswer = (value: JsonRecord) => boolean

/**
 * Opens a journal, or creates one (mode 0600). `about` describes its subject and is its first line. Undefined if the
 * file has another subject. A truncated last line is dropped, and a line that is no answer counts as missing. Memory:
 * 16 octets per answer. Rejects with NotOwnFile for a link and for a file that other users own or may write.
 */
export async function openJournal(path: string, about: string, isAnswer: IsAnswer): Promise<Journal | undefined> {
  const file = await openOwnFile(path, { append: true, create: true })
  try {
    const known = await readAll(file, isAnswer)
    if (known.first !== undefined && known.first !== about) {
      await file.close()
      return undefined
    }
    await file.truncate(known.end)
    if (known.first === undefined) await file.appendFile(`${about}\n`)
    return journalOf(file, known.places, known.first === undefined ? Buffer.byteLength(about) + 1 : known.end)
  } catch (error) {
    await file.close().catch(() => {})
    throw error
  }
}

type Place = { readonly from: number; readonly length: number }

function journalOf(file: FileHandle, places: Map<number, Place>, end: number) {
  let size = end
  let writing: Promise<unknown> = Promise.resolve()
  return {
    has: (n: number) => places.has(n),
    at: async (n: number): Promise<Json> => {
      const place = places.get(n)
      if (!place) return null
      const buffer = Buffer.alloc(place.length)
      await file.read(buffer, 0, place.length, place.from)
      return parsed(buffer)?.[1] ?? null
    },
    append: async (n: number, value: Json): Promise<void> => {
      const line = Buffer.from(`${JSON.stringify([n, value])}\n`)
      places.set(n, { from: size, length: line.length })
      size += line.length
      writing = writing.then(() => file.appendFile(line))
      await writing
    },
    size: () => places.size,
    close: async (): Promise<void> => {
      await writing.catch(() => {})
      await file.close()
    },
  }
}

/** The first line, the positions of the others by their number, and the end of the last complete line. */
async function readAll(
  file: FileHandle,
  isAnswer: IsAnswer,
): Promise<{ readonly first: string | undefined; readonly places: Map<number, Place>; readonly end: number }> {
  const places = new Map<number, Place>()
  let first: string | undefined
  let rest = Buffer.alloc(0)
  let end = 0
  for (let at = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, at)
    if (bytesRead === 0) return { first, places, end }
    at += bytesRead
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)])
    let from = 0
    for (let newline = rest.indexOf(10); newline >= 0; newline = rest.indexOf(10, from)) {
      const line = rest.subarray(from, newline)
      const length = newline + 1 - from
      if (first === undefined) first = line.toString()
      else {
        const [n, value] = parsed(line) ?? []
        if (n !== undefined && value && isAnswer(value)) places.set(n, { from: end, length })
      }
      end += length
      from = newline + 1
    }
    rest = rest.subarray(from)
    if (rest.length > MAX_LINE) return { first: first ?? '', places, end }
  }
}

function parsed(line: Buffer): readonly [number, JsonRecord] | undefined {
  try {
    const value: unknown = JSON.parse(line.toString())
    if (!Array.isArray(value) || !Number.isSafeInteger(value[0]) || !isJsonRecord(value[1])) return undefined
    return [value[0], value[1]]
  } catch {
    return undefined
  }
}
