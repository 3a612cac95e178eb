import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MessageAddressAnswer, ReceivedMessageAnswer } from '../../src/answers/message.ts'
import { LaneError, type LaneReason } from '../../src/lane/heavy.ts'
import { networksOf, type Receiving, startReceiving } from '../../src/mail-in/receive.ts'
import { storedService } from '../../src/monitors/stored.ts'
import { parseDomain } from '../../src/names/domain.ts'
import type { Deps } from '../../src/operations/deps.ts'
import { analyseMessage } from '../../src/operations/message/analysis.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { openSite } from '../../src/start/pages.ts'
import { labApp, labDeps, labExecutor } from '../lab/app.ts'
import { CERT, KEY } from '../lab/certificate.ts'
import { labDatabase } from '../lab/database.ts'
import type { LabZone } from '../lab/dns.ts'
import { crlf, LAB_KEY, signed } from '../lab/messages.ts'
import { UNBOUNDED } from '../lab/storage.ts'
import { labWorld } from '../lab/world.ts'

/**
 * Messages sent to one-time addresses over real sockets, and what a caller of the API and a visitor of the page see of
 * them.
 */
const MAX = 100_000
const DOMAIN = 'test.example.org'
const MARKER = 'Zebra-marker-of-the-text'
const zone: LabZone = {
  'example.org': { MX: [[10, 'mail.example.org']], TXT: ['v=spf1 ip4:127.0.0.0/8 -all'] },
  'mail.example.org': { A: ['45.53.1.1'] },
  'a._domainkey.example.org': { TXT: [LAB_KEY] },
  '_dmarc.example.org': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.org'] },
}
const MAIL = signed(
  `From: Joe <joe@example.org>
To: eve@test.example.org
Subject: Minutes
Date: Mon, 23 Nov 2026 09:00:00 +0000
Message-ID: <1@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Hello Eve, ${MARKER}
`,
  { domain: 'example.org' },
)

const logged: string[] = []
const log = (event: string, fields = {}): void => void logged.push(`${event} ${JSON.stringify(fields)}`)
const world = { ...labWorld(zone), log: { debug: log, info: log, warn: log, error: log } }
let later = 0
const clocked = { ...world, monotonic: () => performance.now() + later }
let deps: Deps
let app: FastifyInstance
let settings: Omit<Parameters<typeof startReceiving>[0], 'lmtp'>
let smtp: Receiving
let lmtp: Receiving

beforeAll(async () => {
  const database = await labDatabase()
  const { now } = world
  const stored = storedService({ open: async () => database, storage: UNBOUNDED, now, log: world.log, maxStored: 12 })
  deps = labDeps(clocked, { stored: async () => stored })
  const domain = parseDomain(DOMAIN)
  if (domain.ok) deps.messages.inbox.open(domain.value)
  const operations = await allOperations()
  const execute = labExecutor(clocked, deps)
  const site = openSite({ operations, execute, world: clocked, version: '0', canReceive: deps.messages.inbox.isOpen })
  app = await labApp(clocked, { deps, site, onLine: (line) => void logged.push(line) })
  settings = {
    ...{ listen: '127.0.0.1:0', domain: DOMAIN, maxOctets: MAX, world: clocked, inbox: deps.messages.inbox },
    analyse: (raw, envelope, onRead) =>
      analyseMessage({ ...clocked, signal: AbortSignal.timeout(20_000) }, deps, raw, {
        envelope,
        onRead,
        by: { caller: 'mail' },
      }),
  }
  smtp = await startReceiving({ ...settings, lmtp: false, tls: { cert: CERT, key: KEY } })
  lmtp = await startReceiving({ ...settings, lmtp: true })
})
afterAll(async () => {
  await Promise.all([smtp.close(), lmtp.close(), app.close()])
})

async function newAddress(payload: object = {}): Promise<MessageAddressAnswer> {
  const response = await app.inject({ method: 'POST', url: '/v1/message/address', payload })
  expect(response.statusCode).toBe(201)
  return response.json()
}
const show = async (id: string): Promise<ReceivedMessageAnswer> =>
  (await app.inject({ url: `/v1/message/${id}` })).json()

