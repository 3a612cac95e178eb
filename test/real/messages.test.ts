import { globSync, readFileSync } from 'node:fs'
import { createTransport } from 'nodemailer'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { DomainBlacklistAnswer } from '../../src/answers/blacklist.ts'
import type { MessageAddressAnswer, MessageAnswer, ReceivedMessageAnswer } from '../../src/answers/message.ts'
import { MESSAGES, STATE } from './addresses.ts'
import { certificateFile } from './certificates.ts'
import { logFile } from './processes.ts'
import { cli, type Program, startProgram } from './program.ts'
import type { ListBehaviour } from './rbl/lists.ts'
import { withLists } from './rbl/servers.ts'
import { sendByExim, startSenders } from './smtp/senders.ts'
import { SUBMISSION_HOST } from './smtp/submission.ts'

/**
 * Messages of real mail servers to one-time addresses: signed by opendkim and by Exim, on their own, forwarded,
 * converted to 7 bits, and through a list.
 */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })
const MARKER = 'Zebra-marker-of-the-text'
let program: Program
let stopSenders: () => void
let list: SMTPServer

const SETTINGS = [
  ...['--messages-listen', `${MESSAGES.inbound}:25`, '--messages-domain', 'inbound.test'],
  ...['--messages-cert', certificateFile(SUBMISSION_HOST), '--messages-key', certificateFile(SUBMISSION_HOST)],
]

beforeAll(async () => {
  ;[program, stopSenders, list] = await Promise.all([startProgram(SETTINGS), startSenders(), startList()])
})
afterAll(async () => {
  stopSenders?.()
  await new Promise<void>((resolve) => list.close(() => resolve()))
  await program?.stop()
})

/**
 * A mailing list as Mailman configures it by default: a tag in the subject, a footer, its own fields, and its own
 * envelope sender.
 */
async function startList(): Promise<SMTPServer> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onData: (stream, { envelope }, callback) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const to = envelope.rcptTo[0]!.address.replace('@list.test', '@inbound.test')
        const message = Buffer.concat(chunks).toString('latin1')
        const raw = Buffer.from(
          message
            .replace(/^Subject: /m, 'Subject: [minutes] ')
            .replace(
              '\r\n\r\n',
              '\r\nList-Id: <minutes.list.test>\r\nPrecedence: list\r\nSender: minutes-bounces@list.test\r\n\r\n',
            )
            .concat('_______________________________________________\r\nMinutes mailing list\r\nminutes@list.test\r\n'),
          'latin1',
        )
        send('45.53.3.81', MESSAGES.list, { from: 'minutes-bounces@list.test', to }, raw).then(
          () => callback(null),
          (error: Error) => callback(error),
        )
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(25, MESSAGES.list, resolve))
  return server
}

async function send(host: string, source: string, envelope: { from: string; to: string }, raw: Buffer | string) {
  const transport = createTransport({ host, port: 25, localAddress: source, name: 'mx.list.test', ignoreTLS: true })
  try {
    await transport.sendMail({ envelope: { ...envelope, use8BitMime: true }, raw })
  } finally {
    transport.close()
  }
}

