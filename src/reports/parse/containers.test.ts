import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { aggregateReport } from '../../../test/lab/report-xml.ts'
import { zipOf } from '../../../test/lab/zip.ts'
import { BOUNDS, type Bounds, filesIn } from './containers.ts'

const XML = Buffer.from(aggregateReport())

/** The names of the reports in it, and what could not be read. */
async function read(octets: Buffer, bounds: Partial<Bounds> = {}) {
  const names: string[] = []
  const faults: string[] = []
  for await (const file of filesIn(octets, { name: 'input' }, { ...BOUNDS, ...bounds })) {
    if (file.content === 'unread') faults.push(file.error.code)
    else if (file.content === 'message') names.push(file.name)
    else if (file.content === 'xml') {
      names.push(file.name)
      try {
        for await (const _ of file.octets);
      } catch (error) {
        faults.push(String((error as { readonly code?: unknown }).code))
      }
    }
  }
  return { names, faults }
}

const packed = (times: number): Buffer => Array.from({ length: times }).reduce<Buffer>((one) => gzipSync(one), XML)

it.each<[string, Buffer, Partial<Bounds>, readonly string[], readonly string[]]>([
  ['a report that is packed 3 times', packed(3), {}, ['input'], []],
  ['one that is packed 4 times', packed(4), {}, [], ['bad_report']],
  ['a zip in a zip in a zip', zipOf([['a', zipOf([['b', zipOf([['c.xml', XML]])]])]]), {}, ['c.xml'], []],
  [
    'a zip in three others',
    zipOf([['a', zipOf([['b', zipOf([['c', zipOf([['d', XML]])]])]])]]),
    {},
    [],
    ['bad_report'],
  ],
  [
    'entries with paths: their last parts are shown, and nothing is written',
    zipOf([
      ['../../etc/cron.d/x.xml', XML],
      ['C:\\Windows\\y.xml', XML],
      ['/z.xml', XML],
    ]),
    {},
    ['x.xml', 'y.xml', 'z.xml'],
    [],
  ],
  [
    'more entries than the bound',
    zipOf(Array.from({ length: 4 }, (_, n) => [`${n}.xml`, XML] as const)),
    { maxEntries: 3 },
    ['0.xml', '1.xml', '2.xml'],
    ['payload_too_large'],
  ],
  [
    'a bomb',
    gzipSync(Buffer.concat([XML, Buffer.alloc(3_000_000, ' ')])),
    { maxUnpacked: 1_000_000 },
    ['input'],
    ['payload_too_large'],
  ],
  ['an archive that is larger than the bound', zipOf([['a.xml', XML]]), { maxOctets: 100 }, [], ['payload_too_large']],
])('%s', async (_, octets, bounds, names, faults) => expect(await read(octets, bounds)).toEqual({ names, faults }))
