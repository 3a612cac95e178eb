/** Where in the conversation a reply came. */
export type Stage = 'connect' | 'banner' | 'ehlo' | 'starttls' | 'mail' | 'rcpt' | 'data' | 'rset' | 'quit'

/** One SMTP reply, all its lines (RFC 5321 §4.2). Text is from outside: at most 100 lines of 512 bytes are kept; show it through `printable`. */
export type Reply = {
  /** 200 to 599, from the last line. */
  readonly code: number
  /** Enhanced status code such as `5.1.1` (RFC 3463), from the first line that carries one of the reply's own class. */
  readonly enhanced?: string
  /** Text of each line without the reply code and the separator; enhanced codes are left in. */
  readonly lines: readonly string[]
}

/** The whole text of a reply in one line, with enhanced codes repeated line by line taken out but for the first. */
export const textOf = (reply: Reply): string => reply.lines.join(' ').trim()