const mailTo = (to: string, text = `Hello Eve, ${MARKER}`, encoding = '7bit'): string =>
  [
    'From: Joe Doe <joe@signer.test>',
    `To: ${to}`,
    'Subject: Minutes of the meeting',
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${Math.random().toString(36).slice(2)}@signer.test>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Transfer-Encoding: ${encoding}`,
    '',
    text,
    '',
  ].join('\r\n')

/** The analysis of a message that `deliver` sends to a new one-time address, whose domain it may replace. */
async function received(deliver: (address: string) => Promise<void>): Promise<MessageAnswer> {
  const { id, address } = (await program.post('/v1/message/address', {})).body as MessageAddressAnswer
  await deliver(address)
  const show = async () => (await program.get(`/v1/message/${id}`)).body as ReceivedMessageAnswer
  await expect.poll(async () => (await show()).answer !== undefined, { timeout: 90_000, interval: 300 }).toBe(true)
  return (await show()).answer!
}

/** By Postfix, whose mail opendkim signs. */
const byPostfix = (domain: string, text?: string, encoding?: string) => async (address: string) => {
  const to = address.replace('inbound.test', domain)
  const raw = Buffer.from(mailTo(to, text, encoding), 'latin1')
  await send(MESSAGES.postfix, '45.53.1.2', { from: 'joe@signer.test', to }, raw)
}
const byExim = async (address: string): Promise<void> =>
  sendByExim('joe@signer.test', address, mailTo(address).replaceAll('\r\n', '\n'))

const ids = ({ findings }: MessageAnswer) => findings.map(({ id }) => id)

describe('a message', () => {
  it('of Postfix, signed by opendkim', async () => {
    const answer = await received(byPostfix('inbound.test'))
    expect(answer).toMatchObject({
      verdict: 'passes',
      envelope: {
        ip: MESSAGES.postfix,
        helo: 'mail.signer.test',
        mail_from: 'joe@signer.test',
        known_from: 'connection',
      },
      spf: { result: 'pass', aligned: true },
      dkim: [{ result: 'pass', aligned: true, canonicalization: 'relaxed/simple' }],
      dmarc: { result: 'pass', aligned_by: ['spf', 'dkim'] },
    })
    expect(answer.path.at(-1)).toMatchObject({ by: 'inbound.test', tls: true, trusted: true, forward_confirmed: true })
  })
  it('of Exim, signed by itself', async () => {
    expect(await received(byExim)).toMatchObject({
      verdict: 'passes',
      envelope: { ip: MESSAGES.exim, helo: 'exim.signer.test' },
      spf: { result: 'pass' },
      dkim: [{ result: 'pass', aligned: true }],
      dmarc: { result: 'pass' },
    })
  })
  it('through a forwarder: SPF fails, and the signature still holds', async () => {
    const answer = await received(byPostfix('forward.test'))
    expect(answer).toMatchObject({
      envelope: { ip: MESSAGES.forwarder, mail_from: 'joe@signer.test' },
      spf: { result: 'fail' },
      dkim: [{ result: 'pass' }],
      dmarc: { result: 'pass', aligned_by: ['dkim'] },
    })
  })
  it('through a host without 8BITMIME: the body was converted after signing', async () => {
    const answer = await received(byPostfix('narrow.test', `Gr\u00c3\u00bc\u00c3\u009fe, ${MARKER}`, '8bit'))
    expect(answer).toMatchObject({ path: [{}, {}, {}], dkim: [{ result: 'fail' }] })
    expect(answer.dkim[0]!.because).toMatch(/8-bit text to quoted-printable/)
    expect(answer.dmarc.result).toBe('fail')
  })
  it('through a list: the tag of the subject and the footer are the cause', async () => {
    const answer = await received(byPostfix('list.test'))
    expect(answer).toMatchObject({
      envelope: { ip: MESSAGES.list, mail_from: 'minutes-bounces@list.test' },
      spf: { result: 'pass', domain: 'list.test', aligned: false },
      dkim: [{ result: 'fail', domain: 'signer.test' }],
      dmarc: { result: 'fail' },
    })
    expect(answer.dkim[0]!.because).toMatch(/\[minutes\].*put in front of the subject/)
    expect(answer.dkim[0]!.because).toMatch(/3 lines were added at the end of the body/)
    expect(ids(answer)).toContain('message.through_list')
  })
})

/** What rbldnsd says of a domain, and what the product must make of it. */
describe('the lists of domains', () => {
  const look = async (domain = 'signer.test') =>
    (await program.get(`/v1/domain-blacklist?domain=${domain}&max_age=0`)).body as DomainBlacklistAnswer
  /** By a new process, which remembers no self-test. */
  const entryOf = async (zone: string) => {
    const { results } = (await cli('domain-blacklist', 'signer.test')).body as DomainBlacklistAnswer
    return results.find((one) => one.zone === zone)
  }
  const DBL = 'dbl.spamhaus.org'
  it('a clean domain is on none of them', async () => {
    expect(await look()).toMatchObject({ verdict: 'clean', total: 6, answered: 6, listed: 0 })
  })
  it.each<[string, ListBehaviour, object]>([
    [
      'listed',
      { kind: 'entries', entries: [{ address: 'signer.test', codes: [4], text: 'why' }] },
      { status: 'listed', tier: 'A', codes: ['127.0.1.4'], txt: 'why' },
    ],
    ['refused', { kind: 'refuses', code: 254 }, { status: 'blocked', reason: 'public_resolver' }],
    ['a list that does not answer', { kind: 'dead' }, { status: 'timeout' }],
    ['a list that lists everything', { kind: 'everything' }, { status: 'error', listed: false }],
  ])('%s', async (_, behaviour, expected) => {
    await withLists({ [DBL]: behaviour }, async () => expect(await entryOf(DBL)).toMatchObject(expected))
  })
})

it('an unknown address is refused by the program at RCPT', async () => {
  const refused = send(
    MESSAGES.inbound,
    '45.53.1.2',
    { from: '', to: 'nobody@inbound.test' },
    mailTo('nobody@inbound.test'),
  )
  await expect(refused).rejects.toMatchObject({ responseCode: 550 })
})

it('the text of the messages is in no file of the program', () => {
  const files = [...globSync(`${STATE}/data-*/**/*`), logFile(`program-${new URL(program.url).port}`)]
  const holding = files.filter((file) => {
    try {
      return readFileSync(file, 'latin1').includes(MARKER)
    } catch {
      return false // a folder or a socket
    }
  })
  expect(holding).toEqual([])
})
