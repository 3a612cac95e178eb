import { createServer, type Server, type Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, describe, expect, it } from 'vitest'
import { CERT, KEY } from '../../test/lab/certificate.ts'
import { submission } from './submit-mail.ts'

type Options = ConstructorParameters<typeof SMTPServer>[0]
const servers: SMTPServer[] = []
const sockets: Server[] = []
afterAll(async () => {
  for (const one of sockets) one.close()
  await Promise.all(servers.map((one) => new Promise<void>((done) => one.close(() => done()))))
})

type Taken = {
  readonly user: string
  readonly secure: boolean
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}
/** A submission server that takes mail after the login ann/p@ss over TLS. */
async function server(settings: Options = {}): Promise<{ readonly port: number; readonly taken: Taken[] }> {
  const taken: Taken[] = []
  const one = new SMTPServer({
    cert: CERT,
    key: KEY,
    logger: false,
    onAuth: ({ username, password }, _, done) =>
      password === 'p@ss' ? done(null, { user: username }) : done(new Error('login refused')),
    onData: (stream, session, done) => {
      let text = ''
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
      stream.on('end', () => {
        const { user, secure, envelope } = session
        const { mailFrom, rcptTo } = envelope
        taken.push({
          user: user ?? '',
          secure,
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text,
        })
        done()
      })
    },
    ...settings,
  })
  one.on('error', () => {})
  servers.push(one)
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', () => resolve()))
  const address = one.server.address()
  return { port: typeof address === 'object' && address ? address.port : 0, taken }
}
/** A socket that says what `play` makes it say. */
async function scripted(play: (socket: Socket) => void): Promise<number> {
  const one = createServer((socket) => {
    socket.on('error', () => {})
    play(socket)
  })
  sockets.push(one)
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', () => resolve()))
  const address = one.address()
  return typeof address === 'object' && address ? address.port : 0
}

const MAIL = {
  to: 'bob@b.example',
  subject: 'a.example: SPF changed – ü',
  text: 'one line\n.\nFrom here\n',
  headers: { 'auto-submitted': 'auto-generated', 'list-unsubscribe': '<https://w.example/u>' },
}
const send = (url: string, over: Partial<typeof MAIL> = {}, ms = 5_000) =>
  submission({ url, from: 'watch@w.example', ca: [CERT] }).send({ ...MAIL, ...over }, AbortSignal.timeout(ms))
const OPEN = { authOptional: true, hideSTARTTLS: true } as const
const refusal = (code: number) => Object.assign(new Error('not today'), { responseCode: code })

/**
 * STARTTLS with a certificate that is right, TLS from the start and AUTH are tested against Postfix
 * (test/real/monitors.test.ts).
 */
