const DOT = 0x2e
const BACKSLASH = 0x5c
const MAX_OCTETS = 255 // RFC 1035 §2.3.4, length octets and root included
/** Maximum length of a label, octets (RFC 1035 §2.3.4). */
const MAX_LABEL = 63
/** Maximum number of compression pointers; a name has at most 127 labels, so no valid name needs more. */
const MAX_POINTERS = 127

/**
 * The budget for the names of one message: a message of 64 KiB can contain 5,000 pointers to a name of 255 octets and
 * 127 pointers.
 */
export type NameBudget = { octets: number; pointers: number }

/**
 * Enough for every message that uses compression to be shorter: 1,800 MX records with host names of 60 octets. Reading
 * it takes about 2 ms.
 */
export const nameBudget = (): NameBudget => ({ octets: 131_072, pointers: 16_384 })

/** The position of a reader in a message. Reading moves `at`; after a failed read its value is undefined. */
export type Cursor = { readonly bytes: Uint8Array; at: number; readonly budget?: NameBudget }

/**
 * Each octet in presentation format, lower case: a dot and a backslash are escaped, invisible octets are `\DDD`
 * (RFC 1035 §5.1, RFC 4343 §2.1).
 */
const SHOWN: readonly string[] = Array.from({ length: 256 }, (_, octet) => {
  if (octet === DOT || octet === BACKSLASH) return `\\${String.fromCharCode(octet)}`
  if (octet <= 0x20 || octet >= 0x7f) return `\\${String(octet).padStart(3, '0')}`
  return String.fromCharCode(octet).toLowerCase()
})

/** The name that is being read: at most 255 octets of four characters each. */
const shown = Buffer.allocUnsafeSlow(4 * MAX_OCTETS)

/**
 * Writes `name` (presentation format, with or without a final dot; `""` and `"."` are the root) at `at`, uncompressed,
 * and returns the index after it. Returns -1 if the name cannot be queried: an empty label, a label over 63 octets, a
 * name over 255, an invalid escape. Characters beyond ASCII become their UTF-8 octets. At most 255 octets are written.
 */
export function writeName(name: string, into: Uint8Array, at: number): number {
  if (name === '' || name === '.') {
    into[at] = 0
    return at + 1
  }
  let lengthAt = at
  let next = at + 1
  const last = at + MAX_OCTETS - 1 // the position of the root at the latest
  for (let i = 0; i < name.length; i++) {
    let code = name.charCodeAt(i)
    if (code === DOT) {
      if (!endLabel(into, lengthAt, next)) return -1
      lengthAt = next++
      continue
    }
    if (code >= 0x80) return writeName(escaped(name), into, at)
    if (code === BACKSLASH) {
      const digits = isDigit(name.charCodeAt(i + 1))
      code = digits ? decimal(name, i + 1) : name.charCodeAt(i + 1)
      if (!(code <= 0xff)) return -1
      i += digits ? 3 : 1
    }
    if (next >= last) return -1
    into[next++] = code
  }
  if (next === lengthAt + 1) {
    into[lengthAt] = 0 // the final dot was the root
    return next
  }
  if (!endLabel(into, lengthAt, next)) return -1
  into[next] = 0
  return next + 1
}

/**
 * Reads the name at the cursor, lower case, in presentation format (`""` is the root). Undefined if it exceeds the
 * message, is longer than 255 octets, has pointers that do not lead back (RFC 1035 §4.1.4), or exceeds the budget of
 * the message. `known` is returned for a pointer to the name of the question, which nearly every record has and which
 * costs nothing.
 */
export function readName(cursor: Cursor, known?: string): string | undefined {
  const { bytes, budget } = cursor
  let at = cursor.at
  if (known !== undefined && bytes[at] === 0xc0 && bytes[at + 1] === 12) {
    cursor.at = at + 2
    return known
  }
  let length = 0
  let octets = 1
  let after = -1
  let pointers = 0
  for (;;) {
    const first = bytes[at]
    if (first === undefined) return undefined
    if (first === 0) break
    if (first <= MAX_LABEL) {
      octets += first + 1
      const end = at + 1 + first
      if (octets > MAX_OCTETS || end > bytes.length) return undefined
      if (length > 0) shown[length++] = DOT
      length = showLabel(bytes, at + 1, end, length)
      at = end
      continue
    }
    if (first < 0xc0 || ++pointers > MAX_POINTERS) return undefined // RFC 6891 §5: other label types are not in use
    if (after < 0) after = at + 2
    const low = bytes[at + 1]
    const target = ((first & 0x3f) << 8) | (low ?? 0)
    if (low === undefined || target >= at) return undefined // only backwards, so that reading ends
    at = target
  }
  cursor.at = after < 0 ? at + 1 : after
  if (budget) {
    budget.octets -= octets
    budget.pointers -= pointers
    if (budget.octets < 0 || budget.pointers < 0) return undefined
  }
  return shown.toString('latin1', 0, length)
}

/**
 * Writes the octets of a label in presentation format into {@link shown} from `length` on, and returns the index after
 * them.
 */
function showLabel(bytes: Uint8Array, at: number, end: number, length: number): number {
  let next = length
  for (let i = at; i < end; i++) {
    const form = SHOWN[bytes[i]!]!
    for (let k = 0; k < form.length; k++) shown[next++] = form.charCodeAt(k)
  }
  return next
}

function endLabel(into: Uint8Array, lengthAt: number, next: number): boolean {
  const length = next - lengthAt - 1
  into[lengthAt] = length
  return length > 0 && length <= MAX_LABEL
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** Three digits at `at` as a number, or NaN. */
function decimal(text: string, at: number): number {
  const digits = text.slice(at, at + 3)
  return /^\d{3}$/.test(digits) ? Number(digits) : Number.NaN
}

/**
 * The name with its UTF-8 octets beyond ASCII written as `\DDD`. At most 1,020 characters are read: a longer text is
 * not a name.
 */
function escaped(name: string): string {
  const octets = Buffer.from(name.slice(0, 4 * MAX_OCTETS), 'utf8')
  let text = ''
  for (const octet of octets) text += octet < 0x80 ? String.fromCharCode(octet) : `\\${octet}`
  return name.length > 4 * MAX_OCTETS ? '..' : text
}
