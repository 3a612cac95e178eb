import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { severityOf } from '../checks/finding.ts'
import * as registry from '../checks/registry.ts'
import { judgeFacts, lookupFacts } from '../checks/run.ts'
import { domain } from '../names/domain.ts'
import { gradeOf, reportScore, score } from './score.ts'
import { scoreInputs, scoreOf } from './score-inputs.ts'

const key = (modulusLength: number): string =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ type: 'spki', format: 'der' }).toString('base64')

const SPF = 'v=spf1 ip4:45.53.5.0/24 -all'
const HOSTS: LabZone = {
  'm.example': { A: ['45.53.5.1'] },
  'n.example': { A: ['45.53.6.1'] },
  '1.5.53.45.in-addr.arpa': { PTR: ['m.example'] },
  '1.6.53.45.in-addr.arpa': { PTR: ['n.example'] },
}
const DKIM: LabZone = { 's1._domainkey.a.example': { TXT: [`v=DKIM1; k=rsa; p=${key(2048)}`] } }
const MX = [
  [10, 'm.example'],
  [20, 'n.example'],
] as const
const dmarc = (text: string): LabZone => ({ '_dmarc.a.example': { TXT: [`v=DMARC1; ${text}`] } })
const own = (spf: string): LabZone => ({ 'a.example': { MX, TXT: [spf] } })
const STRONG = dmarc('p=reject; rua=mailto:d@a.example')
const clean = (more: LabZone): LabZone => ({ ...HOSTS, ...DKIM, ...own(SPF), ...STRONG, ...more })
const mx = (...records: [number, string][]): LabZone => ({
  'a.example': { MX: records, TXT: [SPF] },
  'two.example': { A: ['45.53.5.1', '45.53.6.1'] },
})
/** A name below a domain that exists, and hosts of others. */
const www = (node: LabZone[string]): LabZone => ({
  ...HOSTS,
  ...own(SPF),
  'www.a.example': node,
  'x.other': { A: ['45.53.7.1'] },
})
/** A domain at Google, whose include names its own network. */
const google = (spf: string, isSigned: boolean): LabZone => ({
  ...HOSTS,
  ...STRONG,
  'a.example': { MX: [[1, 'smtp.google.com']], TXT: [spf] },
  'smtp.google.com': { A: ['142.251.1.26', '142.251.2.26'] },
  '_spf.google.com': { TXT: ['v=spf1 ip4:35.190.247.0/24 ~all'] },
  ...(isSigned && { 'google._domainkey.a.example': { TXT: [`v=DKIM1; k=rsa; p=${key(2048)}`] } }),
})
const includes = Array.from({ length: 13 }, (_, i) => `i${i}.example`)

