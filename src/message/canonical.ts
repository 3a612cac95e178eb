import { createHash, type Hash } from 'node:crypto'
import type { Field } from './parse.ts'

/** A canonicalization algorithm (RFC 6376 §3.4). */
export type Canonicalization = 'simple' | 'relaxed'

const CR = 0x0d
const LF = 0x0a
const SP = 0x20
const TAB = 0x09

/** A header field in the form that is signed, without its final CRLF (RFC 6376 §3.4.1, §3.4.2). */
export function canonicalField({ name, raw }: Field, how: Canonicalization): string {
  if (how === 'simple') return raw
  const value = raw.slice(raw.indexOf(':') + 1).replace(/\r\n/g, '')
  return `${name}:${value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')}`
}

/** What the hash of a body is, and how long its canonical form is before `l=` cuts it. */
export type HashedBody = { readonly hash: string; readonly length: number }

/**
 * The SHA-256 of a body in canonical form (RFC 6376 §3.4.3, §3.4.4), base64. `limit`: only its first octets (`l=`,
 * §3.5). The body has CRLF line endings; its last line may have none. Memory: 64 KiB.
 */
export function hashBody(body: Buffer, how: Canonicalization, limit?: number): HashedBody {
  return how === 'simple' ? hashSimple(body, limit) : hashRelaxed(body, limit)
}

/** Without the empty lines at its end; an empty body is one empty line (RFC 6376 §3.4.3). */
function hashSimple(body: Buffer, limit = Number.POSITIVE_INFINITY): HashedBody {
  let end = body.length
  while (end >= 2 && body[end - 2] === CR && body[end - 1] === LF) end -= 2
  const hash = createHash('sha256')
  hash.update(body.subarray(0, Math.min(end, limit)))
  if (limit > end) hash.update('\r\n'.slice(0, limit - end))
  return { hash: hash.digest('base64'), length: end + 2 }
}

const CHUNK = 65_536

/**
 * RFC 6376 §3.4.4: white space at the end of lines and empty lines at the end of the body are left out, other white
 * space is one space. A last line without CRLF gets one; an empty body stays empty. Line ends and single spaces are
 * copied as they are found, so most octets take one comparison.
 */
function hashRelaxed(body: Buffer, limit = Number.POSITIVE_INFINITY): HashedBody {
  const out = new Output(limit)
  let emptyLines = 0
  for (let at = 0; at < body.length; ) {
    const newline = body.indexOf(LF, at)
    const next = newline < 0 ? body.length : newline + 1
    let end = newline < 0 ? body.length : newline
    if (end > at && newline >= 0 && body[end - 1] === CR) end--
    while (end > at && (body[end - 1] === SP || body[end - 1] === TAB)) end--
    if (end === at) emptyLines++
    else {
      for (; emptyLines > 0; emptyLines--) out.newline()
      out.line(body, at, end)
      out.newline()
    }
    at = next
  }
  return { hash: out.digest(), length: out.length }
}

/** The octets of a canonical body on their way to the hash, gathered in one chunk. */
class Output {
  readonly #hash: Hash = createHash('sha256')
  readonly #chunk = Buffer.allocUnsafe(CHUNK)
  readonly #limit: number
  #at = 0
  length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The octets of a line without its end; runs of white space become one space. */
  line(text: Buffer, from: number, to: number): void {
    let isSpace = false
    for (let i = from; i < to; i++) {
      let octet = text[i]!
      if (octet === SP || octet === TAB) {
        if (isSpace) continue
        isSpace = true
        octet = SP
      } else isSpace = false
      if (this.#at === CHUNK) this.#flush()
      this.#chunk[this.#at++] = octet
    }
  }

  newline(): void {
    if (this.#at + 2 > CHUNK) this.#flush()
    this.#chunk[this.#at++] = CR
    this.#chunk[this.#at++] = LF
  }

  #flush(): void {
    const room = Math.max(0, Math.min(this.#at, this.#limit - this.length))
    if (room > 0) this.#hash.update(this.#chunk.subarray(0, room))
    this.length += this.#at
    this.#at = 0
  }

  digest(): string {
    this.#flush()
    return this.#hash.digest('base64')
  }
}

/**
 * The fields that a signature covers, in the form that is signed and in the order of `h=`: each name takes the lowest
 * field of that name that no earlier name took; a name without a field counts as nothing (RFC 6376 §5.4.2). The field
 * of the signature itself comes last, without its CRLF (§3.7).
 */
export function signedText(
  fields: readonly Field[],
  names: readonly string[],
  signature: Field,
  how: Canonicalization,
): string {
  const byName = new Map<string, Field[]>()
  const wanted = new Set(names)
  for (const field of fields) {
    if (!wanted.has(field.name)) continue
    const same = byName.get(field.name)
    if (same) same.push(field)
    else byName.set(field.name, [field])
  }
  const chosen = names.flatMap((name) => byName.get(name)?.pop() ?? [])
  return [...chosen.map((field) => canonicalField(field, how)), canonicalField(signature, how)].join('\r\n')
}
