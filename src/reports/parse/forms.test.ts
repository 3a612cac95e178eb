import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { heavyHere } from '../../../test/lab/heavy.ts'
import { aggregateReport } from '../../../test/lab/report-xml.ts'
import { zipOf } from '../../../test/lab/zip.ts'
import { BOUNDS, nothingSpent } from './containers.ts'
import { eventOf, readFiles } from './reading.ts'

/** Forms of reports that people have: made up, each after a kind that was seen. */

const row = { address: '192.0.2.1', count: 10, spf: 'pass' } as const
const XML = aggregateReport({ domain: 'a.example', rows: [row] })
const edited = (from: string | RegExp, to: string): Buffer => Buffer.from(XML.replace(from, to))
/** A record of lines: the count and the address in the second one. */
const lined = (from: string, to: string): Buffer =>
  Buffer.from(
    XML.replace(from, to)
      .replace('<row>', '<row>\n')
      .replace('<policy_evaluated>', '\n<policy_evaluated>')
      .replace('</record>', '\n</record>'),
  )
const dates = (begin: string, end: string): Buffer =>
  Buffer.from(XML.replace(/<begin>\d+/, `<begin>${begin}`).replace(/<end>\d+/, `<end>${end}`))
const GZIP = gzipSync(XML)
const ZIP = zipOf([['a.xml', Buffer.from(XML)]])
const lines = (octets: Buffer): string => octets.toString('base64').replace(/.{76}/g, '$&\r\n')
const mail = (type: string, body: string): Buffer =>
  Buffer.from(`From: a@x.example\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`)
const policy = {
  policy: { 'policy-type': 'sts', 'policy-domain': 'a.example' },
  summary: { 'total-successful-session-count': 10, 'total-failure-session-count': 0 },
}
const range = (begin: unknown, end: unknown) => ({ 'date-range': { 'start-datetime': begin, 'end-datetime': end } })
const tls = (over: object = {}): string =>
  JSON.stringify({
    ...{ 'organization-name': 'X', 'contact-info': 'a@x.example', 'report-id': '1', policies: [policy] },
    ...{ ...range('2026-11-20T00:00:00Z', '2026-11-20T23:59:59Z'), ...over },
  })

/** What is read: domain, messages and days of each report, and why the rest is none. */
async function read(octets: Uint8Array): Promise<readonly string[]> {
  const found: string[] = []
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
  const input = { name: 'x', depth: 0, bounds: BOUNDS, spent: nothingSpent() }
  await heavyHere(readFiles, octets, input, {
    ...{ caller: 'x', signal: AbortSignal.timeout(10_000) },
    onBatch: async (batch) => {
      const { event } = eventOf(batch)
      if (event.what === 'complete') {
        const { domain, messages, beginMs, endMs } = event.head
        found.push(`${domain} ${messages} ${day(beginMs)} ${day(endMs)}`)
      } else if (event.what === 'unread' || event.what === 'other')
        found.push(event.what === 'unread' ? event.problem.text : (event.why?.text ?? ''))
    },
  })
  return found
}

