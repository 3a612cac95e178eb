import { gzipSync } from 'node:zlib'
import { fetchLogo } from '../../src/checks/bimi/lookup.ts'
import { parseBimi } from '../../src/checks/bimi/parse.ts'
import { readSvg } from '../../src/checks/bimi/svg.ts'
import type { FindingTable } from '../../src/checks/check.ts'
import { stepsAt } from '../../src/checks/dkim/fixes.ts'
import { dkim } from '../../src/checks/dkim/index.ts'
import { readKey } from '../../src/checks/dkim/key.ts'
import { parseKeyRecord } from '../../src/checks/dkim/parse.ts'
import { generalSelectors, spfTargets } from '../../src/checks/dkim/selectors.ts'
import { dmarc, presentDmarcLookup } from '../../src/checks/dmarc/index.ts'
import { mendDmarc } from '../../src/checks/dmarc/mend.ts'
import { parseDmarc } from '../../src/checks/dmarc/parse.ts'
import { parseReportUris } from '../../src/checks/dmarc/uri.ts'
import { makeFinding } from '../../src/checks/finding.ts'
import { parseFields, parseStsRecord } from '../../src/checks/mta-sts/parse.ts'
import { parseStsPolicy } from '../../src/checks/mta-sts/policy.ts'
import { presentFinding } from '../../src/checks/present.ts'
import { runCheck, runInContext } from '../../src/checks/run.ts'
import { parseTlsRpt } from '../../src/checks/tls-rpt/index.ts'
import { domain } from '../../src/names/domain.ts'
import { type Fetch, FetchError } from '../../src/net/fetch.ts'
import { PROVIDERS } from '../../src/providers/index.ts'
import type { LabZone } from '../lab/dns.ts'
import { labProblem } from '../lab/problem.ts'
import { labCtx } from '../lab/world.ts'
import { tags, testBounds, text, times } from './table.ts'

const policy = (mx: number, others: number): string =>
  `version: STSv1\nmode: enforce\nmax_age: 604800\n${times(mx, (i) => `mx: m${i}.example\n`).join('')}${times(others, (i) => `x${i}: y\n`).join('')}`
const svg = (inner: string): boolean =>
  !readSvg(
    `<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps" viewBox="0 0 1 1"><title>t</title>${inner}</svg>`,
  )
    .faults.map((fault) => fault.text)
    .join()
    .includes('too many elements')
function kept(read: { readonly ok: boolean; readonly value?: object }, field: string): number {
  return ((read.value as Readonly<Record<string, readonly unknown[]>> | undefined)?.[field] ?? []).length
}

const A = domain('a.example')
/** A web server with a file of this size, which gives no more than it is asked for. */
const serving =
  (body: Uint8Array): Fetch =>
  async (url, _signal, { maxBytes }) => {
    if (body.length > maxBytes) throw new FetchError('too_large', labProblem('lab'))
    return { status: 200, contentType: 'text/plain', body, url }
  }
/** How many of the caller's `n` selectors are asked for. */
async function selectorsAsked(n: number): Promise<number> {
  const ctx = labCtx({ 'a.example': { A: ['45.53.5.1'] } })
  await runCheck(dkim, ctx, A, { selectors: times(n, (i) => `own${i}`) })
  return ctx.asked.filter((asked) => asked.startsWith('own')).length
}
const asked = async (zone: LabZone, question: string): Promise<boolean> => {
  const ctx = labCtx(zone)
  await runCheck(dkim, ctx, A)
  return ctx.asked.includes(question)
}
/** Whether a logo is read as it is, and packed. */
async function isLogo(file: Uint8Array): Promise<boolean> {
  const logos = await Promise.all(
    [file, gzipSync(file)].map((body) => fetchLogo(labCtx({}, { fetch: serving(body) }), 'https://a.example/l.svg')),
  )
  return logos.every(({ kind }) => kind === 'read')
}
const faults = (inner: string): number =>
  readSvg(
    `<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps" viewBox="0 0 1 1"><title>t</title>${inner}</svg>`,
  ).faults.length
