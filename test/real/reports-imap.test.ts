import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { deliverer } from '../../src/mail-in/deliver.ts'
import { lookOnce } from '../../src/mail-in/imap.ts'
import { reportService } from '../../src/reports/service.ts'
import { openDatabase } from '../../src/store/postgres/connect.ts'
import { heavyHere } from '../lab/heavy.ts'
import { aggregateReport } from '../lab/report-xml.ts'
import { UNBOUNDED } from '../lab/storage.ts'
import { STATE } from './addresses.ts'
import { debianPostgres } from './postgres.ts'
import { runTool, startServer, untilReady } from './processes.ts'

/**
 * A mailbox of reports at Debian's dovecot, in Maildir folders below a namespace: what is moved, and what stays as it
 * was.
 */
vi.setConfig({ testTimeout: 60_000 })
const ADDRESS = '45.53.7.31'
const PORT = 993
const log = { info: () => {}, warn: () => {} }

let folder: string
let database: Awaited<ReturnType<typeof openDatabase>>
beforeAll(async () => {
  folder = mkdtempSync(`${STATE}/dovecot-`)
  chmodSync(folder, 0o755)
  for (const name of ['cur', 'new', 'tmp']) mkdirSync(`${folder}/mail/joe/${name}`, { recursive: true })
  const cert = ['-keyout', `${folder}/key.pem`, '-out', `${folder}/cert.pem`]
  await runTool('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=imap',
    '-addext',
    `subjectAltName=IP:${ADDRESS}`,
    ...cert,
  ])
  writeFileSync(`${folder}/dovecot.conf`, configuration())
  await runTool('chown', ['-R', 'nobody:nogroup', `${folder}/mail`])
  startServer('dovecot', 'dovecot', ['-F', '-c', `${folder}/dovecot.conf`])
  await untilReady(
    'dovecot',
    () =>
      new Promise((resolve) => {
        const socket = connect(PORT, ADDRESS, () => {
          socket.destroy()
          resolve(true)
        }).once('error', () => resolve(false))
      }),
  )
  const { url } = await debianPostgres('45.53.7.32')
  database = await openDatabase({ url, dataDir: '', dbUser: 'nobody', log }, AbortSignal.timeout(30_000))
}, 60_000)
afterAll(() => database?.close())

const configuration = (): string => `
base_dir = ${folder}/run
log_path = ${folder}/log
protocols = imap
listen = ${ADDRESS}
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
mail_location = maildir:${folder}/mail/%u
first_valid_uid = 1
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${folder}/mail/%u
}
service imap-login {
  inet_listener imap {
    port = 0
  }
}
namespace inbox {
  inbox = yes
  separator = .
  prefix = INBOX.
}
`

function mail(name: string, body: string, type: string): void {
  const head = `From: a@google.com\r\nMessage-ID: <${name}@x>\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n`
  writeFileSync(`${folder}/mail/joe/new/${name}`, `${head}${body}\r\n`, { mode: 0o666 })
}
const report = (id: string): string =>
  aggregateReport({ id, domain: 'a.example', rows: [{ address: '192.0.2.1', count: 3 }] })
const filesIn = (name: string): readonly string[] =>
  ['cur', 'new']
    .flatMap((one) => readdirSync(name === '.' ? `${folder}/mail/joe/${one}` : `${folder}/mail/joe/${name}/${one}`))
    .toSorted()

it('moves reports after they are stored, and leaves other mail with its flags; a DNS that is away is the next round', async () => {
  let isAnswered = true
  let nowMs = Date.UTC(2026, 10, 23)
  const now = () => nowMs
  const service = reportService({
    heavy: heavyHere,
    storage: UNBOUNDED,
    open: async () => database,
    envelopeOf: async () => ({
      from: ['noreply-dmarc-support@google.com'],
      signatures: [
        { domain: 'google.com', result: isAnswered ? 'pass' : 'unanswered', signsFrom: true, isPartial: false },
      ],
      isTrusted: false,
    }),
    networkOf: async () => undefined,
    listedOn: async () => undefined,
    ...{
      keepMs: 400 * 86_400_000,
      maxOctets: 1_000_000,
      now,
      monotonic: () => performance.now(),
      log,
    },
  })
  const settings = {
    ...{ url: `imaps://joe@${ADDRESS}:${PORT}/INBOX`, password: 'secret', maxOctets: 1_000_000, log },
    deliver: deliverer({ reports: async () => service, accepts: async () => () => 'taken', now, log }),
    now,
    places: async () => service,
    ca: [readFileSync(`${folder}/cert.pem`, 'utf8')],
  }
  const look = () => lookOnce(settings, AbortSignal.timeout(20_000))
  mail('1.a', 'hello', 'text/plain')
  mail('2.a', report('1'), 'text/xml')
  mail('3.a', '<feedback><x>', 'text/xml')
  mail('4.a', 'private', 'text/plain')
  await look()
  expect((await service.domains()).map(({ reports }) => reports)).toEqual([1])
  expect([filesIn('.').length, filesIn('.Processed').length, filesIn('.Unreadable').length]).toEqual([2, 1, 1])
  expect(filesIn('.').map((name) => name.replace(/^.*:2,/, ''))).toEqual(['', '']) // never seen
  isAnswered = false
  mail('5.a', report('2'), 'text/xml')
  await look()
  expect(filesIn('.').length).toBe(3)
  isAnswered = true
  nowMs += 6 * 60_000 // it is deferred for five minutes
  await look()
  expect((await service.domains()).map(({ reports, messages }) => [reports, messages])).toEqual([[2, 6]])
  expect([filesIn('.').length, filesIn('.Processed').length]).toEqual([2, 2])
})