const WHOLE = 'a.example 10 2026-11-20 2026-11-20'
it.each<[string, Buffer]>([
  ['as it should be', Buffer.from(XML)],
  ['a comment with two hyphens', edited('<feedback>', '<!-- by a -- tool --><feedback>')],
  ['octets behind a zip file', Buffer.concat([ZIP, Buffer.from('\r\n-- \r\nChecked by the gateway\r\n')])],
  ['line ends before gzip', Buffer.concat([Buffer.from('\r\n'), GZIP])],
  ['line ends before zip', Buffer.concat([Buffer.from('\r\n\r\n'), ZIP])],
  ['gzip in base64 that nobody decoded', Buffer.from(lines(GZIP))],
  ['XML in base64', Buffer.from(lines(Buffer.from(XML)))],
  ['a mail whose part has no transfer encoding', mail('application/gzip', lines(GZIP))],
  [
    'a mail whose part has no type',
    mail(
      'multipart/mixed; boundary="b b"',
      `--b b\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines(GZIP)}\r\n--b b--`,
    ),
  ],
  ['.emlx', Buffer.from(`${mail('text/xml', XML).length}\n${mail('text/xml', XML)}<?xml version="1.0"?><plist/>`)],
  ['a text before the XML', Buffer.from(`This is a DMARC report\n${XML}`)],
  [
    'a word in angle brackets in a text about the reporter',
    edited('<report_id>', '<error>no <key> there</error><report_id>'),
  ],
  ['a text in place of the last tag', edited('</feedback>', '\n-- \nChecked & passed on\n')],
  ['a text behind the XML', Buffer.from(`${XML}\n-- \nChecked & passed on\n`)],
  ['HTML behind the XML', Buffer.from(`${XML}\n<p class=x>Checked by <b>us</b>`)],
  ['NUL behind the XML', Buffer.from(`${XML}\0\0`)],
  ['a second declaration', Buffer.from(`<?xml version="1.0"?>\n${XML}`)],
  ['a declaration without a version', edited('version="1.0" ', '')],
  ['elements in capitals', Buffer.from(XML.replace(/<\/?[a-z_]+/g, (tag) => tag.toUpperCase()))],
  ['an attribute without quotes', edited('<feedback>', '<feedback version=1.0>')],
  ['an attribute twice', edited('<feedback>', '<feedback a="1" a="2">')],
  ['a control character', edited('google.com', 'A\u000bB')],
  ['a reference to a control character', edited('google.com', 'A&#11;&#x1;B')],
  ['entities of HTML', edited('google.com', 'A&nbsp;&copy; B')],
  ['an empty record', edited('</feedback>', '<record/><record><row></row></record></feedback>')],
  [
    'a digest whose part names no type',
    mail('multipart/digest; boundary=d', `--d\r\n\r\n${mail('application/gzip', lines(GZIP))}\r\n--d--`),
  ],
  ['an address in brackets', edited(row.address, `[${row.address}]`)],
  ['an address as in a mail', edited(row.address, '[IPv6:2001:db8::1]')],
  ['an address with its network', edited(row.address, `${row.address}/32`)],
  ['an address with a port', edited(row.address, `${row.address}:25`)],
  ['an address with a zone', edited(row.address, 'fe80::1%eth0')],
  ['a count with a fraction of nothing', edited('<count>10<', '<count>10.0<')],
  ['times of RFC 5322', dates('Fri, 20 Nov 2026 00:00:00 GMT', 'Fri, 20 Nov 2026 23:59:59 +0000')],
  ['times in UTC by name', dates('2026-11-20 00:00:00 UTC', '2026-11-20 23:59:59 UTC')],
  ['times with a zone without a colon', dates('2026-11-20T00:00:00+0000', '2026-11-20T23:59:59-0000')],
  ['days with strokes', dates('2026/11/20', '2026/11/20')],
  ['days without signs', dates('20261120', '20261120')],
  ['microseconds', dates('1795132800000000', '1795219199000000')],
  ['seconds as a number of a spreadsheet', dates('1.7951328E9', '1.795219199E9')],
  ['TLS: a text behind it', Buffer.from(`${tls()}\n-- \nChecked\n`)],
  ['TLS: a policy that is in no list', Buffer.from(tls({ policies: policy }))],
  ['TLS: times with a blank', Buffer.from(tls(range('2026-11-20 00:00:00', '2026-11-20 23:59:59')))],
  ['TLS: times in seconds', Buffer.from(tls(range(1_795_132_800, 1_795_219_199)))],
])('%s is read', async (_, octets) => expect(await read(octets)).toEqual([WHOLE]))

it.each<[string, Buffer]>([
  ['TLS: two behind each other', Buffer.from(`${tls()}\n${tls()}\n`)],
  ['TLS: two in a list', Buffer.from(`[${tls()}, ${tls()}]`)],
])('%s are read', async (_, octets) => expect(await read(octets)).toEqual([WHOLE, WHOLE]))
it('TLS: a broken one stops no other', async () => {
  const found = await read(Buffer.from(`[${tls()}, {"policies": []}, ${tls()}]`))
  expect(found).toEqual([WHOLE, 'the report has no report-id', WHOLE])
})

it.each<[string, Buffer, RegExp]>([
  ['a damaged zip entry', zipOf([['a.xml', Buffer.from(XML)]], { isOtherSum: true }), /zip .* is damaged/],
  ['an encrypted zip entry', zipOf([['a.xml', Buffer.from(XML)]], { flags: 1 }), /zip .* encrypted/],
  ['a workbook', zipOf([['[Content_Types].xml', Buffer.from('<Types/>')]]), /document of an office program/],
  [
    'a tar in gzip',
    gzipSync(Buffer.concat([Buffer.alloc(257), Buffer.from('ustar'), Buffer.from(XML)])),
    /tar archive/,
  ],
  ['zlib', Buffer.from('\x78\x9c\xb5', 'latin1'), /packed with zlib/],
  ['uuencode', mail('application/zip; name=r.zip', "begin 644 r.zip\r\nM'XL(\r\nend"), /uuencode/],
  ['bzip2', Buffer.from('BZh91AY&SY'), /bzip2/],
  ['a picture', Buffer.from('\x89PNG\r\n', 'latin1'), /an image/],
  ['winmail.dat', Buffer.from('\x78\x9f\x3e\x22', 'latin1'), /winmail\.dat/],
  ['S/MIME', mail('application/pkcs7-mime; smime-type=enveloped-data', 'MIIB'), /S\/MIME/],
  ['a day that may be two', dates('11/12/2026', '11/12/2026'), /begin of the report is "11\/12\/2026"/],
  ['no day', edited(/<begin>\d+<\/begin>/, ''), /has no date_range with a begin/],
  ['two reports in one XML', Buffer.from(`${XML}\n${XML}`), /second report begins in line 2/],
  ['a count that is none', lined('<count>10<', '<count>1,234<'), /count "1,234" in line 2 is not a whole number/],
  ['no count', lined('<count>10</count>', ''), /has no count in the record that ends in line 4/],
  ['no address', lined(row.address, '192.0.2.300'), /address "192.0.2.300" in line 2 is not an IP address/],
  ['TLS: no time', Buffer.from(tls(range('soon', 'later'))), /start-datetime of the report is "soon"/],
])('%s is refused with its reason', async (_, octets, why) => {
  const found = await read(octets)
  expect(found).toEqual([expect.stringMatching(why)])
})
