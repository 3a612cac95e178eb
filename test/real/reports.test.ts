import { chmodSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { checkAnswer } from '../../src/answers/check.ts'
import {
  reportSendersAnswer,
  reportsAnswer,
  reportsImportAnswer,
  reportsPolicyAnswer,
} from '../../src/answers/reports.ts'
import { aggregateReport, type LabRow } from '../lab/report-xml.ts'
import { CA_FILE, STATE } from './addresses.ts'
import { axeFinds, openBrowser, visitor } from './browser.ts'
import { RSA_2048 } from './dns/keys.ts'
import { type DebianPostgres, debianPostgres } from './postgres.ts'
import { runTool } from './processes.ts'
import { type Program, startProgram } from './program.ts'
import {
  publishNames,
  REPORT_IMAP,
  REPORT_MAIL,
  type ReportServers,
  startReportServers,
  txtRecord,
} from './report-servers.ts'

/**
 * Two months of a made-up company, as its receivers report them: its own server, Google Workspace, a newsletter service
 * without a key of the company, a list, two forwarders and a botnet. The reports are mail that opendkim signs and
 * Postfix delivers by LMTP, to a pipe and to a mailbox.
 */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })
const WAIT = { timeout: 60_000, interval: 250 }
const DAY_S = 86_400
const LMTP = 2_424
const PROXY = 2_525
const REPORTERS = [
  { domain: 'google.com', email: 'noreply-dmarc-support@google.com' },
  { domain: 'yahooinc.com', email: 'dmarchelp@yahooinc.com' },
  { domain: 'mail.ru', email: 'dmarc_support@corp.mail.ru' },
] as const

const passes = { spf: 'pass', dkim: 'pass' } as const
const own = { domain: 'acme.test', selector: 's1' }
/** One day of the company's mail. `isSetUp`: the newsletter service has a key of the company. */
const dayOf = (day: number, isSetUp: boolean): readonly LabRow[] => [
  { address: '45.53.60.10', count: 100, ...passes, envelope: 'acme.test', signatures: [own] },
  {
    ...{ address: `45.53.61.${20 + (day % 5)}`, count: 50, spf: 'pass', envelope: 'acme.test' },
    signatures: [{ domain: 'acme-test.20230601.gappssmtp.com', selector: '20230601' }],
  },
  {
    ...{ address: '45.53.62.5', count: 30, spfResult: 'pass', envelope: 'mail1.suw11.mcsv.net' },
    ...(isSetUp && { dkim: 'pass' as const }),
    signatures: [
      ...(isSetUp ? [{ domain: 'acme.test', selector: 'k2' }] : []),
      { domain: 'mail1.suw11.mcsv.net', selector: 'k2' },
    ],
  },
  {
    ...{ address: '45.53.63.5', count: 4, spfResult: 'pass', envelope: 'lists.clubs.test', reason: 'mailing_list' },
    signatures: [{ ...own, result: 'fail' }],
  },
  { address: '45.53.64.5', count: 6, dkim: 'pass', envelope: 'acme.test', signatures: [own] },
  {
    ...{ address: '45.53.65.5', count: 2, spfResult: 'pass', envelope: 'srs.forward.test', reason: 'forwarded' },
    signatures: [{ ...own, result: 'fail' }],
  },
  ...[1, 2, 3].map((n) => ({ address: `45.54.${100 + day}.${n}`, count: 5, envelope: 'acme.test' })),
]
const PER_REPORT = { messages: 207, passing: 156, newsletter: 30, list: 4, passedOn: 2, botnet: 15 }
const DAYS = 28
const ALL = DAYS * REPORTERS.length

