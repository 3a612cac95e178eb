import { createHash } from 'node:crypto'
import type { ErrorCode } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import { placeOf } from '../../lane/crossing.ts'
import type { HeavyJob, HeavyKind } from '../../lane/heavy.ts'
import {
  type ReportKind,
  type ReportRow,
  reportLine,
  sourceKey,
  type TlsRow,
  tlsLine,
} from '../../store/postgres/report-rows.ts'
import { reportError } from '../problems.ts'
import { type DmarcHead, summedRow, type TlsReport } from '../report.ts'
import { type Bounds, filesIn, itemError, type Leaf, type Spent } from './containers.ts'
import { readDmarc } from './dmarc.ts'
import { jsonIn, tlsReportOf, tlsRows } from './tls.ts'

/** A report of either kind without its rows, as far as both have the same. */
export type ReportHead = {
  readonly kind: ReportKind
  readonly domain: string | null
  /** Other domains that it is about. */
  readonly others: readonly string[]
  readonly organization: string | null
  readonly contact: string | null
  readonly reportId: string
  readonly beginMs: number
  readonly endMs: number
  readonly messages: number
  readonly policy: Readonly<Record<string, string>>
  /** Of all of its numbers. */
  readonly digest: string
}

type ReadingInput = {
  readonly name: string
  /** How deep the input was found in another one. */
  readonly depth: number
  readonly bounds: Bounds
  readonly spent: Spent
  /** Octets of rows after which reading a message ends; absent: all are read. */
  readonly maxRowOctets?: number
}
type ReadingResult = {
  readonly spent: Spent
  /** Reading ended at `maxRowOctets`. */
  readonly isCut: boolean
}

/** What reading finds, in the order of the input. The rows of a report come before it is `complete`. */
export type Event = { readonly name: string; readonly isInMessage: boolean } & (
  | OfRows
  /** `how`: the name and the place of a fault of ours. */
  | { readonly what: 'unread'; readonly code: ErrorCode; readonly problem: Problem; readonly how?: string }
  | { readonly what: 'failure' }
  | { readonly what: 'other'; readonly why?: Problem }
  | { readonly what: 'message'; readonly depth: number }
)

/** A batch: an event in a line of JSON, then the rows (lines of report-rows.ts) or the message. */
const batchOf = (event: Event, octets: Uint8Array | string = ''): Uint8Array => {
  const head = `${JSON.stringify(event)}\n`
  const size = Buffer.byteLength(head)
  const batch = Buffer.from(new ArrayBuffer(size + Buffer.byteLength(octets)))
  batch.write(head)
  if (typeof octets === 'string') batch.write(octets, size)
  else batch.set(octets, size)
  return batch
}

export function eventOf(batch: Uint8Array): { readonly event: Event; readonly octets: Uint8Array } {
  const end = batch.indexOf(LF)
  return { event: JSON.parse(new TextDecoder().decode(batch.subarray(0, end))), octets: batch.subarray(end + 1) }
}
const LF = 10

/** Thrown to end a reading: at `maxRowOctets`, or because nobody takes its rows. */
class Stopped {
  readonly cause: unknown
  constructor(cause?: unknown) {
    this.cause = cause
  }
}

async function read(octets: Uint8Array, input: ReadingInput, job: HeavyJob): Promise<ReadingResult> {
  const { name, depth, bounds, maxRowOctets = Number.POSITIVE_INFINITY } = input
  const spent = { ...input.spent }
  let emitted = 0
  const emit: Emit = async (event, data) => {
    const batch = batchOf(event, data)
    if (event.isInMessage) emitted += batch.length
    if (emitted > maxRowOctets) throw new Stopped()
    await job.emit(batch).catch((error) => {
      throw new Stopped(error)
    })
  }
  try {
    for await (const leaf of filesIn(octets, { name, depth }, bounds, spent)) await readLeaf(leaf, emit)
    return { spent, isCut: false }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
    if (error.cause !== undefined) throw error.cause
    return { spent, isCut: true }
  }
}

type Emit = (event: Event, octets?: Uint8Array | string) => Promise<void>

async function readLeaf(leaf: Leaf, emit: Emit): Promise<void> {
  const { name, isInMessage } = leaf
  const about = { name, isInMessage }
  const emitRows: EmitRows = (event, lines) => emit({ ...about, ...event }, lines)
  await readItem(about, emit, async () => {
    if (leaf.content === 'xml') await readXml(leaf.octets, emitRows)
    else if (leaf.content === 'json')
      for (const one of await jsonIn(leaf.octets)) await readItem(about, emit, () => readTls(one, emitRows))
    else if (leaf.content === 'message') await emit({ ...about, what: 'message', depth: leaf.depth }, leaf.octets)
    else if (leaf.content === 'failure') await emit({ ...about, what: 'failure' })
    else if (leaf.content === 'unread') throw leaf.error
    else if (leaf.content === 'other') throw leaf.why ?? reportError('none')
  })
}

