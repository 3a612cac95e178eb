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

/** Runs work, and gives the share of its processor time that the longest turn of the event loop took. */
async function longestShare(work: () => Promise<unknown>): Promise<number> {
  const begun = process.threadCpuUsage()
  let [longest, last] = [0, begun]
  const look = (): void => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, now.user + now.system - last.user - last.system)
    last = now
    next = setImmediate(look)
  }
  let next = setImmediate(look)
  await work()
  clearImmediate(next)
  const { user, system } = process.threadCpuUsage(begun)
  return longest / (user + system)
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
    requestGuarded(outlet, { ...request, maxBytes }, signal, (response) => bodyOf(response, signal, maxBytes))
  await get(1 << 20) // what is loaded at the first need is not the server's doing
  let bytes = 0
  const whole = await longestShare(async () => (bytes = (await get(1 << 20)).length))
  const cut = await longestShare(() => get(512 * 1024).catch(() => undefined))
  await server.terminate()
  expect(bytes).toBe(600_000)
  expect(Math.max(whole, cut)).toBeLessThan(1 / 3)
})