/** The findings about a policy of MTA-STS. */
async function stsOf(written: string) {
  const zone: LabZone = { '_mta-sts.a.example': { TXT: ['v=STSv1; id=1'] }, 'a.example': { MX: [[10, 'm0.example']] } }
  const ctx = labCtx(zone, { fetch: serving(Buffer.from(written)) })
  return (await runInContext('mta_sts', ctx, A)).findings
}
const spf = (...terms: readonly string[]) => ({ TXT: [`v=spf1 ${terms.join(' ')}`] })
/** An RSAPublicKey (RFC 8017 §A.1.1, DER) as a key record has it. */
function rsa(bits: number, exponent: bigint): string {
  const octets = (value: bigint): Buffer => {
    const hex = value.toString(16)
    const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
    return bytes[0]! < 0x80 ? bytes : Buffer.concat([Buffer.of(0), bytes])
  }
  const of = (tag: number, bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.of(tag, 0x82, bytes.length >> 8, bytes.length & 255), bytes])
  const short = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(2, bytes.length), bytes])
  const modulus = of(2, octets((1n << BigInt(bits - 1)) + 1n))
  return of(0x30, Buffer.concat([modulus, short(octets(exponent))])).toString('base64')
}
const key = (bits: number, exponent: bigint) => {
  const record = parseKeyRecord(`v=DKIM1; p=${rsa(bits, exponent)}`)
  if (!record.ok) throw new Error(record.problem.text)
  return readKey(record.value)
}
const dmarcOf = (...records: readonly string[]) =>
  runInContext('dmarc', labCtx({ 'a.example': { MX: [[10, 'm.a.example']] }, '_dmarc.a.example': { TXT: records } }), A)
const told = async (outcome: Promise<{ readonly findings: readonly { readonly id: string }[] }>, id: string) =>
  (await outcome).findings.filter((finding) => finding.id === id).length
const WORDS: FindingTable = { 'x.x': { severity: 'low', title: '', detail: () => '', reference: '' } }

