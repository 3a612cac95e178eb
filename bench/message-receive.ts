import { fork } from 'node:child_process'
import { connect } from 'node:net'
import { startReceiving } from '../src/mail-in/receive.ts'
import { inbox as inboxOf } from '../src/message/inbox.ts'
import { domain } from '../src/names/domain.ts'
import { analyseMessage } from '../src/operations/message/analysis.ts'
import { labDeps } from '../test/lab/app.ts'
import { LIVE_LISTS } from '../test/lab/lists.ts'
import { LAB_KEY, signed } from '../test/lab/messages.ts'
import { labWorld } from '../test/lab/world.ts'
import { figures, machine } from './figures.ts'

/**
 * Messages that one core receives over SMTP and analyses, without the DNS: a process of its own sends them, from many
 * addresses on loopback, one to each one-time address. `node bench/message-receive.ts`.
 */
const MESSAGES = 1_000
const CLIENTS = 40
const DOMAIN = domain('test.example.org')

if (process.send) process.on('message', (order) => void sendAll(order as Order))
else await main()

type Order = { readonly port: number; readonly addresses: readonly string[]; readonly raw: string }

async function main(): Promise<void> {
  const zone = {
    ...LIVE_LISTS,
    'example.org': { MX: [[10, 'mail.example.org'] as const], TXT: ['v=spf1 ip4:127.0.0.0/8 -all'] },
    'mail.example.org': { A: ['45.53.1.1'] },
    'a._domainkey.example.org': { TXT: [LAB_KEY] },
    '_dmarc.example.org': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.org'] },
  }
  const world = labWorld(zone)
  const deps = labDeps(world)
  const inbox = inboxOf(world)
  inbox.open(DOMAIN)
  const server = await startReceiving({
    ...{ listen: '127.0.0.1:0', lmtp: false, domain: DOMAIN, maxOctets: 10_485_760, inbox, world },
    analyse: (raw, envelope, onRead) =>
      analyseMessage({ ...world, signal: AbortSignal.timeout(30_000) }, deps, raw, {
        envelope,
        onRead,
        by: { caller: 'mail' },
      }),
  })
  const owner = { id: '', isAdmin: true }
  const waiting = Array.from({ length: MESSAGES }, () => inbox.create(owner, 3_600_000))
  const head =
    'From: a@example.org\nTo: b@b.example\nSubject: x\nDate: Mon, 23 Nov 2026 09:00:00 +0000\nMessage-ID: <1@example.org>\n\n'
  const raw = signed(head + 'a line of text with a link https://www.example.com/\n'.repeat(200), {
    domain: 'example.org',
  })
  const child = fork(import.meta.filename)
  const before = process.cpuUsage()
  const begun = performance.now()
  child.send({ port: server.port!, addresses: waiting.map(({ address }) => address), raw } satisfies Order)
  await new Promise<void>((resolve) => child.once('exit', () => resolve()))
  while (waiting.some(({ id }) => inbox.show(id, owner).answer === undefined))
    await new Promise((resolve) => setTimeout(resolve, 50))
  const seconds = (performance.now() - begun) / 1_000
  const { user, system } = process.cpuUsage(before)
  const cpu = (user + system) / 1_000
  figures('message-receive', [
    `${((MESSAGES / cpu) * 1_000).toFixed(0)} messages a second are received over SMTP and analysed by a core (goal 100), without the DNS.`,
    `${MESSAGES} messages of ${Math.round(raw.length / 1_000)} kB: ${(MESSAGES / seconds).toFixed(0)}/s by the clock, ${(cpu / MESSAGES).toFixed(2)} ms of processor time each; ${machine()}.`,
  ])
  await server.close()
}

async function sendAll({ port, addresses, raw }: Order): Promise<void> {
  const share = Math.ceil(addresses.length / CLIENTS)
  await Promise.all(
    Array.from({ length: CLIENTS }, (_, n) =>
      send(port, `127.0.1.${n + 1}`, addresses.slice(n * share, (n + 1) * share), raw),
    ),
  )
  process.exit(0)
}

/** One connection of a client: all its messages, one after another. */
function send(port: number, localAddress: string, addresses: readonly string[], raw: string): Promise<void> {
  const commands = [
    'EHLO mail.example.org\r\n',
    ...addresses.flatMap((to) => [
      'MAIL FROM:<a@example.org>\r\n',
      `RCPT TO:<${to}>\r\n`,
      'DATA\r\n',
      `${raw}\r\n.\r\n`,
    ]),
    'QUIT\r\n',
  ]
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    let text = ''
    socket.on('data', (octets) => {
      text += octets.toString('latin1')
      if (!/^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n$/.test(text)) return
      if (/^[45]/.test(text)) throw new Error(text)
      text = ''
      const next = commands.shift()
      if (next !== undefined) socket.write(next, 'latin1')
    })
    socket.once('close', () => resolve())
  })
}
