import { AppError } from '../base/errors.ts'
import { parseDomain } from '../names/domain.ts'
import { formatEmail, parseEmail } from '../names/email.ts'
import { parseIp } from '../names/ip.ts'
import { throughOutage } from '../store/postgres/away.ts'
import { badLine, rowLine, type TakeIn } from '../store/postgres/job-intake.ts'
import type { JobRows, StoredRow } from '../store/postgres/job-rows.ts'
import type { JobRecord } from '../store/postgres/jobs.ts'
import type { JobKind } from '../store/postgres/schema.ts'
import { type Layout, readParts } from './intake/intake.ts'
import type { Octets, SizeBounds } from './intake/octets.ts'
import { listError } from './intake/problems.ts'
import type { IntakeRow } from './intake/row.ts'

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
  readonly column?: string
  readonly bounds: SizeBounds
  /** Ends the reading; the received records are kept. */
  readonly signal?: AbortSignal
}

/**
 * Reads the list of a job, or its next part, as a stream. At the end the job is `waiting`. If the upload is interrupted, the job stays `receiving` with the records
 * that arrived, and this rejects. A list that is refused as a whole (AppError) leaves a job without rows, which the caller removes.
 */
export async function takeUpload(
  takeIn: TakeIn,
  rows: Pick<JobRows, 'complete'>,
  job: JobRecord,
  upload: Upload,
): Promise<void> {
  const earlier = layoutOf(job)
  let layout = earlier
  let { received, next_line: nextLine } = job
  const good = linePieces()
  const bad = linePieces()
  let lastLine = nextLine - 1
  let writing: Promise<void> = Promise.resolve()
  const { signal = new AbortController().signal } = upload

  /** Passes the rows to the database, which stores them while the next part is read: at most two parts are in memory. */
  async function flush(): Promise<void> {
    await writing
    const [rows, badRows] = [good.take(), bad.take()]
    const count = rows.count + badRows.count
    if (count === 0) return
    const from = received
    received += count
    nextLine = lastLine + 1
    const part = {
      rows: rows.pieces,
      bad: badRows.pieces,
      layout: layout ? { ...layout } : null,
      from,
      received,
      nextLine,
    }
    writing = throughOutage(() => takeIn(job.number, part), signal, PATIENCE_MS)
    writing.catch(() => {}) // the next flush rejects with it
  }
  function keep(row: IntakeRow): void {
    lastLine = row.line
    if (row.ok) good.add(rowLine(job.number, storedRow(job.kind, row)))
    else bad.add(badLine(job.number, row))
  }
  const isFull = (): boolean => good.count() + bad.count() >= BATCH || good.octets() + bad.octets() >= BATCH_OCTETS
  const { octets, contentType, column, bounds } = upload
  const list = readParts(octets, {
    kind: job.kind,
    contentType,
    bounds,
    firstLine: nextLine,
    ...(column === undefined ? {} : { column }),
    ...(earlier && { layout: earlier }),
    found: (one) => {
      layout = one
    },
  })
  try {
    for await (const some of list) {
      for (const row of some) {
        keep(row)
        if (isFull()) await flush()
      }
      upload.signal?.throwIfAborted()
    }
  } catch (error) {
    // The connection was lost: the received records are kept.
    if (!(error instanceof AppError)) await flush().then(() => writing)
    throw error
  }
  await flush()
  await writing
  if (received === 0) throw listError('empty')
  await rows.complete(job.number)
}

type Lines = { readonly pieces: readonly Buffer[]; readonly count: number }

/** Lines collected in buffers of octets, so that the rows of a part are not on the heap. */
function linePieces(): {
  readonly add: (line: string) => void
  readonly count: () => number
  readonly octets: () => number
  readonly take: () => Lines
} {
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
    add: (line) => {
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

const layoutOf = (job: JobRecord): Layout | undefined => (job.layout as Layout | null) ?? undefined

/** A row as stored. Equal inputs have equal keys; an input with bad syntax causes no query. */
export function storedRow(kind: JobKind, row: Extract<IntakeRow, { readonly ok: true }>): StoredRow {
  const { line, input, columns } = row
  return { line, input, columns, ...identityOf(kind, input) }
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
