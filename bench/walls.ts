import { fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { embeddedConnection } from '../src/store/postgres/embedded.ts'
import { figures, flags, machine, sleep, table } from './figures.ts'
import { benchFolder } from './jobs-service.ts'

/**
 * What one caller can do to the others: the answer time of /v1/health, asked by another process during each attack, and
 * the memory of the service before, at its highest and a minute after. Options: --seconds 15 (of each attack), --rest
 * 60, --only PATTERN, --message N, --log error, --write yes
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
      'src/main.js',
      'serve',
      '--port',
      String(PORT),
      '--data-dir',
      dataDir,
      '--rate',
      '10000000',
    ],
    ...['--api-key', KEY, '--allow-network', '127.0.0.0/8', '--log-level', options.log ?? 'error'],
  ],
  { stdio: 'inherit', env: { ...process.env, MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '1048576' } },
)
service.once('exit', (code, signal) => {
  if (!isOver) console.log(`the service ended: ${code ?? signal}`)
})
let isOver = false
const headers = { authorization: `Bearer ${KEY}` }
const call = async (path: string, init: RequestInit = {}) => {
  try {
    const one = await fetch(`${URL_}${path}`, { ...init, headers: { ...headers, ...init.headers } })
    return { status: one.status, text: await one.text(), cookie: one.headers.get('set-cookie') ?? '' }
  } catch {
    return { status: 0, text: '', cookie: '' }
  }
}
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
db.on('error', () => {})
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
/** Sends a body to an operation as its type. */
const post = (path: string, type: string, body: Uint8Array | string, more: Record<string, string> = {}) =>
  call(path, { method: 'POST', headers: { 'content-type': type, ...more }, body })
const MIB = 1_048_576
const statuses = (all: readonly { readonly status: number }[]): string =>
  [...Map.groupBy(all, ({ status }) => status)].map(([status, some]) => `${some.length} × ${status}`).join(', ')

/** Uploads that never end; each sends `body` and stays for the time of an attack. */
async function unfinished(count: number, body: Buffer): Promise<string> {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(PORT, '127.0.0.1').on('error', () => {})
    const fields = `Host: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked`
    socket.write(`POST /v1/jobs HTTP/1.1\r\n${fields}\r\n\r\n${body.length.toString(16)}\r\n`)
    socket.write(body)
    socket.write('\r\n')
    return socket.resume()
  })
  await sleep(ATTACK_MS)
  for (const socket of sockets) socket.destroy()
  return `${count} uploads`
}

/** A DMARC report of `rows` records with texts as long as they are kept. */
function report(rows: number, id: string): Buffer {
  const long = 'x'.repeat(240)
  const signature = (n: number) =>
    `<dkim><domain>${long}.d${n}</domain><selector>${long}.s${n}</selector><result>pass</result></dkim>`
  const signatures = [0, 1, 2, 3].map(signature).join('')
  const record = (n: number) =>
    `<record><row><source_ip>10.${n >> 16}.${(n >> 8) & 255}.${n & 255}</source_ip><count>1</count></row><identifiers><header_from>reports.example</header_from><envelope_from>${long}.e</envelope_from></identifiers><auth_results>${signatures}</auth_results></record>`
  const begin = Math.floor(Date.now() / 1_000) - 172_800
  const head = `<?xml version="1.0"?><feedback><report_metadata><org_name>x</org_name><email>a@x.example</email><report_id>${id}</report_id><date_range><begin>${begin}</begin><end>${begin + 86_399}</end></date_range></report_metadata><policy_published><domain>reports.example</domain><p>none</p></policy_published>`
  return gzipSync(`${head}${Array.from({ length: rows }, (_, n) => record(n)).join('')}</feedback>`)
}