describe('mail', () => {
  it('is submitted as it is', async () => {
    const { port, taken } = await server(OPEN)
    await send(`smtp://127.0.0.1:${port}`)
    expect(taken).toMatchObject([{ from: 'watch@w.example', to: ['bob@b.example'], secure: false }])
    const { text } = taken[0]!
    expect(text).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(text).toMatch(/^List-Unsubscribe: <https:\/\/w\.example\/u>\r$/m)
    expect(text).toMatch(/^Subject: =\?UTF-8\?Q\?.+\r$/m)
    expect(text).toMatch(/\r\n\r\none line\r\n\.\r\nFrom here\r\n$/)
  })

  it.each([
    ['in the subject', { subject: 'a\r\nBcc: eve@e.example' }],
    [
      'in a header field',
      { headers: { 'list-unsubscribe': '<https://w.example/>\r\nBcc: eve@e.example', 'auto-submitted': 'x' } },
    ],
    ['in the recipient', { to: 'bob@b.example\r\nRCPT TO:<eve@e.example>' }],
    ['as a second recipient', { to: 'bob@b.example, eve@e.example' }],
  ])('nobody else gets it by what stands %s', async (_, over) => {
    const { port, taken } = await server(OPEN)
    await send(`smtp://127.0.0.1:${port}`, over).catch(() => {})
    for (const { to, text } of taken) {
      expect(to.filter((one) => one.startsWith('eve'))).toEqual([])
      expect(text).not.toMatch(/^Bcc:/im)
    }
  })

  it.each<[string, Options, boolean]>([
    ['a recipient for good', { ...OPEN, onRcptTo: (_, __, done) => done(refusal(550)) }, true],
    ['a recipient by the first code that is final', { ...OPEN, onRcptTo: (_, __, done) => done(refusal(500)) }, true],
    ['a recipient for now', { ...OPEN, onRcptTo: (_, __, done) => done(refusal(450)) }, false],
    [
      'the message for good',
      { ...OPEN, onData: (stream, _, done) => void stream.resume().on('end', () => done(refusal(554))) },
      true,
    ],
    [
      'the message for now',
      { ...OPEN, onData: (stream, _, done) => void stream.resume().on('end', () => done(refusal(452))) },
      false,
    ],
    ['the connection', { ...OPEN, onConnect: (_, done) => done(refusal(554)) }, false],
  ])('refused: %s', async (_, settings, isFinal) => {
    const { port } = await server(settings)
    await expect(send(`smtp://127.0.0.1:${port}`)).rejects.toMatchObject({ name: 'MailError', isFinal })
  })

  it('a password is never sent without TLS, nor to a certificate that is not of the server', async () => {
    const commands: string[] = []
    const port = await scripted((socket) => {
      socket.write('220 lab\r\n')
      socket.on('data', (data) => {
        commands.push(String(data).trim())
        socket.write(String(data).startsWith('EHLO') ? '250-lab\r\n250 AUTH PLAIN LOGIN\r\n' : '502 no\r\n')
      })
    })
    const { port: wrong, taken } = await server()
    for (const at of [port, wrong]) {
      const failed = await send(`smtp://ann:p%40ss@127.0.0.1:${at}`).catch((error: Error) => error)
      expect(failed).toMatchObject({ name: 'MailError', isFinal: false })
      expect(String(failed)).not.toContain('p@ss')
    }
    expect(commands.filter((line) => /AUTH|MAIL/i.test(line))).toEqual([])
    expect(taken).toEqual([])
  })

  it.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => {}],
    ['says nothing any more', (socket) => void socket.write('220 lab\r\n')],
    ['never ends its line', (socket) => void socket.write('220-lab')],
  ])('a server that %s is given up at the deadline', async (_, play) => {
    const port = await scripted(play)
    await expect(send(`smtp://127.0.0.1:${port}`, {}, 200)).rejects.toMatchObject({ name: 'MailError', isFinal: false })
  })
  it.each<[string, (socket: Socket) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['is none of mail', (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('a server that %s', async (_, play) => {
    const port = await scripted(play)
    await expect(send(`smtp://127.0.0.1:${port}`)).rejects.toMatchObject({ name: 'MailError', isFinal: false })
  })
  it('a server that is gone', () =>
    expect(send('smtp://127.0.0.1:1')).rejects.toMatchObject({ name: 'MailError', isFinal: false }))

  it('many go over few connections, and none fails with a refused one or with a connection that the server ended', async () => {
    let connections = 0
    let ended = 0
    const { port, taken } = await server({
      ...OPEN,
      onConnect: (_, done) => done(void connections++ as undefined),
      onRcptTo: ({ address }, _, done) => done(address.startsWith('no-one') ? refusal(550) : null),
    })
    const { send: one, close } = submission({ url: `smtp://127.0.0.1:${port}`, from: 'watch@w.example' })
    const to = (address: string) => one({ ...MAIL, to: address }, AbortSignal.timeout(20_000))
    const all = Array.from({ length: 100 }, (_, n) => to(n % 10 === 9 ? `no-one${n}@b.example` : `u${n}@b.example`))
    const results = await Promise.allSettled(all)
    expect([taken.length, results.filter(({ status }) => status === 'rejected').length]).toEqual([90, 10])
    expect(connections).toBeLessThanOrEqual(8)
    for (const client of servers.at(-1)!.connections) {
      ended++
      client.close()
    }
    await to('last@b.example')
    expect([ended > 0, taken.length]).toEqual([true, 91])
    close()
    await expect.poll(() => servers.at(-1)!.connections.size, { timeout: 20_000 }).toBe(0)
  })

  it.each<[what: string, url: (port: number) => string, settings: Options, why: RegExp | undefined]>([
    ['answers', (port) => `smtp://127.0.0.1:${port}`, OPEN, undefined],
    [
      'has the certificate of another',
      (port) => `smtps://ann:p%40ss@127.0.0.1:${port}`,
      { secure: true },
      /certificate/,
    ],
    ['is gone', () => 'smtp://127.0.0.1:1', {}, /ECONNREFUSED/],
  ])('a server that %s is told, and gets no mail', async (_, url, settings, why) => {
    const { port, taken } = await server(settings)
    const { check } = submission({ url: url(port), from: 'watch@w.example', ca: [CERT] })
    const said = await check(AbortSignal.timeout(5_000)).catch((error: Error) => error.message)
    if (why) expect(said).toMatch(why)
    else expect(said).toBeUndefined()
    expect([String(said).includes('p@ss'), taken]).toEqual([false, []])
  })
})
