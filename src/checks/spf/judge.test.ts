import { describe, expect, it } from 'vitest'
import { type LabZone, labDns } from '../../../test/lab/dns.ts'
import { inWaves } from '../../../test/lab/waves.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { lookupMailHosts } from '../../mailhosts/mailhosts.ts'
import { domain } from '../../names/domain.ts'
import type { Outcome } from '../check.ts'
import { UNKNOWN_CONTEXT } from '../context.ts'
import { tellArgs } from '../finding.ts'
import { runInContext } from '../run.ts'
import { findings as table } from './findings.ts'
import { judgeSpf } from './judge.ts'
import { lookupSpf, type SpfFacts } from './lookup.ts'
import { presentSpf } from './present.ts'
import { lookupsOf } from './tree.ts'

const NAME = domain('a.example')
const spf = (...terms: string[]) => ({ TXT: [['v=spf1', ...terms].join(' ')] })
const own = (...terms: string[]): LabZone => ({ 'a.example': spf(...terms) })

async function judge(zone: LabZone): Promise<Outcome<SpfFacts> & { asked: readonly string[] }> {
  const { resolve, asked } = labDns(zone)
  const signal = AbortSignal.timeout(10_000)
  const facts = await lookupSpf({ resolve, signal }, NAME)
  const mail = await lookupMailHosts({ resolve: labDns(zone).resolve, signal }, NAME).catch(() => undefined)
  return { ...judgeSpf(facts, { ...UNKNOWN_CONTEXT, ...(mail ? { mail } : {}) }), asked }
}

const clean = own('ip4:192.0.2.1', '-all')
const many = (count: number, text: string): string[] =>
  Array.from({ length: count }, (_, i) => text.replaceAll('#', `${i}`))
const hosts: LabZone = Object.fromEntries(many(12, 'h#.example').map((name) => [name, { A: ['192.0.2.9'] }]))
/** Records that punch holes into the groups of those that went on with fewer lookups. */
function tooWide(holes: number): LabZone {
  const networks = (i: number) => many(holes, '#').map((n) => `?ip4:${i}.${Number(n) >> 7}.0.${(Number(n) & 127) * 2}`)
  return {
    ...own(...many(10, 'include:i#.example'), '-all'),
    ...Object.fromEntries(
      many(10, '#').map((i) => [`i${i}.example`, spf(...networks(11 + Number(i)), `include:j${i}.example`)]),
    ),
    ...Object.fromEntries(many(10, '#').map((i) => [`j${i}.example`, spf(...networks(31 + Number(i)))])),
  }
}
const B = { 'b.example': spf('ip4:192.0.2.2', '-all') }