const parts = (count: number): string =>
  Array.from({ length: count }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`).join('')

const ids: string[] = []
const ATTACKS: Record<string, () => Promise<string>> = {
  '45 uploads, each with an unfinished record of 15.5 MB': () =>
    unfinished(45, Buffer.from(`email,note\nx@a.example,"${'y'.repeat(15_500_000)}`)),
  '36 jobs with 63 KiB of headers, looked at': async () => {
    const header = `email,${Array.from({ length: 63 }, (_, n) => `${n}`.padEnd(1_000, 'h')).join()}`
    const made = await Promise.all(
      Array.from({ length: 36 }, () => post('/v1/jobs', 'text/csv', `${header}\nx@a.example\n`)),
    )
    const jobs = made.flatMap(({ status, text }) => (status === 202 ? [String(JSON.parse(text).id)] : []))
    const n = await flood(16, (i) =>
      call(i % 4 === 0 ? '/v1/jobs?limit=100' : `/v1/jobs/${jobs[i % jobs.length]}${i % 4 === 1 ? '/results' : ''}`),
    )
    return `${statuses(made)}; ${n} looks`
  },
  '2,050 jobs of a row at a dead host': async () => {
    const made: { status: number }[] = []
    for (let n = 0; n < 2_050; n += 8)
      made.push(
        ...(await Promise.all(
          Array.from({ length: 8 }, (_, i) => post('/v1/jobs', 'text/plain', `x@dead${n + i}.example\n`)),
        )),
      )
    return statuses(made)
  },
  'gzip bombs of 1 GiB': async () => {
    const bomb = gzipSync(Buffer.alloc(256 * MIB, 'a@a.example\n'))
    const all: { status: number }[] = []
    await flood(8, async () => all.push(await post('/v1/jobs', 'text/csv', bomb)))
    return statuses(all)
  },
  'records of 15 MiB: commas, columns, quoted fields': async () => {
    const lists = [
      `email\n${','.repeat(15 * MIB)}\n`,
      `${'c,'.repeat(MIB)}email\nx\n`,
      `email\n"${'"'.repeat(15 * MIB)}`,
      `email\n${'"a",'.repeat(4 * MIB)}\n`,
    ]
    const all: { status: number }[] = []
    await flood(8, async (n) => all.push(await post('/v1/jobs', 'text/csv', lists[n % lists.length]!)))
    return statuses(all)
  },
  'messages of 10 MB': async () => {
    const bodies = [
      `From: a@a.example\r\n${parts(200_000)}`,
      `From: a@a.example\r\n${'X: y\r\n'.repeat(1_500_000)}\r\n`,
      `From: ${'"a" <a@a.example>,'.repeat(500_000)}\r\n\r\n`,
      `From: a@a.example\r\nSubject: ${'=?utf-8?B?YQ==?= '.repeat(500_000)}\r\n\r\n`,
      `From: a@a.example\r\n${`DKIM-Signature: v=1; a=rsa-sha256; d=a.example; s=s; h=${'from:'.repeat(100)}; bh=AA==; b=AA==\r\n`.repeat(10_000)}\r\n`,
      `From: a@a.example\r\n${'Received: from a by b (c); Mon, 1 Jan 2024 00:00:00 +0000\r\n'.repeat(150_000)}\r\n`,
      `From: a@a.example\r\nContent-Type: text/html\r\n\r\n${'<a href="https://a.example/">a</a>'.repeat(280_000)}`,
      `From: a@a.example\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${'=C3=BC'.repeat(1_600_000)}`,
      `From: a@a.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(900_000)}`,
    ]
    const all: { status: number }[] = []
    const only = options.message === undefined ? bodies : [bodies[Number(options.message)]!]
    await flood(4, async (n) => all.push(await post('/v1/message', 'message/rfc822', only[n % only.length]!)))
    return statuses(all)
  },
  'reports of 100,000 long records, and looks at them': async () => {
    const files = [report(100_000, '1'), report(100_000, '2')]
    const all = await Promise.all(files.map((file) => post('/v1/reports', 'application/gzip', file)))
    const n = await flood(4, () => call('/v1/reports?domain=reports.example'))
    return `${statuses(all)}; ${n} looks`
  },
  plans: async () => {
    const body = JSON.stringify({
      domain: 'a.example',
      mailboxes: 'google',
      senders: Array.from({ length: 20 }, () => 'sendgrid'),
    })
    const all: { status: number }[] = []
    await flood(32, async () => all.push(await post('/v1/plan', 'application/json', body)))
    return statuses(all)
  },
  'streams of events': async () =>
    `${await flood(200, async () => {
      const stop = AbortSignal.timeout(1_000)
      await call('/v1/report?domain=a.example', { headers: { accept: 'text/event-stream' }, signal: stop })
    })} streams`,
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
      `INSERT INTO mailsonde.deliveries (id, webhook, monitor, owner, channel, type, body, created_at, next_attempt)
       SELECT 'msg_' || lpad(n::text, 22, 'A'), w.number, m.number, w.owner, '{"type": "webhook"}', 'monitor.changed', $1, now(), now()
       FROM generate_series(1, 20000) n, mailsonde.webhooks w, mailsonde.monitors m`,
      [JSON.stringify({ type: 'monitor.changed', filler: randomBytes(8_000).toString('hex') })],
    )
    await sleep(ATTACK_MS)
    return `${received - before} attempts`
  },
}

