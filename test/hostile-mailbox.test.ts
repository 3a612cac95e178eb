import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Lane, openLane } from '../src/lane/lane.ts'
import { deliverer } from '../src/mail-in/deliver.ts'
import { type ImapSettings, lookOnce } from '../src/mail-in/imap.ts'
import { heavyProgram } from '../src/own-files.ts'
import { envelopeOf } from '../src/reports/envelope.ts'
import { type ReportService, reportService } from '../src/reports/service.ts'
import { LOCAL_CERT } from './lab/certificate.ts'
import { labDatabase } from './lab/database.ts'
import { labDns } from './lab/dns.ts'
import { HOSTILE, mailWith } from './lab/hostile-mail.ts'
import { type LabImap, labImap } from './lab/imap-server.ts'
import { LAB_KEY, signed } from './lab/messages.ts'
import { aggregateReport } from './lab/report-xml.ts'
import { UNBOUNDED } from './lab/storage.ts'

/** Mail from strangers, through everything that it goes through in the service. */
const log = { info: () => {}, warn: () => {} }
const now = (): number => Date.UTC(2026, 10, 23)
const GOOGLE = 'noreply-dmarc-support@google.com'
let lane: Lane
let service: ReportService
let imap: LabImap
beforeAll(async () => {
  lane = openLane({ command: { ...heavyProgram, env: {} }, log })
  const database = await labDatabase()
  const { resolve } = labDns({
    'a._domainkey.google.com': { TXT: [LAB_KEY] },
    'a._domainkey.silent.example': 'TIMEOUT',
    'evil.example': {},
  })
  service = reportService({
    ...{ heavy: lane.heavy, storage: UNBOUNDED, open: async () => database, now, log },
    envelopeOf: (message, ask) => envelopeOf(message, { resolve, heavy: lane.heavy, now }, [], ask),
    ...{ networkOf: async () => undefined, listedOn: async () => undefined },
    ...{ keepMs: 400 * 86_400_000, maxOctets: 25 * 1_048_576, monotonic: () => performance.now() },
  })
})
afterAll(async () => {
  imap?.close()
  await lane.close()
})

const report = (id: string, email: string): Buffer =>
  Buffer.from(
    aggregateReport({ id, email, domain: 'a.example', rows: [{ address: '192.0.2.1', count: 3, dkim: 'pass' }] }),
  )
const good = (id: string): string =>
  signed(mailWith('google.com', id, report(id, GOOGLE)).replace('reports@google.com', GOOGLE), { domain: 'google.com' })
/** A mail whose name server never answers. */
const silent = (domain: string, id: string): string =>
  signed(mailWith(domain, id, report(id, `reports@${domain}`)), { domain: 'silent.example' })
const ATTACKS = [...HOSTILE.map(([, make]) => make), (_: string, id: string) => silent('silent.example', id)]

it('a mailbox of 300 mails of which every tenth is hostile is read to its end', { timeout: 300_000 }, async () => {
  const mails = Array.from({ length: 300 }, (_, n) =>
    n % 10 === 3 ? ATTACKS[((n - 3) / 10) % ATTACKS.length]!('evil.example', `${n}`) : good(`${n}`),
  )
  imap = await labImap(mails)
  const settings: ImapSettings = {
    ...{ url: imap.url, password: 'secret', maxOctets: 25 * 1_048_576, ca: [LOCAL_CERT], now, log },
    deliver: deliverer({ reports: async () => service, accepts: async () => () => 'taken', now, log }),
    places: async () => service,
  }
  expect(await lookOnce(settings, AbortSignal.timeout(280_000))).toBe(false)
  expect(await service.domains()).toMatchObject([{ domain: 'a.example', reports: 270, messages: 810 }])
  expect(imap.moved.get('Processed')).toHaveLength(270)
  expect(imap.moved.get('Unreadable')!.length + imap.inbox.size).toBe(30)
})
