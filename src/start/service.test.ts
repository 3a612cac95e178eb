import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { startProgram } from '../../test/lab/program.ts'
import { loadConfig } from '../config.ts'
import { fetchOver } from '../net/unix-socket.ts'
import { ownSocket } from './data-folder.ts'
import { serve } from './service.ts'

const folder = (): string => mkdtempSync(join(tmpdir(), 'mailsonde-'))
const start = (flags: Record<string, string | readonly string[]>): Promise<number> =>
  serve(loadConfig({ dataDir: folder(), resolvers: ['127.0.0.1'], port: '0', ...flags }, {}).config, quiet, '0')
const quiet = pino({ level: 'silent' })

it('says that its port is taken', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  await expect(start({ port: String(port) })).rejects.toMatchObject({
    name: 'AppError',
    message: `could not listen on 127.0.0.1:${port}: another program uses it; stop that program, or choose another one (--port, --listen)`,
  })
  await new Promise((resolve) => other.close(resolve))
})

it('ends where its port is taken, whatever began in the background, and leaves the socket of the other one', async () => {
  const dataDir = folder()
  const flags = ['--data-dir', dataDir, '--database-url', 'postgres://nobody@127.0.0.1:1/none']
  const program = await startProgram(flags)
  try {
    const args = ['src/main.js', 'serve', '--port', new URL(program.url).port, '--resolver', '127.0.0.1', ...flags]
    const second = spawn(process.execPath, args, { stdio: 'ignore', env: {} })
    expect(await once(second, 'exit')).toEqual([2, null])
    const own = await fetchOver(ownSocket(dataDir))
    expect((await own('http://localhost/v1/health')).status).toBe(200)
  } finally {
    await program.stop()
  }
})

it('does not start with accepted findings, which nothing would read', async () => {
  await expect(start({ accept: '[]' })).rejects.toMatchObject({ message: /^--accept: .*mailsonde accepted create/ })
})

it.each<[what: string, text: string | undefined, words: RegExp]>([
  [
    'is not there',
    undefined,
    /^--own-profile: .*own\.json could not be read: there is no such file or folder \(ENOENT\)$/,
  ],
  [
    'is wrong',
    '{"name": "own",\n"rules": []}',
    /^--own-profile: .*own\.json: line 2 of the profile: .*a rule has id, text/,
  ],
  [
    'has the name of another',
    '{"name": "parked", "rules": [{"id": "a", "text": "b", "findings": ["spf.loop"]}]}',
    /another profile with the name "parked"/,
  ],
])('does not start with a profile that %s', async (_, text, message) => {
  const ownProfile = join(folder(), 'own.json')
  if (text !== undefined) writeFileSync(ownProfile, text)
  await expect(start({ profiles: [ownProfile] })).rejects.toMatchObject({ name: 'AppError', message })
})

it('does not start where the key that it needs cannot be kept', async () => {
  const dataDir = join(folder(), 'file')
  writeFileSync(dataDir, '')
  const apiKeysFile = join(dataDir, 'keys.json')
  await expect(start({ host: '192.0.2.1', apiKeysFile })).rejects.toMatchObject({
    name: 'AppError',
    message: /^the keys could not be stored: /,
  })
})

it('does not start without a database that it was told to use', async () => {
  await expect(start({ geoDbs: ['/nowhere.mmdb'] })).rejects.toMatchObject({
    name: 'AppError',
    message: /^--geo-db: .*\/nowhere\.mmdb/,
  })
})

it('connections that come while it is busy wait in the backlog, up to the limit of the system', async () => {
  const args = ['src/main.js', 'serve', '--port', '0', '--resolver', '127.0.0.1', '--data-dir', folder()]
  const service = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env: {} })
  const sockets: Socket[] = []
  try {
    let said = ''
    for await (const chunk of service.stderr) if (/"url":"[^"]+:\d+"/.test((said += chunk))) break
    const port = Number(/"url":"[^"]+:(\d+)"/.exec(said)![1])
    service.kill('SIGSTOP')
    const most = Math.min(1_000, Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')))
    let open = 0
    for (let n = 0; n < most; n++)
      sockets.push(
        connect(port, '127.0.0.1')
          .on('connect', () => open++)
          .on('error', () => {}),
      )
    await expect.poll(() => open, { timeout: 10_000 }).toBe(most)
  } finally {
    for (const socket of sockets) socket.destroy()
    service.kill('SIGKILL')
    await once(service, 'exit')
  }
})

it('with files of a later version it starts, says so in words, and leaves them as they are', async () => {
  const dataDir = folder()
  const later = '{"format": 9, "rows": []}'
  const paths = ['node', 'peers', 'sources', 'self-tests'].map((name) => join(dataDir, `${name}.json`))
  for (const path of paths) writeFileSync(path, later, { mode: 0o600 })
  const program = await startProgram(['--data-dir', dataDir])
  try {
    expect((await fetch(`${program.url}/v1/health`)).status).toBe(200)
    const words = program
      .output()
      .split('\n')
      .filter((line) => line.includes('later version'))
    // The first one says whether keys are required.
    expect(words.find((line) => line.includes(paths[0]!))).toContain('"level":"error"')
    expect(program.output()).not.toMatch(/ {4}at /) // no stack
    expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(paths.map(() => later))
  } finally {
    await program.stop()
  }
})

it('the socket of the data folder is its owner, whatever keys are in force', async () => {
  const dataDir = folder()
  const program = await startProgram(['--data-dir', dataDir, '--api-key', 'a-key-of-the-test'])
  try {
    const own = await fetchOver(ownSocket(dataDir))
    expect((await own(new URL('http://localhost/v1/pool'))).status).toBe(200)
    expect((await fetch(`${program.url}/v1/pool`)).status).toBe(401)
    expect(statSync(ownSocket(dataDir)).mode & 0o777).toBe(0o600)
  } finally {
    await program.stop()
  }
})

const NO_REPORTS = 'domain=a.example'
it('reports are looked at before the first one: nothing is started', async () => {
  const dataDir = folder()
  const program = await startProgram(['--data-dir', dataDir])
  try {
    const answered = async (path: string): Promise<[string, number]> => [
      path,
      (await fetch(`${program.url}${path}`)).status,
    ]
    const paths = [
      ...['/reports', '/reports/a.example', '/v1/reports/domains', `/v1/reports?${NO_REPORTS}`],
      ...['senders', 'rows', 'tls'].map((name) => `/v1/reports/${name}?${NO_REPORTS}`),
      `/v1/reports/policy?${NO_REPORTS}&policy=reject`,
    ]
    expect(await Promise.all(paths.map(answered))).toEqual(paths.map((path) => [path, 200]))
    expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres'))).toEqual([])
  } finally {
    await program.stop()
  }
}, 60_000)