/** What one mail or file did to a service whose readers had no walls; `n` makes each another one. */
const begin = Math.floor(Date.now() / 1_000) - 172_800
const nested = (depth: number): string => 'Content-Type: message/rfc822\r\n\r\n'.repeat(depth)
const signed = (count: number): string =>
  Array.from(
    { length: count },
    (_, n) => `DKIM-Signature: v=1; a=rsa-sha256; d=a${n}.example; s=s; h=from:x-long; bh=AA==; b=AA==\r\n`,
  ).join('')
const details = `{${'"a":{},'.repeat(8_000_000)}"b":0}`
const tls = (policies: string): string =>
  `{"organization-name":"x","contact-info":"x@x.example","report-id":"1","date-range":{"start-datetime":"${new Date(begin * 1_000).toISOString()}","end-datetime":"${new Date((begin + 86_399) * 1_000).toISOString()}"},"policies":[${policies}]}`
const policy = `{"policy":{"policy-type":"sts","policy-domain":"reports.example"},"summary":{"total-successful-session-count":1,"total-failure-session-count":1},"failure-details":[${Array.from({ length: 99_999 }, () => '{}').join()}]}`
const MESSAGES: Readonly<Record<string, () => string>> = {
  'Authentication-Results of 120 KiB': () => `Authentication-Results: a; ${'\\"'.repeat(60_000)}\r\n\r\n`,
  'Authentication-Results of 1 MiB': () => `Authentication-Results: a; ${'\\"'.repeat(500_000)}\r\n\r\n`,
  'HTML links of 200 KiB': () => `Content-Type: text/html\r\n\r\n${'<a href="'.repeat(23_000)}`,
  'nested messages of 400 KiB': () => `${nested(12_000)}\r\nx`,
  '300,000 empty parts': () => `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n'.repeat(300_000)}`,
  'format=flowed of 10 MB': () => `Content-Type: text/plain; format=flowed\r\n\r\n${'a \r\n'.repeat(2_400_000)}`,
  'ten signatures over a field of 9 MiB': () => `${signed(10)}X-Long: ${'x'.repeat(9 * MIB)}\r\n\r\nx`,
  'ten signatures over a folded field of 9 MiB': () => `${signed(10)}X-Long: ${'x\r\n '.repeat(2_300_000)}\r\n\r\nx`,
  'two million short lines of header': () => `${'a:\r\n'.repeat(2_000_000)}\r\n`,
}
const FILES: Readonly<Record<string, () => string | readonly [unit: string, count: number]>> = {
  'TLS report of 14 MiB': () => tls(Array.from({ length: 50 }, () => policy).join()),
  'JSON of 8 million keys': () => tls(details),
  'JSON nested 8 million deep': () => tls('['.repeat(8_000_000)),
  'mbox of 300,000 messages': () => 'From a\n\n'.repeat(300_000),
  'mbox of 3,000,000 messages': () => 'From a\n\n'.repeat(3_000_000),
  'mbox of 24 MiB of empty lines': () => `From a\n${'\n'.repeat(24 * MIB)}`,
  'XML of 900 MiB': () => ['<feedback>', 94_000_000],
  'a billion spaces': () => [' ', 1_000_000_000],
}
/** Compressed, also what is too large for one text. */
function compressed(text: string | readonly [unit: string, count: number]): Buffer {
  if (typeof text === 'string') return gzipSync(text)
  const piece = Buffer.from(text[0].repeat(100_000))
  const one = gzipSync(piece)
  return Buffer.concat(Array.from({ length: text[1] / 100_000 }, () => one)) // members of one file, RFC 1952 §2.2
}
for (const [name, text] of Object.entries(MESSAGES))
  ATTACKS[name] = async () => {
    const body = `From: a@a.example\r\n${text()}`
    const all: { status: number }[] = []
    await flood(4, async (n) => all.push(await post('/v1/message', 'message/rfc822', `X-N: ${n}\r\n${body}`)))
    return statuses(all)
  }
