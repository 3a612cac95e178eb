import { execFile } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { CA_FILE, DEAD_HOST, REFUSING_HOST, SOURCES } from '../addresses.ts'
import { converse, rcpt } from '../ask.ts'
import type { Listener } from './listeners.ts'
import { mailServers } from './other-listeners.ts'

const at = (domain: string): Listener => mailServers.find((row) => row.domain === domain)!
const lastOf = (said: readonly string[]): string => said.at(-1)!

describe('what the servers say at RCPT is what the table says', () => {
  // Another answer each time, or more to say before MAIL than these tests do.
  const apart = ['tlsrequired.test', 'rate.test', 'utf8.test', 'grey.test', 'overloaded.test']
  const rows = mailServers
    .filter((row) => !apart.includes(row.domain))
    .flatMap((row) => row.mailboxes.map((mailbox) => ({ ...mailbox, row, address: `${mailbox.local}@${row.domain}` })))
  it.each(rows)('$address: $code $reason', async ({ row, address, code }) => {
    const said = await converse(row.address, rcpt(address))
    expect(Number(lastOf(said).slice(0, 3)), lastOf(said)).toBe(code)
  })
})

describe('listeners with a way of their own', () => {
  it.each([
    [SOURCES.allowed, /^220 /],
    [SOURCES.refused, /^554 5\.7\.1 /],
    [SOURCES.allowed6, /^220 /],
    [SOURCES.refused6, /^554 5\.7\.1 /],
  ])('banner.test to %s', async (from, banner) => {
    const row = at('banner.test')
    const host = from.includes(':') ? row.address6! : row.address
    expect((await converse(host, [], { from }))[0]).toMatch(banner)
  })

  it.each([
    [SOURCES.allowed, /^250 2\.1\.5 /],
    [SOURCES.refused, /^554 5\.7\.1 .*poor reputation/],
    [SOURCES.refused6, /^554 5\.7\.1 .*poor reputation/],
  ])('rcpt.test to %s', async (from, reply) => {
    const row = at('rcpt.test')
    const host = from.includes(':') ? row.address6! : row.address
    expect(lastOf(await converse(host, rcpt('user@rcpt.test'), { from }))).toMatch(reply)
  })

  it('overloaded.test says 421 instead of a banner', async () => {
    expect((await converse(at('overloaded.test').address, []))[0]).toMatch(
      /^421 4\.3\.2 .*Client host rejected: Service busy/,
    )
  })

  it('rate.test takes three connections a minute', async () => {
    const said: string[] = []
    for (let n = 0; n < 4; n++)
      said.push((await converse(at('rate.test').address, [], { from: '45.53.1.77' }))[0]!.slice(0, 3))
    expect(said).toEqual(['220', '220', '220', '421'])
  })

  it('grey.test refuses, and takes the same three seconds later', async () => {
    const talk = () => converse(at('grey.test').address, rcpt('user@grey.test'), { from: '45.53.1.78' })
    expect(lastOf(await talk())).toMatch(/^450 4\.2\.0 .*[Gg]reylist/)
    await new Promise((resolve) => setTimeout(resolve, 3_500))
    expect(lastOf(await talk())).toMatch(/^250 /)
  })

  it('tlsrequired.test wants STARTTLS before MAIL', async () => {
    expect(lastOf(await converse(at('tlsrequired.test').address, ['EHLO b.sonde.test', 'MAIL FROM:<>']))).toMatch(
      /^530 5\.7\.0 /,
    )
  })

  it('utf8.test offers SMTPUTF8, accept.test does not', async () => {
    const hello = async (domain: string) => lastOf(await converse(at(domain).address, ['EHLO b.sonde.test']))
    expect(await hello('utf8.test')).toContain('SMTPUTF8')
    expect(await hello('accept.test')).not.toContain('SMTPUTF8')
    const commands = ['EHLO b.sonde.test', 'MAIL FROM:<v@b.sonde.test> SMTPUTF8', 'RCPT TO:<jürgen@utf8.test>']
    expect(lastOf(await converse(at('utf8.test').address, commands))).toMatch(/^250 /)
  })

  it('ptrneeded.test refuses a client without a name', async () => {
    const talk = (from: string) => converse(at('ptrneeded.test').address, rcpt('user@ptrneeded.test'), { from })
    expect(lastOf(await talk(SOURCES.nameless))).toMatch(/^550 5\.7\.\d+ /)
    expect(lastOf(await talk(SOURCES.allowed))).toMatch(/^250 /)
  })

  it('heloneeded.test refuses a name that does not exist', async () => {
    const commands = ['EHLO nothing.missing.test', 'MAIL FROM:<v@b.sonde.test>', 'RCPT TO:<user@heloneeded.test>']
    expect(lastOf(await converse(at('heloneeded.test').address, commands))).toMatch(/^550 5\.7\.1 .*Helo/)
  })

  it('pregreet.test refuses who speaks first', async () => {
    const { connect } = await import('node:net')
    const said = await new Promise<string>((resolve) => {
      let text = ''
      const socket = connect({ host: at('pregreet.test').address, port: 25, localAddress: '45.53.1.79' })
      socket.on('connect', () => socket.write('EHLO b.sonde.test\r\nMAIL FROM:<>\r\nRCPT TO:<user@pregreet.test>\r\n'))
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk
        if (/RCPT|5\d\d/.test(text)) socket.end()
      })
      socket.on('close', () => resolve(text))
      socket.setTimeout(10_000, () => socket.destroy())
    })
    expect(said).toMatch(/^5\d\d 5\.5\.1 .*rotocol error/m)
  })
})

