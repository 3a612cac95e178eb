import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { LOCAL_CERT } from '../../test/lab/certificate.ts'
import { labDatabase } from '../../test/lab/database.ts'
import { labHeavy } from '../../test/lab/heavy.ts'
import { type LabImap, labImap } from '../../test/lab/imap-server.ts'
import { aggregateReport } from '../../test/lab/report-xml.ts'
import { UNBOUNDED } from '../../test/lab/storage.ts'
import { type ReportService, reportService } from '../reports/service.ts'
import { deliverer } from './deliver.ts'
import { type ImapSettings, lookOnce } from './imap.ts'

/** A mailbox of reports at servers that do not do what is asked; test/real has the one that does, Debian's dovecot. */
const log = { info: () => {}, warn: () => {} }
let service: ReportService
let nowMs = Date.UTC(2026, 10, 23)
/** Whether the name server of a message's signature never answers. */
const isSilent = (message: Uint8Array): boolean => Buffer.from(message).includes('X-Silent')
beforeAll(async () => {
  const database = await labDatabase()
  service = reportService({
    heavy: labHeavy,
    storage: UNBOUNDED,
    open: async () => database,
    envelopeOf: async (message) => ({
      from: ['noreply-dmarc-support@google.com'],
      signatures: [
        { domain: 'google.com', result: isSilent(message) ? 'unanswered' : 'pass', signsFrom: true, isPartial: false },
      ],
      isTrusted: false,
    }),
    networkOf: async () => undefined,
    listedOn: async () => undefined,
    ...{ keepMs: 400 * 86_400_000, maxOctets: 1_000_000, monotonic: () => performance.now(), log },
    now: () => nowMs,
  })
})
let imap: LabImap
afterEach(() => imap.close())

const mail = (body: string, type = 'text/xml'): string =>
  `From: a@google.com\r\nMessage-ID: <1@x>\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`
const report = (domain: string, id: string): string =>
  mail(aggregateReport({ id, domain, rows: [{ address: '192.0.2.1', count: 3 }] }))
const LUNCH = mail('At noon?', 'text/plain')

const settings = (): ImapSettings => ({
  ...{ url: imap.url, password: 'secret', maxOctets: 1_000_000, ca: [LOCAL_CERT], now: () => nowMs, log },
  deliver: deliverer({ reports: async () => service, accepts: async () => () => 'taken', now: () => nowMs, log }),
  places: async () => service,
})
const look = (over: Partial<ImapSettings> = {}): Promise<boolean> =>
  lookOnce({ ...settings(), ...over }, AbortSignal.timeout(20_000))
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
  expect(commandsOf('UID FETCH')).toBe(fetched) // nothing is listed
  imap.validity = 1_000
  await look()
  expect(commandsOf('UID FETCH')).toBe(fetched + 3) // the list and both messages
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
  expect(commandsOf('UID FETCH')).toBe(1 + 301)
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
  await expect(lookOnce(settings(), AbortSignal.timeout(1_000))).rejects.toThrow()
  expect(await counted('slow.example')).toEqual([0, 0])
})

describe('a message that fails alone', () => {
  const silent = (domain: string): string => `X-Silent: yes\r\n${report(domain, 'silent')}`
  /** Looks at these times after the first, in minutes; returns the fetches of each. */
  async function looks(minutes: readonly number[], over: Partial<ImapSettings> = {}): Promise<readonly number[]> {
    const fetches: number[] = []
    const begin = nowMs
    for (const minute of minutes) {
      nowMs = begin + minute * 60_000
      const before = commandsOf('UID FETCH')
      await look(over)
      fetches.push(commandsOf('UID FETCH') - before)
    }
    return fetches
  }
  it('is deferred while its name server does not answer, and the next ones are taken', async () => {
    imap = await labImap([silent('silent.example'), report('beside.example', '1')])
    expect(await looks([0, 4, 5, 10, 15])).toEqual([3, 0, 1, 0, 1])
    expect([await counted('silent.example'), await counted('beside.example')]).toEqual([
      [0, 0],
      [1, 3],
    ])
    expect(imap.moved).toEqual(new Map([['Processed', [2]]]))
  })
  it('is taken after a day, and does not count', async () => {
    imap = await labImap([silent('day.example')])
    await looks(Array.from({ length: 30 }, (_, hour) => hour * 60))
    expect([await counted('day.example'), imap.moved]).toEqual([[0, 0], new Map([['Processed', [1]]])])
    expect(await looks([10_000])).toEqual([0])
  })
  it('and ended the lane is moved to Unreadable, and not read again', async () => {
    imap = await labImap([mail('ends-the-lane: memory'), report('lane.example', '1')])
    expect(await looks([0, 10])).toEqual([3, 0])
    expect(imap.moved).toEqual(
      new Map([
        ['Unreadable', [1]],
        ['Processed', [2]],
      ]),
    )
  })
  it('of a full lane is read at the next look', async () => {
    imap = await labImap([mail('ends-the-lane: full')])
    await expect(look()).rejects.toThrow(/too much is read/)
    expect(imap.moved).toEqual(new Map())
  })
  it('of a defect is given up after a day, and the next ones are taken', async () => {
    imap = await labImap([report('defect.example', '1'), report('after.example', '1')])
    const { deliver } = settings()
    const over: Partial<ImapSettings> = {
      deliver: async (message, ...rest) => {
        if (message.includes('defect.example')) throw new TypeError('x is not a function')
        return deliver(message, ...rest)
      },
    }
    await looks(
      Array.from({ length: 30 }, (_, hour) => hour * 60),
      over,
    )
    expect([await counted('after.example'), await counted('defect.example')]).toEqual([
      [1, 3],
      [0, 0],
    ])
    expect(imap.moved).toEqual(
      new Map([
        ['Processed', [2]],
        ['Unreadable', [1]],
      ]),
    )
    expect(commandsOf('UID FETCH')).toBe(1 + 2 + 11)
  })
})

