import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fastify from 'fastify'
import { expect, it } from 'vitest'
import { codingFor, fromMemory } from '../../src/http/compress.ts'
import { labApp } from '../lab/app.ts'
import { labWorld } from '../lab/world.ts'

it.each<[string | undefined, string | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['GZIP;q=1.0', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.000, gzip ; q=0', undefined],
  ['*', 'br'],
  ['*, br;q=0', 'gzip'],
  ['xbr', undefined],
])('Accept-Encoding: %s is answered in %s', (accepted, coding) => expect(codingFor(accepted)).toBe(coding))

const decoded = { br: brotliDecompressSync, gzip: gunzipSync, plain: (body: Buffer): Buffer => body } as const

it.each([
  '/openapi.json', // from memory
  '/v1/check?domain=a.example',
  '/v1/blacklists',
])('%s is the same in every coding', async (url) => {
  const app = await labApp(labWorld())
  const sizes: Record<string, number> = {}
  const texts = new Set<string>()
  for (const coding of ['plain', 'gzip', 'br'] as const) {
    const headers = coding === 'plain' ? {} : { 'accept-encoding': coding }
    const response = await app.inject({ url, headers })
    expect(response.headers['content-encoding']).toBe(coding === 'plain' ? undefined : coding)
    expect(response.headers.vary).toContain('accept-encoding')
    expect(Number(response.headers['content-length'])).toBe(response.rawPayload.length)
    const { observed_at: _at, ...answer } = JSON.parse(decoded[coding](response.rawPayload).toString())
    texts.add(JSON.stringify(answer).replaceAll(/"duration_ms":\d+/g, ''))
    sizes[coding] = response.rawPayload.length
  }
  expect(texts.size).toBe(1)
  expect(sizes.br).toBeLessThan(sizes.plain! / 2)
})

it('a short answer is not compressed', async () => {
  const app = await labApp(labWorld())
  const { headers } = await app.inject({ url: '/v1/health', headers: { 'accept-encoding': 'br' } })
  expect(headers['content-encoding']).toBeUndefined()
})

it('HEAD tells the length and compresses nothing', async () => {
  const app = await labApp(labWorld())
  const { headers, body } = await app.inject({
    method: 'HEAD',
    url: '/v1/blacklists',
    headers: { 'accept-encoding': 'br' },
  })
  expect([body, headers['content-encoding']]).toEqual(['', undefined])
})

it('what is sent from memory is made once, and again only when that failed', async () => {
  const app = fastify()
  let made = 0
  const content = async () => {
    made++
    if (made === 1) throw new Error('not this time')
    return { type: 'text/plain', body: Buffer.from('a'.repeat(2_000)) }
  }
  app.get('/', fromMemory(content))
  expect((await app.inject('/')).statusCode).toBe(500)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      app.inject({ url: '/', headers: { 'accept-encoding': n % 2 ? 'gzip' : 'br' } }),
    ),
  )
  expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true)
  expect(made).toBe(2)
})
