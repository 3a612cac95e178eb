import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { boundsOf } from '../scripts/bounds.ts'
import { parseBimi } from '../src/checks/bimi/parse.ts'
import { readSvg } from '../src/checks/bimi/svg.ts'
import { parseKeyRecord } from '../src/checks/dkim/parse.ts'
import { parseDmarc } from '../src/checks/dmarc/parse.ts'
import { parseReportUris } from '../src/checks/dmarc/uri.ts'
import { parseFields } from '../src/checks/mta-sts/fields.ts'
import { parseStsRecord } from '../src/checks/mta-sts/parse.ts'
import { parseStsPolicy } from '../src/checks/mta-sts/policy.ts'
import { parseTlsRpt } from '../src/checks/tls-rpt/parse.ts'
import { linesOf, textOf } from '../src/client/chunks.ts'
import { expandTargets } from '../src/dnsbl/targets.ts'
import { inlines } from '../src/documents/html/inline.ts'
import { escapeMarkdown } from '../src/documents/markdown/markdown-text.ts'
import { preferredForm } from '../src/http/accept.ts'
import { readList } from '../src/jobs/intake/intake.ts'
import { normalizeReply } from '../src/mailbox/reply/normalize.ts'
import { parseEmail } from '../src/names/email.ts'
import { parseResolvConf } from '../src/net/dns/system.ts'
import { parseZone } from '../src/net/dns/zone-text.ts'
import { replyReader } from '../src/net/smtp/reply.ts'
import { transcript } from '../src/net/smtp/transcript.ts'
import { parseSelectors } from '../src/operations/selector.ts'
import { html } from '../src/pages/html.ts'
import { parseOrigin } from '../src/peers/origin.ts'

/** Bounds of what reads and writes text, at the bound and one step beyond; docs/bounds.md lists them all, and where the others are tried. */
const times = (n: number, of: (i: number) => string): string[] => Array.from({ length: n }, (_, i) => of(i))
const tags = (n: number): string => times(n, (i) => `x${i}=1`).join('; ')
const text = (n: number): string => 'x'.repeat(n)
const policy = (mx: number, others: number): string =>
  `version: STSv1\nmode: enforce\nmax_age: 604800\n${times(mx, (i) => `mx: m${i}.example\n`).join('')}${times(others, (i) => `x${i}: y\n`).join('')}`
const svg = (inner: string): boolean =>
  !readSvg(
    `<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps" viewBox="0 0 1 1"><title>t</title>${inner}</svg>`,
  )
    .faults.join()
    .includes('more elements')
const body = (size: number): Response =>
  new Response(
    new ReadableStream({
      start: (stream) => {
        for (let left = size; left > 0; left -= 1 << 20)
          stream.enqueue(new Uint8Array(Math.min(left, 1 << 20)).fill(120))
        stream.close()
      },
    }),
  )
const isRead = async (reading: Promise<unknown>): Promise<boolean> =>
  reading.then(
    () => true,
    () => false,
  )
async function drained(all: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of all);
}
async function rows(list: string, contentType: string): Promise<readonly boolean[]> {
  const good = []
  async function* octets() {
    yield Buffer.from(list)
  }
  for await (const row of readList(octets(), { kind: 'verify', contentType, bounds: { maxUpload: 1 << 28 } }))
    good.push(row.ok)
  return good
}
const isListRead = (list: string, contentType: string): Promise<boolean> =>
  rows(list, contentType).then(
    (good) => good.every(Boolean),
    () => false,
  )

