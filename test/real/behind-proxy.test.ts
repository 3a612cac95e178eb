import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import { join, resolve } from 'node:path'
import { connect as tlsConnect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CERT, KEY as CERT_KEY } from '../lab/certificate.ts'
import { labServer, zoneBehaviour } from '../lab/dns-server.ts'
import { labFolder } from '../lab/folder.ts'
import { type Program, startProgram } from '../lab/program.ts'
import { unpacked } from './packages.ts'

/** The service behind nginx and Caddy with the files of deploy/, of which only names, ports and paths are replaced. */

const KEY = 'a-key-of-the-test'
const NAME = 'mail.example.org'
const FAR = '127.0.0.5'
const folder = labFolder()
const [cert, certKey, socket] = ['cert.pem', 'key.pem', 'http.sock'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
]
const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const deployed = (path: string): string => readFileSync(resolve(import.meta.dirname, '../../deploy', path), 'utf8')

/** Starts a proxy and waits for its port. */
async function start(line: readonly string[], port: number): Promise<void> {
  const [file = '', ...args] = line
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  ends.push(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
  await vi.waitFor(
    () =>
      new Promise<void>((done, failed) => {
        const tls = tlsConnect({ port, host: '127.0.0.1', servername: NAME, rejectUnauthorized: false })
        tls.once('secureConnect', () => done(tls.destroy() as unknown as undefined))
        tls.once('error', (error) => failed(new Error(`${error.message}: ${said}`)))
      }),
    { timeout: 20_000 },
  )
}

function nginx(port: number, url: string): Promise<void> {
  const site = deployed('nginx/mailsonde.conf')
    .replaceAll(/^ {2}listen \[::\].*\n/gm, '')
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('/etc/ssl/mail.example.org.pem', cert)
    .replace('/etc/ssl/mail.example.org.key', certKey)
    .replace('http://127.0.0.1:8080', url)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (one) => `${one}_temp_path ${folder}/${one};`,
  )
  const config = `daemon off; master_process off; pid ${folder}/nginx.pid; events {} http { access_log off; ${temporary.join(' ')}\n${site}}`
  writeFileSync(join(folder, 'nginx.conf'), config)
  const { program, env } = unpacked('usr/sbin/nginx')
  return start(['env', ...env, program, '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], port)
}

function caddy(port: number, url: string): Promise<void> {
  // Without its interface for changes and the redirect of port 80, which other tests use.
  const file = `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${deployed('caddy/Caddyfile')}`
  writeFileSync(join(folder, 'Caddyfile'), file)
  const { program, env } = unpacked('usr/bin/caddy')
  const node = url.startsWith('http://unix:') ? url.replace('http://unix:', 'unix/') : url.replace('http://', '')
  const own = [`HOME=${folder}`, `SITE=https://${NAME}:${port}`, `NODE=${node}`, `TLS=tls ${cert} ${certKey}`]
  const args = ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
  return start(['env', ...env, ...own, program, ...args], port)
}

let service: Program
/** What holds the answer about `slow.example` back. */
let release = (): void => {}
const held = new Promise<void>((resolve) => (release = resolve))
beforeAll(async () => {
  writeFileSync(cert, CERT)
  writeFileSync(certKey, CERT_KEY, { mode: 0o600 })
  const zone = zoneBehaviour({ 'slow.example': { MX: [[0, '']], TXT: ['v=spf1 -all'], SOA: [], NS: [] } })
  const dns = await labServer(async (query) => {
    if (query.name === '_dmarc.slow.example') await held
    return zone(query)
  })
  ends.push(dns.close)
  const resolver = ['--resolver', `127.0.0.1:${dns.server.port}`]
  const trust = ['--trust-proxy', '127.0.0.1', '--trust-proxy', 'unix', '--listen', `unix:${socket}`]
  service = await startProgram(['--api-key', KEY, '--rate', '100000', ...resolver, ...trust])
  ends.push(service.stop)
}, 60_000)

const MIB = 1_048_576

describe.each([
  ['nginx', 'a port', nginx, 8_443, () => service.url],
  ['nginx', 'a socket', nginx, 8_444, () => `http://unix:${socket}`],
  ['Caddy', 'a port', caddy, 8_445, () => service.url],
  ['Caddy', 'a socket', caddy, 8_446, () => `http://unix:${socket}`],
])('%s over %s', (_, _place, begin, port, to) => {
  let session: ClientHttp2Session
  beforeAll(async () => {
    await begin(port, to())
    const socketOf = () =>
      tlsConnect({
        port,
        host: '127.0.0.1',
        ...{ localAddress: FAR }, // unknown to the types
        servername: NAME,
        ALPNProtocols: ['h2'],
        rejectUnauthorized: false,
      })
    session = connect(`https://${NAME}:${port}`, { createConnection: socketOf })
    ends.push(() => session.destroy())
  }, 60_000)

  /** A request over HTTP/2, with the key unless a header names another. */
  function ask(path: string, headers: Readonly<Record<string, string>> = {}, body: readonly Buffer[] = []) {
    const method = headers[':method'] ?? 'GET'
    const stream = session.request(
      { 'x-api-key': KEY, ...headers, ':path': path, ':method': method },
      { endStream: body.length === 0 },
    )
    let text = ''
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    if (body.length > 0) {
      void (async () => {
        for (const chunk of body) if (!stream.write(chunk)) await once(stream, 'drain')
        stream.end()
      })()
    }
    const head = once(stream, 'response').then(([fields]) => fields as Readonly<Record<string, string | string[]>>)
    return { head, text: () => text, over: once(stream, 'end'), stream }
  }

  it('speaks HTTP/2, and names the caller whatever he claims', async () => {
    const { head } = ask('/v1/health')
    expect((await head)[':status']).toBe(200)
    const before = service.output().length
    const claimed = ask('/v1/nowhere', { 'x-api-key': 'unknown', 'x-forwarded-for': '127.0.0.1, 198.51.100.1' })
    await claimed.over
    await vi.waitFor(() => expect(service.output().slice(before)).toContain(`"caller":"address ${FAR}"`), 5_000)
  })

  it('a login gets the cookie that only HTTPS can set, and is used', async () => {
    const html = { accept: 'text/html', 'sec-fetch-site': 'same-origin', 'x-api-key': '' }
    const form = ask('/login', html)
    const cookieOf = (fields: Readonly<Record<string, string | string[]>>): string =>
      String(fields['set-cookie']).split(';')[0]!
    const first = cookieOf(await form.head)
    await form.over
    expect(first).toMatch(/^__Host-mailsonde_session=/)
    const token = /name="_csrf" value="([\w-]+)"/.exec(form.text())![1]!
    const type = { 'content-type': 'application/x-www-form-urlencoded', ':method': 'POST', cookie: first }
    const sent = ask('/login', { ...html, ...type }, [
      Buffer.from(String(new URLSearchParams({ _csrf: token, key: KEY, to: '/' }))),
    ])
    const fields = await sent.head
    expect(fields[':status']).toBe(303)
    const page = ask('/', { ...html, cookie: cookieOf(fields) })
    await page.over
    expect(page.text()).toContain('Log out')
  })

  it('events come at once', async () => {
    const { head, stream, text, over } = ask('/v1/check?domain=slow.example', { accept: 'text/event-stream' })
    expect((await head)['content-type']).toContain('text/event-stream')
    await vi.waitFor(() => expect(text()).toContain('event: part'), { timeout: 20_000 })
    stream.close()
    await over.catch(() => {})
  })

  it('a list of 100 MB is taken', async () => {
    const blank = Buffer.alloc(MIB, ' '.repeat(1_000).concat('\n'))
    const body = [...Array<Buffer>(100).fill(blank), Buffer.from('joe@slow.example\n')]
    const { head, text, over } = ask('/v1/jobs', { ':method': 'POST', 'content-type': 'text/plain' }, body)
    expect((await head)[':status']).toBe(202)
    await over
    expect(JSON.parse(text())).toMatchObject({ rows: 1, bad_rows: 0 })
  }, 60_000)
})

it('over the socket a caller without a proxy is a stranger', async () => {
  const status = await new Promise((done, failed) => {
    const asked = request({ socketPath: socket, path: '/v1/peer/peers', headers: { host: 'localhost' } }, (response) =>
      done(response.resume().statusCode),
    )
    asked.once('error', failed).end()
  })
  expect(status).toBe(401)
  release()
})
