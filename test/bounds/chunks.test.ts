import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { bodyOf, requestGuarded } from '../../src/net/guarded-request.ts'
import { labDns } from '../lab/dns.ts'
import { labProblem } from '../lab/problem.ts'

/** A web server that sends 600,000 bytes, each in a chunk of its own, on a thread of its own. */
const SERVER = `
  const { parentPort } = require('node:worker_threads')
  const body = '1\\r\\nx\\r\\n'.repeat(600_000)
  require('node:http')
    .createServer((_, response) =>
      response.socket.end('HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n' + body + '0\\r\\n\\r\\n'))
    .listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port) })`

/** The chunks of a body, and the most bytes of them within one turn of the event loop. */
function counted(body: AsyncIterable<Uint8Array>) {
  let [most, now] = [0, 0]
  const look = (): void => {
    now = 0
    next = setImmediate(look)
  }
  let next = setImmediate(look)
  async function* chunks() {
    for await (const chunk of body) {
      now += chunk.length
      most = Math.max(most, now)
      yield chunk
    }
  }
  const end = (): number => {
    clearImmediate(next)
    return most
  }
  return { chunks: chunks(), end }
}

it('a logo in 600,000 chunks does not hold the event loop', async () => {
  const server = new Worker(SERVER, { eval: true })
  const port = await new Promise<number>((resolve) => server.once('message', resolve))
  const { resolve } = labDns({ 'a.example': { A: ['127.0.0.1'] } })
  const outlet = { resolve, mayDial: () => true, whyUnsafe: () => labProblem('') }
  // Without TLS: reading the roots for a handshake takes longer than what is measured here.
  const request = { url: new URL(`http://a.example:${port}/`), method: 'GET', headers: {} } as const
  const signal = AbortSignal.timeout(15_000)
  const get = (maxBytes: number) =>
    requestGuarded(outlet, { ...request, maxBytes }, signal, async (response) => {
      const { chunks, end } = counted(response.body)
      const body = await bodyOf({ headers: response.headers, body: chunks }, signal, maxBytes).catch(() => undefined)
      return { bytes: body?.length, most: end() }
    })
  const whole = await get(1 << 20)
  const cut = await get(512 * 1024)
  await server.terminate()
  expect([whole.bytes, cut.bytes]).toEqual([600_000, undefined])
  expect(Math.max(whole.most, cut.most)).toBeLessThan(48 * 1024)
})
