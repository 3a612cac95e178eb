import { describe, expect, it } from 'vitest'
import { corpus } from '../../../test/lab/corpora.ts'
import { type LabZone, labDns } from '../../../test/lab/dns.ts'
import { domain, parseDomain } from '../../names/domain.ts'
import { aligned, publishedPolicyOf } from './facts.ts'
import { lookupDmarc } from './lookup.ts'
import { parseDmarc, policiesOf } from './parse.ts'
import { authorizationName, judgeAuthorization } from './reports.ts'

// biome-ignore lint/suspicious/noExplicitAny: each file has its own shape
type Case = any
const casesOf = (file: string): Case[] => corpus(`dmarc/${file}.json`)?.cases ?? []

/** Cases that are answered otherwise on purpose. */
const IGNORED = 'RFC 9989 §4.7: a syntax error after the version is ignored, and the tag has its default'
const NO_P = 'RFC 9989 §4.7: a missing p is read as p=none'
const SKIP: Record<string, string> = {
  'records/mox#7': NO_P,
  'records/mox#12': `${NO_P}; ${IGNORED}`,
  'records/mox#21': `${NO_P}; ${IGNORED}`,
  'records/mox#23': `${NO_P}; rf is no tag any more (§9.3)`,
  'records/mox#24': `${NO_P}; rf is no tag any more (§9.3)`,
  'records/mox#28': `${NO_P}; pct is no tag any more (§9.3)`,
  'records/mox#30': `${NO_P}; pct is no tag any more (§9.3)`,
  'records/mox#31': `${NO_P}; ${IGNORED}`,
  'records/mox#32': `${NO_P}; ${IGNORED}`,
  'records/mox#33': `${NO_P}; ${IGNORED}`,
  'records/opendmarc#5': 'RFC 9989 §4.8 dmarc-request: no abbreviations such as p=n',
  'records/opendmarc#10': IGNORED,
  'records/opendmarc#11': IGNORED,
  'records/internet.nl#6': IGNORED,
  'records/internet.nl#9': IGNORED,
  'lookup/mox-lookup/malformed.example': IGNORED,
  'mailauth-rfc9989/rfc9989-compliance-test#5':
    'RFC 9989 §4.10 steps 2 and 6: several records at one name are discarded and the walk goes on',
  'mailauth-rfc9989/rfc9989-compliance-test#22': NO_P,
  'alignment/opendmarc-align#5': '".mac.com." has an empty label: no domain name (RFC 1035 §2.3.1)',
}

const skipped = (file: string, id: string): boolean => `${file}/${id}` in SKIP
const rows = (file: string): [string, Case][] =>
  casesOf(file)
    .filter((row) => !skipped(file, row.id))
    .map((row) => [row.id, row])

/** What mail from a domain comes to (RFC 9989 §5.3), by the parts of this check. */
async function evaluate(row: Case, zone: LabZone) {
  const { resolve } = labDns(zone)
  const lookup = (name: string) => lookupDmarc({ resolve, signal: AbortSignal.timeout(5_000) }, domain(name))
  const facts = await lookup(row.from_domain)
  const published = publishedPolicyOf(facts)
  const record = facts.applied?.reading.record
  if (published.kind !== 'policy' || !record)
    return { result: published.kind === 'unknown' ? 'temperror' : 'none', facts }
  const isAligned = async (name: string, mode: 'r' | 's'): Promise<boolean> => {
    const organizationalDomain = (await lookup(name)).walk.organizationalDomain!
    return aligned(
      { domain: facts.domain, organizationalDomain: facts.walk.organizationalDomain! },
      { domain: name, organizationalDomain },
      mode,
    )
  }
  const passing = row.dkim.filter((one: Case) => one.result === 'pass' && parseDomain(one.domain).ok)
  const dkim = await Promise.all(passing.map((one: Case) => isAligned(one.domain, record.adkim)))
  const spfDomain = row.spf?.result === 'pass' && row.spf.domain ? row.spf.domain : undefined
  const spf = spfDomain !== undefined && (await isAligned(spfDomain, record.aspf))
  const temporary = [...row.dkim, row.spf].some((one) => one?.result === 'temperror')
  const pass = spf || dkim.includes(true)
  return {
    result: pass ? 'pass' : temporary ? 'temperror' : 'fail',
    facts,
    spf,
    dkim: dkim.includes(true),
    tried: { dkim: passing.length > 0, spf: spfDomain !== undefined },
  }
}

