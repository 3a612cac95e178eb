import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { labDatabase } from '../../test/lab/database.ts'
import { labHeavy } from '../../test/lab/heavy.ts'
import { aggregateReport } from '../../test/lab/report-xml.ts'
import { UNBOUNDED } from '../../test/lab/storage.ts'
import { reportService } from '../reports/service.ts'
import { awayError } from '../store/postgres/connect.ts'
import { storageError } from '../store/postgres/problems.ts'
import { type Deliver, deliverer } from './deliver.ts'
import { startLmtp } from './lmtp.ts'
import { type Listening, placeOf } from './mail-server.ts'

let nowMs = Date.UTC(2026, 10, 23, 12)
const lines: string[] = []
const log = {
  info: (event: string, fields = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`),
  warn: (event: string, fields = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`),
}
let lmtp: Listening
let deliver: Deliver
let taken: ReturnType<typeof reportService>
let isAway = false
let result: 'pass' | 'fail' | 'unanswered' = 'pass'
let isFull = false

beforeAll(async () => {
  const database = await labDatabase()
  const service = reportService({
    heavy: labHeavy,
    storage: {
      ...UNBOUNDED,
      admitMail: async () => {
        if (isFull) throw storageError('mail', { max: 1 })
      },
    },
    open: async () => database,
    envelopeOf: async () => ({
      from: ['noreply-dmarc-support@google.com'],
      signatures: [{ domain: 'google.com', result, signsFrom: true, isPartial: false }],
      isTrusted: false,
    }),
    networkOf: async () => undefined,
    listedOn: async () => undefined,
    ...{ keepMs: 400 * 86_400_000, maxOctets: 200_000, now: () => nowMs, monotonic: () => performance.now(), log },
  })
  const reports = async () => {
    if (isAway) throw awayError(new Error('gone'))
    return service
  }
  deliver = deliverer({
    reports,
    accepts: async () => (domain) => (domain === 'a.example' ? 'taken' : 'unknown_domain'),
    now: () => nowMs,
    log,
  })
  lmtp = await startLmtp({ listen: '127.0.0.1:0', deliver, maxOctets: 200_000, log })
  taken = service
})
afterAll(() => lmtp.close())

const xml = (over: Parameters<typeof aggregateReport>[0] = {}) =>
  aggregateReport({ domain: 'a.example', rows: [{ address: '192.0.2.1', count: 3 }], ...over })

async function send(attachment: string | Buffer | undefined, text = 'hello'): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: lmtp.port, lmtp: true, ignoreTLS: true } as never)
  const attachments = attachment === undefined ? [] : [{ filename: 'report.xml', content: attachment }]
  try {
    const { response } = await transport.sendMail({
      from: 'a@google.com',
      to: 'dmarc@a.example',
      messageId: '<1@x>',
      ...{ date: new Date(0), baseBoundary: 'b' }, // the same octets each time
      text,
      attachments,
    })
    return response
  } catch (error) {
    return (error as { response?: string }).response ?? String(error)
  } finally {
    transport.close()
  }
}

describe('LMTP answers', () => {
  it.each<readonly [string, () => Promise<string>, RegExp]>([
    ['250 for a report that is stored', () => send(xml()), /^250/],
    ['250 for the same report again', () => send(xml()), /^250/],
    ['250 for one of another domain, counted by name', () => send(xml({ domain: 'b.example' })), /^250/],
    ['250 for mail that is no report', () => send(undefined), /^250/],
    ['250 for a report that cannot be read', () => send('<feedback><report_metadata>'), /^250/],
    ...(['time', 'memory', 'fault', 'remembered'] as const).map(
      (reason) =>
        [
          `250 for a message that ended the lane: ${reason}`,
          () => send(undefined, `ends-the-lane: ${reason}`),
          /^250/,
        ] as const,
    ),
    ['451 while the lane is full', () => send(undefined, 'ends-the-lane: full'), /^451/],
    ['552 for a message that is too large', () => send('x'.repeat(300_000)), /^552/],
  ])('%s', async (_, act, expected) => expect(await act()).toMatch(expected))
  it('451 while the database is away, and 250 when it is back', async () => {
    isAway = true
    expect(await send(xml({ id: '9', domain: 'a.example', begin: 1_000 }))).toMatch(/^451/)
    isAway = false
    expect(await send(xml({ id: '9', domain: 'a.example', begin: 1_000 }))).toMatch(/^250/)
  })
  it('250 for a forged report, which does not count', async () => {
    result = 'fail'
    expect(await send(xml({ id: 'forged' }))).toMatch(/^250/)
    result = 'pass'
  })
  it('451 for a day while the DNS does not answer who sent it, then 250: it does not count', async () => {
    result = 'unanswered'
    const answers: string[] = []
    for (const hours of [0, 12, 11.9, 0.2]) {
      nowMs += hours * 3_600_000
      answers.push((await send(xml({ id: 'silent' }))).slice(0, 3))
    }
    expect(answers).toEqual(['451', '451', '451', '250'])
    result = 'pass'
    expect(await taken.domains()).toMatchObject([{ domain: 'a.example' }])
  })
  it('while the room of mail is full: 451 for a report that counts, and 250 for one that does not, which is not kept', async () => {
    isFull = true
    const before = await taken.stored('a.example')
    expect(await send(xml({ id: 'late' }))).toMatch(/^451/)
    result = 'fail'
    expect(await send(xml({ id: 'strange' }))).toMatch(/^250/)
    result = 'pass'
    isFull = false
    expect(await taken.stored('a.example')).toBe(before)
    expect(lines.at(-1)).toContain('the room for reports that do not count is full')
  })
  it('250 for an archive of reports that do not count: 20 are kept', async () => {
    result = 'fail'
    const mbox = Array.from(
      { length: 25 },
      (_, i) => `From a@b Mon\nFrom: a@b.example\n\n${xml({ id: `many${i}` })}\n\n`,
    )
    const before = await taken.stored('a.example')
    await deliver(Buffer.from(mbox.join('')), 'lmtp', AbortSignal.timeout(20_000))
    result = 'pass'
    expect((await taken.stored('a.example')) - before).toBe(20)
  })
  it('logs what ended the lane', () => {
    const logged = lines.filter(
      (line) => line.startsWith('a report could not be read') && line.includes('it was not read'),
    )
    expect(logged).toHaveLength(3)
  })
  it('logs the Message-ID and the reason of what is no report, and nothing of it', () => {
    expect(lines.find((line) => line.startsWith('a message is no report'))).toMatch(/<1@x>/)
    expect(lines.join('\n')).not.toMatch(/hello/)
  })
})

it('takes the reports of its domains, and counts those of others by name', async () => {
  expect((await taken.strangers()).map(({ domain, reports: count }) => [domain, count])).toEqual([['b.example', 1]])
  expect((await taken.domains()).map(({ domain, reports: count }) => [domain, count])).toEqual([['a.example', 1]])
})

it.each([
  ['127.0.0.1:2424', { host: '127.0.0.1', port: 2424 }],
  ['[::1]:24', { host: '::1', port: 24 }],
  ['/run/reports.sock', { path: '/run/reports.sock' }],
])('%s is a place to listen on', (text, place) => expect(placeOf(text)).toEqual(place))