const NAMES = [
  txtRecord('acme.test', 'v=spf1 ip4:45.53.60.10 include:_spf.google.com -all'),
  txtRecord('_dmarc.acme.test', 'v=DMARC1; p=none; rua=mailto:dmarc@lmtp.reports.test'),
  txtRecord('s1._domainkey.acme.test', `v=DKIM1; k=rsa; p=${RSA_2048}`),
  txtRecord('_spf.google.com', 'v=spf1 ip4:45.53.61.0/24 ~all'),
  'acme.test. 1 IN MX 10 mail.acme.test.',
  ...[
    ['45.53.60.10', 'mail.acme.test'],
    ['45.53.62.5', 'mail5.suw11.mcsv.net'],
    ['45.53.63.5', 'lists.clubs.test'],
    ['45.53.64.5', 'mx.uni.test'],
    ['45.53.65.5', 'out.forward.test'],
    [REPORT_IMAP.address, REPORT_IMAP.host],
  ].flatMap(([address = '', name = '']) => [
    `${name}. 1 IN A ${address}`,
    `${address.split('.').toReversed().join('.')}.in-addr.arpa. 1 IN PTR ${name}.`,
  ]),
]

/** Midnight, UTC, of today. */
const TODAY_S = Math.floor(Date.now() / 1_000 / DAY_S) * DAY_S
const dateOf = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10)
/**
 * The first month, and, a week later, the one after the company followed the advice; the last day is yesterday. A check
 * looks at 28 days.
 */
const FIRST_S = TODAY_S - (2 * DAYS + 7) * DAY_S
const SECOND_S = TODAY_S - DAYS * DAY_S
const periodOf = (beginS: number): string => `from=${dateOf(beginS)}&to=${dateOf(beginS + (DAYS - 1) * DAY_S)}`

const reportOf = (day: number, reporter: (typeof REPORTERS)[number], beginS: number, isSetUp: boolean): string =>
  aggregateReport({
    ...{ domain: 'acme.test', id: `${reporter.domain}-${beginS}-${day}`, begin: beginS + day * DAY_S },
    ...{ organization: reporter.domain, email: reporter.email, rows: dayOf(day, isSetUp) },
  })

const mailer = createTransport({ host: REPORT_MAIL, port: 25, secure: false, ignoreTLS: true, pool: true })
const send = (from: string, to: string, xml: string) =>
  mailer.sendMail({
    ...{ from, to, subject: 'Report domain: acme.test', text: 'A report.' },
    attachments: [{ filename: 'report.xml', content: xml, contentType: 'text/xml' }],
  })

let postgres: DebianPostgres
let servers: ReportServers
let program: Program
const flags = (isRead: boolean): readonly string[] => [
  ...['--database-url', postgres.url, '--reports-lmtp', `127.0.0.1:${LMTP}`, '--reports-domains', 'acme.test'],
  ...(isRead ? ['--reports-imap', `imaps://joe@${REPORT_IMAP.host}/INBOX`] : []),
]
const start = (isRead = false): Promise<Program> =>
  startProgram(flags(isRead), undefined, { MAILSONDE_REPORTS_IMAP_PASSWORD: 'secret' })

/**
 * The proxy between Postfix and LMTP: while `isCutting`, the answer to a message kills the program, and nobody hears
 * it.
 */
let isCutting = false
let cuts = 0
const proxy: Server = createServer((client) => {
  const upstream = connect(LMTP, '127.0.0.1')
  let isSent = false
  const end = (): void => {
    client.destroy()
    upstream.destroy()
  }
  client.on('error', end).on('close', end)
  upstream.on('error', end).on('close', end)
  client.on('data', (chunk: Buffer) => {
    if (chunk.includes('\r\n.\r\n') || chunk.toString().endsWith('.\r\n')) isSent = true
    upstream.write(chunk)
  })
  upstream.on('data', (chunk: Buffer) => {
    if (isCutting && isSent && chunk.toString().startsWith('250')) {
      isCutting = false
      cuts++
      process.kill(program.pid, 'SIGKILL')
      return end()
    }
    client.write(chunk)
  })
})