/** Each finding: a zone that shows it, its status, and one as near as can be that does not. */
const ROWS: readonly (readonly [id: string, shows: LabZone, status: string, not: LabZone])[] = [
  ['spf.no_domain', {}, 'fail', { 'a.example': {} }],
  ['spf.no_record', { 'a.example': { A: ['192.0.2.1'] } }, 'fail', own()],
  ['spf.not_spf', { 'a.example': { TXT: ['v=spf1; -all'] } }, 'fail', { 'a.example': { TXT: ['v=DMARC1; p=none'] } }],
  [
    'spf.many_records',
    { 'a.example': { TXT: ['v=spf1 -all', 'v=spf1 mx -all'] } },
    'fail',
    { 'a.example': { TXT: ['v=spf1 -all', 'v=spf10 -all'] } },
  ],
  ['spf.syntax', own('ipv4:192.0.2.1', '-all'), 'fail', clean],
  [
    'spf.too_many_lookups',
    { ...own(...many(11, 'a:h#.example'), '-all'), ...hosts },
    'fail',
    { ...own(...many(10, 'a:h#.example'), '-all'), ...hosts },
  ],
  [
    'spf.too_many_void_lookups',
    own(...many(3, 'a:v#.example'), '-all'),
    'fail',
    own(...many(2, 'a:v#.example'), '-all'),
  ],
  [
    'spf.loop',
    { ...own('include:b.example', '-all'), 'b.example': spf('include:A.example') },
    'fail',
    { ...own('include:b.example', '-all'), ...B },
  ],
  [
    'spf.include_without_record',
    own('include:b.example', '-all'),
    'fail',
    { ...own('include:b.example', '-all'), ...B },
  ],
  [
    'spf.include_broken',
    { ...own('include:b.example', '-all'), 'b.example': spf('foo') },
    'fail',
    { ...own('include:b.example', '-all'), ...B },
  ],
  [
    'spf.too_many_mx',
    { 'a.example': { ...spf('mx', '-all'), MX: many(11, 'h#.example').map((name) => [1, name] as const) } },
    'fail',
    { 'a.example': { ...spf('mx', '-all'), MX: many(10, 'h#.example').map((name) => [1, name] as const) } },
  ],
  ['spf.plus_all', own('+all'), 'fail', own('-all', '+all')],
  [
    'spf.everybody',
    { ...own('include:b.example', '-all'), 'b.example': spf('redirect=c.example'), 'c.example': spf('all') },
    'fail',
    { ...own('-include:b.example', '-all'), 'b.example': spf('all') },
  ],
  [
    'spf.everybody',
    { ...own('ip4:192.0.2.1', 'exists:%{i}._spf.%{d}', '-all'), '*._spf.a.example': { A: ['127.0.0.2'] } },
    'fail',
    { ...own('ip4:192.0.2.1', 'exists:%{i}._spf.%{d}', '-all'), '192.0.2.9._spf.a.example': { A: ['127.0.0.2'] } },
  ],
  [
    'spf.everybody',
    {
      ...own('include:b.example', '-all'),
      'b.example': spf('exists:%{ir}.%{l}.w.%{d}'),
      '*.w.b.example': { A: ['127.0.0.2'] },
    },
    'fail',
    {
      ...own('include:b.example', '-all'),
      'b.example': spf('?exists:%{ir}.w.%{d}'),
      '*.w.b.example': { A: ['127.0.0.2'] },
    },
  ],
  [
    'spf.everybody',
    { ...own('include:%{i}.w.example', '-all'), '*.w.example': spf('+all') },
    'fail',
    { ...own('include:%{i}.w.example', '-all'), '*.w.example': spf('-all') },
  ],
  [
    'spf.joined_terms',
    { ...own('mx', 'include:b.example-all'), ...B },
    'fail',
    { ...own('include:b.example', '-all'), ...B },
  ],
  ['spf.two_in_one', own('mx:h0.example', '-all', 'v=spf1', 'a', '-all'), 'warn', own('-all', 'mx')],
  [
    'spf.include_takeover',
    own('include:spf.gone-vendor.com', '-all'),
    'fail',
    { ...own('include:spf.gone-vendor.com', '-all'), 'gone-vendor.com': { A: ['192.0.2.1'] } },
  ],
  [
    'spf.doubled_name',
    own('mx:h0.example', 'a:mail.a.example.a.example', '-all'),
    'warn',
    { ...own('mx:h0.example', 'a:mail.a.example.a.example', '-all'), 'mail.a.example.a.example': { A: ['192.0.2.1'] } },
  ],
  [
    'spf.odd_name',
    { ...own('mx:h0.example', 'include:https://b.example', '-all'), ...B },
    'fail',
    { ...own('mx:h0.example', 'include:b.example', '-all'), ...B },
  ],
  ['spf.very_many_addresses', own('ip4:11.0.0.0/8', '-all'), 'warn', own('ip4:11.0.0.0/9', '-all')],
  ['spf.too_wide', tooWide(480), 'fail', tooWide(100)],
  [
    'spf.not_public',
    own('ip4:10.1.2.3', 'ip4:192.0.2.1', '-all'),
    'warn',
    own('-ip4:10.0.0.0/8', 'ip4:192.0.2.1', '-all'),
  ],
  ['spf.too_long', own(...many(600, 'ip4:192.0.2.###'), '-all'), 'fail', own(...many(580, 'ip4:192.0.2.1'), '-all')],
  ['spf.neutral_all', own('mx:h0.example', '?all'), 'warn', own('-all')],
  ['spf.no_all', own('ip4:192.0.2.1'), 'warn', { ...own('redirect=b.example'), ...B }],
  ['spf.softfail', own('ip4:192.0.2.1', '~all'), 'pass', clean],
  ['spf.sends_no_mail', own('-all'), 'pass', clean],
  ['spf.ptr', own('ptr', '-all'), 'warn', own('-all', 'ptr')],
  [
    'spf.many_addresses',
    own('ip4:11.0.0.0/15', 'ip4:12.0.0.1', '-all'),
    'warn',
    own('ip4:11.0.0.0/15', 'ip4:11.0.0.1', 'ip4:10.0.0.0/8', '-all'),
  ],
  [
    'spf.lookups_near_limit',
    { ...own(...many(9, 'a:h#.example'), '-all'), ...hosts },
    'pass',
    { ...own(...many(8, 'a:h#.example'), '-all'), ...hosts },
  ],
  ['spf.long', own(...many(22, 'ip4:192.0.2.1#/32').slice(0, 21), `x=${'y'.repeat(80)}`, '-all'), 'warn', clean],
  ['spf.very_long', own(...many(40, 'ip4:192.0.2.#'), '-all'), 'warn', own(...many(30, 'ip4:192.0.2.#'), '-all')],
  ['spf.after_all', own('ip4:192.0.2.1', '-all', 'ip4:192.0.2.2'), 'warn', own('ip4:192.0.2.1', '-all')],
  ['spf.names_nobody', own('a:gone.example', '-all'), 'warn', own('a:gone.example', 'ip4:192.0.2.1', '-all')],
  ['spf.names_nobody', own('-all', 'ip4:192.0.2.1'), 'warn', own('-all')],
  ['spf.names_nobody', own('ip4:10.0.0.1', '-all'), 'warn', own('ip4:10.0.0.1', 'ip4:192.0.2.1', '-all')],
  ['spf.names_nobody', own('include=b.example', '-all'), 'warn', own('-all')],
  ['spf.dead_term', own('a:gone.example', 'ip4:192.0.2.1', '-all'), 'warn', own('ip4:192.0.2.1', '-all')],
  [
    'spf.equals_sign',
    own('include=b.example', 'ip4:192.0.2.1', '-all'),
    'warn',
    own('exp=b.example', 'ip4:192.0.2.1', '-all'),
  ],
  [
    'spf.duplicate_include',
    { ...own('include:b.example', 'include:c.example', '-all'), ...B, 'c.example': spf('include:b.example', '-all') },
    'warn',
    { ...own('include:b.example', 'include:c.example', '-all'), ...B, 'c.example': spf('-all') },
  ],
  ['spf.unknown_modifier', own('x=b.example', '-all'), 'warn', own('exp=b.example', '-all')],
  [
    'spf.part_unknown',
    { ...own('include:b.example', '-all'), 'b.example': 'SERVFAIL' },
    'unknown',
    { ...own('include:b.example', '-all'), ...B },
  ],
  [
    'spf.not_all_read',
    { ...own(...many(50, 'include:i#.example'), '-all') },
    'fail',
    own(...many(30, 'include:i#.example'), '-all'),
  ],
]