describe('a server that lies:', () => {
  const line = (place: number, uid: number, size = 500): string =>
    `* ${place} FETCH (UID ${uid} RFC822.SIZE ${size})\r\n`
  it('UIDs backwards, twice, of other ranges and from before are not read, or read once', async () => {
    imap = await labImap([report('order.example', '1'), report('order.example', '2'), report('order.example', '3')])
    imap.lie = (command, rest) =>
      command === 'UID FETCH' && rest.includes('RFC822.SIZE') && !rest.includes('BODY')
        ? [3, 2, 2, 1, 0, 4_000_000_000, 3].map((uid, place) => line(place + 1, uid)).join('')
        : undefined
    await look()
    expect(imap.moved.get('Processed')).toEqual([1, 2, 3])
    expect(await counted('order.example')).toEqual([3, 9])
  })
  it('a message of 2 GiB that is said to have 500 octets ends the look; the next one reads on', async () => {
    imap = await labImap([report('huge.example', '1'), report('huge.example', '2')])
    imap.lie = (command, rest) =>
      command === 'UID FETCH' && rest.startsWith('1 ') ? '* 1 FETCH (UID 1 BODY[] {2147483648}\r\nFrom: a' : undefined
    await expect(look()).rejects.toThrow()
    await look()
    expect(await counted('huge.example')).toEqual([1, 3])
  })
  it('a message that is larger than the bound is not fetched', async () => {
    imap = await labImap([report('large.example', '1')])
    imap.lie = (command, rest) => (command === 'UID FETCH' && !rest.includes('BODY') ? line(1, 1, 2 ** 31) : undefined)
    await look()
    expect([commandsOf('UID FETCH'), imap.moved]).toEqual([1, new Map([['Unreadable', [1]]])])
  })
  it('a mailbox of a million messages is listed in parts, and 5,000 are read in a look', async () => {
    imap = await labImap([])
    const sizes: number[] = []
    imap.lie = (command, rest) => {
      if (command === 'SELECT') return '* 1000000 EXISTS\r\n* OK [UIDVALIDITY 77] ok\r\n* OK [UIDNEXT 3000001] ok\r\n'
      if (command !== 'UID FETCH') return undefined
      const [from = 0, to = from] = rest.split(' ')[0]!.split(':').map(Number)
      if (rest.includes('BODY')) return `* 1 FETCH (UID ${from} BODY[] {5}\r\nhello)\r\n`
      const uids = Array.from({ length: to - from + 1 }, (_, n) => from + n).filter((uid) => uid > 2_000_000)
      sizes.push(uids.length)
      return uids.map((uid) => line(uid - 2_000_000, uid)).join('')
    }
    let read = 0
    const deliver: ImapSettings['deliver'] = async () => {
      read++
      return 'no_report'
    }
    const places: ImapSettings['places'] = async () => ({
      mailboxPlace: async () => undefined,
      rememberPlace: async () => {},
    })
    expect(await look({ deliver, places })).toBe(true)
    expect(read).toBe(5_000)
    expect(Math.max(...sizes)).toBeLessThan(100_000)
  })
})