beforeAll(async () => {
  postgres = await debianPostgres('45.53.3.92')
  const data = mkdtempSync(`${STATE}/pipe-`)
  chmodSync(data, 0o777)
  const wanted = `NODE_EXTRA_CA_CERTS=${CA_FILE} MAILSONDE_DATABASE_URL=${postgres.url} MAILSONDE_REPORTS_DOMAINS=acme.test MAILSONDE_DATA_DIR=${data}`
  const command = `${data}/import`
  writeFileSync(
    command,
    `#!/bin/sh\ncd ${process.cwd()} && exec env ${wanted} ${process.execPath} src/main.js reports import - 2>> ${data}/log\n`,
    { mode: 0o755 },
  )
  chmodSync(command, 0o755)
  await publishNames(NAMES)
  const signers = ['google.com', 'yahooinc.com', 'mail.ru', 'corp.mail.ru']
  servers = await startReportServers(signers, command, { direct: LMTP, proxy: PROXY })
  await new Promise<void>((resolve) => proxy.listen(PROXY, '127.0.0.1', resolve))
  program = await start()
})
afterAll(async () => {
  mailer.close()
  proxy.close()
  await program?.stop()
  servers?.stop()
  await postgres?.kill()
})

const get = async <T>(path: string, schema: { readonly parse: (value: unknown) => T }): Promise<T> => {
  const { status, body } = await program.get(path)
  expect([status, status === 200 ? '' : body]).toEqual([200, ''])
  return schema.parse(body)
}
const shown = (beginS = FIRST_S) => get(`/v1/reports?domain=acme.test&${periodOf(beginS)}`, reportsAnswer)
const counted = async (beginS = FIRST_S): Promise<number> => (await shown(beginS)).reports
const inboxed = (): number => ['new', 'cur'].flatMap((one) => readdirSync(`${servers.maildir}/${one}`)).length