describe('findings', () => {
  it.each(ROWS)('%s', async (id, shows, status, not) => {
    const outcome = await judge(shows)
    expect(outcome.findings.map((finding) => finding.id)).toContain(id)
    expect(outcome.status).toBe(status)
    expect((await judge(not)).findings.map((finding) => finding.id)).not.toContain(id)
  })

  it('have a row each', () => {
    const shownBelow = ['spf.no_record_web', 'spf.provider_missing', 'spf.host_bits'] // archetypes
    expect(Object.keys(table).sort()).toEqual([...new Set([...ROWS.map(([id]) => id), ...shownBelow])].sort())
  })

  it('at a name for the web alone, no record is a small matter', async () => {
    const zone = { '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject'] }, 'w.a.example': { A: ['192.0.2.1'] } }
    const { status, findings } = await runInContext('spf', labCtx(zone), domain('w.a.example'))
    expect([status, findings.map(({ id, fix }) => [id, fix?.value])]).toEqual([
      'warn',
      [['spf.no_record_web', 'v=spf1 -all']],
    ])
    const none = { ...zone, '_dmarc.a.example': { TXT: ['v=DMARC1; p=none'] } }
    expect((await runInContext('spf', labCtx(none), domain('w.a.example'))).findings[0]?.id).toBe('spf.no_record_web')
  })

  it('have words for the arguments they get', async () => {
    for (const [, zone] of ROWS) {
      for (const { id, args } of (await judge(zone)).findings) {
        const { detail } = table[id as keyof typeof table]
        expect(detail(tellArgs(args))).not.toMatch(/undefined|NaN|\[object/)
      }
    }
  })

  it.each<[string, LabZone, string]>([
    ['a record of its own', own('ip4:192.0.2.1', 'ip4:64.0.0.0/2', '-all'), 'first ip4:64.0.0.0/2'],
    [
      'an include',
      { ...own('include:b.example', '-all'), 'b.example': spf('ip4:64.0.0.0/2') },
      'first include:b.example',
    ],
    ['everybody', own('ip4:0.0.0.0/0', '-all'), 'remove ip4:0.0.0.0/0'],
  ])('name the term that lets too many pass: %s', async (_, zone, words) => {
    const [finding] = (await judge(zone)).findings
    const { advice } = table[finding!.id as 'spf.everybody']
    expect(advice!(tellArgs(finding!.args), false)).toContain(words)
  })
})

