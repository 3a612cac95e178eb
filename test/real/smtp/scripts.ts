import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { logFile } from '../processes.ts'
import type { Mailbox } from '../world.ts'

/** A mail host that no mail server would be: what it does with a connection is written here. */
export type ScriptedListener = {
  readonly domain: string
  readonly address: string
  readonly shows: string
  readonly mailboxes: readonly Mailbox[]
  readonly play: (socket: Socket) => void
}

const unreachable = (reason: string): readonly Mailbox[] => [{ local: 'user', code: 0, result: 'unreachable', reason }]

/** Scripted sockets, one address and one domain each. */
export const scriptedListeners: readonly ScriptedListener[] = [
  {
    domain: 'silent.test',
    address: '45.53.7.1',
    shows: 'takes the connection and says nothing',
    mailboxes: unreachable('timeout'),
    play: () => {},
  },
  {
    domain: 'reset.test',
    address: '45.53.7.2',
    shows: 'RST instead of a banner',
    mailboxes: unreachable('connection_lost'),
    play: (socket) => void socket.resetAndDestroy(),
  },
  {
    domain: 'webserver.test',
    address: '45.53.7.3',
    shows: 'answers as a web server would',
    mailboxes: unreachable('protocol_error'),
    play: (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'),
  },
  {
    domain: 'dribble.test',
    address: '45.53.7.4',
    shows: 'banner at one byte a second',
    mailboxes: unreachable('timeout'),
    play: (socket) => dribble(socket, '220 mx.dribble.test ESMTP in no hurry at all\r\n'),
  },
  {
    domain: 'endless.test',
    address: '45.53.7.5',
    shows: 'a banner of lines without end',
    mailboxes: unreachable('protocol_error'),
    play: (socket) => pour(socket, '220-and another line\r\n'),
  },
  {
    domain: 'longline.test',
    address: '45.53.7.6',
    shows: 'a line without end',
    mailboxes: unreachable('protocol_error'),
    play: (socket) => pour(socket, 'x'.repeat(65_536)),
  },
  {
    domain: 'hangsup.test',
    address: '45.53.7.7',
    shows: 'hangs up after the banner',
    mailboxes: unreachable('connection_lost'),
    play: (socket) => void socket.end('220 mx.hangsup.test ESMTP\r\n'),
  },
  {
    domain: 'hangsuprcpt.test',
    address: '45.53.7.8',
    shows: 'hangs up at RCPT',
    mailboxes: unreachable('connection_lost'),
    play: (socket) => converse(socket, { RCPT: 'close' }),
  },
  {
    domain: 'silentrcpt.test',
    address: '45.53.7.9',
    shows: 'never answers RCPT',
    mailboxes: unreachable('timeout'),
    play: (socket) => converse(socket, { RCPT: 'silence' }),
  },
  {
    domain: 'twocodes.test',
    address: '45.53.7.10',
    shows: 'a reply whose lines have different codes',
    mailboxes: unreachable('protocol_error'),
    play: (socket) => converse(socket, { RCPT: '250-yes\r\n550 no\r\n' }),
  },
  {
    domain: 'noise.test',
    address: '45.53.7.11',
    shows: 'random bytes',
    mailboxes: unreachable('protocol_error'),
    play: (socket) => void socket.end(randomBytes(65_536)),
  },
  {
    domain: 'brokentls.test',
    address: '45.53.7.12',
    shows: 'offers STARTTLS and breaks it off',
    mailboxes: [],
    play: (socket) =>
      converse(socket, { EHLO: '250-mx.brokentls.test\r\n250 STARTTLS\r\n', STARTTLS: '220 go\r\nnot tls\r\n' }),
  },
  {
    domain: 'heloonly.test',
    address: '45.53.7.13',
    shows: 'knows HELO and not EHLO (RFC 5321 §3.2)',
    mailboxes: [{ local: 'user', code: 250, result: 'catch_all', reason: 'accept_all' }],
    play: (socket) => converse(socket, { EHLO: '502 5.5.1 what?\r\n' }),
  },
  {
    domain: 'rcpt421.test',
    address: '45.53.7.14',
    shows: '421 at RCPT',
    mailboxes: [{ local: 'user', code: 421, result: 'deferred', reason: 'temporary_failure' }],
    play: (socket) => converse(socket, { RCPT: '421 4.3.2 shutting down\r\n' }),
  },
  {
    // Postfix can only say this about the client ("Client host rejected"), which is another thing.
    domain: 'busy.test',
    address: '45.53.7.15',
    shows: '421 instead of a banner',
    mailboxes: [{ local: 'user', code: 421, result: 'deferred', reason: 'temporary_failure' }],
    play: (socket) => void socket.end('421 4.3.2 mx.busy.test Service busy, closing transmission channel\r\n'),
  },
  {
    domain: 'nuls.test',
    address: '45.53.7.16',
    shows: 'NULs instead of a banner',
    mailboxes: unreachable('protocol_error'),
    play: (socket) => void socket.end(Buffer.alloc(65_536)),
  },
  {
    domain: 'latebanner.test',
    address: '45.53.7.17',
    shows: 'banner after 25 s',
    mailboxes: unreachable('timeout'),
    play: (socket) => later(socket, 25_000, () => converse(socket, {})),
  },
  {
    domain: 'tlsbreaks.test',
    address: '45.53.7.18',
    shows: 'hangs up in the middle of the TLS handshake, and takes mail in the clear',
    mailboxes: [{ local: 'user', code: 250, result: 'catch_all', reason: 'accept_all' }],
    play: (socket) =>
      converse(socket, { EHLO: '250-mx.tlsbreaks.test\r\n250 STARTTLS\r\n', STARTTLS: '220 go\r\n', TLS: 'close' }),
  },
  {
    domain: 'endlessrcpt.test',
    address: '45.53.7.19',
    shows: 'answers RCPT with lines without end',
    mailboxes: unreachable('protocol_error'),
    play: (socket) => converse(socket, { RCPT: 'pour', text: '250-and another line\r\n' }),
  },
  {
    domain: 'longrcpt.test',
    address: '45.53.7.20',
    shows: 'answers RCPT with a line without end',
    mailboxes: unreachable('protocol_error'),
    play: (socket) => converse(socket, { RCPT: 'pour', text: `250 ${'x'.repeat(65_536)}` }),
  },
  {
    domain: 'dribblercpt.test',
    address: '45.53.7.21',
    shows: 'answers RCPT at one byte a second',
    mailboxes: unreachable('timeout'),
    play: (socket) => converse(socket, { RCPT: 'dribble', text: '250 2.1.5 all in good time\r\n' }),
  },
  {
    domain: 'recorder.test',
    address: '45.53.7.22',
    shows: 'takes all, and writes down every byte that it gets (/run/lab/log/recorder)',
    mailboxes: [{ local: 'user', code: 250, result: 'catch_all', reason: 'accept_all' }],
    play: (socket) => {
      socket.on('data', (chunk: Buffer | string) => appendFileSync(logFile('recorder'), chunk, 'latin1'))
      converse(socket, { EHLO: '250-mx.recorder.test\r\n250-PIPELINING\r\n250 SMTPUTF8\r\n' })
    },
  },
]

function later(socket: Socket, ms: number, act: () => void): void {
  const timer = setTimeout(act, ms)
  socket.once('close', () => clearTimeout(timer))
}

function dribble(socket: Socket, text: string): void {
  let sent = 0
  const timer = setInterval(() => {
    if (sent < text.length) socket.write(text[sent++]!)
  }, 1_000)
  socket.once('close', () => clearInterval(timer))
}

/** Sends the same for as long as the other side reads. */
function pour(socket: Socket, text: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(text));
  }
  socket.on('drain', more)
  more()
}

/**
 * Answers 250 to every command but those written: a reply as it stands, `close`, `silence`, or `pour` and `dribble` of
 * `text`. `TLS` is what comes behind STARTTLS.
 */
function converse(socket: Socket, replies: Readonly<Record<string, string>>): void {
  let pending = ''
  let secured = false
  socket.write('220 scripted ESMTP\r\n')
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    if (secured && replies.TLS === 'close') return void socket.destroy()
    const lines = (pending + chunk).split('\r\n')
    pending = lines.pop()!
    for (const line of lines) {
      const verb = line.split(' ', 1)[0]!.toUpperCase()
      if (verb === 'STARTTLS') secured = true
      answer(socket, verb, replies)
    }
  })
}

function answer(socket: Socket, verb: string, replies: Readonly<Record<string, string>>): void {
  const reply = replies[verb]
  if (verb === 'QUIT') socket.end('221 2.0.0 bye\r\n')
  else if (reply === 'close') socket.destroy()
  else if (reply === 'pour') pour(socket, replies.text!)
  else if (reply === 'dribble') dribble(socket, replies.text!)
  else if (reply !== 'silence') socket.write(reply ?? '250 2.0.0 ok\r\n')
}
