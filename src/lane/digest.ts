/**
 * The name of an input: its SHA-256. That of mail leaves out what servers put on top of it (RFC 5321 §4.4), so that the
 * same message has the same name when it comes again.
 */
export async function digestOf(octets: Uint8Array, isMail: boolean): Promise<string> {
  // Not `createHash`: a file of 25 MiB would hold the event loop for 25 ms.
  const digest = await crypto.subtle.digest(
    'SHA-256',
    (isMail ? withoutTrace(octets) : octets) as Uint8Array<ArrayBuffer>,
  )
  return Buffer.from(digest).toString('hex')
}

/** The fields that servers on the way put on top: Received and Return-Path, and what they say of their own. */
const TRACE =
  /^(?:received(?:-spf)?|return-path|delivered-to|envelope-to|authentication-results|arc-[a-z-]+|x-[!-9;-~]+)[ \t]*:/i
/** The line that begins a message of an mbox. */
const MBOX = /^>?From /
/** Octets of a line that may have the name of such a field. */
const MAX_NAME = 80
const [NEWLINE, SPACE, TAB] = [10, 32, 9]

/** A message from its first field that is none of those, in linear time. */
export function withoutTrace(octets: Uint8Array): Uint8Array {
  const text = Buffer.from(octets.buffer, octets.byteOffset, octets.length)
  let at = 0
  while (at < text.length) {
    const head = text.toString('latin1', at, Math.min(text.length, at + MAX_NAME))
    if (!TRACE.test(head) && !(at === 0 && MBOX.test(head))) break
    at = nextLine(text, at)
    while (text[at] === SPACE || text[at] === TAB) at = nextLine(text, at)
  }
  return octets.subarray(at)
}

function nextLine(text: Buffer, from: number): number {
  const end = text.indexOf(NEWLINE, from)
  return end < 0 ? text.length : end + 1
}
