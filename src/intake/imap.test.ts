import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { LOCAL_CERT } from '../../test/lab/certificate.ts'
import { labDatabase } from '../../test/lab/database.ts'
import { type LabImap, labImap } from '../../test/lab/imap-server.ts'
import { aggregateReport } from '../../test/lab/report-xml.ts'
import { UNBOUNDED } from '../../test/lab/storage.ts'
import { heavyHere } from '../lane/heavy.ts'
import { type ReportService, reportService } from '../reports/service.ts'
import { deliverer } from './deliver.ts'
import { type ImapSettings, lookOnce } from './imap.ts'

/** A mailbox of reports at servers that do not do what is asked; test/real has the one that does, Debian's dovecot. */
const log = { info: () => {}, warn: () => {} }
let service: ReportService
beforeAll(async () => {
  const database = await labDatabase()
  service = reportService({
    heavy: heavyHere,
    storage: UNBOUNDED,
    open: async () => database,
    envelopeOf: async () => ({
      from: ['noreply-dmarc-support@google.com'],
      signatures: [{ domain: 'google.com', result: 'pass', signsFrom: true, isPartial: false }],
      isTrusted: false,
    }),
    networkOf: async () => undefined,
    listedOn: async () => undefined,
    ...{ keepMs: 400 * 86_400_000, maxOctets: 1_000_000, monotonic: () => performance.now(), log },
    now: () => Date.UTC(2026, 10, 23),
  })
})
let imap: LabImap
afterEach(() => imap.close())

const mail = (body: string, type = 'text/xml'): string =>
  `From: a@google.com\r\nMessage-ID: <1@x>\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`
const report = (domain: string, id: string): string =>
  mail(aggregateReport({ id, domain, rows: [{ address: '192.0.2.1', count: 3 }] }))
const LUNCH = mail('At noon?', 'text/plain')

function look(over: Partial<ImapSettings> = {}): Promise<void> {
  const settings = {
    ...{ url: imap.url, password: 'secret', maxOctets: 1_000_000, ca: [LOCAL_CERT], log },
    deliver: deliverer({ reports: async () => service, accepts: async () => () => 'taken', log }),
    places: async () => service,
    ...over,
  }
  return lookOnce(settings, AbortSignal.timeout(20_000))
}
/** Reports and messages that count for a domain. */
async function counted(domain: string): Promise<readonly number[]> {
  const found = (await service.domains()).find((one) => one.domain === domain)
  return found ? [found.reports, found.messages] : [0, 0]
}
const commandsOf = (name: string): number => imap.commands.filter((one) => one.startsWith(name)).length

/** What a server does to the first look, and what is moved after the second. */
const FAULTS: readonly (readonly [
  name: string,
  spoil: (box: LabImap) => void,
  isFailure: boolean,
  moved: readonly number[] | undefined,
])[] = [
  ['does what is asked', () => {}, false, [1, 2]],
  ['has no MOVE: nothing is moved', (box) => Object.assign(box, { move: false }), false, undefined],
  [
    'refuses the move: the message stays, and is read once',
    (box) => Object.assign(box, { fault: { command: 'UID MOVE', how: 'refuse' } }),
    false,
    undefined,
  ],
  [
    'refuses the mailbox that is made: the messages are moved anyway',
    (box) => Object.assign(box, { fault: { command: 'CREATE', how: 'refuse' } }),
    false,
    undefined,
  ],
  [
    'drops the connection instead of the move: the message is read again',
    (box) => Object.assign(box, { fault: { command: 'UID MOVE', how: 'drop' } }),
    true,
    [1, 2],
  ],
  [
    'drops the connection in the middle of the messages',
    (box) => {
      let fetches = 0
      box.onCommand = (command) => {
        if (command === 'UID FETCH' && ++fetches === 3) box.fault = { command, how: 'drop' }
      }
    },
    true,
    [1, 2],
  ],
  [
    'drops the connection instead of the list',
    (box) => Object.assign(box, { fault: { command: 'UID FETCH', how: 'drop' } }),
    true,
    [1, 2],
  ],
]

describe('a server that', () => {
  it.each(FAULTS)('%s', async (name, spoil, isFailure, moved) => {
    const domain = `fault${FAULTS.findIndex(([one]) => one === name)}.example`
    imap = await labImap([report(domain, '1'), report(domain, '2'), LUNCH])
    spoil(imap)
    const first = await look().then(
      () => false,
      () => true,
    )
    expect(first).toBe(isFailure)
    delete imap.fault
    delete imap.onCommand
    await look()
    expect(await counted(domain)).toEqual([2, 6])
    expect(imap.moved.get('Processed')).toEqual(moved)
    expect(imap.inbox.get(3)).toEqual({ raw: LUNCH, flags: new Set() }) // a person's mail: there, and unread
    expect(imap.commands.filter((one) => /^(UID )?(STORE|COPY|EXPUNGE|DELETE)/.test(one))).toEqual([])
  })
})

it('a UIDVALIDITY that changed starts anew, and the reports that are there are duplicates', async () => {
  imap = await labImap([report('validity.example', '1'), report('validity.example', '2')])
  imap.move = false
  await look()
  const fetched = commandsOf('UID FETCH')
  await look()
  expect(commandsOf('UID FETCH')).toBe(fetched + 1) // the list alone
  imap.validity = 1_000
  await look()
  expect(commandsOf('UID FETCH')).toBe(fetched + 1 + 3) // the list and both messages
  expect(await counted('validity.example')).toEqual([2, 6])
})

it('two servers on one host are two mailboxes', async () => {
  imap = await labImap([report('first.example', '1')])
  const first = imap
  await look()
  imap = await labImap([report('second.example', '1')])
  imap.validity = first.validity
  await look().finally(() => first.close())
  expect([await counted('first.example'), await counted('second.example')]).toEqual([
    [1, 3],
    [1, 3],
  ])
})

it('an INBOX that is full of a person’s mail is read once, and no message is moved or marked', async () => {
  imap = await labImap([...Array.from({ length: 300 }, () => LUNCH), report('full.example', '1')])
  await look()
  await look()
  expect([...imap.inbox.keys()]).toEqual(Array.from({ length: 300 }, (_, n) => n + 1))
  expect([...imap.inbox.values()].filter(({ raw, flags }) => raw !== LUNCH || flags.size > 0)).toEqual([])
  expect(imap.moved).toEqual(new Map([['Processed', [301]]]))
  expect(await counted('full.example')).toEqual([1, 3])
  expect(commandsOf('UID FETCH')).toBe(1 + 301 + 1)
})

it('a message that another client removes between the list and the look is no report', async () => {
  imap = await labImap([report('gone.example', '1'), report('gone.example', '2')])
  let fetches = 0
  imap.onCommand = (command) => {
    if (command === 'UID FETCH' && ++fetches === 2) imap.inbox.delete(1)
  }
  await look()
  expect(await counted('gone.example')).toEqual([1, 3])
})

it('a server that does not answer ends the look at its time', async () => {
  imap = await labImap([report('slow.example', '1')])
  imap.fault = { command: 'UID FETCH', how: 'silence' }
  const settings = {
    ...{ url: imap.url, password: 'secret', maxOctets: 1_000_000, ca: [LOCAL_CERT], log },
    deliver: deliverer({ reports: async () => service, accepts: async () => () => 'taken', log }),
    places: async () => service,
  }
  await expect(lookOnce(settings, AbortSignal.timeout(1_000))).rejects.toThrow()
  expect(await counted('slow.example')).toEqual([0, 0])
})