it.each<[string, LabZone, number, [number, number]?]>([
  ['enforced and clean', clean({}), 100],
  [
    'Google starter: ~all, p=none, rua',
    clean({ ...own(SPF.replace('-all', '~all')), ...dmarc('p=none; rua=mailto:d@a.example') }),
    82,
  ],
  [
    'parked: null MX, -all, reject, no rua',
    { 'a.example': { MX: [[0, '.']], TXT: ['v=spf1 -all'] }, ...dmarc('p=reject') },
    96,
  ],
  [
    'parked with a web page: no MX, *._domainkey p=, -all, reject, no rua',
    {
      'a.example': { A: ['45.53.7.1'], TXT: ['v=spf1 -all'] },
      '*._domainkey.a.example': { TXT: ['v=DKIM1; p='] },
      ...dmarc('p=reject'),
    },
    96,
  ],
  ['takes mail only: -all, MX, reject, rua', { ...HOSTS, ...own('v=spf1 -all'), ...STRONG }, 100],
  ['abandoned: A only, _domainkey NXDOMAIN', { 'a.example': { A: ['45.53.7.1'] } }, 5],
  [
    '13 lookups, quarantine, rua not authorised',
    clean({
      ...own(`v=spf1 ${includes.map((name) => `include:${name}`).join(' ')} -all`),
      ...Object.fromEntries(includes.map((name) => [name, { TXT: ['v=spf1 ip4:45.53.5.1 -all'] }])),
      ...dmarc('p=quarantine; rua=mailto:d@b.test'),
    }),
    73,
  ],
  [
    '+all, p=none, DKIM unknown',
    { ...HOSTS, ...own('v=spf1 +all'), ...dmarc('p=none'), 'x._domainkey.a.example': { TXT: ['x'] } },
    48,
    [38, 50],
  ],
  ['_dmarc SERVFAIL, else clean', clean({ '_dmarc.a.example': 'SERVFAIL' }), 85, [70, 100]],
  [
    'mx ptr ?all, 1024 t=y, quarantine t=y with rua, MX a CNAME, PTR unconfirmed',
    {
      'a.example': { MX: [[10, 'al.example']], TXT: ['v=spf1 mx ptr ?all'] },
      'al.example': { CNAME: ['m.example'] },
      'm.example': { A: ['45.53.5.1'] },
      '1.5.53.45.in-addr.arpa': { PTR: ['x.example'] },
      's1._domainkey.a.example': { TXT: [`v=DKIM1; t=y; p=${key(1024)}`] },
      ...dmarc('p=quarantine; t=y; rua=mailto:d@a.example'),
    },
    55,
  ],
])('%s, through all checks', async (_why, zone, expected, range) => {
  const facts = await lookupFacts(labCtx(zone), domain('a.example'), { selectors: ['s1'] })
  const result = score(scoreInputs(judgeFacts(facts)))
  expect([result.score, result.scoreMin, result.scoreMax]).toEqual([expected, range?.[0], range?.[1]])
  expect(result.breakdown.reduce((sum, row) => sum + row.points, result.score)).toBe(100)
  const known = Object.values(registry).flatMap((check) => Object.keys(check.table))
  for (const { finding } of result.breakdown) if (finding !== null) expect(known).toContain(finding)
  if (expected === 55) expect(reportScore(result.score, ['A'])).toBe(40)
})

const SCORED = ['spf', 'dkim', 'dmarc', 'mx', 'ptr'] as const

/** The same at a domain or a name of it: rows of version 4, with the grade of the points. */
it.each<[string, LabZone, number, string, string?]>([
  [
    'www, organization p=none',
    { ...www({ A: ['45.53.7.1'] }), ...dmarc('p=none; rua=mailto:d@a.example') },
    55,
    'D',
    'www.a.example',
  ],
  [
    'www, organization reject',
    { ...www({ A: ['45.53.7.1'] }), ...dmarc('p=reject; rua=mailto:d@a.example') },
    82,
    'B',
    'www.a.example',
  ],
  ['www, no DMARC anywhere', { 'www.b.com': { A: ['45.53.7.1'] } }, 27, 'F', 'www.b.com'],
  [
    'an alias, organization p=none',
    { ...www({ CNAME: ['x.other'] }), ...dmarc('p=none; rua=mailto:d@a.example') },
    73,
    'C',
    'www.a.example',
  ],
  [
    'an alias, organization reject',
    { ...www({ CNAME: ['x.other'] }), ...dmarc('p=reject; rua=mailto:d@a.example') },
    100,
    'A+',
    'www.a.example',
  ],
  ['a verification MX behind a good one', clean(mx([1, 'two.example'], [9, 'ms1.msv1.invalid'])), 100, 'A+'],
  ['a verification MX alone', clean(mx([9, 'ms1.msv1.invalid'])), 83, 'B'],
  ['an IP literal alone', clean(mx([9, '45.53.5.1'])), 83, 'B'],
  [
    'a host behind a web proxy alone',
    clean({ ...mx([9, 'p.example']), 'p.example': { A: ['104.21.33.44'] } }),
    83,
    'B',
  ],
  [
    'a mail provider in the range of a web proxy',
    clean({ ...mx([9, 'route1.mx.cloudflare.net']), 'route1.mx.cloudflare.net': { A: ['162.159.205.11'] } }),
    100,
    'A+',
  ],
  [
    'a host that dangles behind two that work',
    clean(mx([1, 'm.example'], [2, 'n.example'], [3, 'gone.example'])),
    100,
    'A+',
  ],
  ['Google, own ip4 and -all, Google key', google('v=spf1 ip4:45.53.5.1 -all', true), 95, 'A'],
  ['the same, key proven absent', google('v=spf1 ip4:45.53.5.1 -all', false), 70, 'C'],
  [
    'Google, ~all, p=none, key proven absent',
    { ...google('v=spf1 ip4:45.53.5.1 ~all', false), ...dmarc('p=none; rua=mailto:d@a.example') },
    57,
    'D',
  ],
  ['takes mail only at Google', google('v=spf1 -all', false), 100, 'A+'],
  ['p=reject; t=y', clean(dmarc('p=reject; t=y; rua=mailto:d@a.example')), 95, 'A'],
  ['p=quarantine; t=y', clean(dmarc('p=quarantine; t=y; rua=mailto:d@a.example')), 85, 'B'],
  ['p=quarantine; pct=0', clean(dmarc('p=quarantine; pct=0; rua=mailto:d@a.example')), 90, 'A'],
])('version 4: %s', async (_why, zone, points, grade, name = 'a.example') => {
  const facts = await lookupFacts(labCtx(zone), domain(name), {})
  const judged = judgeFacts(facts)
  const { score: value } = scoreOf(judged)
  // The lab has no name servers.
  const findings = SCORED.flatMap((key) =>
    (judged.outcomes[key]?.findings ?? []).map((finding) => ({ severity: severityOf(registry[key].table, finding) })),
  )
  expect([value, gradeOf({ score: value }, findings)]).toEqual([points, grade])
})

