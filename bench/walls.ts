import { fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import pg from 'pg'
import { embeddedConnection } from '../src/store/postgres/embedded.ts'
import { flags, machine, sleep } from './figures.ts'
import { benchFolder } from './jobs-service.ts'

/**
 * What one caller can do to the others: the answer time of /v1/health, asked by another process during each attack, and the memory of the service before, at
 * its highest and a minute after. Options: --seconds 15 (of each attack), --rest 60, --only NAME
 */
if (process.argv[2] === 'prober') {
  const times: number[] = []
  process.on('message', () => {
    process.send!([...times].sort((a, b) => a - b))
    times.length = 0
  })
  for (;;) {
    const begun = performance.now()
    const ok = await fetch(`${process.argv[3]}/v1/health`).then(
      (one) => one.ok,
      () => false,
    )
    times.push(ok ? performance.now() - begun : 10_000)
    await sleep(10)
  }
}

const options = flags(process.argv.slice(2))
const ATTACK_MS = Number(options.seconds ?? 15) * 1_000
const REST_MS = Number(options.rest ?? 60) * 1_000
const PORT = 18_790
const URL_ = `http://127.0.0.1:${PORT}`
const folder = benchFolder()
const dataDir = join(folder.path, 'data')
const KEY = 'bench-key-of-one-caller'

console.log(machine())
let received = 0
const sink = createServer((request, response) => {
  received++
  request.resume()
  setTimeout(() => response.writeHead(received % 2 === 0 ? 500 : 204).end(), 200)
}).listen(0, '127.0.0.1')
await new Promise((resolve) => sink.once('listening', resolve))
const sinkPort = (sink.address() as { port: number }).port
const service = spawn(
  process.execPath,
  [
    ...[
      '--max-old-space-size=1024',
      'src/main.ts',
      'serve',
      '--port',
      String(PORT),
      '--data-dir',
      dataDir,
      '--rate',
      '10000000',
    ],
    ...['--api-key', KEY, '--allow-network', '127.0.0.0/8', '--log-level', 'error'],
  ],
  { stdio: 'inherit' },
)
const headers = { authorization: `Bearer ${KEY}` }
const call = (path: string, init: RequestInit = {}) =>
  fetch(`${URL_}${path}`, { ...init, headers: { ...headers, ...init.headers } }).then(
    async (one) => ({ status: one.status, text: await one.text(), cookie: one.headers.get('set-cookie') ?? '' }),
    () => ({ status: 0, text: '', cookie: '' }),
  )
while ((await call('/v1/health')).status !== 200) await sleep(100)
const made = await call('/v1/monitors', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    kind: 'blacklist',
    target: '192.0.2.1',
    every: '31d',
    notify: [{ type: 'webhook', url: `http://127.0.0.1:${sinkPort}/` }],
  }),
})
if (made.status !== 201) throw new Error(made.text)
const db = new pg.Client(await embeddedConnection(dataDir, 'nobody'))
await db.connect()

/** Calls `work` over and over, so many at a time, until the time is over. Returns the number of calls. */
async function flood(atOnce: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const end = performance.now() + ATTACK_MS
  let n = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < end) await work(n++)
    }),
  )
  return n
}
const ids: string[] = []
const ATTACKS: Readonly<Record<string, () => Promise<string>>> = {
  'wrong keys': async () =>
    `${await flood(32, (n) => call('/v1/pool', { headers: { authorization: `Bearer wrong${n}` } }))} refusals`,
  'streams without a token': async () => `${await flood(32, (n) => call(`/domain/a${n}.example/events`))} refusals`,
  'pages with tokens': async () =>
    `${await flood(32, (n) => call(`/domain/a${n}.example`, { headers: { accept: 'text/html' } }))} pages`,
  sessions: async () => {
    const first = await fetch(`${URL_}/login`, { headers: { accept: 'text/html' } })
    const cookie = String(first.headers.get('set-cookie')).split(';')[0]!
    const token = /name="_csrf" value="([\w-]+)"/.exec(await first.text())![1]!
    const body = `_csrf=${token}&key=${KEY}&to=/`
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', cookie }
    return `${await flood(32, () => fetch(`${URL_}/login`, { method: 'POST', headers: form, body, redirect: 'manual' }))} logins`
  },
  '20,000 stored answers of 1 MiB': async () => {
    const text = JSON.stringify({ domain: 'a.example', filler: 'x'.repeat(1_000_000) })
    await db.query(
      `INSERT INTO mailsonde.stored_answers (id, kind, owner, subject, domain, status, saved_at, expires_at, answer)
       SELECT 'r' || lpad(n::text, 21, 'A'), 'check', $2, 'a.example', 'a.example', 'pass', now(), now() + interval '90 days', $1 FROM generate_series(1, 20000) n`,
      [text, 'option-1'],
    )
    for (let n = 1; n <= 20_000; n += 100) ids.push(`r${String(n).padStart(21, 'A')}`)
    const n = await flood(16, (i) =>
      i % 8 === 0 ? call('/v1/history?domain=a.example&limit=100') : call(`/r/${ids[i % ids.length]}?format=json`),
    )
    return `${n} reads`
  },
  '20,000 messages of webhooks, of which half fail': async () => {
    const before = received
    await db.query(
      `INSERT INTO mailsonde.deliveries (id, webhook, monitor, channel, type, body, created_at, next_attempt)
       SELECT 'msg_' || lpad(n::text, 22, 'A'), w.number, m.number, '{"type": "webhook"}', 'monitor.changed', $1, now(), now()
       FROM generate_series(1, 20000) n, mailsonde.webhooks w, mailsonde.monitors m`,
      [JSON.stringify({ type: 'monitor.changed', filler: randomBytes(8_000).toString('hex') })],
    )
    await sleep(ATTACK_MS)
    return `${received - before} attempts`
  },
}

const rssOf = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))![1]) / 1_024
const prober = fork(import.meta.filename, ['prober', URL_])
const times = (): Promise<number[]> =>
  new Promise((resolve) => {
    prober.once('message', (all) => resolve(all as number[]))
    prober.send('read')
  })
try {
  await sleep(10_000)
  console.log('| attack | what | health p99, ms | longest | MiB before | highest | a minute after |')
  for (const [name, attack] of Object.entries(ATTACKS)) {
    if (options.only !== undefined && !name.includes(options.only)) continue
    await times()
    const before = rssOf()
    let highest = before
    const watch = setInterval(() => void (highest = Math.max(highest, rssOf())), 100)
    const what = await attack()
    clearInterval(watch)
    const all = await times()
    await sleep(REST_MS)
    const at = (share: number): string =>
      (all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0).toFixed(1)
    console.log(
      `| ${name} | ${what} | ${at(0.99)} | ${at(1)} | ${before.toFixed(0)} | ${highest.toFixed(0)} | ${rssOf().toFixed(0)} |`,
    )
  }
} finally {
  prober.kill()
  await db.end()
  service.kill('SIGTERM')
  await new Promise((resolve) => service.once('exit', resolve))
  sink.close()
  folder.remove()
}