describe.runIf(casesOf('records').length > 0)('public records', () => {
  it.each(rows('records'))('%s', (_, row) => {
    const parsed = parseDmarc(row.record)
    const policies = parsed.ok ? policiesOf(parsed.value) : 'no record'
    expect(typeof policies !== 'string').toBe(row.valid)
    if (!parsed.ok || !row.tags || typeof policies === 'string') return
    const { record } = parsed.value
    for (const tag of ['p', 'sp', 'np'] as const) if (row.tags[tag]) expect(policies[tag]).toBe(row.tags[tag])
    for (const tag of ['adkim', 'aspf'] as const) if (row.tags[tag]) expect(record[tag]).toBe(row.tags[tag][0])
    if (typeof row.tags.psd === 'string') expect(record.psd).toBe(row.tags.psd === 'default' ? 'u' : row.tags.psd)
    if (row.tags.t !== undefined) expect(record.testing).toBe(row.tags.t === true || row.tags.t === 'y')
    if (row.tags.fo) expect(record.fo).toEqual([{ All: '0', Any: '1', Spf: 's', Dkim: 'd' }[row.tags.fo as string]])
    if (row.tags.rua) expect(record.rua.filter((uri) => !uri.problem)).toHaveLength(row.tags.rua.length)
  })
})

describe.runIf(casesOf('evaluation').length > 0)('public evaluations', () => {
  it.each(rows('evaluation'))('%s', async (_, row) => {
    const { expect: wanted } = row
    const { result, facts, spf, dkim, tried } = await evaluate(row, row.zone)
    if (wanted.result) expect(result).toBe(wanted.result)
    if (wanted.policy) expect(facts.applied?.policy).toBe(wanted.policy)
    if (wanted.p) expect(facts.applied?.policies?.p).toBe(wanted.p)
    if (wanted.record_domain) expect(facts.applied?.domain).toBe(wanted.record_domain)
    if (wanted.record === null) expect(facts.applied).toBeUndefined()
    if (wanted.reject !== undefined)
      expect(result === 'fail' && facts.applied?.effective !== 'none').toBe(wanted.reject)
    if (wanted.aligned_dkim) expect(dkim).toBe(true)
    if (wanted.aligned_spf) expect(spf).toBe(true)
    const words = { pass: [true, true], fail: [false, true], none: [false, false] } as Record<string, unknown>
    if (wanted.spf_alignment) expect([spf, tried?.spf]).toEqual(words[wanted.spf_alignment])
    if (wanted.dkim_alignment) expect([dkim, tried?.dkim]).toEqual(words[wanted.dkim_alignment])
  })
})

