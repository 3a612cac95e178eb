import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LOCAL_CERT } from '../../test/lab/certificate.ts'
import { labDatabase, labDatabaseUrl } from '../../test/lab/database.ts'
import { type LabServer, labServer, zoneBehaviour } from '../../test/lab/dns-server.ts'
import { labFolder } from '../../test/lab/folder.ts'
import { labImap } from '../../test/lab/imap-server.ts'
import { LAB_KEY, signed } from '../../test/lab/messages.ts'
import { type Program, startProgram } from '../../test/lab/program.ts'
import { aggregateReport } from '../../test/lab/report-xml.ts'
import type { Database } from '../store/postgres/connect.ts'

/**
 * Every way in, killed (SIGKILL) after the database has committed the report and before the program hears of it:
 * nothing was acknowledged, so the report comes again, and counts once.
 */
const MAIN = new URL('../main.js', import.meta.url).pathname
const DAY_S = 86_400
const YESTERDAY_S = Math.floor(Date.now() / 1_000 / DAY_S - 1) * DAY_S

let database: Database
let dns: LabServer
let proxy: Server
let folder: string
let flags: readonly string[]
/** The process that is killed when the next report is committed. */
let victim: { pid: number } | undefined

beforeAll(async () => {
  const url = await labDatabaseUrl()
  database = await labDatabase(url)
  const direct = new URL(url.replace('@/', '@localhost/'))
  proxy = createServer((client) => {
    const upstream = connect(`${direct.searchParams.get('host')}/.s.PGSQL.5432`)
    let holdsReport = false
    const end = (): void => {
      client.destroy()
      upstream.destroy()
    }
    client.on('error', end).on('close', end)
    upstream.on('error', end).on('close', end)
    client.on('data', (chunk: Buffer) => {
      holdsReport ||= chunk.includes('INSERT INTO mailsonde.reports (')
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (victim && holdsReport && chunk.includes('COMMIT\0')) {
        process.kill(victim.pid, 'SIGKILL')
        victim = undefined
        return end()
      }
      client.write(chunk)
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  dns = await labServer(zoneBehaviour({ 'a._domainkey.google.com': { TXT: [LAB_KEY] }, 'google.com': {} }))
  folder = labFolder()
  writeFileSync(`${folder}/ca.pem`, LOCAL_CERT)
  const { port } = proxy.address() as { port: number }
  flags = [
    ...['--database-url', `postgres://${direct.username}:${direct.password}@127.0.0.1:${port}${direct.pathname}`],
    ...['--reports-domains', 'killed.example', '--resolver', `127.0.0.1:${dns.server.port}`],
  ]
}, 60_000)
afterAll(() => {
  proxy.close()
  dns.close()
})

const ENV = { MAILSONDE_REPORTS_IMAP_PASSWORD: 'secret' }
const start = (more: readonly string[] = [], onSpawn: (pid: number) => void = () => {}): Promise<Program> =>
  startProgram([...flags, ...more], MAIN, { env: { ...ENV, NODE_EXTRA_CA_CERTS: `${folder}/ca.pem` }, onSpawn })

const xmlOf = (id: string): string =>
  aggregateReport({ id, domain: 'killed.example', begin: YESTERDAY_S, rows: [{ address: '192.0.2.1', count: 3 }] })
const mailOf = (id: string): string =>
  signed(
    `From: noreply-dmarc-support@google.com\nTo: d@killed.example\nSubject: report\nDate: Mon, 23 Nov 2026 09:00:00 +0000\nMessage-ID: <${id}@google.com>\nContent-Type: text/xml\n\n${xmlOf(id)}\n`,
    { domain: 'google.com' },
  )

async function ended(program: Program): Promise<void> {
  const isGone = () =>
    fetch(`${program.url}/v1/health`).then(
      () => false,
      () => true,
    )
  await expect.poll(isGone, { timeout: 60_000 }).toBe(true)
}

/** Runs the work with the program that is killed; what it rejects with is that nobody answered. */
async function unanswered(program: Program, work: () => Promise<unknown>): Promise<void> {
  victim = program
  await expect(work()).rejects.toThrow()
  await ended(program)
  expect(victim).toBeUndefined()
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

type Way = (id: string) => Promise<void>

const http: Way = async (id) => {
  const post = (program: Program) => fetch(`${program.url}/v1/reports`, { method: 'POST', body: xmlOf(id) })
  const first = await start()
  await unanswered(first, () => post(first))
  const second = await start()
  const answer = (await (await post(second)).json()) as { reports: readonly { duplicate: boolean }[] }
  expect(answer.reports.map(({ duplicate }) => duplicate)).toEqual([true])
  await second.stop()
}

const lmtp: Way = async (id) => {
  const port = await freePort()
  const more = ['--reports-lmtp', `127.0.0.1:${port}`]
  const send = async () => {
    const transport = createTransport({ host: '127.0.0.1', port, lmtp: true, ignoreTLS: true } as never)
    const envelope = { from: 'noreply-dmarc-support@google.com', to: 'd@killed.example' }
    const { response } = await transport.sendMail({ envelope, raw: Buffer.from(mailOf(id), 'latin1') })
    return response
  }
  const first = await start(more)
  await unanswered(first, send)
  const second = await start(more)
  expect(await send()).toMatch(/^250/)
  await second.stop()
}

const imap: Way = async (id) => {
  const server = await labImap([mailOf(id)])
  const more = ['--reports-imap', server.url]
  // It reads the mailbox as soon as it has started.
  await start(more, (pid) => {
    victim = { pid }
  }).then(ended, () => {})
  expect([victim, server.inbox.size, server.moved.size]).toEqual([undefined, 1, 0])
  const second = await start(more)
  await expect.poll(() => server.moved.get('Processed'), { timeout: 60_000 }).toEqual([1])
  await second.stop()
  server.close()
}

/** The flags as variables, as an alias of a mail server sets them. */
const environment = (): Record<string, string> => ({
  MAILSONDE_DATA_DIR: `${folder}/pipe`,
  ...Object.fromEntries(
    flags.flatMap((flag, n) =>
      n % 2 === 0 ? [[`MAILSONDE_${flag.slice(2).toUpperCase().replaceAll('-', '_')}`, flags[n + 1]!]] : [],
    ),
  ),
})

const pipe: Way = async (id) => {
  const run = (isKilled: boolean) =>
    new Promise<number | string | null>((resolve) => {
      const child = spawn(process.execPath, [MAIN, 'reports', 'import', '-'], {
        stdio: ['pipe', 'ignore', 'inherit'],
        env: environment(),
      })
      if (isKilled) victim = { pid: child.pid! }
      child.once('exit', (status, signal) => resolve(status ?? signal))
      child.stdin.end(Buffer.from(mailOf(id), 'latin1'))
    })
  expect([await run(true), await run(false)]).toEqual(['SIGKILL', 0])
}

it.each<[string, Way]>([
  ['HTTP', http],
  ['LMTP', lmtp],
  ['IMAP', imap],
  ['a pipe', pipe],
])(
  'a report that comes by %s counts once when the program is killed before it is acknowledged',
  { timeout: 60_000 },
  async (name, way) => {
    await way(name)
    const { rows } = await database.pool.query(
      `SELECT p.messages::int
     FROM mailsonde.reports p WHERE p.report_id = $1 AND p.counts`,
      [name],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0].messages).toBe(3)
  },
)
it('all of them are summed once', async () => {
  const { rows } = await database.pool.query(
    'SELECT sum(messages)::int AS summed, count(*)::int FROM mailsonde.report_rows',
  )
  expect(rows).toEqual([{ summed: 12, count: 1 }])
  const days = await database.pool.query('SELECT sum(messages)::int AS summed FROM mailsonde.report_days')
  expect(days.rows).toEqual([{ summed: 12 }])
})

it('what is no report at a pipe is found again: its Message-ID is said whole, and nobody gets a bounce', async () => {
  const id = `<${'long.'.repeat(90)}1@a.example>`
  const child = spawn(process.execPath, [MAIN, 'reports', 'import', '-'], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: environment(),
  })
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  child.stdin.end(`From: a@a.example\r\nMessage-ID:\r\n ${id}\r\n\r\nAt noon?\r\n`)
  const [status] = await once(child, 'exit')
  expect(status).toBe(0)
  expect(said).toContain('a message is no report')
  expect(said).toContain(id)
}, 60_000)