describe('fixes', () => {
  it.each<[string, LabZone, string, string]>([
    ['no record, with MX', { 'a.example': { MX: [[1, 'm.example']] } }, 'spf.no_record', 'v=spf1 mx ~all'],
    [
      'no record, at a provider: its hosts that take mail in send none',
      { 'a.example': { MX: [[1, 'smtp.google.com']] } },
      'spf.no_record',
      'v=spf1 include:_spf.google.com ~all',
    ],
    [
      'no record, at a provider and at home',
      {
        'a.example': {
          MX: [
            [1, 'a-example.mail.protection.outlook.com'],
            [2, 'm.a.example'],
          ],
        },
      },
      'spf.no_record',
      'v=spf1 mx include:spf.protection.outlook.com ~all',
    ],
    ['no record, an address alone', { 'a.example': { A: ['192.0.2.1'] } }, 'spf.no_record', 'v=spf1 a ~all'],
    ['no record, neither MX nor address', { 'a.example': {} }, 'spf.no_record', 'v=spf1 -all'],
    [
      'no record, but one that was meant',
      { 'a.example': { TXT: [' v=spf1\tip4:192.0.2.1 -all'] } },
      'spf.not_spf',
      'v=spf1 ip4:192.0.2.1 ~all',
    ],
    ['one that was meant so', { 'a.example': { TXT: ['"v=spf1 -all"'] } }, 'spf.not_spf', 'v=spf1 -all'],
    [
      'several: of which one has a slip',
      { 'a.example': { TXT: ['v=spf1 mx -all', 'v=spf1 ipv4:192.0.2.1 -all'] } },
      'spf.many_records',
      'v=spf1 ip4:192.0.2.1 mx ~all',
    ],
    [
      'the domain twice at the end of a name',
      { ...own('ip4:192.0.2.1', 'a:mail.a.example.a.example', '-all'), 'mail.a.example': { A: ['192.0.2.2'] } },
      'spf.doubled_name',
      'v=spf1 ip4:192.0.2.1 a:mail.a.example -all',
    ],
    [
      'the domain behind the name of a provider',
      { ...own('include:_spf.google.com.a.example', '-all'), '_spf.google.com': spf('ip4:192.0.2.1') },
      'spf.doubled_name',
      'v=spf1 include:_spf.google.com ~all',
    ],
    [
      'a name that can be mended is not dropped',
      { ...own('ip4:192.0.2.9', 'include:b.example-all'), ...B },
      'spf.include_without_record',
      'v=spf1 ip4:192.0.2.9 include:b.example ~all',
    ],
    [
      'what is mended already ends in all',
      { ...own('ip4:192.0.2.9', 'include:b.example-all'), ...B },
      'spf.no_all',
      'v=spf1 ip4:192.0.2.9 include:b.example ~all',
    ],
    [
      'a name that can be mended beside one that cannot',
      {
        ...own('include:gone.example', 'a:mail.a.example.a.example', '-all'),
        'mail.a.example': { A: ['192.0.2.2'] },
      },
      'spf.include_without_record',
      'v=spf1 a:mail.a.example.a.example ~all',
    ],
    [
      'a mechanism with "="',
      { ...own('include=b.example', '-all'), ...B },
      'spf.names_nobody',
      'v=spf1 include:b.example -all',
    ],
    [
      'a URL and a list of names',
      {
        ...own('include:https://b.example', 'a:h0.example,h1.example', '-all'),
        ...B,
        'h0.example': { A: ['192.0.2.1'] },
        'h1.example': { A: ['192.0.2.1'] },
      },
      'spf.odd_name',
      'v=spf1 include:b.example a:h0.example a:h1.example ~all',
    ],
    [
      'two records in one text',
      own('mx', '-all', 'v=spf1', 'ip4:192.0.2.1', '~all'),
      'spf.two_in_one',
      'v=spf1 mx ip4:192.0.2.1 ~all',
    ],
    [
      'two records in one text, of which the first is in force',
      own('mx:h0.example', '-all', 'v=spf1', 'ip4:192.0.2.1', '-all'),
      'spf.two_in_one',
      'v=spf1 mx:h0.example ip4:192.0.2.1 -all',
    ],
    [
      'strings that join without a space',
      { ...own('ip4:192.0.2.1', 'include:b.example-all'), ...B },
      'spf.joined_terms',
      'v=spf1 ip4:192.0.2.1 include:b.example ~all',
    ],
    [
      'everybody by a term of its own',
      own('ip4:192.0.2.1', 'ip4:0.0.0.0/1', 'ip4:128.0.0.0/1', '-all'),
      'spf.everybody',
      'v=spf1 ip4:192.0.2.1 ~all',
    ],
    [
      'everybody by a wildcard',
      { ...own('ip4:192.0.2.1', 'exists:%{i}.w.%{d}', '-all'), '*.w.a.example': { A: ['127.0.0.2'] } },
      'spf.everybody',
      'v=spf1 ip4:192.0.2.1 ~all',
    ],
    [
      'everybody, and nobody is named',
      { 'a.example': { ...spf('+all'), MX: [[1, 'smtp.google.com']] } },
      'spf.plus_all',
      'v=spf1 include:_spf.google.com ~all',
    ],
    [
      'everybody at a domain without mail',
      { 'a.example': { ...spf('+all'), MX: [[0, '.']] } },
      'spf.plus_all',
      'v=spf1 ~all',
    ],
    ['no record, null MX', { 'a.example': { MX: [[0, '.']] } }, 'spf.no_record', 'v=spf1 -all'],
    [
      'several: merged, the softest all',
      { 'a.example': { TXT: ['v=spf1 mx -all', 'v=spf1 MX include:b.example ~all'] }, ...B },
      'spf.many_records',
      'v=spf1 mx include:b.example ~all',
    ],
    [
      'several: a redirect becomes an include',
      { 'a.example': { TXT: ['v=spf1 mx -all', 'v=spf1 redirect=b.example'] }, ...B },
      'spf.many_records',
      'v=spf1 mx include:b.example ~all',
    ],
    [
      'several: the only redirect stays',
      { 'a.example': { TXT: ['v=spf1 mx', 'v=spf1 redirect=b.example'] }, ...B },
      'spf.many_records',
      'v=spf1 mx redirect=b.example',
    ],
    [
      'several: +all is softer than any other, and what stands in for it is ~all',
      { 'a.example': { TXT: ['v=spf1 +all', 'v=spf1 a -all'] } },
      'spf.many_records',
      'v=spf1 a ~all',
    ],
    [
      'several: +all beside ?all',
      { 'a.example': { TXT: ['v=spf1 all', 'v=spf1 ip4:192.0.2.1 ?all'] } },
      'spf.many_records',
      'v=spf1 ip4:192.0.2.1 ?all',
    ],
    [
      'slips',
      own('ipv4:192.0.2.1', 'a:192.0.2.2', 'ip4:2001:db8::1;', '198.51.100.0/24', 'includes:b.example', '-all.'),
      'spf.syntax',
      'v=spf1 ip4:192.0.2.1 ip4:192.0.2.2 ip6:2001:db8::1 ip4:198.51.100.0/24 include:b.example ~all',
    ],
    ['a redirect with a colon', own('mx', 'redirect:b.example'), 'spf.syntax', 'v=spf1 mx redirect=b.example'],
    ['+all', own('mx:h0.example', '+all'), 'spf.plus_all', 'v=spf1 mx:h0.example ~all'],
    ['?all', own('ip4:192.0.2.1', '?all'), 'spf.neutral_all', 'v=spf1 ip4:192.0.2.1 ~all'],
    ['no all', own('ip4:192.0.2.1', 'exp=e.example'), 'spf.no_all', 'v=spf1 ip4:192.0.2.1 ~all exp=e.example'],
    ['after all', own('-all', 'mx', 'redirect=b.example'), 'spf.names_nobody', 'v=spf1 mx include:b.example -all'],
    ['all twice', own('ip4:192.0.2.1', '-all', '~all'), 'spf.after_all', 'v=spf1 ip4:192.0.2.1 -all'],
    [
      'all alone',
      { 'a.example': { TXT: ['v=spf1 ?all'], MX: [[10, 'm.example']] }, 'm.example': { A: ['192.0.2.1'] } },
      'spf.neutral_all',
      'v=spf1 mx ~all',
    ],
    [
      'names that hold nothing',
      own('ip4:192.0.2.1', ...many(3, 'a:v#.example'), '-all'),
      'spf.too_many_void_lookups',
      'v=spf1 ip4:192.0.2.1 ~all',
    ],
    [
      'lookups: twice the same',
      { ...own(...many(10, 'a:h#.example'), 'a:H0.example', '-all'), ...hosts },
      'spf.too_many_lookups',
      `v=spf1 ${many(10, 'a:h#.example').join(' ')} ~all`,
    ],
    [
      'lookups: what a network covers',
      { ...own('ip4:192.0.2.0/28', ...many(11, 'a:h#.example'), '-all'), ...hosts },
      'spf.too_many_lookups',
      'v=spf1 ip4:192.0.2.0/28 a:h10.example ~all',
    ],
    [
      'an include that an include has',
      { ...own('include:b.example', 'include:c.example', '-all'), ...B, 'c.example': spf('include:b.example', '-all') },
      'spf.duplicate_include',
      'v=spf1 include:c.example -all',
    ],
    [
      'an include of nothing',
      own('ip4:192.0.2.1', 'include:v.example', '-all'),
      'spf.include_without_record',
      'v=spf1 ip4:192.0.2.1 ~all',
    ],
    [
      'an include of nothing alone: the mail hosts take its place',
      { 'a.example': { ...spf('include:v.example', '-all'), MX: [[1, 'm.example']] } },
      'spf.include_without_record',
      'v=spf1 mx ~all',
    ],
    [
      'a loop',
      { 'a.example': { ...spf('include:a.example', '-all'), MX: [[1, 'smtp.google.com']] } },
      'spf.loop',
      'v=spf1 include:_spf.google.com ~all',
    ],
    [
      'a long record: networks within others',
      own('ip4:192.0.2.0/24', ...many(40, 'ip4:192.0.2.#'), '-all'),
      'spf.very_long',
      'v=spf1 ip4:192.0.2.0/24 -all',
    ],
  ])('%s', async (_, zone, id, value) => {
    const outcome = await judge(zone)
    expect(outcome.findings.find((finding) => finding.id === id)?.fix).toEqual({
      name: 'a.example',
      rtype: 'TXT',
      value,
    })
    const after = await judge({ ...zone, 'a.example': { ...(zone['a.example'] as object), TXT: [value] } })
    expect(after.findings.map((finding) => finding.id)).not.toContain(id)
  })

  it.each<[string, LabZone, string]>([
    ['whom "ptr" lets pass is not known', own('ip4:192.0.2.1', 'ptr', '-all'), 'spf.ptr'],
    [
      'a text that was meant is mended',
      { 'a.example': { TXT: ['v=spf1; mx -all'], MX: [[1, 'm.example']] } },
      'spf.no_record',
    ],
    ['each customer has another include', { 'a.example': { MX: [[1, 'mx1-us1.pphosted.com']] } }, 'spf.no_record'],
    ['one of several cannot be read', { 'a.example': { TXT: ['v=spf1 mx -all', 'v=spf1 foo'] } }, 'spf.many_records'],
    ['a fault that only the owner can mend', own('foo:bar', '-all'), 'spf.syntax'],
    [
      'eleven different services',
      { ...own(...many(11, 'a:h#.example'), '-all'), ...hosts, 'h0.example': { A: ['192.0.2.99'] } },
      'spf.include_broken',
    ],
    [
      'a term that stands in another record',
      { ...own('include:b.example', '-all'), 'b.example': spf('include:v.example') },
      'spf.include_without_record',
    ],
    [
      'order matters: a network behind a minus',
      { ...own('-ip4:192.0.2.1', 'ip4:192.0.2.0/28', ...many(11, 'a:h#.example'), '-all'), ...hosts },
      'spf.too_many_lookups',
    ],
  ])('none where %s', async (_, zone, id) => {
    expect((await judge(zone)).findings.find((finding) => finding.id === id)?.fix).toBeUndefined()
  })
})

