import { createHash } from 'node:crypto'
import type { Field } from './parse.ts'

/** A canonicalization algorithm (RFC 6376 §3.4). */
export type Canonicalization = 'simple' | 'relaxed'

const CR = 0x0d
const LF = 0x0a
const SP = 0x20
const TAB = 0x09

/** The forms of fields that are known, each made once for all signatures. */
const FORMS = { simple: new WeakMap<Field, Buffer>(), relaxed: new WeakMap<Field, Buffer>() }

/** A header field in the form that is signed, without its final CRLF (RFC 6376 §3.4.1, §3.4.2). */
export function canonicalField(field: Field, how: Canonicalization): Buffer {
  const known = FORMS[how].get(field)
  if (known) return known
  const form = how === 'simple' ? Buffer.from(field.raw, 'latin1') : relaxedField(field)
  FORMS[how].set(field, form)
  return form
}

/** One pass: a field of 9 MiB in lines of one character would take some 100 ms by replacements. */
function relaxedField({ name, raw }: Field): Buffer {
  const from = raw.indexOf(':') + 1
  const out = Buffer.allocUnsafe(name.length + 1 + raw.length - from)
  let size = out.write(`${name}:`, 'latin1')
  const start = size
  let isSpace = false
  for (let i = from; i < raw.length; i++) {
    const octet = raw.charCodeAt(i)
    if (octet === SP || octet === TAB) isSpace = true
    else if (octet === CR && raw.charCodeAt(i + 1) === LF) i++
    else {
      if (isSpace && size > start) out[size++] = SP
      isSpace = false
      out[size++] = octet
    }
  }
  return out.subarray(0, size)
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
 * space is one space. A last line without CRLF gets one; an empty body stays empty. One pass over the octets, however
 * short the lines are.
 */
function hashRelaxed(body: Buffer, limit = Number.POSITIVE_INFINITY): HashedBody {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK)
  let [size, length, emptyLines] = [0, 0, 0]
  let [isSpace, hasText] = [false, false]
  function flush(): void {
    const room = Math.max(0, Math.min(size, limit - length))
    if (room > 0) hash.update(chunk.subarray(0, room))
    length += size
    size = 0
  }
  function newline(): void {
    if (size + 2 > CHUNK) flush()
    chunk[size++] = CR
    chunk[size++] = LF
  }
  for (let i = 0; i < body.length; i++) {
    let octet = body[i]!
    if (octet === SP || octet === TAB) isSpace = true
    else if (octet === LF || (octet === CR && body[i + 1] === LF)) {
      if (octet === CR) i++
      if (hasText) newline()
      else emptyLines++
      isSpace = hasText = false
    } else {
      if (!hasText) for (hasText = true; emptyLines > 0; emptyLines--) newline()
      if (size + 2 > CHUNK) flush()
      if (isSpace) chunk[size++] = SP
      isSpace = false
      chunk[size++] = octet
      // The rest of a word, which is most of a text.
      const room = i + Math.min(CHUNK - size, body.length - i - 1)
      while (i < room && (octet = body[i + 1]!) > SP) {
        chunk[size++] = octet
        i++
      }
    }
  }
  if (hasText) newline()
  flush()
  return { hash: hash.digest('base64'), length }
}

/**
 * The fields that a signature covers, in the order of `h=`: each name takes the lowest field of that name that no
 * earlier name took; a name without a field counts as nothing (RFC 6376 §5.4.2). The field of the signature itself
 * comes last (§3.7).
 */
export function signedFields(fields: readonly Field[], names: readonly string[], signature: Field): readonly Field[] {
  const wanted = new Set(names)
  const signed = fields.filter(({ name }) => wanted.has(name))
  const byName = Map.groupBy(signed, ({ name }) => name)
  return [...names.flatMap((name) => byName.get(name)?.pop() ?? []), signature]
}

/** The SHA-256 of fields in canonical form with CRLF between them. */
export function digestOf(fields: readonly Field[], how: Canonicalization): Buffer {
  const hash = createHash('sha256')
  for (const [i, field] of fields.entries()) {
    if (i > 0) hash.update('\r\n')
    hash.update(canonicalField(field, how))
  }
  return hash.digest()
}
