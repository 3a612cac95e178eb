import { describe, expect, it } from 'vitest'
import { type LabServer, labDial } from '../../../test/lab/dial.ts'
import { email } from '../../../test/lab/email.ts'
import { ip } from '../../names/ip.ts'
import type { StageOutcome } from './channel.ts'
import { type Opened, openSession, type Session } from './session.ts'

const A = email('a@x.example')
const B = email('b@x.example')
const SENDER = email('verify@us.example')

async function open(server: LabServer, startTls = true): Promise<{ opened: Opened; lab: ReturnType<typeof labDial> }> {
  const lab = labDial({ '45.53.5.1': server })
  const opened = await openSession(
    { dial: lab.dial, monotonic: () => 0 },
    {
      target: { address: ip('45.53.5.1'), port: 25 },
      serverName: 'mx.example',
      heloName: async () => 'us.example',
      startTls,
      stageMs: () => 60,
    },
    AbortSignal.timeout(5_000),
  )
  return { opened, lab }
}
const said = (outcome: StageOutcome | undefined): string =>
  outcome ? `${outcome.stage} ${outcome.reply ? outcome.reply.code : outcome.fault}` : 'unknown'

async function session(server: LabServer): Promise<{ session: Session; received: string[]; open: () => number }> {
  const { opened, lab } = await open(server)
  if (!opened.ok) throw new Error(said(opened.outcome))
  lab.received.length = 0
  return { session: opened.session, received: lab.received, open: lab.open }
}

describe('the greeting', () => {
  it.each<[string, LabServer, string, string[]]>([
    ['a willing server', {}, 'open', ['EHLO us.example']],
    ['a banner of two lines', { banner: '220-hello\n220 there' }, 'open', ['EHLO us.example']],
    [
      'EHLO not known: HELO (RFC 5321 §3.2)',
      { ehlo: '502 5.5.1 what?' },
      'open',
      ['EHLO us.example', 'HELO us.example'],
    ],
    [
      'both refused',
      { ehlo: '550 no', helo: '550 5.7.1 your name' },
      'ehlo 550',
      ['EHLO us.example', 'HELO us.example'],
    ],
    [
      'closed behind a refused EHLO',
      { ehlo: '550 no', helo: '!close' },
      'ehlo 550',
      ['EHLO us.example', 'HELO us.example'],
    ],
    ['refused for now: no HELO', { ehlo: '421 4.3.2 busy' }, 'ehlo 421', ['EHLO us.example']],
    ['refused at the banner', { banner: '554 5.7.1 listed' }, 'banner 554', []],
    ['a silent banner', { banner: '!silence' }, 'banner timeout', []],
    ['a banner drop by drop', { banner: '!drip' }, 'banner timeout', []],
    ['a banner without end', { banner: '!endless' }, 'banner protocol_error', []],
    ['not SMTP', { banner: '!garbage' }, 'banner protocol_error', []],
    ['closed at once', { banner: '!close' }, 'banner connection_lost', []],
    ['reset at once', { banner: '!reset' }, 'banner connection_lost', []],
    ['connection refused', { connect: 'refuse' }, 'connect connect_refused', []],
    ['STARTTLS and EHLO again', { ehlo: ['STARTTLS'] }, 'open', ['EHLO us.example', 'STARTTLS', 'EHLO us.example']],
    [
      'STARTTLS refused: in the clear',
      { ehlo: ['STARTTLS'], starttls: '454 4.7.0 not now' },
      'open',
      ['EHLO us.example', 'STARTTLS'],
    ],
    ['STARTTLS with 421', { ehlo: ['STARTTLS'], starttls: '421 bye' }, 'starttls 421', ['EHLO us.example', 'STARTTLS']],
    [
      'a handshake that fails',
      { ehlo: ['STARTTLS'], tls: 'fail' },
      'starttls tls_failure',
      ['EHLO us.example', 'STARTTLS'],
    ],
    [
      'replies slipped in before TLS end the session',
      { ehlo: ['STARTTLS'], starttls: '220 go\n250 evil\n250 evil' },
      'starttls protocol_error',
      ['EHLO us.example', 'STARTTLS'],
    ],
    [
      'a part of a reply slipped in before TLS',
      { ehlo: ['STARTTLS'], starttls: '220 go\n250-ev' },
      'starttls protocol_error',
      ['EHLO us.example', 'STARTTLS'],
    ],
    [
      'a segment of its own slipped in before TLS',
      { ehlo: ['STARTTLS'], starttls: '220 go', beforeTls: '250 evil' },
      'starttls protocol_error',
      ['EHLO us.example', 'STARTTLS'],
    ],
    [
      'STARTTLS with a code of its own',
      { ehlo: ['STARTTLS'], starttls: '250 go' },
      'starttls 250',
      ['EHLO us.example', 'STARTTLS'],
    ],
    // Codes outside RFC 5321 §4.3.2 are no success.
    ...([200, 221, 250, 251, 299, 354] as const).map((code): [string, LabServer, string, string[]] => [
      `banner ${code}`,
      { banner: `${code} hi` },
      `banner ${code}`,
      [],
    ]),
    ...([220, 251, 299, 354] as const).map((code): [string, LabServer, string, string[]] => [
      `EHLO ${code}`,
      { ehlo: `${code} hi` },
      `ehlo ${code}`,
      ['EHLO us.example'],
    ]),
    ['a reply that nothing asked for', { ehlo: '250 lab\n550 5.1.1 no such user' }, 'open', ['EHLO us.example']],
  ])('%s', async (_, server, expected, received) => {
    const { opened, lab } = await open(server)
    expect([opened.ok ? 'open' : said(opened.outcome), lab.received]).toEqual([expected, received])
    if (opened.ok) opened.session.quit()
    expect(lab.open()).toBe(0)
  })
  it('ends with the caller’s signal, and leaves nothing open', async () => {
    const lab = labDial({ '45.53.5.1': { banner: '!silence' } })
    const caller = new AbortController()
    const opening = openSession(
      { dial: lab.dial, monotonic: () => 0 },
      {
        target: { address: ip('45.53.5.1'), port: 25 },
        serverName: 'x',
        heloName: async () => 'us.example',
        startTls: true,
        stageMs: () => 5_000,
      },
      caller.signal,
    )
    setTimeout(() => caller.abort(), 5)
    const opened = await opening
    expect([opened.ok, opened.ok ? '' : said(opened.outcome), lab.open()]).toEqual([false, 'banner aborted', 0])
  })
})