describe('names that anybody could register', () => {
  it.each<[string, LabZone, string | undefined]>([
    ['an include', own('ip4:192.0.2.1', 'include:spf.gone.com', '-all'), 'include:spf.gone.com'],
    ['a redirect', own('redirect=gone.com'), 'redirect=gone.com'],
    ['a host', own('a:gone.co.uk', '-all'), 'a:gone.co.uk'],
    ['mail hosts', own('mx:x.gone.com', '-all'), 'mx:x.gone.com'],
    ['a constant name', own('exists:x.gone.com', '-all'), 'exists:x.gone.com'],
    [
      'an alias that leads there',
      { ...own('a:h.example', '-all'), 'h.example': { CNAME: ['x.gone.com'] } },
      'a:h.example',
    ],
    ['below', { ...own('include:b.example', '-all'), 'b.example': spf('include:gone.com') }, 'include:gone.com'],
    ['names by the client', own('exists:%{i}._spf.gone.com', '-all'), 'exists:%{i}._spf.gone.com'],
    ['an include by the sender', own('include:%{d}.x.gone.com', '-all'), 'include:%{d}.x.gone.com'],
    ['a network behind it', own('a:%{d1}-a.gone.com/24', '-all'), 'a:%{d1}-a.gone.com/24'],
    ['a redirect by the domain', own('redirect=%{d}.gone.com'), 'redirect=%{d}.gone.com'],
    ['not a name that ends in a macro', own('exists:%{i}.gone.com.%{d}', '-all'), undefined],
    ['not of a known service', own('exists:%{i}._spf.sendgrid.net', '-all'), undefined],
    [
      'not names by the client below one that exists',
      { ...own('exists:%{i}.a.here.com', '-all'), 'here.com': {} },
      undefined,
    ],
    ['not below a domain that exists', { ...own('a:x.here.com', '-all'), 'here.com': {} }, undefined],
    ['not where nobody gains by it', own('-a:gone.com', '?include:gone.com', '-all'), undefined],
    ['not what is no name', own('include:https://gone.com', 'a:gone.com,go.com', '-all'), undefined],
    ['not below a suffix that nobody runs', own('a:gone.notld', '-all'), undefined],
    ['not where that could not be asked', { ...own('a:x.mute.com', '-all'), 'mute.com': 'SERVFAIL' }, undefined],
    ['not of the domain itself', own('a:gone.a.example', '-all'), undefined],
  ])('%s', async (_why, zone, term) => {
    const { findings } = await judge(zone)
    expect(findings.find(({ id }) => id === 'spf.include_takeover')?.args?.term).toBe(term)
  })

  it('the fix keeps the rest as it is', async () => {
    const fixes = async (...terms: string[]) =>
      (await judge(own(...terms))).findings
        .filter(({ id }) => id === 'spf.include_takeover')
        .map(({ fix }) => fix?.value)
    expect(await fixes('ip4:192.0.2.1', 'a:gone.com', '-all')).toEqual(['v=spf1 ip4:192.0.2.1 -all'])
    expect(await fixes('ip4:192.0.2.1', 'include:gone.com', '-all')).toEqual(['v=spf1 ip4:192.0.2.1 ~all'])
  })
})

