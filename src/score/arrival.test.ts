import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import { type LabServer, labDial } from '../../test/lab/dial.ts'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { judgeFacts, lookupFacts } from '../checks/run.ts'
import { domain } from '../names/domain.ts'
import { DnsError } from '../net/dns/resolver.ts'
import type { Fetch } from '../net/fetch.ts'
import { presentWithPlan } from '../plan/present.ts'
import { snapshotOf } from '../plan/snapshot.ts'
import { composeCheck } from './compose.ts'
import { score } from './score.ts'
import { scoreInputs } from './score-inputs.ts'

const A = domain('a.example')
const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'der' })
const NAME_OTHER = { usage: 3, selector: 1, matchingType: 1, data: '00'.repeat(32) }
/** Clean in every scored check, with two mail hosts. */
const ZONE: LabZone = {
  '.': { SOA: [], AD: true },
  'a.example': {
    MX: [
      [10, 'm.example'],
      [20, 'n.example'],
    ],
    TXT: ['v=spf1 mx -all'],
    AD: true,
  },
  'm.example': { A: ['45.53.5.1'], AD: true },
  'n.example': { A: ['45.53.6.1'], AD: true },
  '1.5.53.45.in-addr.arpa': { PTR: ['m.example'] },
  '1.6.53.45.in-addr.arpa': { PTR: ['n.example'] },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@a.example'] },
  's1._domainkey.a.example': { TXT: [`v=DKIM1; k=rsa; p=${KEY.toString('base64')}`] },
  '_mta-sts.a.example': { TXT: ['v=STSv1; id=1'] },
}
const tlsa = (...names: string[]): LabZone =>
  Object.fromEntries(names.map((name) => [`_25._tcp.${name}`, { TLSA: [NAME_OTHER], AD: true }]))
const SIX: LabZone = {
  'm.example': { AAAA: ['2a00:1450::1'], AD: true },
  'n.example': { AAAA: ['2a00:1450::2'], AD: true },
}
const policy = (mode: string, ...mx: string[]): string =>
  `version: STSv1\nmode: ${mode}\n${mx.map((one) => `mx: ${one}\n`).join('')}max_age: 1209600\n`
const BOTH = policy('enforce', '*.example')
const M = policy('enforce', 'm.example')
const NEITHER = policy('enforce', '*.b.example')

const good = (name: string): LabServer => ({ ehlo: ['STARTTLS'], tls: { names: [name] } })
const GOOD = { '45.53.5.1': good('m.example'), '45.53.6.1': good('n.example') }
const PLAIN: LabServer = { ehlo: ['PIPELINING'] }
const SELF_SIGNED: LabServer = { ehlo: ['STARTTLS'], tls: { names: ['n.example'], trusted: false } }
const OTHER_NAME: LabServer = { ehlo: ['STARTTLS'], tls: { names: ['x.example'] } }
const SILENT: LabServer = { connect: 'timeout' }

async function judge(zone: LabZone, text: string, servers: Record<string, LabServer> | undefined) {
  const fetch: Fetch = async (url) => ({ status: 200, contentType: 'text/plain', body: Buffer.from(text), url })
  const askServer = async (_: unknown, name: string, type: 'SOA') => {
    throw new DnsError('timeout', { name, type })
  }
  const ctx = labCtx({ ...ZONE, ...zone }, { fetch, dial: labDial(servers ?? {}).dial, askServer: askServer as never })
  const facts = await lookupFacts(ctx, A, { selectors: ['s1'], starttls: servers !== undefined })
  const judged = { ...judgeFacts(facts), facts }
  const result = score(scoreInputs(judged))
  const snapshot = snapshotOf(judged.facts)
  const answer = composeCheck(A, snapshot, presentWithPlan(snapshot))
  const rows = result.breakdown.filter(({ component }) => component === 'mx')
  const lost = rows.reduce((sum, { points }) => sum + points, 0)
  return { judged, answer, lost, findings: rows.map(({ finding }) => finding) }
}