for (const [name, text] of Object.entries(FILES))
  ATTACKS[name] = async () => {
    const body = compressed(text())
    const all: { status: number }[] = []
    await flood(4, async (n) => {
      const another = Buffer.from(body)
      another.writeUInt32LE(n, 4) // the time of the file
      all.push(await post('/v1/reports', 'application/gzip', another))
    })
    return `${statuses(all)}; ${(body.length / 1_024).toFixed(0)} KiB`
  }

/** Removes the jobs that an attack has left, so that the next one is not refused because of them. */
async function removeJobs(): Promise<void> {
  for (;;) {
    const { text } = await call('/v1/jobs?limit=200')
    const { data } = JSON.parse(text) as { readonly data: readonly { readonly id: string }[] }
    if (data.length === 0) return
    await Promise.all(data.map(({ id }) => call(`/v1/jobs/${id}`, { method: 'DELETE' })))
  }
}

const rssOf = (): number =>
  // none once it has ended
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024
const prober = fork(import.meta.filename, ['prober', URL_])
const times = (): Promise<number[]> =>
  new Promise((resolve) => {
    prober.once('message', (all) => resolve(all as number[]))
    prober.send('read')
  })
try {
  await sleep(10_000)
  const lines: string[][] = []
  for (const [name, attack] of Object.entries(ATTACKS)) {
    if (options.only !== undefined && !new RegExp(options.only).test(name)) continue
    await times()
    const before = rssOf()
    let highest = before
    const watch = setInterval(() => void (highest = Math.max(highest, rssOf())), 100)
    const what = await attack()
    clearInterval(watch)
    const all = await times()
    await removeJobs()
    await sleep(REST_MS)
    const at = (share: number): string =>
      (all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0).toFixed(1)
    lines.push([name, what, at(0.99), at(1), ...[before, highest, rssOf()].map((mib) => mib.toFixed(0))])
    console.log(lines.at(-1)!.join(' | '))
  }
  const worst = Math.max(...lines.map((line) => Number(line[2])))
  figures('walls', [
    `During ${lines.length} attacks of one key, \`/v1/health\` is answered within ${worst.toFixed(0)} ms (p99 of the worst, goal 50).`,
    table(
      ['attack', 'what', 'health p99, ms', 'longest', 'MiB before', 'highest', `${REST_MS / 1_000} s after`],
      lines,
    ),
    `${ATTACK_MS / 1_000} s each; ${machine()}.`,
  ])
} finally {
  isOver = true
  prober.kill()
  await db.end()
  service.kill('SIGTERM')
  await new Promise((resolve) => service.once('exit', resolve))
  sink.close()
  folder.remove()
}