describe('the reading', () => {
  it('counts the whole tree, each node with its own cost', async () => {
    const zone: LabZone = {
      ...own('include:b.example', 'a:v.example', 'exists:%{i}.x.example', '~all'),
      'b.example': spf('include:c.example', 'mx', 'ptr'),
      'c.example': spf('redirect=d.example'),
      'd.example': spf('a', '-all', 'mx'),
    }
    const { lookups, void_lookups, all, includes, valid, record } = presentSpf(await judge(zone))
    expect({ lookups, void_lookups, all, valid, record }).toEqual({
      lookups: 8,
      void_lookups: 3,
      all: '~',
      valid: false,
      record: 'v=spf1 include:b.example a:v.example exists:%{i}.x.example ~all',
    })
    expect(includes).toMatchObject([
      {
        domain: 'b.example',
        lookups: 6,
        includes: [{ domain: 'c.example', lookups: 3, includes: [{ domain: 'd.example', lookups: 2, all: '-' }] }],
      },
    ])
  })

  it.each<[string, LabZone, Partial<NonNullable<SpfFacts['reading']>>]>([
    ['a declared non-sender', own('-all'), { declaredNonSender: true, all: '-' }],
    [
      'a non-sender by redirect',
      { ...own('redirect=b.example'), 'b.example': spf('-all') },
      { declaredNonSender: true },
    ],
    ['nor is a mechanism with "="', own('include=b.example', '-all'), { declaredNonSender: false }],
    ['~all is no such declaration', own('~all'), { declaredNonSender: false }],
    [
      'all comes through the redirect',
      { ...own('redirect=b.example'), ...B },
      { all: '-', redirects: true, lookups: 1 },
    ],
    [
      'a name with AAAA only is not void',
      { ...own('a:s.example', '-all'), 's.example': { AAAA: ['2001:db8::1'] } },
      { voidLookups: 0 },
    ],
    [
      '%{d} in an include is known',
      { ...own('include:x.%{d}', '-all'), 'x.a.example': spf('-all') },
      { lookups: 1, atLeast: false },
    ],
    ['other macros are not', own('include:%{l}.x.example', '-all'), { lookups: 1, atLeast: true }],
  ])('%s', async (_, zone, reading) => expect((await judge(zone)).facts?.reading).toMatchObject(reading))

  it('returns a wrong record', async () => {
    expect(presentSpf(await judge(own('foo')))).toMatchObject({ valid: false, record: 'v=spf1 foo' })
    expect(presentSpf(await judge(own('+all')))).toMatchObject({ valid: true, all: '+' }) // valid is a plain fact
  })

  it('rejects when the record itself cannot be asked', async () => {
    await expect(judge({ 'a.example': 'SERVFAIL' })).rejects.toMatchObject({ reason: 'servfail' })
  })

  it('says why a part is unknown, but judges what is certain', async () => {
    const zone: LabZone = { ...own('include:b.example', '-all'), 'b.example': 'TIMEOUT' }
    expect(await judge(zone)).toMatchObject({
      status: 'unknown',
      reason: { text: expect.stringContaining('b.example') },
    })
    expect(await judge({ ...zone, ...own('include:b.example', 'include:v.example', '-all') })).toMatchObject({
      status: 'fail',
    })
  })
})