/** Whether an input of this size is read, or shown, whole. */
type Fits = (n: number) => boolean | Promise<boolean>
const ROWS: readonly (readonly [place: string, bound: number, fits: Fits])[] = [
  ['src/checks/bimi/parse.ts MAX_TAGS', 50, (n) => parseBimi(`v=BIMI1; l=; ${tags(n - 2)}`).ok],
  ['src/checks/bimi/parse.ts MAX_OTHERS', 20, (n) => kept(parseBimi(`v=BIMI1; l=; ${tags(n)}`), 'others') === n],
  ['src/checks/bimi/svg.ts MAX_ELEMENTS', 20_000, (n) => svg('<g/>'.repeat(n - 2))],
  ['src/checks/bimi/svg.ts MAX_DEPTH', 100, (n) => svg('<g>'.repeat(n - 1) + '</g>'.repeat(n - 1))],
  ['src/checks/dkim/parse.ts MAX_TAGS', 50, (n) => parseKeyRecord(`v=DKIM1; p=; ${tags(n - 2)}`).ok],
  ['src/checks/dkim/parse.ts MAX_LENGTH', 16_384, (n) => parseKeyRecord('v=DKIM1; p=; n='.padEnd(n, 'x')).ok],
  [
    'src/checks/dmarc/parse.ts MAX_TAGS',
    100,
    (n) => !JSON.stringify(parseDmarc(`v=DMARC1; p=none; ${tags(n - 1)}`)).includes('"limit"'),
  ],
  [
    'src/checks/dmarc/uri.ts MAX_URIS',
    50,
    (n) => parseReportUris(times(n, (i) => `mailto:a${i}@b.example`).join()).uris.length === n,
  ],
  ['src/checks/mta-sts/fields.ts MAX_FIELDS', 100, (n) => parseFields(`v=STSv1; ${tags(n - 1)}`, 'v=STSv1', 'id').ok],
  [
    'src/checks/mta-sts/parse.ts MAX_EXTENSIONS',
    20,
    (n) => kept(parseStsRecord(`v=STSv1; id=1; ${tags(n)}`), 'extensions') === n,
  ],
  ['src/checks/mta-sts/policy.ts MAX_LINES', 1_000, (n) => parseStsPolicy(policy(1, n - 4)).ok],
  ['src/checks/mta-sts/policy.ts MAX_MX', 100, (n) => parseStsPolicy(policy(n, 0)).ok],
  [
    'src/checks/tls-rpt/parse.ts MAX_EXTENSIONS',
    20,
    (n) => kept(parseTlsRpt(`v=TLSRPTv1; rua=mailto:a@b.example; ${tags(n)}`), 'extensions') === n,
  ],
  [
    'src/client/chunks.ts MAX_TEXT',
    16 * 1024 * 1024,
    async (n) => (await isRead(textOf(body(n)))) && isRead(drained(linesOf(body(n)))),
  ],
  ['src/dnsbl/targets.ts MAX_TARGETS', 256, (n) => expandTargets(times(n, (i) => `45.53.${i >> 8}.${i & 255}`)).ok],
  ['src/documents/html/inline.ts MAX_TEXT', 8_192, (n) => inlines([text(n)]) === text(n)],
  ['src/documents/markdown/markdown-text.ts MAX_TEXT', 8_192, (n) => escapeMarkdown(text(n)) === text(n)],
  ['src/http/accept.ts MAX_LENGTH', 1_000, (n) => preferredForm('text/html'.padEnd(n)) !== undefined],
  [
    'src/http/accept.ts MAX_RANGES',
    30,
    (n) => preferredForm([...times(n - 1, () => 'x/y'), 'text/html'].join()) !== undefined,
  ],
  [
    'src/jobs/intake/csv.ts MAX_COLUMNS',
    1_000,
    (n) => isListRead(`email${times(n - 1, (i) => `,c${i}`).join('')}\na@b.example${','.repeat(n - 1)}\n`, 'text/csv'),
  ],
  [
    'src/jobs/intake/row.ts MAX_FIELD',
    64 * 1024,
    (n) => isListRead(`email,note\na@b.example,${text(n)}\n`, 'text/csv'),
  ],
  [
    'src/mailbox/reply/normalize.ts MAX_READ',
    4_096,
    (n) => normalizeReply('no such user'.padStart(n)).includes('no such user'),
  ],
  ['src/names/email.ts LONGEST_LOCAL', 64, (n) => parseEmail(`${text(n)}@b.example`).ok],
  ['src/names/email.ts LONGEST', 254, (n) => parseEmail(`a@${times(4, () => text(60)).join('.')}.${text(n - 246)}`).ok],
  [
    'src/net/dns/system.ts MAX_SERVERS',
    8,
    (n) => parseResolvConf(times(n, (i) => `nameserver 192.0.2.${i + 1}`).join('\n')).servers.length === n,
  ],
  ['src/net/dns/zone-text.ts MAX_LENGTH', 1 << 20, (n) => parseZone('@ A 192.0.2.1\n'.padEnd(n), 'a.example').ok],
  [
    'src/net/dns/zone-text.ts MAX_RECORDS',
    10_000,
    (n) => parseZone(times(n, (i) => `n${i} A 192.0.2.1`).join('\n'), 'a.example').ok,
  ],
  [
    'src/net/smtp/reply.ts MAX_REPLY',
    64 * 1024,
    (n) => !JSON.stringify(replyReader().feed(Buffer.from(`250-${text(n - 4)}`))).includes('64 KiB'),
  ],
  [
    'src/net/smtp/transcript.ts MAX_LINES',
    300,
    (n) => {
      const lines = transcript(() => 0)
      for (let i = 0; i < n; i++) lines.add('server', '250 ok')
      return lines.lines().every(({ from }) => from === 'server')
    },
  ],
  ['src/operations/selector.ts MAX_SELECTORS', 10, (n) => parseSelectors(times(n, (i) => `s${i}`).join()).ok],
  ['src/pages/html.ts MAX_TEXT', 8_192, (n) => html`${text(n)}`.safe === text(n)],
  [
    'src/peers/origin.ts MAX_URL',
    256,
    (n) => parseOrigin(`https://${times(3, () => text(60)).join('.')}.${text(n - 191)}`).ok,
  ],
]

function kept(read: { readonly ok: boolean; readonly value?: object }, field: string): number {
  return ((read.value as Readonly<Record<string, readonly unknown[]>> | undefined)?.[field] ?? []).length
}

describe.each(ROWS)('%s', (place, bound, fits) => {
  it('at the bound, and one beyond', async () => {
    expect([await fits(bound), await fits(bound + 1)]).toEqual([true, false])
  })
  it('is what the code says', () => {
    const [file, name] = place.split(' ')
    const [, written] = new RegExp(`const ${name} = ([^/\\n]+)`).exec(readFileSync(file!, 'utf8')) ?? []
    const value = written!.replaceAll('_', '').split(/(\*|<<)/)
    const [a, by, b, , c] = value.map((part) => part.trim())
    expect(
      by === undefined ? Number(a) : by === '<<' ? Number(a) << Number(b) : Number(a) * Number(b) * Number(c ?? 1),
    ).toBe(bound)
  })
})

it('every bound of the table is one of the code', () => {
  const known = new Set(boundsOf('.').map(({ place }) => place))
  expect(ROWS.map(([place]) => place).filter((place) => !known.has(place))).toEqual([])
})