describe('a month of reports', () => {
  it('comes in by LMTP, a pipe and a mailbox, each report once', async () => {
    let sent = { lmtp: 0, pipe: 0, imap: 0 }
    for (let day = 0; day < DAYS; day++)
      for (const [n, reporter] of REPORTERS.entries()) {
        const way = n === 2 ? (day % 4 === 0 ? 'pipe' : 'imap') : 'lmtp'
        await send(reporter.email, `dmarc@${way}.reports.test`, reportOf(day, reporter, FIRST_S, false))
        sent = { ...sent, [way]: sent[way] + 1 }
      }
    expect(sent).toEqual({ lmtp: 56, pipe: 7, imap: 21 })
    await expect.poll(() => counted(), WAIT).toBe(63)
    // A person's other mail in the same mailbox.
    await mailer.sendMail({ from: 'ann@acme.test', to: 'dmarc@imap.reports.test', subject: 'Lunch', text: 'At noon?' })
    await expect.poll(inboxed, WAIT).toBe(22)
    await program.stop()
    program = await start(true)
    await expect.poll(() => counted(), WAIT).toBe(ALL)
    const { messages, passing, forwarded, failing, unauthenticated_reports, reporters } = await shown()
    const { list, passedOn, newsletter, botnet } = PER_REPORT
    expect({ messages, passing, forwarded, failing, unauthenticated_reports }).toEqual({
      ...{ messages: ALL * PER_REPORT.messages, passing: ALL * PER_REPORT.passing },
      ...{ forwarded: ALL * (list + passedOn), failing: ALL * (newsletter + botnet), unauthenticated_reports: 0 },
    })
    expect(reporters.map(({ name, reports, known }) => [name, reports, known]).toSorted()).toEqual([
      ['google.com', DAYS, true],
      ['mail.ru', DAYS, true],
      ['yahooinc.com', DAYS, true],
    ])
    await expect.poll(inboxed, WAIT).toBe(1)
  })

  it('names its senders, with the right verdict and one advice each', async () => {
    const { data } = await get(
      `/v1/reports/senders?domain=acme.test&today=false&limit=100&${periodOf(FIRST_S)}`,
      reportSendersAnswer,
    )
    const told = data.map(({ name, verdict, messages, to_do = '' }) => [name, verdict, messages, to_do.split('.')[0]])
    expect(told).toEqual([
      ['mail.acme.test (your own server)', 'authorized', ALL * 100, ''],
      ['Google Workspace', 'authorized', ALL * 50, ''],
      ['Mailchimp', 'needs_setup', ALL * 30, 'Set up DKIM for acme'],
      ['unknown senders', 'forged', ALL * 15, ''],
      ['forwarded by uni.test', 'forwarded', ALL * 6, ''],
      ['forwarded by clubs.test', 'forwarded', ALL * 4, ''],
      ['forwarded by forward.test', 'forwarded', ALL * 2, ''],
    ])
  })

  it('p=reject would refuse exactly the mail that fails, and no fix asks for more', async () => {
    const outcome = await get(
      `/v1/reports/policy?domain=acme.test&policy=reject&${periodOf(FIRST_S)}`,
      reportsPolicyAnswer,
    )
    expect(outcome.affected.map(({ name, verdict, messages, share }) => [name, verdict, messages, share])).toEqual([
      ['Mailchimp', 'needs_setup', ALL * 30, 1],
      ['unknown senders', 'forged', ALL * 15, 1],
      ['forwarded by clubs.test', 'forwarded', ALL * 4, 1],
      ['forwarded by forward.test', 'forwarded', ALL * 2, 1],
    ])
    expect([outcome.passing_before, outcome.passing_after]).toEqual([ALL * 156, ALL * 156])
  })

  it('has a page that says what p=reject would do within two screens, and shows what comes in while it is open', async () => {
    const browser = await openBrowser()
    const { page, faults } = await visitor(browser, { width: 1280, scheme: 'light' }, program.url)
    await page.goto(`${program.url}/reports/acme.test?${periodOf(FIRST_S)}`)
    const place = await page.locator('#policy + p').boundingBox()
    expect(place!.y + place!.height).toBeLessThan(2 * 800)
    expect(await axeFinds(page)).toEqual([])
    await page.locator('#details summary').first().click()
    const late = aggregateReport({
      ...{ id: 'late', domain: 'acme.test', organization: 'late.example', email: 'a@late.example', begin: FIRST_S },
      rows: dayOf(0, false),
    })
    expect((await fetch(`${program.url}/v1/reports`, { method: 'POST', body: late })).status).toBe(200)
    await page.getByText(`by ${ALL + 1} reports`).waitFor()
    expect(await page.locator('#details details[open]').count()).toBe(1)
    expect(faults).toEqual([])
    await browser.close()
  })
})