it.each<[string, LabZone, string, Record<string, LabServer> | undefined, number, (string | null)[], string]>([
  ['all is right', {}, BOTH, GOOD, 0, [], 'pass'],
  ['TLS was not looked at', {}, BOTH, undefined, 0, [], 'pass'],
  ['the policy leaves one host out', {}, M, undefined, 8, ['mta_sts.uncovered_mx'], 'fail'],
  ['the policy leaves all hosts out', {}, NEITHER, undefined, 15, ['mta_sts.uncovered_mx'], 'fail'],
  ['the same in testing costs nothing', {}, policy('testing', 'b.example'), undefined, 0, [], 'pass'],
  ['one host without STARTTLS', {}, BOTH, { ...GOOD, '45.53.6.1': PLAIN }, 8, ['mta_sts.mx_tls'], 'fail'],
  ['one host signed by itself', {}, BOTH, { ...GOOD, '45.53.6.1': SELF_SIGNED }, 8, ['mta_sts.mx_tls'], 'fail'],
  ['one host with another name', {}, BOTH, { ...GOOD, '45.53.6.1': OTHER_NAME }, 8, ['mta_sts.mx_tls'], 'fail'],
  ['no host with TLS', {}, BOTH, { '45.53.5.1': PLAIN, '45.53.6.1': PLAIN }, 15, ['mta_sts.mx_tls'], 'fail'],
  ['one left out, the other without TLS', {}, M, { ...GOOD, '45.53.5.1': PLAIN }, 15, ['mta_sts.uncovered_mx'], 'fail'],
  ['a host that does not answer is no refusal', {}, BOTH, { ...GOOD, '45.53.6.1': SILENT }, 0, [], 'pass'],
  [
    'no TLS in testing costs nothing',
    {},
    policy('testing', '*.example'),
    { ...GOOD, '45.53.6.1': PLAIN },
    0,
    [],
    'pass',
  ],
  [
    'TLSA at a host without STARTTLS',
    tlsa('m.example'),
    policy('none'),
    { ...GOOD, '45.53.5.1': PLAIN },
    8,
    ['dane.no_starttls'],
    'fail',
  ],
  [
    'TLSA that no certificate matches',
    tlsa('m.example', 'n.example'),
    policy('none'),
    { '45.53.5.1': PLAIN, '45.53.6.1': PLAIN },
    15,
    ['dane.no_starttls'],
    'fail',
  ],
  ['TLSA, TLS not looked at', tlsa('m.example', 'n.example'), BOTH, undefined, 0, [], 'pass'],
  [
    'a host without address does not count',
    { 'n.example': {} },
    policy('enforce', 'n.example'),
    undefined,
    15,
    ['mx.single_address', 'mta_sts.uncovered_mx'],
    'fail',
  ],
])('%s', async (_why, zone, text, servers, lost, findings, status) => {
  const seen = await judge(zone, text, servers)
  expect([seen.lost, seen.findings, seen.answer.status]).toEqual([lost, findings, status])
  if (findings.length > 0) expect(seen.answer.grade).not.toBe('A+')
  const told = seen.answer.findings.map(({ id }) => id)
  for (const id of findings) expect(told).toContain(id)
  if (findings.some((id) => id?.startsWith('mta_sts.'))) expect(seen.answer.mta_sts.status).toBe('fail')
  if (findings.some((id) => id?.startsWith('dane.'))) expect(seen.answer.dane.status).toBe('fail')
})

it('senders without IPv6 cannot deliver: a warning', async () => {
  const { lost, findings, answer } = await judge(SIX, policy('none'), undefined)
  expect([lost, findings, answer.mx_status]).toEqual([8, ['mx.ipv6_only'], 'warn'])
})

it('testing says what would break', async () => {
  const { answer } = await judge({}, policy('testing', 'm.example'), { ...GOOD, '45.53.5.1': PLAIN })
  const told = answer.findings.filter(({ id }) => id.endsWith('_testing'))
  expect(told.map(({ id, severity }) => [id, severity])).toEqual([
    ['mta_sts.uncovered_mx_testing', 'medium'],
    ['mta_sts.mx_tls_testing', 'medium'],
  ])
  expect(told.map(({ detail }) => detail).join(' ')).toMatch(/m\.example: no working STARTTLS.*cannot deliver at all/)
})