it('reads 9 includes, two levels deep, in one wait more than their depth', async () => {
  const zone: LabZone = {
    ...own(...many(7, 'include:i#.example'), '-all'),
    ...Object.fromEntries(many(6, 'i#.example').map((name) => [name, spf('ip4:192.0.2.1', '-all')])),
    'i6.example': spf('include:i7.example', 'include:i8.example', '-all'),
    'i7.example': spf('-all'),
    'i8.example': spf('a:s.example', '-all'),
    's.example': { AAAA: ['2001:db8::1'] },
  }
  const { resolve, waits } = inWaves(labDns(zone).resolve)
  const { tree } = await lookupSpf({ resolve, signal: AbortSignal.timeout(10_000) }, NAME)
  expect(tree && lookupsOf(tree)).toBe(10)
  expect(waits()).toBe(3 + 1)
})

describe('bounds, and one step beyond', () => {
  const padded = (length: number) => own('-all', `x=${'y'.repeat(length - 'v=spf1 -all x='.length)}`)
  it('of a record: 8,192 characters', async () => {
    expect((await judge(padded(8_192))).facts?.reading?.permerrors).toEqual([])
    expect((await judge(padded(8_193))).facts?.reading?.permerrors).toEqual([{ kind: 'too_long' }])
  })

  it('of asking terms that are kept: 64, and all are counted', async () => {
    for (const [count, kept] of [
      [64, 64],
      [65, 64],
      [1_000, 64],
    ] as const) {
      const { facts } = await judge(own(...many(count, 'mx'), '-all'))
      expect([facts?.tree?.terms.length, facts?.reading?.lookups]).toEqual([kept, count])
    }
  })

  it('of MX hosts whose addresses are asked: 12 in a tree', async () => {
    const domains = many(3, 'd#.example')
    const zone: LabZone = {
      ...own(...domains.map((name) => `mx:${name}`), '-all'),
      ...Object.fromEntries(
        domains.map((name) => [name, { MX: many(7, `h#.${name}`).map((host) => [1, host] as const) }]),
      ),
    }
    const { asked, facts } = await judge(zone)
    expect(asked.filter((question) => question.startsWith('h')).length).toBe(2 * 12)
    expect(facts?.reading?.extent.passing.open).toBe(true)
  })

  it('of what one answer shows', async () => {
    const answer = presentSpf(await judge({ ...own(...many(30, 'include:i#.example'), '-all') }))
    expect([answer.includes.length, answer.includes_left_out]).toEqual([20, 10])
    const shown = presentSpf(await judge({ 'a.example': { TXT: many(12, 'v=spf1 x#=y -all') } }))
    expect([shown.records.length, shown.records_left_out]).toEqual([10, 2])
    const wide = presentSpf(await judge(own(...many(21, 'ip4:9.9.#.0/24'), '-all')))
    expect([wide.passing?.by.length, wide.passing?.by_left_out]).toEqual([20, 1])
    const modifiers = await judge(own(...many(9, 'x#=y'), '-all'))
    expect(modifiers.findings.filter(({ id }) => id === 'spf.unknown_modifier')).toHaveLength(5)
  })
})

