import { AppError, type ErrorCode } from '../base/errors.ts'
import { parseDomain } from '../names/domain.ts'
import { formatEmail, parseEmail } from '../names/email.ts'
import { parseIp } from '../names/ip.ts'
import { throughOutage } from '../store/postgres/connect.ts'
import { badLine, rowLine, type TakeIn } from '../store/postgres/job-intake.ts'
import type { JobRows, StoredRow } from '../store/postgres/job-rows.ts'
import type { JobRecord } from '../store/postgres/jobs.ts'
import type { JobKind } from '../store/postgres/schema.ts'
import { type Layout, readParts } from './intake/intake.ts'
import type { ListBounds, Octets } from './intake/octets.ts'
import type { UploadPlace } from './intake/open-uploads.ts'
import { type IntakeRow, type Noted, notedOf, placeOf } from './intake/row.ts'
import { listError } from './problems.ts'

/** Rows, and octets, that are written at a time, whichever is reached first. */
const BATCH = 10_000
const BATCH_OCTETS = 4 * 1024 * 1024
/** Size of a piece sent to the database, octets. */
const PIECE = 64 * 1024
/** Time for which an upload waits for an unavailable database, ms. */
const PATIENCE_MS = 60_000

export type Upload = {
  readonly octets: Octets
  readonly contentType: string
  readonly contentEncoding?: string
  readonly column?: string
  readonly bounds: ListBounds
  /** Ends the reading; the received records are kept. */
  readonly signal?: AbortSignal
}

/** How the list of a job reaches the database. */
type Intaking = {
  readonly takeIn: TakeIn
  readonly complete: JobRows['complete']
  /** The place of the upload; the caller leaves it. */
  readonly place: UploadPlace
  /** Rejects if no further records may be stored; called before each part, with its number of records. */
  readonly admit?: (records: number) => Promise<void>
}

/**
 * Whether the list was refused as a whole. After any other fault the received records are kept, and the upload can be
 * continued.
 */
export const isRefusal = (error: unknown): boolean => error instanceof AppError && REFUSALS.includes(error.code)
const REFUSALS: readonly ErrorCode[] = ['bad_list', 'empty_list', 'payload_too_large', 'unsupported_media_type']

/**
 * Reads the list of a job, or with the `earlier` layout its next part, as a stream. At the end the job is `waiting`. If
 * the upload is interrupted, the job stays `receiving` with the records that arrived, and this rejects. A list that is
 * refused as a whole ({@link isRefusal}) leaves a job without rows, which the caller removes: nothing of it is written
 * after the refusal.
 */
export async function takeUpload(intaking: Intaking, job: JobRecord, upload: Upload, earlier?: Layout): Promise<void> {
  const { contentType, contentEncoding, column, bounds, signal = new AbortController().signal } = upload
  const parts = partWriter(intaking, job, signal, earlier)
  const list = readParts(parts.paced(upload.octets), {
    kind: job.kind,
    contentType,
    bounds,
    firstLine: job.next_line,
    ...(contentEncoding !== undefined && { contentEncoding }),
    ...(column === undefined ? {} : { column }),
    ...(earlier && { layout: earlier }),
    behind: (octets) => parts.note('behind', octets),
    found: parts.found,
    held: parts.held,
  })
  let count = job.received
  try {
    for await (const some of list) {
      for (const row of some) {
        // All parts of a record are stored together: an upload continues after whole records.
        if (parts.isFull() && !(row.ok && (row.part ?? 1) > 1)) await parts.flush()
        parts.keep(row)
        count++
        if (count > bounds.maxRows) throw listError('too_many_rows', { max: bounds.maxRows })
      }
      signal.throwIfAborted()
    }
  } catch (error) {
    if (isRefusal(error)) await parts.settled().catch(() => {})
    else await parts.writeRest()
    throw error
  }
  await parts.writeRest()
  if (parts.received() === 0) throw listError('empty')
  await intaking.complete(job.number)
}

