import { randomFillSync } from 'node:crypto'
import { CLASS_IN, OPT } from './resolver.ts'
import { writeName } from './wire-name.ts'

export type QueryFlags = {
  /** RD: the server is asked to recurse (RFC 1035 §4.1.1). */
  readonly recursion: boolean
  /** CD (RFC 4035 §3.2.2). */
  readonly checkingDisabled: boolean
  /** Adds OPT with {@link UDP_SIZE}; some old servers answer FORMERR to it (RFC 6891 §7). */
  readonly edns: boolean
}

/**
 * An encoded query: the octets of `bytes` from `start` to `end`. The transport that sends it writes the id, its first
 * two octets. It holds offsets and no view of the buffer, because a view would be the largest object that a query
 * keeps.
 */
export type Query = {
  bytes: Buffer
  start: number
  /** Index after the question: an answer repeats the octets from the header to here. */
  questionEnd: number
  end: number
}

/** The largest UDP answer that is requested: it passes every path unfragmented. RFC 9715 §3.1 */
const UDP_SIZE = 1_232

/** Octets of the longest query: header, name, type and class, OPT record. */
const QUERY_OCTETS = 12 + 255 + 4 + 11
const SLAB = 32 * 1_024
let slab = Buffer.allocUnsafeSlow(SLAB)
let used = 0

/**
 * Writes the query for one name and type into `query`. AD is set so that the AD bit of the answer is meaningful
 * (RFC 6840 §5.7), and each letter has a random case (draft-vixie-dnsext-dns0x20). False if the name cannot be queried;
 * see {@link writeName}. Queries share slabs of 32 KiB, so none needs an allocation of its own.
 */
export function encodeQuery(query: Query, name: string, typeCode: number, flags: QueryFlags): boolean {
  if (SLAB - used < QUERY_OCTETS) {
    slab = Buffer.allocUnsafeSlow(SLAB)
    used = 0
  }
  const start = used
  const nameEnd = writeName(name, slab, start + 12)
  if (nameEnd < 0) return false
  slab[start + 2] = flags.recursion ? 0x01 : 0x00
  slab[start + 3] = flags.checkingDisabled ? 0x30 : 0x20
  slab[start + 4] = 0
  slab[start + 5] = 1
  for (let i = 6; i < 11; i++) slab[start + i] = 0
  slab[start + 11] = flags.edns ? 1 : 0
  mixCase(slab, start + 12, nameEnd)
  slab[nameEnd] = typeCode >> 8
  slab[nameEnd + 1] = typeCode & 0xff
  slab[nameEnd + 2] = 0
  slab[nameEnd + 3] = CLASS_IN
  const questionEnd = nameEnd + 4
  used = flags.edns ? writeOpt(slab, questionEnd) : questionEnd
  query.bytes = slab
  query.start = start
  query.questionEnd = questionEnd
  query.end = used
  return true
}

/** RFC 6891 §6.1.2, without options. DO stays 0: AD alone shows validation, and signatures stay out of the answers. */
function writeOpt(into: Buffer, at: number): number {
  for (let i = 0; i < 11; i++) into[at + i] = 0
  into[at + 2] = OPT
  into[at + 3] = UDP_SIZE >> 8
  into[at + 4] = UDP_SIZE & 0xff
  return at + 11
}

/** Flips the case of letters at random. Length octets are at most 63 and so never letters. */
function mixCase(bytes: Buffer, from: number, to: number): void {
  let bits = 0
  let left = 0
  for (let i = from; i < to; i++) {
    const folded = bytes[i]! | 0x20
    if (folded < 0x61 || folded > 0x7a) continue
    if (left === 0) {
      bits = random32()
      left = 32
    }
    bytes[i] = folded ^ ((bits & 1) << 5)
    bits >>>= 1
    left--
  }
}

const WORDS = 2_048
const pool = new Uint32Array(WORDS)
let next = WORDS

/** 32 unpredictable bits (RFC 5452 §9.2: ids, and the case of letters), read from the system 8 KiB at a time. */
export function random32(): number {
  if (next === WORDS) {
    randomFillSync(pool)
    next = 0
  }
  return pool[next++]!
}