/** The replies to commands, sent one after another. */
async function talk(
  server: Receiving,
  commands: readonly string[],
  localAddress = '127.0.0.1',
): Promise<readonly string[]> {
  const socket = connect({ port: server.port!, host: '127.0.0.1', localAddress })
  const replies: string[] = []
  let text = ''
  const next = (): Promise<string> =>
    new Promise((resolve) => {
      const read = (): void => {
        const end = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(text)?.[0]
        if (end === undefined) return
        text = text.slice(end.length)
        socket.off('data', take).off('close', ended)
        resolve(end.trim())
      }
      const take = (octets: Buffer): void => {
        text += octets.toString('latin1')
        read()
      }
      const ended = (): void => resolve('closed')
      socket.on('data', take).once('close', ended)
      read()
    })
  socket.on('error', () => {})
  replies.push(await next())
  for (const command of commands) {
    socket.write(command, 'latin1')
    replies.push(await next())
  }
  socket.destroy()
  return replies.slice(1)
}
type Held = {
  readonly socket: Socket
  readonly greeting: string
  readonly text: () => string
  /** Sends a line and waits for its reply. */
  readonly say: (line: string) => Promise<void>
}
const held: Held[] = []
/** A connection that stays open; resolves after its greeting. */
async function hold(server: Receiving, localAddress: string): Promise<Held> {
  const socket = connect({ port: server.port!, host: '127.0.0.1', localAddress })
  let text = ''
  socket.on('error', () => {}).on('data', (octets) => (text += octets.toString('latin1')))
  const said = (): Promise<void> => new Promise((resolve) => socket.once('data', () => setTimeout(resolve, 20)))
  await said()
  const one: Held = {
    ...{ socket, greeting: text, text: () => text },
    say: (line) => {
      const answered = said()
      socket.write(line, 'latin1')
      return answered
    },
  }
  held.push(one)
  return one
}
const codes = (replies: readonly string[]): readonly string[] => replies.map((reply) => reply.slice(0, 3))
const EHLO = 'EHLO mail.example.org\r\n'
const transaction = (to: string, from = '<joe@example.org>', mail = MAIL): readonly string[] => [
  `MAIL FROM:${from}\r\n`,
  `RCPT TO:<${to}>\r\n`,
  'DATA\r\n',
  `${mail}\r\n.\r\n`,
]
const analysed = (id: string) =>
  expect.poll(async () => (await show(id)).answer?.verdict, { timeout: 20_000 }).toBeDefined()

