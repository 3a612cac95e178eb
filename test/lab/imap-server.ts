import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createServer } from 'node:tls'
import { LOCAL_CERT, LOCAL_KEY } from './certificate.ts'

/** What the server does instead of its usual answer to a command (`UID MOVE`, `UID FETCH`, …). */
export type ImapFault = 'refuse' | 'drop' | 'silence'

/** A mailbox that tests change while the server runs. */
export type LabMailbox = {
  validity: number
  /** MOVE is among the capabilities (RFC 6851). */
  move: boolean
  /** Messages of INBOX by UID; what is moved goes from here. */
  readonly inbox: Map<number, { readonly raw: string; readonly flags: Set<string> }>
  /** UIDs by the mailbox to which they were moved. */
  readonly moved: Map<string, number[]>
  /** The command that fails, each time it comes, and how. */
  fault?: { readonly command: string; readonly how: ImapFault }
  /** The untagged lines of an answer instead of the usual ones: a server that lies. */
  lie?: (command: string, rest: string) => string | undefined
  /** Called before a command is answered. */
  onCommand?: (command: string) => void
  /** Every command that came, without its tag. */
  readonly commands: string[]
}

export type LabImap = LabMailbox & { readonly port: number; readonly url: string; readonly close: () => void }

/** Each server has a UIDVALIDITY of its own: readers remember where they are by the name of the mailbox. */
let validities = 0

/**
 * An IMAP server (RFC 3501, 4315, 6851) of one user on a free port of 127.0.0.1, with TLS, as far as a client that
 * reads reports needs it.
 */
export async function labImap(messages: readonly string[] = []): Promise<LabImap> {
  const box: LabMailbox = {
    ...{ validity: ++validities, move: true, moved: new Map(), commands: [] },
    inbox: new Map(messages.map((raw, n) => [n + 1, { raw, flags: new Set() }])),
  }
  const open = new Set<Socket>()
  const server = createServer({ cert: LOCAL_CERT, key: LOCAL_KEY }, (socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    socket.write(`* OK [CAPABILITY ${capabilities(box)}] ready\r\n`)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end)
        text = text.slice(end + 2)
        answer(box, socket, line)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return Object.assign(box, {
    port,
    url: `imaps://joe@127.0.0.1:${port}/INBOX`,
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  })
}

const capabilities = ({ move }: LabMailbox): string => `IMAP4rev1 UIDPLUS${move ? ' MOVE' : ''}`

function answer(box: LabMailbox, socket: Socket, line: string): void {
  const [, tag = '', command = '', rest = ''] = /^(\S+) ((?:UID )?\S+) ?(.*)$/.exec(line) ?? []
  box.commands.push(command === 'LOGIN' || command === 'AUTHENTICATE' ? command : `${command} ${rest}`.trim())
  box.onCommand?.(command)
  if (box.fault?.command === command) {
    if (box.fault.how === 'drop') socket.destroy()
    if (box.fault.how === 'refuse') socket.write(`${tag} NO [LIMIT] not now\r\n`)
    return
  }
  if (socket.destroyed) return
  socket.write(
    `${box.lie?.(command, rest) ?? replies(box, command, rest)}${tag} OK ${command === 'SELECT' ? '[READ-WRITE] ' : ''}done\r\n`,
    'latin1',
  )
  if (command === 'LOGOUT') socket.end()
}

/** The untagged lines of an answer. */
function replies(box: LabMailbox, command: string, rest: string): string {
  const { inbox, validity } = box
  const last = Math.max(0, ...inbox.keys())
  switch (command) {
    case 'CAPABILITY':
      return `* CAPABILITY ${capabilities(box)}\r\n`
    case 'LIST':
      return rest === '"" ""' ? '* LIST (\\Noselect) "." ""\r\n' : '* LIST (\\HasNoChildren) "." INBOX\r\n'
    case 'LSUB':
      return ''
    case 'SELECT':
      return `* FLAGS (\\Seen \\Deleted)\r\n* ${inbox.size} EXISTS\r\n* OK [UIDVALIDITY ${validity}] ok\r\n* OK [UIDNEXT ${last + 1}] ok\r\n`
    case 'UID FETCH':
      return fetched(box, rest)
    case 'UID MOVE': {
      const [, uid = '', mailbox = ''] = /^(\d+) "?([^"]*)"?$/.exec(rest) ?? []
      const place = [...inbox.keys()].indexOf(Number(uid)) + 1
      inbox.delete(Number(uid))
      box.moved.set(mailbox, [...(box.moved.get(mailbox) ?? []), Number(uid)])
      return `* OK [COPYUID 1 ${uid} ${uid}] moved\r\n* ${place} EXPUNGE\r\n`
    }
    case 'LOGOUT':
      return '* BYE\r\n'
    default:
      return ''
  }
}

function fetched({ inbox }: LabMailbox, rest: string): string {
  const [, range = '', items = ''] = /^(\S+) (.*)$/.exec(rest) ?? []
  const [from = 0, to = from] = range
    .split(':')
    .map((one) => (one === '*' ? Math.max(0, ...inbox.keys()) : Number(one)))
  let text = ''
  for (const [place, [uid, { raw, flags }]] of [...inbox].entries()) {
    if (uid < Math.min(from, to) || uid > Math.max(from, to)) continue
    const octets = Buffer.byteLength(raw, 'latin1')
    if (/\bBODY\[/.test(items)) flags.add('\\Seen') // without PEEK (RFC 3501 §6.4.5)
    const body = /BODY(?:\.PEEK)?\[/.test(items) ? ` BODY[] {${octets}}\r\n${raw}` : ''
    text += `* ${place + 1} FETCH (UID ${uid} RFC822.SIZE ${octets} FLAGS (${[...flags].join(' ')})${body})\r\n`
  }
  return text
}
