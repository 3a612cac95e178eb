import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { printable } from '../../base/text.ts'
import { type Ip, ipFromBytes } from '../../names/ip.ts'
import { messageProblem } from './problems.ts'
import { textOf } from './record-data.ts'
import { type ExtendedError, OPT, type RecordData, type RecordType, TYPE_CODES } from './resolver.ts'
import { type Cursor, type NameBudget, nameBudget, readName } from './wire-name.ts'

/** One record of a message: its data is the octets from `start` to `end`, read by {@link dataOf} for known types. */
export type ResourceRecord = {
  readonly name: string
  readonly type: number
  readonly class: number
  /** A TTL with its highest bit set counts as 0 (RFC 2181 §8). */
  readonly ttlSeconds: number
  readonly start: number
  readonly end: number
}

/** A DNS message without the data of its records. */
export type Message = {
  readonly bytes: Buffer
  readonly authoritative: boolean
  readonly truncated: boolean
  readonly recursionAvailable: boolean
  readonly authenticated: boolean
  /** With its upper bits from EDNS (RFC 6891 §6.1.3). */
  readonly rcode: number
  readonly question: Question | undefined
  readonly answers: readonly ResourceRecord[]
  readonly authority: readonly ResourceRecord[]
  readonly additional: readonly ResourceRecord[]
  /** Extended errors (RFC 8914). */
  readonly errors: readonly ExtendedError[]
  /** The remaining budget for names in the data of records. */
  readonly budget: NameBudget
}
type Question = { readonly name: string; readonly type: number; readonly class: number }

/** A question that was already compared with the query: its name, and the index after it. */
type Compared = { readonly name: string; readonly end: number }

/** Maximum number of extended errors that are read of a message. */
const MAX_EDE = 8
const EDE_OPTION = 15 // RFC 8914 §2
const NONE: readonly ResourceRecord[] = []
const NO_ERRORS: readonly ExtendedError[] = []

/**
 * Reads a DNS message of at most 65,535 octets (RFC 1035 §4.1). Returns a problem, and never throws, for octets that
 * are not a message or whose names cost more than {@link nameBudget}. Octets after the last record are ignored. With
 * `compared` the question is not read again.
 */
export function decodeMessage(bytes: Buffer, compared?: Compared): Parsed<Message> {
  if (bytes.length < 12) return problem(messageProblem('short'), bytes.length)
  const budget = nameBudget()
  const cursor: Cursor = { bytes, at: 12, budget }
  const questions = (bytes[4]! << 8) | bytes[5]!
  if (questions > 1) return problem(messageProblem('questions'), 4) // RFC 9619 §4
  let question: Question | undefined
  if (questions === 1 && compared) cursor.at = compared.end
  else if (questions === 1) {
    question = readQuestion(cursor)
    if (!question) return problem(messageProblem('question'), 12)
  }
  const known = compared?.name ?? question?.name
  const answers = readRecords(cursor, (bytes[6]! << 8) | bytes[7]!, known)
  if (!answers) return problem(messageProblem('answer'), cursor.at)
  const authority = readRecords(cursor, (bytes[8]! << 8) | bytes[9]!, known)
  if (!authority) return problem(messageProblem('authority'), cursor.at)
  const additional = readRecords(cursor, (bytes[10]! << 8) | bytes[11]!, known)
  if (!additional) return problem(messageProblem('additional'), cursor.at)
  const opt = optOf(additional)
  const high = bytes[2]!
  const low = bytes[3]!
  return parsed({
    bytes,
    authoritative: (high & 0x04) !== 0,
    truncated: (high & 0x02) !== 0,
    recursionAvailable: (low & 0x80) !== 0,
    authenticated: (low & 0x20) !== 0,
    rcode: (low & 15) | (opt ? bytes[opt.start - 6]! << 4 : 0),
    question,
    answers,
    authority,
    additional,
    errors: opt ? readErrors(bytes, opt) : NO_ERRORS,
    budget,
  })
}

function optOf(additional: readonly ResourceRecord[]): ResourceRecord | undefined {
  for (const record of additional) if (record.type === OPT) return record
  return undefined
}