describe('one report', () => {
  const [google] = REPORTERS
  const again = () => reportOf(3, google, FIRST_S, false)
  it('a hundred times and by every way counts once', async () => {
    const before = await shown()
    await Promise.all(Array.from({ length: 100 }, () => send(google.email, 'dmarc@lmtp.reports.test', again())))
    await Promise.all(
      ['pipe', 'pipe', 'imap', 'imap'].map((way) => send(google.email, `dmarc@${way}.reports.test`, again())),
    )
    const response = await fetch(`${program.url}/v1/reports`, { method: 'POST', body: again() })
    expect([response.status, reportsImportAnswer.parse(await response.json()).reports[0]?.duplicate]).toEqual([
      200,
      true,
    ])
    await untilSent()
    await expect.poll(inboxed, WAIT).toBe(3)
    await program.stop()
    program = await start(true)
    await expect.poll(inboxed, WAIT).toBe(1)
    expect(await shown()).toEqual(before)
  })

  it('counts once when the program is killed between the store and the acknowledgement', async () => {
    const before = await counted(SECOND_S)
    for (let day = 0; day < 3; day++) {
      isCutting = true
      await send(google.email, 'dmarc@proxy.reports.test', reportOf(day, google, SECOND_S, true))
      await expect.poll(() => isCutting, WAIT).toBe(false)
      program = await start()
      await untilSent()
    }
    expect([cuts, await counted(SECOND_S)]).toEqual([3, before + 3])
    expect((await shown(SECOND_S)).messages).toBe(3 * PER_REPORT.messages)
  })

  it('waits, by each way, while the database is away', async () => {
    await postgres.kill()
    const [, yahoo, mailru] = REPORTERS
    await send(yahoo.email, 'dmarc@lmtp.reports.test', reportOf(0, yahoo, SECOND_S, true))
    await send(mailru.email, 'dmarc@pipe.reports.test', reportOf(0, mailru, SECOND_S, true))
    await send(yahoo.email, 'dmarc@imap.reports.test', reportOf(1, yahoo, SECOND_S, true))
    await expect.poll(inboxed, WAIT).toBe(2)
    const body = reportOf(1, mailru, SECOND_S, true)
    const refused = await fetch(`${program.url}/v1/reports`, { method: 'POST', body })
    expect(refused.status).toBe(502)
    await expect.poll(deferred, WAIT).toBe(2)
    await postgres.start()
    await program.stop()
    program = await start(true)
    const taken = await fetch(`${program.url}/v1/reports`, { method: 'POST', body })
    expect(taken.status).toBe(200)
    await untilSent()
    await expect.poll(() => counted(SECOND_S), WAIT).toBe(7)
    expect((await shown(SECOND_S)).messages).toBe(7 * PER_REPORT.messages)
    await expect.poll(inboxed, WAIT).toBe(1) // the person's mail
  })
})

it('after the advice was followed nobody loses mail, and the stricter policy is offered with its evidence', async () => {
  await publishNames([txtRecord('k2._domainkey.acme.test', `v=DKIM1; k=rsa; p=${RSA_2048}`)])
  for (let day = 0; day < DAYS; day++)
    for (const reporter of REPORTERS) {
      const body = reportOf(day, reporter, SECOND_S, true)
      const response = await fetch(`${program.url}/v1/reports`, { method: 'POST', body })
      expect(response.status).toBe(200)
    }
  expect([await counted(SECOND_S), (await shown(SECOND_S)).messages]).toEqual([ALL, ALL * PER_REPORT.messages])
  const outcome = await get(
    `/v1/reports/policy?domain=acme.test&policy=reject&${periodOf(SECOND_S)}`,
    reportsPolicyAnswer,
  )
  expect(outcome.affected.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['unknown senders', 'forged'],
    ['forwarded by clubs.test', 'forwarded'],
    ['forwarded by forward.test', 'forwarded'],
  ])
  const { reports, findings, dkim, plan } = await get('/v1/check?domain=acme.test', checkAnswer)
  expect(reports?.senders.map(({ name, verdict }) => `${name}: ${verdict}`)).toContain('Mailchimp: authorized')
  expect(dkim.learned?.toSorted()).toEqual(['k2', 's1'])
  const finding = findings.find(({ id }) => id === 'dmarc.policy_none')
  expect(finding?.fix?.value).toContain('p=quarantine')
  const stage = plan?.steps.find(({ title }) => title === 'DMARC: quarantine')
  expect(stage?.instructions).toContain('none of your senders would have been set aside as junk')
})

/** Messages in Postfix's queue. */
async function deferred(): Promise<number> {
  const queue = await runTool('postqueue', ['-c', servers.queue, '-j'])
  return queue.split('\n').filter((line) => line !== '').length
}
/** Until the queue is empty; Postfix tries again at each look, however long it would wait after what failed. */
const untilSent = (): Promise<void> =>
  expect
    .poll(async () => {
      await runTool('postqueue', ['-c', servers.queue, '-f'])
      return deferred()
    }, WAIT)
    .toBe(0)
