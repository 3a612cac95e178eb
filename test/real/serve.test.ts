import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { DEAD_SERVER, SOURCES, STATE } from './addresses.ts'
import { logFile } from './processes.ts'
import { cli, type Program, startProgram } from './program.ts'

/** The service as an operator sees it: how it starts, is watched and stops. */
let program: Program | undefined
afterEach(async () => {
  await program?.stop()
  program = undefined
})

it('SIGTERM: what runs is answered, then it ends with 0', async () => {
  program = await startProgram()
  const { get, stop } = program
  program = undefined
  const asked = get('/v1/verify?email=user@slow.test') // its banner comes after 4 s
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const ended = stop()
  expect((await asked).body).toMatchObject({ result: 'accepted' })
  expect(await ended).toBe(0)
})

it('on a host that is not loopback the first start makes a key, prints it once and keeps its hash', async () => {
  const data = mkdtempSync(`${STATE}/keys-`)
  const url = `http://${SOURCES.allowed}:8099`
  const flags = [
    'serve',
    '--host',
    SOURCES.allowed,
    '--port',
    '8099',
    '--data-dir',
    data,
    '--peer-secret',
    'a secret of sixteen',
  ]
  const start = async () => {
    const child = spawn(process.execPath, ['src/main.js', ...flags], { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk) => (said += chunk))
    await expect.poll(() => said, { timeout: 15_000 }).toContain('"listening"')
    const end = async (): Promise<string> => {
      const exit = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      expect(await exit).toBe(0)
      return said
    }
    return { said: () => said, end }
  }
  const status = async (key?: string): Promise<number> =>
    (await fetch(`${url}/v1/peer/geo?ip=8.8.8.8`, { headers: key ? { authorization: `Bearer ${key}` } : {} })).status

  const first = await start()
  const key = /msk_\S+/.exec(first.said())![0]
  expect(await Promise.all([status(), status('msk_wrong'), status(key)])).toEqual([401, 401, 200])
  const log = await first.end()
  expect(log.split(key)).toHaveLength(2) // once, and in no line of the log
  expect(log).not.toContain('a secret of sixteen')
  expect(readFileSync(`${data}/keys.json`, 'utf8')).not.toContain(key)

  const second = await start()
  expect(second.said()).not.toContain('msk_')
  expect(await status(key)).toBe(200)
  const [{ id }] = JSON.parse(readFileSync(`${data}/keys.json`, 'utf8')) as [{ id: string }]
  execFileSync(process.execPath, ['src/main.js', 'keys', 'revoke', id, '--data-dir', data])
  await expect.poll(() => status(key), { timeout: 5_000 }).toBe(401)
  await second.end()
})

it('the configuration is shown without its secrets', async () => {
  const secrets = [
    '--peer-secret',
    'a secret of sixteen',
    '--api-key',
    'a-key-of-mine',
    '--dqs-key',
    'abcdefghijklmnop',
  ]
  const shown = execFileSync(process.execPath, ['src/main.js', 'config', ...secrets], { encoding: 'utf8' })
  expect(shown).toContain('--peer-secret')
  for (const secret of ['a secret of sixteen', 'a-key-of-mine', 'abcdefghijklmnop']) expect(shown).not.toContain(secret)
})

it('counts what it did', async () => {
  program = await startProgram()
  await program.get('/v1/verify?email=user@accept.test')
  await program.get('/v1/check?domain=servfail.test')
  await program.get('/v1/nowhere')
  const { status, body, headers } = await program.get('/metrics')
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain/)])
  for (const line of [
    /^mailsonde_requests_total\{path="\/v1\/verify",status="200"\} 1$/m,
    /^mailsonde_requests_total\{path="",status="404"\} 1$/m,
    /^mailsonde_dns_questions_total\{type="MX",outcome="found"\} \d+$/m,
    /^mailsonde_dns_questions_total\{type="TXT",outcome="servfail"\} \d+$/m,
    /^mailsonde_smtp_attempts_total\{provider="other",outcome="mailbox_exists"\} 1$/m,
    /^mailsonde_verifications_total\{result="accepted"\} 1$/m,
    /^mailsonde_blacklist_state\{list="[^"]+",state="[a-z]+"\} 1$/m,
    /^mailsonde_peers\{status="alive"\} 0$/m,
    /^mailsonde_database_away 0$/m,
    /^mailsonde_requests_under_way 1$/m,
    /^nodejs_eventloop_lag_seconds \d/m,
  ])
    expect(body).toMatch(line)
})

it('is ready while its resolver answers', async () => {
  program = await startProgram()
  expect(await program.get('/v1/ready')).toMatchObject({ status: 200, body: { status: 'ready' } })
  await program.stop()
  program = await startProgram(['--resolver', DEAD_SERVER])
  expect(await program.get('/v1/ready')).toMatchObject({
    status: 503,
    body: {
      status: 'not_ready',
      dependencies: [
        { name: 'resolver', status: 'failed' },
        { name: 'store', status: 'ok' },
        { name: 'queue', status: 'ok' },
      ],
    },
  })
  expect(await program.get('/v1/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
})

it('ready on the command line', async () => {
  expect(await cli('api', 'ready')).toMatchObject({ code: 0, body: { status: 'ready' } })
  expect(await cli('api', 'ready', '--resolver', DEAD_SERVER)).toMatchObject({ code: 1, body: { status: 'not_ready' } })
})

it('the log has neither addresses nor queries', async () => {
  program = await startProgram()
  await program.get('/v1/verify?email=some.body@accept.test')
  const port = new URL(program.url).port
  const log = (): string => readFileSync(logFile(`program-${port}`), 'utf8')
  await expect.poll(log, { timeout: 5_000 }).toContain('/v1/verify') // lines are written in batches
  expect(log()).not.toContain('some.body')
})