describe.runIf(casesOf('lookup').length > 0)('public lookups', () => {
  it.each(rows('lookup'))('%s', async (_, row) => {
    const { resolve } = labDns(row.zone)
    const signal = AbortSignal.timeout(5_000)
    if (row.kind === 'policy') {
      const facts = await lookupDmarc({ resolve, signal }, domain(row.domain))
      expect(facts.applied?.policies?.p ?? null).toBe(row.expect.p)
      const kinds: Record<string, string> = { 'no record': 'none', 'multiple records': 'unusable', dns: 'unknown' }
      expect(publishedPolicyOf(facts).kind).toBe(row.expect.error === null ? 'policy' : kinds[row.expect.error])
      return
    }
    if (row.kind === 'external_report') {
      const host = domain(row.report_domain)
      const answer = await resolve(authorizationName(row.domain, host), 'TXT', signal).catch(() => undefined)
      expect(answer !== undefined && judgeAuthorization(answer.records, host).authorization === 'authorized').toBe(
        row.expect.accepts,
      )
      return
    }
    const rua = row.uris.map((uri: string) => `mailto:${uri}`).join()
    const zone = { ...row.zone, [`_dmarc.${row.domain}`]: { TXT: [`v=DMARC1; p=none; rua=${rua}`] } }
    const facts = await lookupDmarc({ resolve: labDns(zone).resolve, signal }, domain(row.domain))
    const accepted = facts.rua.filter((uri) => ['internal', 'authorized'].includes(uri.authorization))
    expect(accepted.map((uri) => uri.uri.slice(7))).toEqual(row.expect.accepted)
  })
})

describe.runIf(casesOf('alignment').length > 0)('public alignments', () => {
  it.each(rows('alignment'))('%s', async (_, row) => {
    // These pairs were made for the public suffix list: a record at the shorter name gives the same organizational
    // domain.
    const shorter = [row.a, row.b].sort((a, b) => a.length - b.length)[0]
    const { resolve } = labDns({ [`_dmarc.${shorter}`]: { TXT: ['v=DMARC1; p=none'] } })
    const at = async (name: string) => {
      const { walk } = await lookupDmarc({ resolve, signal: AbortSignal.timeout(5_000) }, domain(name))
      return { domain: name, organizationalDomain: walk.organizationalDomain! }
    }
    expect(aligned(await at(row.a), await at(row.b), row.mode[0])).toBe(row.aligned)
  })
})

describe.runIf(casesOf('mailauth-rfc9989').length > 0)('public RFC 9989 cases', () => {
  it.each(rows('mailauth-rfc9989'))('%s', async (_, row) => {
    const calls = await Promise.all(
      row.calls.map(({ args: [call] }: Case) => evaluate(asRow(call), asZone(call.resolver.records))),
    )
    for (const { path, op, value } of row.expect as Case[]) {
      const [name, ...rest] = path.split('.')
      const call = calls[name === 'call2' ? 1 : 0]
      const seen: Record<string, unknown> = {
        'status.result': call.result,
        policy: call.facts.applied?.effective,
        domain: call.facts.applied?.domain,
        'alignment.spf.result': call.spf ? call.facts.walk.organizationalDomain : false,
        'alignment.dkim.result': call.dkim,
        'alignment.dkim.strict': call.facts.applied?.reading.record.adkim === 's',
      }
      const key = rest.join('.')
      if (op === 'not.property') continue // about the shape of that library's answer
      expect([path, seen[key]]).toEqual([path, op === 'true' ? true : op === 'not.ok' ? false : value])
    }
  })

  const asRow = (call: Case) => ({
    from_domain: call.headerFrom.split('@')[1],
    dkim: call.dkimDomains.map((one: Case) => ({ ...one, result: 'pass' })),
    spf: call.spfDomains[0] ? { ...call.spfDomains[0], result: 'pass' } : null,
  })
  const asZone = (records: Case): LabZone =>
    Object.fromEntries(
      Object.entries(records).map(([name, types]: [string, Case]) => [
        name,
        {
          ...(types.TXT ? { TXT: types.TXT.map((chunks: string[]) => chunks.join('')) } : {}),
          ...(types.MX ? { MX: types.MX.map((mx: Case) => [mx.priority, mx.exchange]) } : {}),
        },
      ]),
    )
})

it('names only cases that are there on the skip list', () => {
  const known = ['records', 'evaluation', 'lookup', 'alignment', 'mailauth-rfc9989'].flatMap((file) =>
    casesOf(file).map((row) => `${file}/${row.id}`),
  )
  if (known.length > 0) expect(known).toEqual(expect.arrayContaining(Object.keys(SKIP)))
})
