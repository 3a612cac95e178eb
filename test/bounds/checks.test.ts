import { parseBimi } from '../../src/checks/bimi/parse.ts'
import { readSvg } from '../../src/checks/bimi/svg.ts'
import { parseKeyRecord } from '../../src/checks/dkim/parse.ts'
import { parseDmarc } from '../../src/checks/dmarc/parse.ts'
import { parseReportUris } from '../../src/checks/dmarc/uri.ts'
import { parseFields } from '../../src/checks/mta-sts/fields.ts'
import { parseStsRecord } from '../../src/checks/mta-sts/parse.ts'
import { parseStsPolicy } from '../../src/checks/mta-sts/policy.ts'
import { parseTlsRpt } from '../../src/checks/tls-rpt/parse.ts'
import { tags, testBounds, times } from './table.ts'

const policy = (mx: number, others: number): string =>
  `version: STSv1\nmode: enforce\nmax_age: 604800\n${times(mx, (i) => `mx: m${i}.example\n`).join('')}${times(others, (i) => `x${i}: y\n`).join('')}`
const svg = (inner: string): boolean =>
  !readSvg(
    `<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps" viewBox="0 0 1 1"><title>t</title>${inner}</svg>`,
  )
    .faults.join()
    .includes('more elements')
function kept(read: { readonly ok: boolean; readonly value?: object }, field: string): number {
  return ((read.value as Readonly<Record<string, readonly unknown[]>> | undefined)?.[field] ?? []).length
}

testBounds([
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
])
