import { describe, expect, it } from 'vitest'
import { lookupKeys } from '../../../src/message/keys.ts'
import { outline } from '../../../src/message/outline.ts'
import { type Verified, verify } from '../../../src/message/verify.ts'
import { corpus } from '../../lab/corpora.ts'
import { type LabZone, labDns } from '../../lab/dns.ts'
import { heavyHere } from '../../lab/heavy.ts'

type Expected = {
  readonly d: string
  readonly s: string
  readonly result: string | readonly string[]
  readonly weak?: string
}
type Case = {
  readonly id: string
  readonly raw: string
  readonly dns: LabZone
  readonly at?: number
  readonly expect: { readonly dkim?: readonly Expected[]; readonly arc?: string }
}

/** Cases that are answered otherwise on purpose. */
const SKIPS: Readonly<Record<string, string>> = {
  'made/emptybody/relaxed-relaxed/rsa-sha256/space added to body line':
    'RFC 6376 §3.4.4: the body " " is an empty line once white space at its end is left out, so it equals the empty body that was signed',
}

const casesOf = (file: string): readonly Case[] => corpus(`messages/${file}.json`)?.cases ?? []
const rowsOf = (file: string) => casesOf(file).map((row) => [row.id, row] as const)
async function verifying({ raw, dns, at = 0 }: Pick<Case, 'raw' | 'dns' | 'at'>): Promise<Verified> {
  const octets = Buffer.from(raw, 'base64')
  const ask = { caller: '', signal: AbortSignal.timeout(10_000) }
  const { mail, keys } = await heavyHere(outline, octets, { receivedBy: [] }, ask)
  const answers = await lookupKeys({ resolve: labDns(dns).resolve, ...ask }, keys)
  return heavyHere(verify, octets, { lfEnds: mail.lfEnds, keys: answers, at: at * 1_000 }, ask)
}

/**
 * Whether a result is the expected one; a signature that RFC 8301 does not accept any more may be anything but a pass.
 */
const isRight = ({ result, weak }: Expected, got: string): boolean =>
  [result].flat().includes(got) || (weak !== undefined && got !== 'pass')

describe('the public messages with DKIM signatures', () => {
  it.each(rowsOf('dkim'))('%s', async (id, row) => {
    const { dkim = [] } = row.expect
    if (SKIPS[id] !== undefined) return
    const { dkim: got } = await verifying(row)
    expect(got.map(({ domain, selector }) => [domain, selector])).toEqual(dkim.map(({ d, s }) => [d, s]))
    for (const [i, one] of dkim.entries())
      expect(isRight(one, got[i]!.result), `${one.d} ${got[i]!.result} ${got[i]!.because?.text ?? ''}`).toBe(true)
  })

  it('verifies what RFC 6376 §3.4.4 makes equal', async () => {
    for (const id of Object.keys(SKIPS)) {
      const row = casesOf('dkim').find((one) => one.id === id)
      if (!row) continue
      const { dkim } = await verifying({ raw: row.raw, dns: row.dns })
      expect(dkim[0]?.result).toBe('pass')
    }
  })
})

const chains = rowsOf('arc')
describe.runIf(chains.length > 0)('the public messages with ARC chains', () => {
  it.each(chains)('%s', async (_, row) => {
    const { arc, dkim = [] } = row.expect
    const { arc: chain, dkim: got } = await verifying({ raw: row.raw, dns: row.dns })
    expect([arc, chain.because?.text]).toEqual([chain.result, chain.because?.text])
    // The source lists those that hold, and not every signature.
    for (const one of dkim)
      expect(
        got.some(({ domain, selector, result }) => domain === one.d && selector === one.s && isRight(one, result)),
      ).toBe(true)
  })
})