/**
 * The data of a record. Names in it may point back into the message (RFC 1035 §4.1.4), which has a budget for them.
 * Undefined if the record is not of `type`, its data has another form or does not end at the end of the record.
 */
export const dataOf = <T extends RecordType>(
  message: Message,
  record: ResourceRecord,
  type: T,
): RecordData[T] | undefined =>
  record.type === TYPE_CODES[type]
    ? (READERS[type] as Reader<T>)(message.bytes, record.start, record.end, message.budget)
    : undefined

function readQuestion(cursor: Cursor): Question | undefined {
  const name = readName(cursor)
  const { bytes, at } = cursor
  if (name === undefined || at + 4 > bytes.length) return undefined
  cursor.at = at + 4
  return { name, type: (bytes[at]! << 8) | bytes[at + 1]!, class: (bytes[at + 2]! << 8) | bytes[at + 3]! }
}

function readRecords(cursor: Cursor, count: number, known: string | undefined): readonly ResourceRecord[] | undefined {
  if (count === 0) return NONE
  const { bytes } = cursor
  if (count * 11 > bytes.length - cursor.at) return undefined // every record is at least this long
  const records: ResourceRecord[] = []
  for (let i = 0; i < count; i++) {
    const name = readName(cursor, known)
    const at = cursor.at
    if (name === undefined || at + 10 > bytes.length) return undefined
    const start = at + 10
    const end = start + ((bytes[at + 8]! << 8) | bytes[at + 9]!)
    if (end > bytes.length) return undefined
    const ttl = ((bytes[at + 4]! << 24) | (bytes[at + 5]! << 16) | (bytes[at + 6]! << 8) | bytes[at + 7]!) >> 0
    records.push({
      name,
      type: (bytes[at]! << 8) | bytes[at + 1]!,
      class: (bytes[at + 2]! << 8) | bytes[at + 3]!,
      ttlSeconds: ttl < 0 ? 0 : ttl,
      start,
      end,
    })
    cursor.at = end
  }
  return records
}

/** RFC 6891 §6.1.2; of a list of options that exceeds the message, the readable part is used. */
function readErrors(bytes: Buffer, opt: ResourceRecord): readonly ExtendedError[] {
  if (opt.end - opt.start < 4) return NO_ERRORS // most answers have no option
  const errors: ExtendedError[] = []
  for (let at = opt.start; at + 4 <= opt.end && errors.length < MAX_EDE; ) {
    const code = bytes.readUInt16BE(at)
    const end = at + 4 + bytes.readUInt16BE(at + 2)
    if (end > opt.end) break
    if (code === EDE_OPTION && end - at >= 6) {
      errors.push({ code: bytes.readUInt16BE(at + 4), text: printable(bytes.toString('utf8', at + 6, end), 256) })
    }
    at = end
  }
  return errors
}

type Reader<T extends RecordType> = (
  bytes: Buffer,
  start: number,
  end: number,
  budget: NameBudget,
) => RecordData[T] | undefined

const READERS: { readonly [T in RecordType]: Reader<T> } = {
  A: (bytes, start, end) =>
    end - start === 4
      ? (`${bytes[start]}.${bytes[start + 1]}.${bytes[start + 2]}.${bytes[start + 3]}` as Ip)
      : undefined,
  // RFC 3596 §2.2
  AAAA: (bytes, start, end) => (end - start === 16 ? ipFromBytes(bytes.subarray(start, end)) : undefined),
  CNAME: wholeName,
  NS: wholeName,
  PTR: wholeName,
  MX: readMx,
  TXT: readTxt,
  SOA: readSoa,
  CAA: readCaa,
  TLSA: (bytes, start, end) =>
    end - start < 3
      ? undefined
      : {
          usage: bytes[start]!,
          selector: bytes[start + 1]!,
          matchingType: bytes[start + 2]!,
          data: bytes.toString('hex', start + 3, end),
        },
  DS: (bytes, start, end) =>
    end - start < 4
      ? undefined
      : {
          keyTag: bytes.readUInt16BE(start),
          algorithm: bytes[start + 2]!,
          digestType: bytes[start + 3]!,
          digest: bytes.toString('hex', start + 4, end),
        }, // RFC 4034 §5.1
  DNSKEY: (bytes, start, end) =>
    end - start < 4
      ? undefined
      : {
          flags: bytes.readUInt16BE(start),
          protocol: bytes[start + 2]!,
          algorithm: bytes[start + 3]!,
          publicKey: bytes.toString('base64', start + 4, end),
        }, // RFC 4034 §2.1
  RRSIG: readSignature,
  NSEC3PARAM: (bytes, start, end) =>
    end - start < 5 || end - start !== 5 + bytes[start + 4]!
      ? undefined
      : {
          algorithm: bytes[start]!,
          flags: bytes[start + 1]!,
          iterations: bytes.readUInt16BE(start + 2),
          salt: bytes.toString('hex', start + 5, end),
        }, // RFC 5155 §4.2
}

