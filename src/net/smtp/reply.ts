import { isUtf8 } from 'node:buffer'
import type { Problem } from '../../base/problem.ts'
import { smtpProblem } from '../problems.ts'

/** The stage of the session at which a reply was received. */
export type Stage = 'connect' | 'banner' | 'ehlo' | 'starttls' | 'mail' | 'rcpt' | 'data' | 'rset' | 'quit'

/**
 * One SMTP reply with all its lines (RFC 5321 §4.2). Its text is external: at most 100 lines of 512 bytes are kept;
 * show it through `printable`.
 */
export type Reply = {
  /** 200 to 599, the same on every line. */
  readonly code: number
  /** Enhanced status code such as `5.1.1` (RFC 3463), from the first line that has one of the reply's own class. */
  readonly enhanced?: string
  /** Text of each line without the reply code and the separator; enhanced codes are left in. */
  readonly lines: readonly string[]
}

/** The success codes by stage (RFC 5321 §4.3.2, RFC 3207 §4). 252 at RCPT: accepted, but not verified (§3.5.3). */
const SUCCESS: Readonly<Record<Stage, readonly number[]>> = {
  connect: [],
  banner: [220],
  ehlo: [250],
  starttls: [220],
  mail: [250],
  rcpt: [250, 251, 252],
  data: [354],
  rset: [250],
  quit: [221],
}

/**
 * Whether a reply is a success at its stage. A reply that is neither a success nor a refusal (4xx, 5xx) has a code
 * outside RFC 5321 and is a protocol error.
 */
export const isSuccess = (stage: Stage, { code }: Pick<Reply, 'code'>): boolean => SUCCESS[stage].includes(code)

/** The whole text of a reply in one line. */
export const textOf = (reply: Reply): string => reply.lines.join(' ').trim()

/** The result of a reader: a complete reply, or why the input is not SMTP. After a problem nothing more is read. */
export type ReplyEvent = { readonly reply: Reply } | { readonly problem: Problem; readonly reply?: undefined }

type ReplyReader = {
  /** Accepts the next bytes and returns the replies that they complete, in order. Linear in the bytes; never throws. */
  readonly feed: (bytes: Uint8Array) => readonly ReplyEvent[]
  /** Number of bytes of an incomplete reply. */
  readonly pending: () => number
}

/** Maximum number of bytes that are kept of a line. */
const MAX_LINE = 512
const MAX_LINES = 100
/** Maximum size of a reply, bytes; a larger one is a protocol error. */
const MAX_REPLY = 64 * 1024
const NOTHING = Buffer.alloc(0)
const LF = 10
const HEAD = /^[2-5]\d\d(?:[ -]|$)/

/**
 * An incremental reader of SMTP replies (RFC 5321 §4.2, §4.5.3.1.5). It keeps 512 bytes of a line and 100 lines of a
 * reply. A reply of more than 64 KiB, a line that does not begin with a code, and a code that changes within a reply
 * are problems. A bare LF ends a line too. NUL is treated like any other character.
 */
export const replyReader = (): ReplyReader => new Reader()

/** A class, as are the bounds of a connection (lifetime.ts). */
class Reader implements ReplyReader {
  #line = NOTHING // most replies arrive complete: then nothing has to be kept
  #kept = 0
  #total = 0
  #code = 0
  #lines: string[] = []
  #broken = false

  feed(bytes: Uint8Array): readonly ReplyEvent[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const events: ReplyEvent[] = []
    let at = 0
    while (!this.#broken && at < chunk.length) {
      const newline = chunk.indexOf(LF, at)
      const end = newline < 0 ? chunk.length : newline
      const whole = newline < 0 ? undefined : this.#lineOf(chunk, at, end)
      if (whole === undefined) this.#keep(chunk, at, end)
      this.#total += end - at
      at = end + 1
      if (this.#total > MAX_REPLY) events.push(this.#fail(smtpProblem('long_reply')))
      else if (whole !== undefined) {
        const event = this.#endLine(whole)
        if (event) events.push(event)
      } else if (this.#isHopeless()) events.push(this.#fail(notSmtp(decode(this.#line, 0, this.#kept))))
    }
    return events
  }

  pending(): number {
    return this.#total
  }

  #fail(problem: Problem): ReplyEvent {
    this.#broken = true
    return { problem }
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    const space = Math.min(to - from, MAX_LINE - this.#kept)
    if (space <= 0) return
    if (this.#line.length === 0) this.#line = Buffer.alloc(MAX_LINE)
    bytes.copy(this.#line, this.#kept, from, from + space)
    this.#kept += space
  }

  /** The text of the line that ends at `to`: as it is in `bytes`, or after the part that was kept. */
  #lineOf(bytes: Buffer, from: number, to: number): string {
    if (this.#kept === 0) return decode(bytes, from, Math.min(to, from + MAX_LINE))
    this.#keep(bytes, from, to)
    const whole = decode(this.#line, 0, this.#kept)
    this.#kept = 0
    return whole
  }

  #endLine(whole: string): ReplyEvent | undefined {
    const text = whole.endsWith('\r') ? whole.slice(0, -1) : whole
    if (!HEAD.test(text)) return this.#fail(notSmtp(text))
    const code = Number(text.slice(0, 3))
    if (this.#code !== 0 && code !== this.#code)
      return this.#fail(smtpProblem('code_changed', { expected: this.#code, received: code }))
    this.#code = code
    if (this.#lines.length < MAX_LINES) this.#lines.push(text.slice(4))
    if (text[3] === '-') return undefined
    const reply = replyOf(code, this.#lines)
    this.#code = 0
    this.#total = 0
    this.#lines = []
    return { reply }
  }

  /** Bytes that can never become a reply fail before their line ends. */
  #isHopeless(): boolean {
    return this.#kept >= 4 && !/^[2-5]\d\d[ \r-]/.test(decode(this.#line, 0, 4))
  }
}

/** A reply from its code and lines, with the enhanced code in its text (RFC 2034 §4). */
function replyOf(code: number, lines: readonly string[]): Reply {
  const own = String(code)[0]
  for (const text of lines) {
    const enhanced = ENHANCED.exec(text)?.[1]
    if (enhanced !== undefined && enhanced[0] === own) return { code, enhanced, lines }
  }
  return { code, lines }
}

/** At the beginning of a line; further characters than these are not looked at. */
const ENHANCED = /^\s{0,3}#?([245]\.\d{1,3}\.\d{1,3})(?![.\d])/

const notSmtp = (text: string): Problem => smtpProblem('not_reply', { text: text.slice(0, 100) })

/** UTF-8 if valid, otherwise one character per byte. */
function decode(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('latin1', from, to)
  const isWide = /[\u0080-\u00ff]/.test(text) && isUtf8(bytes.subarray(from, to))
  return isWide ? bytes.toString('utf8', from, to) : text
}