describe('a one-time address', () => {
  it('takes a message over SMTP; its envelope is that of the connection', async () => {
    const { id, address, expires_at } = await newAddress()
    expect(address).toMatch(/^t-[a-z2-7]{26}@test\.example\.org$/)
    expect(await show(id)).toEqual({ id, state: 'waiting', address, expires_at })
    expect(codes(await talk(smtp, [EHLO, ...transaction(address.toUpperCase())]))).toEqual(
      '250 250 250 354 250'.split(' '),
    )
    await analysed(id)
    const { state, answer } = await show(id)
    expect(state).toBe('received')
    expect(answer).toMatchObject({
      envelope: { ip: '127.0.0.1', helo: 'mail.example.org', mail_from: 'joe@example.org', known_from: 'connection' },
      spf: { result: 'pass', aligned: true },
      dkim: [{ result: 'pass', aligned: true }],
      dmarc: { result: 'pass', aligned_by: ['spf', 'dkim'] },
      path: [{ by: DOMAIN, from: 'mail.example.org', with: 'ESMTP', tls: false, trusted: true }],
    })
  })
  it('has its analysis stored, and nothing else, once it is there', async () => {
    const { id, address } = await newAddress()
    const save = async () => {
      const response = await app.inject({ url: `/v1/message/${id}?save=true&expires_in=1d` })
      return { status: response.statusCode, body: response.json() }
    }
    expect(await save()).toMatchObject({
      status: 409,
      body: { code: 'wrong_state', detail: 'the state is waiting: there is no analysis to store' },
    })
    await talk(smtp, [EHLO, ...transaction(address)])
    await analysed(id)
    const { answer } = await show(id)
    const { status, body } = await save()
    const { saved, ...sent } = body.answer
    expect([status, sent, body.state, body.saved]).toEqual([200, answer, 'received', undefined])
    const kept = (await app.inject({ url: saved.url, headers: { accept: 'application/json' } })).json()
    expect(kept).toMatchObject({ kind: 'message', id: saved.id, verdict: answer?.verdict, spf: answer?.spf })
    expect(JSON.stringify(kept)).not.toMatch(new RegExp(`${id}|${address.slice(0, 28)}|${MARKER}`))
    expect(await show(id)).toEqual({ ...body, answer: sent }) // as it was
  })
  it('takes one message', async () => {
    const { address } = await newAddress()
    const replies = await talk(smtp, [EHLO, ...transaction(address), ...transaction(address).slice(0, 2)])
    expect(codes(replies).slice(-3)).toEqual(['250', '250', '550'])
  })
  it('over STARTTLS', async () => {
    const { id, address } = await newAddress()
    const transport = createTransport({
      host: '127.0.0.1',
      port: smtp.port!,
      requireTLS: true,
      tls: { rejectUnauthorized: false },
    })
    await transport.sendMail({ envelope: { from: '', to: address }, raw: MAIL })
    transport.close()
    await analysed(id)
    expect((await show(id)).answer).toMatchObject({
      envelope: { mail_from: '', known_from: 'connection' },
      path: [{ with: 'ESMTPS', tls: true }],
    })
  })
  it('over LMTP, where only the envelope sender is known', async () => {
    const { id, address } = await newAddress()
    expect(codes(await talk(lmtp, [EHLO.replace('EHLO', 'LHLO'), ...transaction(address)])).at(-1)).toBe('250')
    await analysed(id)
    expect((await show(id)).answer).toMatchObject({
      envelope: { ip: null, mail_from: 'joe@example.org', known_from: 'connection' },
      spf: { result: 'unknown' },
      dmarc: { result: 'pass', aligned_by: ['dkim'] },
    })
  })
  it('does not believe what the message says about this host', async () => {
    const { id, address } = await newAddress()
    const forged =
      crlf(`Received: from good.example (good.example [192.0.2.9]) by ${DOMAIN} with ESMTPS; Mon, 23 Nov 2026 09:00:00 +0000
Authentication-Results: ${DOMAIN}; dmarc=fail header.from=example.org
`)
    await talk(smtp, [EHLO, ...transaction(address, '<joe@example.org>', forged + MAIL)])
    await analysed(id)
    const { answer } = await show(id)
    expect(answer?.path.map(({ trusted }) => trusted)).toEqual([false, true])
    expect(answer?.authentication_results).toMatchObject([{ trusted: false }])
    expect(answer?.envelope.ip).toBe('127.0.0.1')
  })
  it.each<[LaneReason, boolean, string]>([
    ['time', false, '554'],
    ['remembered', false, '554'],
    ['full', false, '451'],
    ['time', true, '250'], // a mail server in front would bounce to whoever the envelope names
  ])('waits on when its message cannot be read (%s, LMTP %j), which is answered %s', async (reason, isLmtp, code) => {
    const ending = {
      ...clocked,
      heavy: () => Promise.reject(new LaneError(reason)),
      signal: AbortSignal.timeout(20_000),
    }
    const server = await startReceiving({
      ...settings,
      lmtp: isLmtp,
      analyse: (raw, envelope, onRead) =>
        analyseMessage(ending, deps, raw, { envelope, onRead, by: { caller: 'mail' } }),
    })
    const { id, address } = await newAddress()
    const replies = await talk(server, [isLmtp ? EHLO.replace('EHLO', 'LHLO') : EHLO, ...transaction(address)])
    await server.close()
    expect([codes(replies).at(-1), (await show(id)).state]).toEqual([code, 'waiting'])
  })
  it('expires', async () => {
    const { id, address } = await newAddress({ expires_in: '1m' })
    later += 61_000
    expect((await show(id)).state).toBe('expired')
    expect(codes(await talk(smtp, [EHLO, ...transaction(address).slice(0, 2)]))).toEqual(['250', '250', '550'])
    later += 3_600_000
    expect((await app.inject({ url: `/v1/message/${id}` })).statusCode).toBe(404)
  })
  it('is told as events: each state, the last with the answer', async () => {
    const { id, address } = await newAddress()
    const events = app.inject({ url: `/v1/message/${id}/events` })
    await talk(smtp, [EHLO, ...transaction(address)])
    const told = (await events).body
      .split('\n\n')
      .filter((block) => block.startsWith('event: state'))
      .map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)))
    expect(told.map(({ state }) => state).at(0)).toBe('waiting')
    expect(told.at(-1)).toMatchObject({ state: 'received', answer: { dmarc: { result: 'pass' } } })
  })
  it('has a page, which waits and then shows the analysis', async () => {
    const html = { accept: 'text/html', 'sec-fetch-site': 'same-origin' }
    const form = await app.inject({ url: '/message', headers: html })
    const token = /name="_csrf" value="([\w-]+)"/.exec(form.body)![1]!
    const cookie = String(form.headers['set-cookie'] ?? '').split(';')[0]!
    const made = await app.inject({
      method: 'POST',
      url: '/message/address',
      headers: { ...html, cookie, 'content-type': 'application/x-www-form-urlencoded' },
      payload: `_csrf=${token}`,
    })
    const path = String(made.headers.location)
    const waiting = await app.inject({ url: path, headers: html })
    expect(waiting.body).toMatch(/data-state="waiting"/)
    expect(waiting.body).toMatch(/<noscript><meta http-equiv="refresh" content="10">/)
    const address = /t-[a-z2-7]{26}@test\.example\.org/.exec(waiting.body)![0]
    await talk(smtp, [EHLO, ...transaction(address)])
    await analysed(path.split('/').at(-1)!)
    const shown = await app.inject({ url: path, headers: html })
    expect(shown.body).toMatch(/DMARC passes for example\.org/)
    expect(shown.body).not.toMatch(/data-events/)
  })
})

