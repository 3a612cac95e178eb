import { gzipSync } from 'node:zlib'
import { fetchLogo } from '../../src/checks/bimi/lookup.ts'
import { readSvg } from '../../src/checks/bimi/svg.ts'
import { dkim } from '../../src/checks/dkim/index.ts'
import { readKey } from '../../src/checks/dkim/key.ts'
import { parseKeyRecord } from '../../src/checks/dkim/parse.ts'
import { domain } from '../../src/names/domain.ts'
import { type Fetch, FetchError } from '../../src/net/fetch.ts'
import { runCheck } from '../lab/checks.ts'
import { labProblem } from '../lab/problem.ts'
import { labCtx } from '../lab/world.ts'
import { testBounds, times } from './table.ts'

const svg = (inner: string): boolean =>
  !readSvg(
    `<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps" viewBox="0 0 1 1"><title>t</title>${inner}</svg>`,
  )
    .faults.map((fault) => fault.text)
    .join()
    .includes('too many elements')

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
/** Whether a logo is read as it is, and packed. */
async function isLogo(file: Uint8Array): Promise<boolean> {
  const logos = await Promise.all(
    [file, gzipSync(file)].map((body) => fetchLogo(labCtx({}, { fetch: serving(body) }), 'https://a.example/l.svg')),
  )
  return logos.every(({ kind }) => kind === 'read')
}
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

testBounds([
  ['src/checks/bimi/svg.ts MAX_ELEMENTS', 20_000, (n) => svg('<g/>'.repeat(n - 2))],
  ['src/checks/bimi/svg.ts MAX_DEPTH', 100, (n) => svg('<g>'.repeat(n - 1) + '</g>'.repeat(n - 1))],
  ['src/checks/bimi/lookup.ts MAX_BYTES', 512 * 1024, (n) => isLogo(Buffer.alloc(n, 'x'))],
  ['src/checks/dkim/key.ts MOST_MODULUS_OCTETS', 2_049, (n) => key(8 * (n - 1), 65_537n).state === 'usable'],
  ['src/checks/dkim/lookup.ts MAX_QUESTIONS', 36, async (n) => (await selectorsAsked(n - 2)) === n - 2],
])
