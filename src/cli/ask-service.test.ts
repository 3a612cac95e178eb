import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { health } from '../operations/health.ts'
import { type AskedService, askService } from './ask-service.ts'

const ANSWERS: Record<string, (response: ServerResponse) => void> = {
  good: (response) => response.end('{"status":"ok"}'),
  'a problem': (response) => response.writeHead(403).end('{"code":"forbidden","detail":"not you"}'),
  'no key': (response) => response.writeHead(401).end('{"code":"unauthorized","detail":"give one"}'),
  'a code that is none': (response) => response.writeHead(500).end('{"code":"toString","detail":"x"}'),
  'an escape': (response) => response.writeHead(403).end(JSON.stringify({ code: 'forbidden', detail: 'a\u001b[31mb' })),
  'a list': (response) => response.end('[]'),
  'another answer': (response) => response.end('{"status":"well"}'),
  'a newer answer': (response) => response.end('{"status":"ok","since":"2026-01-01"}'),
  'another refusal': (response) => response.writeHead(404).end('404 page not found'),
  'no JSON': (response) => response.end('well'),
  'a page': (response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('hello'),
  'a page without its type': (response) => response.writeHead(404).end('\n<!DOCTYPE html><title>no</title>'),
  nothing: (response) => response.writeHead(204).end(),
  'a redirect': (response) => response.writeHead(302, { location: '/login' }).end(),
  'a cut': (response) => void response.writeHead(200, { 'content-length': '10' }).write('{', () => response.destroy()),
  'no end': (response) => endless(response),
}

function endless(response: ServerResponse): void {
  const chunk = ' '.repeat(1 << 20)
  const more = (): void =>
    void (response.destroyed || (response.write(chunk) ? setImmediate(more) : response.once('drain', more)))
  more()
}

let asked = 'good'
const server = createServer((_, response) => ANSWERS[asked]!(response))
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const at = (server: string): AskedService => ({
  server,
  key: undefined,
  peerSecret: undefined,
  nodeId: undefined,
  now: () => 0,
})
const NEVER = new AbortController().signal
const ask = (what: string) => {
  asked = what
  const { port } = server.address() as AddressInfo
  return askService(health, {}, at(`http://127.0.0.1:${port}`), NEVER)
}

it('returns the answer', async () => expect((await ask('good')).answer).toEqual({ status: 'ok' }))

it('passes on additional fields of a newer service', async () =>
  expect((await ask('a newer answer')).answer).toEqual({ status: 'ok', since: '2026-01-01' }))

it.each([
  ['no key', 'unauthorized', 'the service asks for a key, by --key or in MAILSONDE_KEY: give one'],
  ['a problem', 'forbidden', 'not you'],
  ['a code that is none', 'upstream_unavailable', 'x'],
  ['an escape', 'forbidden', 'a [31mb'], // the text is shown on a terminal
  ['another answer', 'upstream_unavailable', 'does not match the schema of health'],
  ['a list', 'upstream_unavailable', 'is not a JSON object'],
  ['another refusal', 'upstream_unavailable', 'returned status 404 without a problem document'],
  ['no JSON', 'upstream_unavailable', 'is not JSON'],
  ['a page', 'upstream_unavailable', 'returned status 200 with a web page'],
  ['a page without its type', 'upstream_unavailable', 'returned status 404 with a web page'],
  ['nothing', 'upstream_unavailable', 'returned status 204 without content'],
  ['a redirect', 'upstream_unavailable', 'redirects to /login; set --server'],
  ['a cut', 'upstream_unavailable', 'closed the connection'],
  ['no end', 'upstream_unavailable', 'is too long'],
])('%s: %s', async (what, code, detail) => {
  await expect(ask(what)).rejects.toMatchObject({ name: 'AppError', code, message: expect.stringContaining(detail) })
})

it.each([
  ['https://127.0.0.1', 'upstream_unavailable', 'it does not use TLS; try http://'],
  ['ftp://127.0.0.1', 'invalid_parameter', 'does not begin with http:// or https://'],
  ['127.0.0.1', 'invalid_parameter', 'is not a URL'],
  ['http://joe:pass1234@127.0.0.1', 'invalid_parameter', 'contains a user name or a password'],
])('%s: %s', async (server_, code, detail) => {
  const { port } = server.address() as AddressInfo
  const asked = askService(health, {}, at(`${server_}:${port}`), NEVER)
  await expect(asked).rejects.toMatchObject({ code, message: expect.stringContaining(detail) })
  await expect(asked).rejects.not.toMatchObject({ message: expect.stringContaining('pass1234') })
})

it('calls a service below the path of a proxy', async () => {
  const paths: (string | undefined)[] = []
  server.on('request', (request) => paths.push(request.url))
  asked = 'good'
  const { port } = server.address() as AddressInfo
  for (const path of ['', '/', '/mail', '/mail/'])
    await askService(health, {}, at(`http://127.0.0.1:${port}${path}`), NEVER)
  expect(paths).toEqual(['/v1/health', '/v1/health', '/mail/v1/health', '/mail/v1/health'])
})

it('reports a service that cannot be reached', () =>
  expect(askService(health, {}, at('http://127.0.0.1:9'), NEVER)).rejects.toMatchObject({
    code: 'upstream_unavailable',
    message: expect.not.stringContaining('fetch failed'),
  }))

it('stops when it is aborted', async () => {
  const stop = new AbortController()
  const asked = askService(health, {}, at('http://192.0.2.1:81'), stop.signal)
  stop.abort(new DOMException('stopped', 'AbortError'))
  await expect(asked).rejects.toBe(stop.signal.reason)
})
