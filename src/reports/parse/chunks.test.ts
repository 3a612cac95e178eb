import { expect, it } from 'vitest'
import { aggregateReport } from '../../../test/lab/report-xml.ts'
import { readDmarc } from './dmarc.ts'

const ROWS = 2_000
const XML = Buffer.from(
  aggregateReport({
    rows: Array.from({ length: ROWS }, (_, n) => ({ address: `10.0.${n >> 8}.${n & 255}`, count: 1 })),
  }),
)
async function* inPieces(octets: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size)
}

it.each([1_000, 16_384, 65_536, 100_000, XML.length])('a report is read in chunks of %i octets', async (size) => {
  expect(XML.length).toBeGreaterThan(500_000)
  let rows = 0
  await readDmarc(inPieces(XML, size), () => void rows++)
  expect(rows).toBe(ROWS)
})

it.each([1_000, 65_536, 200_000])('a text without an end is refused, in chunks of %i octets', async (size) => {
  const endless = Buffer.from(`<feedback><report_metadata a="${'x'.repeat(150_000)}`)
  await expect(readDmarc(inPieces(endless, size), () => {})).rejects.toThrow(/longer than 65536/)
})

it('a report of 1,000,000 records is read, and one more is refused', async () => {
  const record = '<record><row><source_ip>192.0.2.1</source_ip><count>0</count></row></record>'
  async function* records(count: number): AsyncGenerator<Buffer> {
    yield XML.subarray(0, XML.indexOf('<record>'))
    for (let n = 0; n < count; n += 1_000) yield Buffer.from(record.repeat(Math.min(1_000, count - n)))
    yield Buffer.from('</feedback>')
  }
  expect((await readDmarc(records(1_000_000), () => {})).records).toBe(1_000_000)
  await expect(readDmarc(records(1_000_001), () => {})).rejects.toMatchObject({ code: 'payload_too_large' })
})