/** Groups of whole domains, best first: each of a group scores higher than each of those after it. */
const ORDER: readonly (readonly [string, LabZone])[][] = [
  [
    ['an enforced bank', clean({ '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@a.example'] } })],
    ['parked, null MX', { 'a.example': { MX: [[0, '.']], TXT: ['v=spf1 -all'] }, ...dmarc('p=reject') }],
    ['parked with a web page', { 'a.example': { A: ['45.53.7.1'], TXT: ['v=spf1 -all'] }, ...dmarc('p=reject') }],
    ['takes mail only', { ...HOSTS, ...own('v=spf1 -all'), ...STRONG }],
  ],
  [['a large provider with ?all and reject', clean(own(SPF.replace('-all', '?all')))]],
  [
    [
      'a large provider with p=none',
      clean({ ...own(SPF.replace('-all', '~all')), ...dmarc('p=none; rua=mailto:d@a.example') }),
    ],
  ],
  [['broken SPF with reject', clean(own('v=spf1 include:gone.example -all'))]],
  [
    [
      'a neglected small business',
      {
        'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx ?all'] },
        'm.example': { A: ['45.53.5.1'] },
        '1.5.53.45.in-addr.arpa': { PTR: ['45-53-5-1.dsl.example'] },
        ...dmarc('p=none'),
      },
    ],
    ['whoever lets everybody pass', clean(own('v=spf1 +all'))],
  ],
  [['abandoned', { 'a.example': { A: ['45.53.7.1'] } }]],
]

async function scoreAt(zone: LabZone): Promise<number> {
  const facts = await lookupFacts(labCtx(zone), domain('a.example'), { selectors: ['s1'] })
  return score(scoreInputs(judgeFacts(facts))).score
}

it('ranks whole domains as experts do', async () => {
  const scores = await Promise.all(ORDER.map((group) => Promise.all(group.map(([, zone]) => scoreAt(zone)))))
  expect(Math.min(...scores[0]!)).toBeGreaterThanOrEqual(95)
  expect(Math.max(...scores[4]!)).toBeLessThanOrEqual(50)
  for (const [i, group] of scores.entries())
    if (i > 0) expect(Math.max(...group)).toBeLessThan(Math.min(...scores[i - 1]!))
})