/** Writes the rows of an upload in parts; the database stores one while the next is read. */
function partWriter(
  { takeIn, place, admit = async () => {} }: Intaking,
  job: JobRecord,
  signal: AbortSignal,
  earlier?: Layout,
) {
  let layout = earlier
  let { received, next_line: nextLine } = job
  const good = linePieces()
  const bad = linePieces()
  let lastLine = nextLine - 1
  const taken = new Map<Noted, number>(Object.entries(earlier?.taken ?? {}) as [Noted, number][])
  let records = 0
  /** Characters of a record that has not ended; octets that are being written. */
  let [unended, inWriting] = [0, 0]
  let writing: Promise<void> = Promise.resolve()
  let flushing: Promise<void> = Promise.resolve()

  const collected = (): number => good.octets() + bad.octets()
  const tell = (): void => place.hold(2 * unended + collected() + inWriting) // a character has up to two octets

  async function flushNow(): Promise<void> {
    await writing
    inWriting = collected()
    const [rows, badRows] = [good.take(), bad.take()]
    const count = rows.count + badRows.count
    if (count === 0) return
    const from = received
    received += records
    records = 0
    await admit(count)
    nextLine = lastLine + 1
    const part = {
      rows: rows.pieces,
      bad: badRows.pieces,
      layout: layout ? { ...layout, taken: Object.fromEntries(taken) } : null,
      from,
      received,
      nextLine,
    }
    writing = throughOutage(() => takeIn(job.number, part), signal, PATIENCE_MS).finally(() => {
      inWriting = 0
      tell()
    })
    writing.catch(() => {}) // the next flush rejects with it
  }
  /** Passes the collected rows to the database: at most two parts are in memory. */
  const flush = (): Promise<void> => {
    flushing = flushing.then(flushNow)
    return flushing
  }
  return {
    /**
     * The octets, as long as they come and there is memory: an upload writes what it holds before it waits for others.
     */
    async *paced(all: Octets): Octets {
      for await (const octets of all) {
        tell()
        if (place.isFull()) {
          await flush()
          await writing
          await place.room(signal)
        }
        yield octets
      }
    },
    found: (one: Layout): void => {
      layout = one
      for (const [what, n] of Object.entries(one.taken ?? {})) taken.set(what as Noted, n)
    },
    note: (what: Noted, count: number): void => void taken.set(what, count),
    held: (characters: number): void => {
      unended = characters
    },
    keep: (row: IntakeRow): void => {
      lastLine = row.line
      if (!row.ok || (row.part ?? 1) === 1) records++
      if (row.ok) for (const one of notedOf(row)) taken.set(one, (taken.get(one) ?? 0) + 1)
      if (row.ok) good.add(rowLine(job.number, storedRow(job.kind, row)))
      else bad.add(badLine(job.number, row))
    },
    isFull: (): boolean => good.count() + bad.count() >= BATCH || collected() >= BATCH_OCTETS,
    flush,
    /** Ends when what was passed to the database is stored. */
    settled: (): Promise<void> => flushing.then(() => writing),
    writeRest: (): Promise<void> => flush().then(() => writing),
    /** Records that are stored or being written. */
    received: (): number => received,
  }
}

/** Lines collected in buffers of octets, so that the rows of a part are not on the heap. */
function linePieces() {
  let pieces: Buffer[] = []
  let text = ''
  let count = 0
  let octets = 0
  function close(): void {
    if (text === '') return
    const piece = Buffer.from(text)
    pieces.push(piece)
    octets += piece.length
    text = ''
  }
  return {
    add: (line: string): void => {
      text += line
      count++
      if (text.length >= PIECE) close()
    },
    count: () => count,
    octets: () => octets + text.length,
    take: () => {
      close()
      const taken = { pieces, count }
      pieces = []
      count = 0
      octets = 0
      return taken
    },
  }
}

/** A row as stored. Equal inputs have equal keys; an input with bad syntax causes no query. */
export function storedRow(kind: JobKind, row: Extract<IntakeRow, { readonly ok: true }>): StoredRow {
  const { line, part, input, columns } = row
  return { line: placeOf(line, part), input, columns, ...identityOf(kind, input) }
}

function identityOf(kind: JobKind, input: string): { readonly key: string; readonly domain: string } {
  if (kind === 'verify') {
    const email = parseEmail(input)
    if (email.ok) return { key: formatEmail(email.value), domain: email.value.domain }
  } else if (kind === 'check') {
    const domain = parseDomain(input)
    if (domain.ok) return { key: domain.value, domain: domain.value }
  } else {
    const ip = parseIp(input)
    if (ip.ok) return { key: ip.value, domain: '' }
  }
  return { key: `invalid ${input}`, domain: '' }
}
