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

/** The paths that are refused while the event loop is late, with so many requests under way. */
async function refusedWhileLate(underWay: number): Promise<ReadonlySet<string>> {
  const paths = ['/v1/health', '/v1/ready', '/metrics', '/work']
  const app = fastify()
  refuseWhenLate(app, () => underWay)
  for (const path of paths) app.get(path, async () => 'ok')
  await app.ready()
  const refused = new Set<string>()
  for (let i = 0; i < 2 && refused.size === 0; i++) {
    await strain()
    for (const url of paths) if ((await app.inject({ url })).statusCode !== 200) refused.add(url)
  }
  await app.close()
  return refused
}

it('while the event loop is late new requests are refused, but not health, ready and metrics', async () => {
  expect(await refusedWhileLate(100)).toEqual(new Set(['/work']))
})

it('with few requests under way something else is late, and nothing is refused', async () => {
  expect(await refusedWhileLate(3)).toEqual(new Set())
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
