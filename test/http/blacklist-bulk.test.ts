import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { DnsError, type Resolve } from '../../src/net/dns/resolver.ts'
import { labApp } from '../lab/app.ts'
import { labWorld } from '../lab/world.ts'

const ZONE = { '1.2.53.45.zen.spamhaus.org': { A: ['127.0.0.2'], TXT: ['see https://a.example'] } }

describe('POST /v1/blacklist', () => {
  const post = async (body: unknown) => {
    const app = await labApp(labWorld(ZONE))
    return app.inject({ method: 'POST', url: '/v1/blacklist', payload: body as object })
  }
  const lines = (body: string) =>
    body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))

  it('gives a line for each address, once each', async () => {
    const got = await post({ ips: ['45.53.2.0/30', '45.53.2.1', '::ffff:45.53.2.1', '2a02:53:9::9'] })
    expect(got.statusCode).toBe(200)
    expect(got.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    expect(got.body.endsWith('}\n')).toBe(true)
    const answers = lines(got.body)
    expect(answers.map(({ ip }) => ip).sort()).toEqual(
      ['2a02:53:9::9', '45.53.2.0', '45.53.2.1', '45.53.2.2', '45.53.2.3'].sort(),
    )
    expect(answers.find(({ ip }) => ip === '45.53.2.1')).toMatchObject({ total: 29, listed: 1, verdict: 'listed' })
  })

  it('256 addresses', async () => {
    expect(lines((await post({ ips: ['45.53.2.0/24'] })).body)).toHaveLength(256)
  })

  it.each<[why: string, body: unknown, code: string]>([
    ['no addresses', { ips: [] }, 'invalid_parameter'],
    ['none at all', {}, 'missing_parameter'],
    ['a text', { ips: '45.53.2.1' }, 'invalid_parameter'],
    ['no address', { ips: ['45.53.2.1', '45.53.2'] }, 'invalid_ip'],
    ['a network that is too large', { ips: ['45.53.0.0/23'] }, 'invalid_ip'],
    ['257 addresses', { ips: ['45.53.2.0/24', '45.53.3.1'] }, 'invalid_ip'],
    ['a number', { ips: [757_400_065] }, 'invalid_parameter'],
    ['something else', { ips: ['45.53.2.1'], ip: '45.53.2.1' }, 'unknown_parameter'],
  ])('refuses %s', async (_, body, code) => {
    const got = await post(body)
    expect([got.statusCode, got.json().code]).toEqual([400, code])
  })

  it('nothing more is asked when the caller hangs up', async () => {
    const asked = new Set<string>()
    const silent: Resolve = (name, type, signal) => {
      asked.add(name)
      return new Promise((_, reject) => {
        const end = () => reject(new DnsError('aborted', { name, type }))
        if (signal.aborted) end()
        signal.addEventListener('abort', end)
      })
    }
    const app = await labApp({ ...labWorld(), resolve: silent })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const closed = once(app.server, 'connection').then(([socket]) => once(socket, 'close'))
    const caller = new AbortController()
    const { port } = app.server.address() as { port: number }
    const answer = fetch(`http://127.0.0.1:${port}/v1/blacklist`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ips: ['45.53.2.0/24'] }),
      signal: caller.signal,
    }).catch((error: Error) => error.name)
    while (asked.size < 8 * 29) await new Promise((resolve) => setTimeout(resolve, 5))
    caller.abort()
    expect(await answer).toBe('AbortError')
    await closed
    await new Promise((resolve) => setTimeout(resolve, 50))
    const addresses = new Set([...asked].map((name) => name.split('.').slice(0, 4).join('.')))
    addresses.delete('2.0.0.127')
    addresses.delete('1.0.0.127')
    expect(addresses.size).toBeLessThanOrEqual(9) // eight under way, and at most the next one
    await app.close()
  })
})