describe('what is refused', () => {
  const unknown = `t-${'a'.repeat(26)}@${DOMAIN}`
  it.each<[string, readonly string[], string]>([
    ['an address that was never made', [`MAIL FROM:<>\r\n`, `RCPT TO:<${unknown}>\r\n`], '550'],
    ['another domain', [`MAIL FROM:<>\r\n`, 'RCPT TO:<postmaster@example.net>\r\n'], '550'],
    ['an address of 10 kB', [`MAIL FROM:<>\r\n`, `RCPT TO:<${'a'.repeat(10_000)}@${DOMAIN}>\r\n`], '501'],
    ['DATA without a recipient', ['MAIL FROM:<>\r\n', 'DATA\r\n'], '503'],
    ['a size that is announced', [`MAIL FROM:<> SIZE=${MAX + 1}\r\n`], '552'],
    ['VRFY tells nothing', [`VRFY ${unknown}\r\n`], '252'],
    ['AUTH', ['AUTH PLAIN AAAA\r\n'], '500'],
  ])('%s', async (_, commands, code) => {
    expect(codes(await talk(smtp, [EHLO, ...commands])).at(-1)).toBe(code)
  })
  it('a message that is too large, and the address still waits', async () => {
    const { id, address } = await newAddress()
    const mail = `${MAIL}${`${'x'.repeat(70)}\r\n`.repeat(2_000)}`
    expect(codes(await talk(smtp, [EHLO, ...transaction(address, '<>', mail)])).at(-1)).toBe('552')
    expect((await show(id)).state).toBe('waiting')
  })
  it('a message that is cut off is not analysed', async () => {
    const { id, address } = await newAddress()
    await talk(smtp, [EHLO, ...transaction(address).slice(0, 3)])
    expect((await show(id)).state).toBe('waiting')
    expect(codes(await talk(smtp, [EHLO, ...transaction(address)])).at(-1)).toBe('250')
    await analysed(id)
  })
  it('a second recipient gets its own transaction', async () => {
    const [one, other] = [await newAddress(), await newAddress()]
    const commands = ['MAIL FROM:<>\r\n', `RCPT TO:<${one.address}>\r\n`, `RCPT TO:<${other.address}>\r\n`]
    expect(codes(await talk(smtp, [EHLO, ...commands]))).toEqual(['250', '250', '250', '452'])
  })
  it('a client that guesses addresses is disconnected', async () => {
    const guesses = Array.from({ length: 12 }, () => `RCPT TO:<${unknown}>\r\n`)
    expect(codes(await talk(smtp, [EHLO, 'MAIL FROM:<>\r\n', ...guesses])).slice(2)).toEqual([
      ...Array(10).fill('550'),
      '421',
      'clo',
    ])
  })
  it('more than 60 messages at once of a client, and not those of others', async () => {
    const nine = Array.from({ length: 9 }, () => ['MAIL FROM:<>\r\n', 'RSET\r\n']).flat()
    const of = async (client: string) => codes(await talk(smtp, [EHLO, ...nine], client))
    for (let i = 0; i < 6; i++) expect(await of('127.0.61.1')).toEqual(Array(19).fill('250'))
    const rest = await Promise.all([1, 2, 3].map(() => of('127.0.61.1'))) // a token a second comes back
    expect(rest.flat()).toContain('450')
    expect(await of('127.0.62.1')).toEqual(Array(19).fill('250'))
  })
  it.each<[string, string]>([
    ['NOOP', 'NOOP\r\n'],
    ['RSET', 'RSET\r\n'],
    ['HELP', 'HELP\r\n'],
    ['VRFY', 'VRFY x\r\n'],
    ['EHLO again', EHLO],
    ['a syntax error', 'MAIL FROM\r\n'],
    ['RCPT before MAIL', `RCPT TO:<${unknown}>\r\n`],
  ])('a client that sends %s without an end is disconnected', async (_, command) => {
    const replies = codes(await talk(smtp, [EHLO, ...Array(21).fill(command)], '127.0.63.1'))
    expect([replies[20], replies[21]]).toEqual(['421', 'clo'])
    expect(replies.slice(0, 20)).not.toContain('421')
  })
  it('twenty commands between two messages, again and again', async () => {
    const commands: string[] = [EHLO]
    for (let i = 0; i < 3; i++) {
      const { address } = await newAddress()
      commands.push(...Array(14).fill('NOOP\r\n'), ...transaction(address))
    }
    expect(codes(await talk(smtp, commands, '127.0.64.1'))).not.toContain('421')
  })
  it('a slow sender is disconnected, and what it sent is forgotten', async () => {
    const { id, address } = await newAddress()
    const server = await startReceiving({ ...settings, lmtp: false, connectionMs: 1_500 })
    const socket = connect(server.port!, '127.0.0.1')
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.on('error', () => {}).on('data', () => {})
    const lines = [EHLO, ...transaction(address).slice(0, 3)]
    const trickle = setInterval(() => socket.write(lines.shift() ?? 'x', 'latin1'), 100)
    await closed
    clearInterval(trickle)
    await server.close()
    expect((await show(id)).state).toBe('waiting')
  })
  it('a sixth connection of a client', async () => {
    const greeting = (): Promise<[Socket, string]> =>
      new Promise((resolve) => {
        const socket = connect(smtp.port!, '127.0.0.1')
        socket.on('error', () => {}).once('close', () => resolve([socket, 'closed']))
        socket.once('data', (octets) => resolve([socket, octets.toString('latin1')]))
      })
    const open: Socket[] = []
    // connections of the tests above may still be closing
    await expect
      .poll(
        async () => {
          for (const socket of open.splice(0)) socket.destroy()
          await new Promise((resolve) => setTimeout(resolve, 300))
          const greetings: string[] = []
          for (let i = 0; i < 6; i++) {
            const [socket, text] = await greeting()
            open.push(socket)
            greetings.push(text.slice(0, 3))
          }
          return greetings
        },
        { timeout: 20_000 },
      )
      .toEqual(['220', '220', '220', '220', '220', '421'])
    for (const socket of open) socket.destroy()
  })
  it('an eleventh connection of a network', async () => {
    const server = await startReceiving({ ...settings, lmtp: false })
    const of = async (client: string) => {
      const held = await hold(server, client)
      return held.greeting.slice(0, 3)
    }
    const greetings = await Promise.all([1, 2, 3].flatMap((n) => [1, 2, 3, 4].map(() => of(`127.0.70.${n}`))))
    expect(greetings.toSorted()).toEqual([...Array(10).fill('220'), '421', '421'])
    expect(await of('127.0.71.1')).toBe('220')
    for (const { socket } of held.splice(0)) socket.destroy()
    await server.close()
  })
  it('clients that hold all places and say nothing give way, the oldest first, and not one that has a recipient', async () => {
    const server = await startReceiving({ ...settings, lmtp: false })
    const { address } = await newAddress()
    const first = await hold(server, '127.0.80.1')
    const lines = [EHLO, 'MAIL FROM:<>\r\n', `RCPT TO:<${address}>\r\n`]
    for (const line of lines) await first.say(line)
    const second = await hold(server, '127.0.80.1')
    for (let network = 81; network < 91; network++)
      await Promise.all([1, 1, 1, 1, 1, 2, 2, 2, 2, 2].map((n) => hold(server, `127.0.${network}.${n}`)))
    const last = await hold(server, '127.0.99.1')
    expect(last.greeting.slice(0, 3)).toBe('220')
    await expect.poll(second.text).toMatch(/^421/m)
    await first.say('DATA\r\n')
    await first.say(`${MAIL}\r\n.\r\n`)
    expect(codes(first.text().trim().split('\r\n')).slice(-2)).toEqual(['354', '250'])
    for (const { socket } of held.splice(0)) socket.destroy()
    await server.close()
  })
  it.each([
    ['192.0.2.7', '192.0.2.7', '192.0.2.0/24'],
    ['2001:db8:1:2:3::4', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['', '', 'network of '],
  ])('%s has the places of %s and %s', (address, client, network) =>
    expect(networksOf(address)).toEqual([client, network]),
  )
  it.each([
    ['a life that is too short', { expires_in: '1s' }, 400],
    ['a life that is too long', { expires_in: '25h' }, 400],
    ['an unknown field', { x: 1 }, 400],
  ])('%s', async (_, payload, status) => {
    expect((await app.inject({ method: 'POST', url: '/v1/message/address', payload })).statusCode).toBe(status)
  })
  it('an address without a body has the default life', async () => {
    expect((await app.inject({ method: 'POST', url: '/v1/message/address' })).statusCode).toBe(201)
  })
  it.each(['address', 'msg_x', `msg_${'A'.repeat(22)}`])('GET /v1/message/%s is not found', async (id) => {
    expect((await app.inject({ url: `/v1/message/${id}` })).statusCode).toBe(404)
  })
})

it('the text of a message and its addresses are in no log', () => {
  const all = logged.join('\n')
  expect(all).toMatch(/listening for messages/)
  expect(all).not.toMatch(new RegExp(`${MARKER}|joe@example|t-[a-z2-7]{26}@`))
})

it('a service that receives no messages says so', async () => {
  const other = await labApp(labWorld(zone))
  const response = await other.inject({ method: 'POST', url: '/v1/message/address', payload: {} })
  expect([response.statusCode, response.json().code]).toEqual([409, 'wrong_state'])
})