testBounds([
  ['src/checks/bimi/parse.ts MAX_TAGS', 50, (n) => parseBimi(`v=BIMI1; l=; ${tags(n - 2)}`).ok],
  ['src/checks/bimi/parse.ts MAX_OTHERS', 20, (n) => kept(parseBimi(`v=BIMI1; l=; ${tags(n)}`), 'others') === n],
  ['src/checks/bimi/svg.ts MAX_ELEMENTS', 20_000, (n) => svg('<g/>'.repeat(n - 2))],
  ['src/checks/bimi/svg.ts MAX_ATTRIBUTES', 200, (n) => svg(`<g ${times(n, (i) => `a${i}=""`).join(' ')}/>`.repeat(3))],
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
  ['src/checks/mta-sts/parse.ts MAX_FIELDS', 100, (n) => parseFields(`v=STSv1; ${tags(n - 1)}`, 'v=STSv1', 'id').ok],
  [
    'src/checks/mta-sts/parse.ts MAX_EXTENSIONS',
    20,
    (n) => kept(parseStsRecord(`v=STSv1; id=1; ${tags(n)}`), 'extensions') === n,
  ],
  ['src/checks/mta-sts/policy.ts MAX_LINES', 1_000, (n) => parseStsPolicy(policy(1, n - 4)).ok],
  ['src/checks/mta-sts/policy.ts MAX_MX', 100, (n) => parseStsPolicy(policy(n, 0)).ok],
  [
    'src/checks/tls-rpt/index.ts MAX_EXTENSIONS',
    20,
    (n) => kept(parseTlsRpt(`v=TLSRPTv1; rua=mailto:a@b.example; ${tags(n)}`), 'extensions') === n,
  ],
  ['src/checks/bimi/lookup.ts MAX_BYTES', 512 * 1024, (n) => isLogo(Buffer.alloc(n, 'x'))],
  [
    'src/checks/bimi/svg.ts MAX_FAULTS',
    20,
    (n) => faults(times(n, (i) => `<g on${'abcdefghijklmnopqrstu'[i]}=""/>`).join('')) === n,
  ],
  [
    'src/checks/dkim/fixes.ts MAX_TOLD',
    3,
    (n) => stepsAt(PROVIDERS.filter((provider) => provider.dkim !== undefined).slice(0, n), 'a.example').length === n,
  ],
  [
    'src/checks/dkim/judge.ts MOST_BITS',
    4_096,
    async (bits) => {
      const zone: LabZone = { 'mail._domainkey.a.example': { TXT: [`v=DKIM1; p=${rsa(bits, 65_537n)}`] } }
      return (await told(runCheck(dkim, labCtx(zone), A), 'dkim.long_key')) === 0
    },
  ],
  [
    'src/checks/dkim/judge.ts MAX_KEYLESS',
    10,
    async (n) =>
      (await told(runCheck(dkim, labCtx({}), A, { selectors: times(n, (i) => `own${i}`) }), 'dkim.no_key')) === n,
  ],
  ['src/checks/dkim/key.ts MOST_EXPONENT', 2 ** 32, (n) => key(2_048, BigInt(n)).state === 'usable'],
  // A key whose exponent is too long is not even measured.
  ['src/checks/dkim/key.ts MOST_EXPONENT_OCTETS', 5, (n) => 'bits' in key(2_048, 1n << (8n * BigInt(n - 1)))],
  ['src/checks/dkim/key.ts MOST_MODULUS_OCTETS', 2_049, (n) => key(8 * (n - 1), 65_537n).state === 'usable'],
  ['src/checks/dkim/lookup.ts MAX_QUESTIONS', 36, async (n) => (await selectorsAsked(n - 2)) === n - 2],
  [
    'src/checks/dkim/lookup.ts MAX_DOUBLED',
    10,
    (n) =>
      asked(
        { 'a.example': { A: ['45.53.5.1'] }, 'x._domainkey.a.example.a.example': { TXT: ['x'] } },
        `${generalSelectors(0)[n - 1]}._domainkey.a.example.a.example TXT`,
      ),
  ],
  [
    'src/checks/dkim/lookup.ts MAX_OWN_RECORDS',
    5,
    (n) => asked({ 'a.example': spf(...times(n, (i) => `include:s${i}.a.example`)) }, `s${n - 1}.a.example TXT`),
  ],
  [
    'src/checks/dkim/lookup.ts MAX_DEPTH',
    2,
    (n) => {
      const zone: LabZone = Object.fromEntries(times(n, (i) => [`s${i}.a.example`, spf(`include:s${i + 1}.a.example`)]))
      return asked({ ...zone, 'a.example': spf('include:s1.a.example') }, `s${n}.a.example TXT`)
    },
  ],
  [
    'src/checks/dkim/selectors.ts MAX_TERMS',
    200,
    (n) => spfTargets([`v=spf1 ${'a '.repeat(n - 2)}include:b.example`]).length === 1,
  ],
  [
    'src/checks/dkim/selectors.ts MAX_LENGTH',
    10_000,
    (n) => spfTargets([`v=spf1 ${'include:b.example'.padStart(n - 7)}`]).join() === 'b.example',
  ],
  [
    'src/checks/dmarc/mend.ts MAX_TEXT',
    4_096,
    (n) =>
      JSON.stringify(
        mendDmarc(`${'v=DMARC1; p=none; x='.padEnd(n - 23, 'x')};rua=mailto:r@b.example`)?.record.rua,
      ).includes('b.example'),
  ],
  [
    'src/checks/dmarc/index.ts MAX_TEXT',
    2_048,
    async (n) => dmarc.present(await dmarcOf('v=DMARC1; p=none; x='.padEnd(n, 'x'))).record?.length === n,
  ],
  [
    'src/checks/dmarc/record-findings.ts MAX_TOLD',
    10,
    async (n) =>
      (await told(dmarcOf(`v=DMARC1; p=none; ${times(n, (i) => `x${i}`).join('; ')}`), 'dmarc.syntax')) === n,
  ],
  [
    'src/checks/dmarc/record-findings.ts MAX_DESTINATIONS_TOLD',
    10,
    async (n) =>
      (await told(
        dmarcOf(`v=DMARC1; p=none; rua=${times(n, (i) => `https://h${i}.example/`).join()}`),
        'dmarc.report_scheme',
      )) === n,
  ],
  [
    'src/checks/dmarc/reports.ts MAX_DESTINATIONS',
    10,
    async (n) =>
      (await told(
        dmarcOf(`v=DMARC1; p=none; rua=${times(n, (i) => `mailto:r@d${i}.test`).join()}`),
        'dmarc.report_limit',
      )) === 0,
  ],
  [
    'src/checks/dmarc/walk.ts MAX_RECORDS',
    10,
    async (n) =>
      presentDmarcLookup(await dmarcOf(...times(n, (i) => `v=DMARC1; p=none; x=${i}`))).steps[0]?.records.length === n,
  ],
  [
    'src/checks/finding.ts MAX_FIX',
    2_048,
    (n) => makeFinding('x', {}, { fix: { name: 'a', rtype: 'TXT', value: text(n) } }).fix !== undefined,
  ],
  [
    'src/checks/mta-sts/policy.ts MAX_POLICY_BYTES',
    65_536,
    async (n) => (await stsOf(`${policy(1, 0)}k: `.padEnd(n, 'x'))).every(({ id }) => !id.includes('policy')),
  ],
  [
    'src/checks/mta-sts/policy.ts MAX_AGE_SECONDS',
    31_557_600,
    async (n) =>
      (await stsOf(policy(1, 0).replace('604800', String(n)))).every(({ id }) => id !== 'mta_sts.long_max_age'),
  ],
  [
    'src/checks/present.ts MAX_EVIDENCE',
    2_000,
    (n) => presentFinding(WORDS, { id: 'x.x', evidence: text(n) }).evidence?.length === n,
  ],
])