describe('hostile zones end', () => {
  const bomb = many(12, 'include:i#.example')
  it.each<[string, LabZone, number]>([
    [
      'an include bomb',
      {
        ...own(...bomb, '-all'),
        ...Object.fromEntries(many(12, '#').map((i) => [`i${i}.example`, spf(...many(12, `include:j${i}x#.example`))])),
      },
      60,
    ],
    ['500 TXT records', { 'a.example': { TXT: many(500, 'v=spf1 ip4:192.0.2.1 x#=y -all') } }, 1],
    ['a record of 64 kB', own(...many(4_000, 'ip4:192.0.2.1'), '-all'), 1],
    [
      '3,000 networks',
      own(
        ...many(3_000, 'ip4:192.0.2.1').map((term, i) => `${term}/${i % 33}`),
        ...many(3_000, 'ip6:2001:db8::#'),
        '-all',
      ),
      1,
    ],
    ['500 names of hosts', own(...many(500, 'a:h#.example'), '-all'), 1 + 30],
    [
      'ten times ten MX hosts',
      {
        ...own(...many(10, 'mx:d#.example'), '-all'),
        ...Object.fromEntries(
          many(10, 'd#.example').map((name) => [
            name,
            { MX: many(10, `h#.${name}`).map((host) => [1, host] as const) },
          ]),
        ),
      },
      1 + 10 + 24,
    ],
    ['names that nobody has registered', own(...many(30, 'a:x.gone#.com'), '-all'), 1 + 30 + 5],
    [
      'CNAME loops',
      {
        ...own(...many(20, 'a:c#.example'), '-all'),
        ...Object.fromEntries(many(20, 'c#.example').map((name) => [name, { CNAME: [name] }])),
      },
      80,
    ],
    [
      'a deep chain',
      Object.fromEntries(
        many(200, '#').map((i) => [
          i === '0' ? 'a.example' : `d${i}.example`,
          spf(`include:d${Number(i) + 1}.example`, '-all'),
        ]),
      ),
      80,
    ],
    ['macros without end', own(`include:${'%{d}.'.repeat(5_000)}example`, '-all'), 2],
  ])('%s', async (_, zone, questions) => {
    const outcome = await judge(zone)
    expect(outcome.asked.length).toBeLessThanOrEqual(questions + 1) // the MX records of the domain
    expect(JSON.stringify(presentSpf(outcome)).length).toBeLessThan(400_000)
  })
})