/** A fault of an item ends it alone. */
async function readItem(
  about: Pick<Event, 'name' | 'isInMessage'>,
  emit: Emit,
  read: () => Promise<void>,
): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (error instanceof Stopped) throw error
    const { code, problem, cause } = itemError(error)
    const how = problem.id === 'heavy.fault' ? placeOf(cause) : undefined
    await emit(
      NO_REPORT.includes(problem.id)
        ? { ...about, what: 'other', why: problem }
        : { ...about, what: 'unread', code, problem, ...(how !== undefined && { how }) },
    )
  }
}

/** What is no report, and not one that cannot be read. */
const NO_REPORT: readonly string[] = ['reports.none', 'reports.empty', 'reports.format', 'reports.root']

/** Rows, or the end of a report with the last of them. */
type OfRows =
  | { readonly what: 'rows'; readonly kind: ReportKind }
  | { readonly what: 'complete'; readonly kind: ReportKind; readonly head: ReportHead }
type EmitRows = (event: OfRows, lines: string) => Promise<void>

/** Distinct rows that are summed before they are emitted. */
const WINDOW = 5_000
/** Characters of a batch of rows. */
const BATCH = 98_304

async function readXml(octets: AsyncIterable<Uint8Array>, emit: EmitRows): Promise<void> {
  const shape = createHash('sha256')
  let rows = new Map<string, { readonly row: ReportRow; messages: number }>()
  const add = (row: ReportRow): void => {
    const key = sourceKey(row)
    shape.update(`${key}\u0001${row.messages}\n`)
    const known = rows.get(key)
    if (known) known.messages += row.messages
    else rows.set(key, { row, messages: row.messages })
  }
  /** Emits the rows but the last batch of them, which is returned. */
  const write = (): Promise<string> => {
    const full = rows
    rows = new Map()
    return inBatches(full, ([key, { row, messages }]) => reportLine(key, row, messages), emit, 'dmarc')
  }
  const head = await readDmarc(
    octets,
    (row) => add(summedRow(row)),
    () => (rows.size < WINDOW ? undefined : write().then((rest) => emit({ what: 'rows', kind: 'dmarc' }, rest))),
  )
  const complete = headOfDmarc(head, shape.digest('hex'))
  await emit({ what: 'complete', kind: 'dmarc', head: complete }, await write())
}

async function inBatches<T>(
  items: Iterable<T>,
  line: (item: T) => string,
  emit: EmitRows,
  kind: ReportKind,
): Promise<string> {
  let batch = ''
  for (const item of items) {
    batch += line(item)
    if (batch.length < BATCH) continue
    await emit({ what: 'rows', kind }, batch)
    batch = ''
  }
  return batch
}

function headOfDmarc(head: DmarcHead, digest: string): ReportHead {
  const { domain, organization, email: contact, reportId, policy, messages } = head
  if (reportId === null || reportId === '') throw reportError('missing', { what: 'report_id' })
  const times = { beginMs: head.begin * 1_000, endMs: head.end * 1_000 }
  return { kind: 'dmarc', domain, others: [], organization, contact, reportId, ...times, messages, policy, digest }
}

async function readTls(json: unknown, emit: EmitRows): Promise<void> {
  const report = tlsReportOf(json)
  const shape = createHash('sha256')
  const line = (row: TlsRow): string => {
    const text = tlsLine(row)
    shape.update(text)
    return text
  }
  const rest = await inBatches(tlsRows(report), line, emit, 'tls')
  await emit({ what: 'complete', kind: 'tls', head: headOfTls(report, shape.digest('hex')) }, rest)
}

function headOfTls({ organization, contact, reportId, begin, end, policies }: TlsReport, digest: string): ReportHead {
  const [domain = null, ...others] = new Set(policies.flatMap((one) => one.domain ?? []))
  const times = { beginMs: begin * 1_000, endMs: end * 1_000 }
  const messages = policies.reduce((sum, { successful, failed }) => sum + (successful ?? 0) + (failed ?? 0), 0)
  return {
    kind: 'tls',
    domain,
    others,
    organization,
    contact,
    reportId: reportId ?? '',
    ...times,
    messages,
    policy: {},
    digest,
  }
}

/** Reading what came by mail. */
export const readMail: HeavyKind<ReadingInput, ReadingResult> = { name: 'reports-mail', work: read }
/** Reading what a key uploads, or a person names: a report of a million rows takes its time. */
export const readFiles: HeavyKind<ReadingInput, ReadingResult> = { name: 'reports', cpuMs: () => 30_000, work: read }