describe('STARTTLS', () => {
  it.each([
    ['tls.test', /Verify return code: 0 /],
    ['tlsexpired.test', /Verify return code: 10 /],
    ['tlsself.test', /Verify return code: 18 /],
    ['tlswrong.test', /Verify return code: 62 /],
  ])('%s', async (domain, verdict) => {
    const { address } = at(domain)
    const args = [
      's_client',
      '-starttls',
      'smtp',
      '-connect',
      `${address}:25`,
      '-CAfile',
      CA_FILE,
      '-verify_hostname',
      `mx.${domain}`,
    ]
    const text = await new Promise<string>((resolve) => {
      execFile('openssl', args, (_, out) => resolve(out)).stdin!.end('QUIT\n')
    })
    expect(text).toMatch(verdict)
  })

  it.each([
    ['danegood.test', /Verified TLS connection/],
    ['danebad.test', /Untrusted TLS connection|not verified|certificate verification failed/],
  ])('%s by posttls-finger', async (domain, verdict) => {
    const text = await new Promise<string>((resolve) => {
      execFile('posttls-finger', ['-t', '5', '-l', 'dane', '-c', domain], (_, out, err) => resolve(out + err))
    })
    expect(text).toMatch(verdict)
  })
})

describe('sockets that no mail server would be', () => {
  const quick = { waitMs: 1_500 }
  it.each([
    ['silent', '45.53.7.1', /^$/],
    ['reset', '45.53.7.2', /^$/],
    ['busy', '45.53.7.15', /^421 4\.3\.2 /],
    ['dribble', '45.53.7.4', /^$/],
    ['endless', '45.53.7.5', /^$/],
    ['longline', '45.53.7.6', /^$/],
    ['hangsup', '45.53.7.7', /^220 /],
    ['dead', DEAD_HOST, /^$/],
    ['refusing', REFUSING_HOST, /^$/],
  ])('%s', async (_, host, banner) => {
    expect((await converse(host, [], quick))[0]).toMatch(banner)
  })

  it.each([
    ['hangs up', '45.53.7.8', /^$/],
    ['says nothing', '45.53.7.9', /^$/],
    ['says 421', '45.53.7.14', /^421 /],
  ])('%s at RCPT', async (_, host, reply) => {
    expect(lastOf(await converse(host, rcpt('user@x.test'), quick))).toMatch(reply)
  })
})
