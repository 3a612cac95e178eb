import fastify from 'fastify'
import { expect, it, vi } from 'vitest'
import { refuseWhenLate } from '../../src/http/overload.ts'

/** Holds the event loop up for a while, again and again, so that its mean delay is far over the bound. */
async function strain(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const end = performance.now() + 300
    while (performance.now() < end);
    await new Promise((resolve) => setImmediate(resolve))
  }
}

it.each<[string, number, string, number]>([
  ['many requests under way', 100, '/work', 503],
  ['few under way: something else is late', 3, '/work', 200],
  ['health', 100, '/v1/health', 200],
  ['ready', 100, '/v1/ready', 200],
  ['metrics', 100, '/metrics', 200],
])('while the event loop is late: %s', async (_, underWay, url, status) => {
  const app = fastify()
  refuseWhenLate(app, () => underWay)
  for (const path of ['/work', '/v1/health', '/v1/ready', '/metrics']) app.get(path, async () => 'ok')
  await app.ready()
  const seen = new Set<number>()
  for (let i = 0; i < 2 && !seen.has(503); i++) {
    await strain()
    const response = await app.inject({ url })
    seen.add(response.statusCode === 200 ? 200 : 503) // the error handler of the service is not part of this
  }
  expect(seen.has(503)).toBe(status === 503)
  await app.close()
})

it('opens no file, so that a process without descriptors goes on', async () => {
  const memoryUsage = vi.spyOn(process, 'memoryUsage').mockImplementation(() => {
    throw Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), { code: 'EMFILE' })
  })
  const app = fastify()
  refuseWhenLate(app, () => 100)
  app.get('/work', async () => 'ok')
  await app.ready()
  await app.inject({ url: '/work' })
  await new Promise((resolve) => setTimeout(resolve, 600)) // two samples
  expect((await app.inject({ url: '/work' })).statusCode).toBe(200)
  expect(memoryUsage).not.toHaveBeenCalled()
  memoryUsage.mockRestore()
  await app.close()
})

it('is measured only while many requests are under way', async () => {
  const interval = vi.spyOn(globalThis, 'setInterval')
  const app = fastify()
  let underWay = 0
  refuseWhenLate(app, () => underWay)
  app.get('/work', async () => 'ok')
  await app.ready()
  const measured: boolean[] = []
  for (underWay of [31, 32]) {
    await app.inject({ url: '/work' })
    measured.push(interval.mock.calls.length > 0)
  }
  const timer = interval.mock.results[0]!.value
  underWay = 0
  await vi.waitFor(() => expect(timer._destroyed).toBe(true))
  expect(measured).toEqual([false, true])
  interval.mockRestore()
  await app.close()
})
