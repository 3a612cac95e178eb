/** What ends an address within a text. */
const END = /[\s@<>"'(),:;]/
/** Longest local part of an address (RFC 5321 §4.5.3.1.1). */
const MAX_LOCAL = 64
/** Longest domain of an address (RFC 5321 §4.5.3.1.2). */
const MAX_DOMAIN = 255

/** `text` with the local part of every mailbox address cut to its first character: `j***@example.org`. Each character is looked at twice at most. */
export function maskAddresses(text: string): string {
  let [masked, copied, used] = ['', 0, 0]
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let [begin, end] = [at, at + 1]
    while (begin > used && at - begin < MAX_LOCAL && !END.test(text[begin - 1]!)) begin--
    while (end < text.length && end - at <= MAX_DOMAIN && !END.test(text[end]!)) end++
    if (begin === at || end === at + 1) continue
    masked += `${text.slice(copied, begin + 1)}***`
    copied = at
    used = end
  }
  return masked + text.slice(copied)
}
