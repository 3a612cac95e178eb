import { isUtf8 } from 'node:buffer'
import { type Ip, ipFromBytes } from '../../names/ip.ts'
import type { RecordData, RecordType } from './resolver.ts'
import { type Cursor, type NameBudget, readName } from './wire-name.ts'

/**
 * Reads the data of one record of `type` in `bytes` from `start` to `end`. Names in it may point back into the message
 * (RFC 1035 §4.1.4), for which `message` has a budget. Undefined if the data has another form or does not end at the
 * end of the record.
 */
export function readData<T extends RecordType>(
  type: T,
  { bytes, budget }: { readonly bytes: Buffer; readonly budget: NameBudget },
  start: number,
  end: number,
): RecordData[T] | undefined {
  const read = READERS[type] as Reader<T>
  return read(bytes, start, end, budget)
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
  if (first === end) return text(bytes.subarray(start + 1, end))
  const parts: Buffer[] = []
  for (let at = start; at < end; ) {
    const next = at + 1 + bytes[at]!
    if (next > end) return undefined
    parts.push(bytes.subarray(at + 1, next))
    at = next
  }
  return text(Buffer.concat(parts))
}

const text = (octets: Buffer): string => (isUtf8(octets) ? octets.toString('utf8') : octets.toString('latin1'))

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
    value: text(bytes.subarray(tagEnd, end)),
  }
}
