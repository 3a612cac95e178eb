import { execFile } from 'node:child_process'
import { createConnection, type Socket } from 'node:net'

/** What dig says of one question: `status`, the flags, the answer section's data, and the EDE codes. */
export type Dug = {
  readonly status: string
  readonly flags: readonly string[]
  readonly answers: readonly string[]
  readonly ede: readonly number[]
}

/**
 * Asks the resolver (or `@server`) with dig; independent of the product. A question without answer has status
 * `TIMEOUT`.
 */
export function dig(...args: readonly string[]): Promise<Dug> {
  const options = ['+tries=1', '+time=4', '+nostats', '+nocmd', ...args]
  return new Promise((resolve) => {
    execFile('dig', options, (_, text) => resolve(read(text)))
  })
}

function read(text: string): Dug {
  const status = /status: ([A-Z]+)/.exec(text)?.[1] ?? 'TIMEOUT'
  const flags = /;; flags: ([a-z ]*);/.exec(text)?.[1]?.split(' ') ?? []
  const section = /;; ANSWER SECTION:\n([\s\S]*?)\n\n/.exec(text)?.[1] ?? ''
  const answers = section.split('\n').flatMap((line) => line.split(/\s+/).slice(3).join(' ') || [])
  const ede = [...text.matchAll(/; EDE: (\d+)/g)].map((match) => Number(match[1]))
  return { status, flags, answers, ede }
}

/** One SMTP session, line by line: the banner, then one reply per command. A missing reply is ``. */
export async function converse(
  host: string,
  commands: readonly string[],
  options: { readonly from?: string; readonly port?: number; readonly waitMs?: number } = {},
): Promise<string[]> {
  const socket = createConnection({
    host,
    port: options.port ?? 25,
    ...(options.from && { localAddress: options.from }),
  })
  const reader = replies(socket, options.waitMs ?? 8_000)
  try {
    const said = [await reader()]
    for (const command of commands) {
      if (said.at(-1) === '' || socket.destroyed) break
      socket.write(`${command}\r\n`)
      said.push(await reader())
    }
    return said
  } finally {
    socket.destroy()
  }
}

/** A sender's side up to RCPT for some mailboxes. */
export const rcpt = (...mailboxes: readonly string[]): string[] => [
  'EHLO b.sonde.test',
  'MAIL FROM:<verify@b.sonde.test>',
  ...mailboxes.map((mailbox) => `RCPT TO:<${mailbox}>`),
]

/** Reads whole replies (RFC 5321 §4.2.1); gives an empty one at the end of the connection or of the patience. */
function replies(socket: Socket, waitMs: number): () => Promise<string> {
  let text = ''
  let ended = false
  let wake = () => {}
  const stop = () => {
    ended = true
    wake()
  }
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < 100_000) text += chunk
    wake()
  })
  socket.on('error', stop).on('close', stop).on('end', stop)
  return async () => {
    const timer = setTimeout(stop, waitMs)
    for (;;) {
      const whole = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\n/.exec(text)
      if (whole) {
        text = text.slice(whole[0].length)
        clearTimeout(timer)
        return whole[0].trimEnd()
      }
      if (ended) return ''
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}