describe('a transaction', () => {
  it.each<[string, LabServer, string[]]>([
    ['taken and refused', { rcpt: { 'a@x.example': '250 ok' } }, ['mail 250', 'rcpt 250', 'rcpt 550']],
    [
      'MAIL refused: the 503s behind it mean nothing',
      { mail: '550 5.7.1 no', rcpt: { '*': '503 5.5.1 need MAIL' } },
      ['mail 550', 'unknown', 'unknown'],
    ],
    [
      '421 at the first RCPT: the second is unknown',
      { rcpt: { 'a@x.example': '421 4.7.0 bye' } },
      ['mail 250', 'rcpt 421', 'unknown'],
    ],
    [
      'closed at the second RCPT: the first stands',
      { rcpt: { 'a@x.example': '250 ok', 'b@x.example': '!close' } },
      ['mail 250', 'rcpt 250', 'rcpt connection_lost'],
    ],
    ['silent at RCPT', { rcpt: { '*': '!silence' } }, ['mail 250', 'rcpt timeout', 'unknown']],
    [
      'a code that changes within the reply',
      { rcpt: { '*': '250-a\n550 b' } },
      ['mail 250', 'rcpt protocol_error', 'unknown'],
    ],
    ['MAIL taken with a code of its own', { mail: '299 yes' }, ['mail 299', 'unknown', 'unknown']],
    ['MAIL answered with 354', { mail: '354 go on' }, ['mail 354', 'unknown', 'unknown']],
    ['reset at MAIL', { mail: '!reset' }, ['mail connection_lost', 'unknown', 'unknown']],
  ])('%s, pipelined or not', async (_, server, expected) => {
    for (const ehlo of [['PIPELINING'], ['SIZE']]) {
      const { session: open } = await session({ ...server, ehlo })
      const done = await open.transact({ sender: SENDER, recipients: [A, B] }, AbortSignal.timeout(1_000))
      expect([said(done.mail), ...done.rcpt.map(said)]).toEqual(expected)
    }
  })
  it('takes a reply that nothing asked for as a protocol error, not as the answer to MAIL', async () => {
    const { session: open } = await session({ ehlo: '250 lab\n550 5.1.1 no such user' })
    const done = await open.transact({ sender: SENDER, recipients: [A] }, AbortSignal.timeout(1_000))
    expect([said(done.mail), said(done.rcpt[0])]).toEqual(['mail protocol_error', 'unknown'])
  })
  it('writes RSET before a second transaction, goes on in the same one when told to, and ends with QUIT', async () => {
    const { session: open, received, open: sockets } = await session({ rcpt: { '*': '250 ok' } })
    const signal = AbortSignal.timeout(1_000)
    await open.transact({ sender: SENDER, recipients: [A] }, signal)
    await open.transact({ sender: SENDER, recipients: [B], continued: true }, signal)
    await open.transact({ sender: undefined, recipients: [B] }, signal)
    open.quit()
    open.quit()
    expect(received).toEqual([
      'MAIL FROM:<verify@us.example>',
      'RCPT TO:<a@x.example>',
      'RCPT TO:<b@x.example>',
      'RSET',
      'MAIL FROM:<>',
      'RCPT TO:<b@x.example>',
      'QUIT',
    ])
    expect(sockets()).toBe(0)
  })
  it('says SMTPUTF8 only where it is needed and offered (RFC 6531 §3.4)', async () => {
    const { session: open, received } = await session({})
    await open.transact({ sender: SENDER, recipients: [email('jürgen@x.example')] }, AbortSignal.timeout(1_000))
    expect(received).toEqual(['MAIL FROM:<verify@us.example> SMTPUTF8', 'RCPT TO:<jürgen@x.example>'])
  })
  it('is over after 421 and says no QUIT into a dead line', async () => {
    const { session: open, received, open: sockets } = await session({ rcpt: { '*': '421 4.3.2 bye' } })
    await open.transact({ sender: SENDER, recipients: [A] }, AbortSignal.timeout(1_000))
    expect(open.usable()).toBe(false)
    open.quit()
    expect([received.at(-1), sockets()]).toEqual(['RCPT TO:<a@x.example>', 0])
  })
})
