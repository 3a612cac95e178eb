import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { heavyHere } from '../../../test/lab/heavy.ts'
import { HOSTILE } from '../../../test/lab/hostile-mail.ts'
import { BOUNDS, type Bounds, nothingSpent } from './containers.ts'
import { eventOf, readFiles } from './reading.ts'

/** What is found in an input, and how much is handed on. */
async function read(octets: Uint8Array, bounds: Bounds = BOUNDS) {
  const found: string[] = []
  const input = { name: 'x', depth: 0, bounds, spent: nothingSpent() }
  const { spent } = await heavyHere(readFiles, octets, input, {
    ...{ caller: 'x', signal: AbortSignal.timeout(60_000) },
    onBatch: async (batch) => {
      const { event } = eventOf(batch)
      found.push(event.what === 'unread' ? event.problem.id : event.what)
    },
  })
  return { found: [...new Set(found)], all: found, spent }
}

/** What each of them is found to be, in how many batches: none is read to its end, or each is linear in its octets. */
const FOUND: Readonly<Record<string, readonly [what: readonly string[], batches: number]>> = {
  '5,000,000 failure details that say nothing': [['reports.details'], 1],
  'JSON of a million keys': [['reports.members'], 1],
  'an mbox of a million messages': [['other', 'reports.entries'], 501],
  'levels of gzip around nothing': [['other'], 1],
  'a million elements': [['reports.depth'], 1],
  'HTML of links': [['other'], 1],
  'messages in messages': [['reports.nesting'], 1],
  '300,000 parts': [['reports.entries'], 1],
  'a long Authentication-Results': [['reports.missing'], 1],
  'ten signatures over a long field': [['reports.missing'], 1],
}
it.each(HOSTILE)('%s', async (name, make) => {
  const { found, all } = await read(Buffer.from(make('a.example', '1'), 'latin1'))
  expect([found, all.length]).toEqual(FOUND[name])
})

it('everything in an input spends from one budget', async () => {
  const lines = gzipSync('x'.repeat(600_000))
  const mail = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${['1', '2', '3']
    .map(
      () =>
        `--b\r\nContent-Type: text/xml\r\nContent-Transfer-Encoding: base64\r\n\r\n${gzipSync(`<feedback>${'x'.repeat(40_000)}`).toString('base64')}\r\n`,
    )
    .join('')}--b--`
  const octets = Buffer.from(`From: a@a.example\r\n${mail}`)
  expect((await read(octets, { ...BOUNDS, maxUnpacked: 100_000 })).found).toEqual([
    'reports.cut_off',
    'reports.unpacked',
  ])
  expect((await read(octets, { ...BOUNDS, maxEntries: 2 })).found).toEqual(['reports.cut_off', 'reports.entries'])
  expect((await read(lines, { ...BOUNDS, maxUnpacked: 100_000 })).found).toEqual(['other'])
})

it('a fault of ours ends the report in which it is, and no other', async () => {
  const report = (id: string): string =>
    `<feedback><report_metadata><report_id>${id}</report_id><date_range><begin>1</begin><end>2</end></date_range></report_metadata></feedback>`
  const part = (octets: Buffer): string =>
    `--b\r\nContent-Type: x/y\r\nContent-Transfer-Encoding: base64\r\n\r\n${octets.toString('base64')}\r\n`
  const files = ['1', '2', '3'].map((id) => gzipSync(report(id)))
  const mail = `From: a@a.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${files.map(part).join('')}--b--`
  /** Throws in the second file that is unpacked, at each of the octets and of the entries. */
  const faulty = (of: 'maxUnpacked' | 'maxEntries'): Bounds => {
    let asked = 0
    return Object.defineProperty({ ...BOUNDS }, of, {
      get: () => {
        if (++asked === 2) throw new TypeError('a bug')
        return BOUNDS[of]
      },
    })
  }
  expect((await read(Buffer.from(mail), faulty('maxUnpacked'))).all).toEqual(['complete', 'heavy.fault', 'complete'])
  const nested = `From: a@a.example\r\nContent-Type: multipart/mixed; boundary=n\r\n\r\n--n\r\nContent-Type: message/rfc822\r\n\r\n${mail}\r\n--n\r\nContent-Type: x/y\r\n\r\n${report('4')}\r\n--n--`
  expect((await read(Buffer.from(nested), faulty('maxEntries'))).all).toEqual(['heavy.fault', 'complete'])
})
