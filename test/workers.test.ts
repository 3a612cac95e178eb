import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { formatProof } from '../src/peers/proof.ts'
import { labFolder } from './lab/folder.ts'

/** `serve --workers 2` as processes: what the workers share, and what happens when one of them is killed. */

const MAIN = new URL('../src/main.js', import.meta.url).pathname
const WAIT_MS = 120_000
const KEY = 'a-key-of-the-test'
const SECRET = 'a secret of sixteen'
const ORIGIN = 'https://n1.example'
const running: { readonly pid: number; readonly kill: (signal: NodeJS.Signals) => boolean }[] = []
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

type Answer = { readonly status: number; readonly body: string; readonly cookie: string | undefined }

function start(flags: readonly string[]) {
  const folder = labFolder()
  const own = ['--port', '0', '--log-format', 'json', '--data-dir', `${folder}/data`, '--resolver', '127.0.0.1:9']
  const child = spawn(process.execPath, [MAIN, 'serve', '--workers', '2', ...own, ...flags], { cwd: folder, env: {} })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
  running.push({ pid: child.pid!, kill: (signal) => child.kill(signal) })
  const pid = child.pid!
  return {
    pid,
    ended,
    output: () => output,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    workers: () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number),
  }
}

/** The same, once both workers listen. */
async function startProgram(flags: readonly string[]) {
  const program = start(flags)
  await expect.poll(program.output, { timeout: WAIT_MS }).toContain('"msg":"listening"')
  const url = /"url":"([^"]+)"/.exec(program.output())![1]!
  /** A request on a connection of its own: the workers get connections in turns. */
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}, body?: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST'
      const asked = request(`${url}${path}`, { agent: false, method, headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode!, body: text, cookie: response.headers['set-cookie']?.[0] }),
        )
      })
      asked.once('error', reject)
      asked.end(body)
    })
  /** The workers that answered at this path. */
  const answeredBy = (path: string): number[] => [
    ...new Set(
      program
        .output()
        .split('\n')
        .filter((line) => line.includes(`"path":"${path}"`))
        .map((line) => Number(/"worker":(\d+)/.exec(line)?.[1])),
    ),
  ]
  return { ...program, url, ask, answeredBy }
}

const counted = (metrics: string, path: string): number =>
  Number(new RegExp(`^mailsonde_requests_total\\{path="${path}",status="200"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)

it(
  'requests come to both workers, a key has one rate, and a scrape counts all',
  async () => {
    const { ask, answeredBy } = await startProgram(['--api-key', KEY, '--rate', '10'])
    const key = { 'x-api-key': KEY }
    const statuses: number[] = []
    for (let n = 0; n < 9; n++) statuses.push((await ask('/v1/blacklists', key)).status)
    const metrics = (await ask('/metrics', key)).body
    for (let n = 0; n < 4; n++) statuses.push((await ask('/v1/blacklists', key)).status)
    expect(statuses).toEqual([...Array(9).fill(200), ...Array(4).fill(429)])
    expect(counted(metrics, '/v1/blacklists')).toBe(9)
    await expect.poll(() => answeredBy('/v1/blacklists').toSorted(), { timeout: WAIT_MS }).toEqual([1, 2])
  },
  WAIT_MS,
)

it(
  'sessions and nonces hold over both; a killed worker loses nothing else, is started again, and no count falls',
  async () => {
    const flags = ['--api-key', KEY, '--rate', '10000', '--peer-secret', SECRET, '--node-url', ORIGIN]
    const { ask, workers, kill, ended, output } = await startProgram(flags)
    const own = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }

    const page = await ask('/login')
    const token = /name="_csrf" value="([\w-]+)"/.exec(page.body)![1]!
    const form = new URLSearchParams({ _csrf: token, key: KEY, to: '/' }).toString()
    const login = await ask('/login', { ...own, cookie: page.cookie!.split(';')[0]! }, form)
    const cookie = login.cookie!.split(';')[0]!
    const pages = async (): Promise<readonly string[]> => {
      const seen: string[] = []
      for (let n = 0; n < 4; n++) seen.push((await ask('/', { cookie })).body)
      return seen
    }
    for (const body of await pages()) expect(body).toContain('Log out')

    const call = { method: 'GET', origin: ORIGIN, path: '/v1/peer/peers', body: '' }
    const by = { id: 'n2', nonce: 'nonce-0000000000000001', nowMs: Date.now() + 2_000 }
    const proof = { authorization: formatProof(call, by, SECRET) }
    const proven: number[] = []
    for (let n = 0; n < 4; n++) proven.push((await ask(call.path, proof)).status)
    expect(proven).toEqual([200, 401, 401, 401])

    const key = { 'x-api-key': KEY }
    for (let n = 0; n < 10; n++) await ask('/v1/blacklists', key)
    expect(counted((await ask('/metrics', key)).body, '/v1/blacklists')).toBe(10)
    const [victim, other] = workers()
    process.kill(victim!, 'SIGKILL')
    await expect.poll(workers, { timeout: WAIT_MS }).not.toContain(victim)
    for (let n = 0; n < 10; n++) expect((await ask('/v1/health')).status).toBe(200)
    expect(counted((await ask('/metrics', key)).body, '/v1/blacklists')).toBe(10)
    const listening = (): number => output().split('Server listening').length - 1
    await expect.poll(listening, { timeout: WAIT_MS }).toBe(3)
    expect(workers()).toContain(other)
    for (const body of await pages()) expect(body).toContain('Log out') // the new one knows the session

    // A signal to all, as of a terminal or of systemd, is one to the first.
    for (const pid of workers()) process.kill(pid, 'SIGTERM')
    kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(output()).toContain('stopping: waiting for running requests')
  },
  2 * WAIT_MS,
)

it(
  'workers end with the first process',
  async () => {
    const { workers, kill, ended } = await startProgram([])
    const pids = workers()
    kill('SIGKILL')
    await ended
    /** Whether it runs: one that has ended may wait for the init process, as `Z`. */
    const isThere = (pid: number): boolean => {
      try {
        return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
      } catch {
        return false
      }
    }
    await expect.poll(() => pids.filter(isThere), { timeout: WAIT_MS }).toEqual([])
  },
  WAIT_MS,
)

it(
  'a port that is taken is said in words, once',
  async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const { ended, output } = start(['--port', String(port)])
    expect(await ended).not.toBe(0)
    expect(output().match(/another program uses this port/g)).toHaveLength(1)
    taken.close()
  },
  WAIT_MS,
)
