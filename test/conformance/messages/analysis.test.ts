import { describe, expect, it } from 'vitest'
import { analyse } from '../../../src/message/analyse.ts'
import { parseAuthenticationResults } from '../../../src/message/authentication-results.ts'
import { ip } from '../../../src/names/ip.ts'
import { corpus } from '../../lab/corpora.ts'
import { labDns } from '../../lab/dns.ts'
import { heavyHere } from '../../lab/heavy.ts'

// biome-ignore lint/suspicious/noExplicitAny: each file has its own shape
type Case = any
const rowsOf = (file: string): [string, Case][] =>
  (corpus(`messages/${file}.json`)?.cases ?? []).map((row: Case) => [row.id, row])

const dmarc = rowsOf('dmarc')
describe.runIf(dmarc.length > 0)('the public messages with DMARC results', () => {
  it.each(dmarc)('%s', async (_, row) => {
    const facts = await analyse(
      Buffer.from(row.raw, 'base64'),
      { resolve: labDns(row.dns).resolve, heavy: heavyHere, signal: AbortSignal.timeout(10_000), now: () => 0 },
      { by: { caller: '' }, envelope: { ip: ip(row.ip), helo: row.helo, mailFrom: row.mail_from, from: 'parameter' } },
    )
    const { dmarc, spf, dkim, author } = facts
    expect(author.domain).toBe(row.header_from)
    expect([dmarc.result, dmarc.because?.text]).toEqual([row.expect.dmarc.result, dmarc.because?.text])
    if (row.expect.dmarc.disposition) expect(dmarc.would).toBe(row.expect.dmarc.disposition)
    if (row.expect.spf) expect({ result: spf?.result, domain: spf?.domain }).toEqual(row.expect.spf)
    expect(dkim).toHaveLength(row.expect.dkim.length)
    for (const [i, one] of row.expect.dkim.entries()) expect([one.result].flat()).toContain(dkim[i]!.result)
  })
})

const headers = rowsOf('headers')
describe.runIf(headers.length > 0)('the public Authentication-Results', () => {
  it.each(headers)('%s', (_, { value, expect: { authserv_id, results } }) => {
    const { host, claims } = parseAuthenticationResults(value)
    expect(host).toBe(authserv_id)
    expect(claims.map(({ method, result }) => ({ method, result }))).toEqual(results)
  })
})