function wholeName(bytes: Buffer, start: number, end: number, budget: NameBudget): string | undefined {
  const cursor: Cursor = { bytes, at: start, budget }
  const name = readName(cursor)
  return cursor.at === end ? name : undefined
}

function readMx(bytes: Buffer, start: number, end: number, budget: NameBudget): RecordData['MX'] | undefined {
  if (end - start < 3) return undefined
  const exchange = wholeName(bytes, start + 2, end, budget)
  return exchange === undefined ? undefined : { preference: bytes.readUInt16BE(start), exchange }
}

/** One or more character-strings (RFC 1035 §3.3.14), joined without a space (RFC 7208 §3.3). */
function readTxt(bytes: Buffer, start: number, end: number): string | undefined {
  if (start >= end) return undefined
  const first = start + 1 + bytes[start]!
  if (first === end) return textOf(bytes.subarray(start + 1, end))
  const parts: Buffer[] = []
  for (let at = start; at < end; ) {
    const next = at + 1 + bytes[at]!
    if (next > end) return undefined
    parts.push(bytes.subarray(at + 1, next))
    at = next
  }
  return textOf(Buffer.concat(parts))
}

function readSoa(bytes: Buffer, start: number, end: number, budget: NameBudget): RecordData['SOA'] | undefined {
  const cursor: Cursor = { bytes, at: start, budget }
  const mname = readName(cursor)
  if (mname === undefined) return undefined
  const rname = readName(cursor)
  const { at } = cursor
  if (rname === undefined || end - at !== 20) return undefined
  return {
    mname,
    rname,
    serial: bytes.readUInt32BE(at),
    refresh: bytes.readUInt32BE(at + 4),
    retry: bytes.readUInt32BE(at + 8),
    expire: bytes.readUInt32BE(at + 12),
    minimum: bytes.readUInt32BE(at + 16),
  }
}

/** RFC 4034 §3.1: the fixed part, the name of the signer, the signature. */
function readSignature(bytes: Buffer, start: number, end: number, budget: NameBudget): RecordData['RRSIG'] | undefined {
  if (end - start < 19) return undefined
  const cursor: Cursor = { bytes, at: start + 18, budget }
  const signer = readName(cursor)
  if (signer === undefined || cursor.at > end) return undefined
  return {
    covered: bytes.readUInt16BE(start),
    algorithm: bytes[start + 2]!,
    expiresAt: bytes.readUInt32BE(start + 8),
    validFrom: bytes.readUInt32BE(start + 12),
    signer,
  }
}

/** RFC 8659 §4.1: flags, tag length, tag, value. */
function readCaa(bytes: Buffer, start: number, end: number): RecordData['CAA'] | undefined {
  const tagEnd = start + 2 + (bytes[start + 1] ?? 0)
  if (end - start < 2 || tagEnd === start + 2 || tagEnd > end) return undefined
  return {
    critical: (bytes[start]! & 0x80) !== 0,
    tag: bytes.toString('latin1', start + 2, tagEnd).toLowerCase(),
    value: textOf(bytes.subarray(tagEnd, end)),
  }
}
