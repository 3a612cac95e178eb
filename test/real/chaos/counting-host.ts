import { createServer, type Server, type Socket } from 'node:net'

/** A mail host that counts who asked about which mailbox how often, and answers no faster than it is told. */
export type CountingHost = {
  /** RCPT commands by mailbox, in lower case; made-up mailboxes are not counted. */
  readonly asked: ReadonlyMap<string, number>
  /** Mailboxes that an address asked about since this was last called for it. */
  readonly takeAskedBy: (source: string) => ReadonlySet<string>
  /** Answers in a second from now on. */
  readonly pace: (perSecond: number) => void
  readonly stop: () => void
}

/** Plays the mail host of a domain at an address: `user…` exists, nobody else does. */
export async function countingHost(address: string, perSecond: number): Promise<CountingHost> {
  const asked = new Map<string, number>()
  const sources = new Map<string, Set<string>>()
  const waiting: (() => void)[] = []
  let allowed = 0
  let rate = perSecond
  const ticks = setInterval(() => {
    allowed = Math.min(rate / 10, allowed + rate / 50)
    while (allowed >= 1 && waiting.length > 0) {
      allowed--
      waiting.shift()?.()
    }
  }, 20)

  function rcpt(socket: Socket, source: string, mailbox: string): void {
    if (!mailbox.startsWith('user')) return void socket.write('550 5.1.1 no such mailbox\r\n')
    asked.set(mailbox, (asked.get(mailbox) ?? 0) + 1)
    const of = sources.get(source) ?? new Set()
    sources.set(source, of.add(mailbox))
    waiting.push(() => void socket.write('250 2.1.5 ok\r\n'))
  }
  function play(socket: Socket): void {
    const source = String(socket.remoteAddress).replace('::ffff:', '')
    let rest = ''
    socket.on('error', () => {}).setEncoding('latin1')
    socket.write('220 mx.counted.test ESMTP\r\n')
    socket.on('data', (text: string) => {
      const lines = `${rest}${text}`.split('\r\n')
      rest = lines.pop()!
      for (const line of lines) {
        const mailbox = /^RCPT TO:<([^@>]*)@/i.exec(line)?.[1]
        if (mailbox !== undefined) rcpt(socket, source, mailbox.toLowerCase())
        else if (/^QUIT/i.test(line)) socket.end('221 2.0.0 bye\r\n')
        else if (/^EHLO/i.test(line)) socket.write('250-mx.counted.test\r\n250 ENHANCEDSTATUSCODES\r\n')
        else socket.write('250 2.0.0 ok\r\n')
      }
    })
  }
  const server: Server = createServer(play)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: 25, host: address, backlog: 4_096 }, resolve)
  })
  return {
    asked,
    takeAskedBy: (source) => {
      const taken = sources.get(source) ?? new Set()
      sources.delete(source)
      return taken
    },
    pace: (next) => {
      rate = next
    },
    stop: () => {
      clearInterval(ticks)
      server.close()
    },
  }
}
