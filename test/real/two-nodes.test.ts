import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { labFolder } from '../lab/folder.ts'
import { type Program, startProgram } from '../lab/program.ts'
import { unpacked } from './packages.ts'

/** Two nodes behind Debian's Caddy with the Caddyfile that is shipped. */

const KEY = 'a-key-of-the-test'
const PORT = 8_090
const URL_OF_ALL = `http://127.0.0.1:${PORT}`
const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

let nodes: readonly Program[]
beforeAll(async () => {
  const flags = ['--api-key', KEY, '--rate', '100000']
  nodes = await Promise.all([startProgram(flags), startProgram(flags)])
  for (const node of nodes) ends.push(node.stop)
  const { program, env } = unpacked('usr/bin/caddy')
  const folder = labFolder()
  const file = resolve(import.meta.dirname, '../../deploy/two-nodes/Caddyfile')
  const places = nodes.map(({ url }) => new URL(url).host).join(' ')
  const own = [`HOME=${folder}`, `SITE=http://127.0.0.1:${PORT}`, `NODES=${places}`]
  const caddy = spawn('env', [...env, ...own, program, 'run', '--config', file, '--adapter', 'caddyfile'], {
    stdio: 'ignore',
  })
  ends.push(async () => {
    caddy.kill('SIGKILL')
    await once(caddy, 'exit')
  })
  await vi.waitFor(async () => expect((await fetch(`${URL_OF_ALL}/v1/health`)).status).toBe(200), { timeout: 20_000 })
}, 60_000)

/** A browser: keeps its cookies. */
function browser() {
  const cookies = new Map<string, string>()
  return async (path: string, form?: Readonly<Record<string, string>>) => {
    const response = await fetch(`${URL_OF_ALL}${path}`, {
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'sec-fetch-site': 'same-origin',
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name!, value!)
    }
    return response.text()
  }
}
async function login(visit: ReturnType<typeof browser>): Promise<void> {
  const token = /name="_csrf" value="([\w-]+)"/.exec(await visit('/login'))![1]!
  await visit('/login', { _csrf: token, key: KEY, to: '/' })
}
const times = async (count: number, visit: ReturnType<typeof browser>): Promise<readonly boolean[]> => {
  const seen: boolean[] = []
  for (let n = 0; n < count; n++) seen.push((await visit('/')).includes('Log out'))
  return seen
}

it('both nodes answer, a browser stays logged in, and after its node was killed it logs in at the other one', async () => {
  const visitors = Array.from({ length: 8 }, browser)
  for (const visit of visitors) {
    await login(visit)
    expect(await times(6, visit)).toEqual(Array(6).fill(true))
  }
  const answered = nodes.map(({ output }) => output().split('"path":"/login"').length - 1)
  expect(Math.min(...answered)).toBeGreaterThan(0)
  process.kill(nodes[0]!.pid, 'SIGKILL')
  for (const visit of visitors) {
    await login(visit)
    expect(await times(6, visit)).toEqual(Array(6).fill(true))
  }
})
