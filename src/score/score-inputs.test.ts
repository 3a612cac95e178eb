import { describe, expect, it } from 'vitest'
import { runCheck } from '../../test/lab/checks.ts'
import type { LabNode, LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { UNKNOWN_CONTEXT } from '../checks/context.ts'
import { dkim } from '../checks/dkim/index.ts'
import { findings as dmarcTable } from '../checks/dmarc/findings.ts'
import { dmarc } from '../checks/dmarc/index.ts'
import { findings as mxTable } from '../checks/mx/findings.ts'
import { mx } from '../checks/mx/index.ts'
import { findings as ptrTable } from '../checks/ptr/findings.ts'
import { ptr } from '../checks/ptr/index.ts'
import { findings as spfTable } from '../checks/spf/findings.ts'
import { spf } from '../checks/spf/index.ts'
import { domain } from '../names/domain.ts'
import { dmarcLosses, mxLosses, ptrLosses, spfLosses, UNIT } from './losses.ts'
import { fromDkim, fromDmarc, fromMx, fromPtr, fromSpf } from './score-inputs.ts'
import type { Loss } from './score-types.ts'

const A = domain('a.example')
const at = (...records: [number, string][]): LabZone => ({ 'a.example': { MX: records } })
const REVERSE: LabZone = {
  '1.5.53.45.in-addr.arpa': { PTR: ['m.example'] },
  '2.5.53.45.in-addr.arpa': { PTR: ['m.example'] },
}
const M = { A: ['45.53.5.1', '45.53.5.2'] }
/** `finding points`, with the range where the points are not certain; each id stands in the table. */
const told = (losses: readonly Loss[], table: object): string[] =>
  losses
    .filter((loss) => loss.mostUnits > 0)
    .map(({ finding, units, leastUnits, mostUnits }) => {
      if (finding !== null) expect(Object.keys(table)).toContain(finding)
      const range = leastUnits === mostUnits ? '' : ` (${leastUnits / UNIT} to ${mostUnits / UNIT})`
      return `${finding} ${units / UNIT}${range}`
    })

/** Addresses of a web proxy. */
const PROXIED = { A: ['104.21.33.44', '172.67.140.11'] }

describe('MX', () => {
  it.each<[string, LabZone, string[]]>([
    ['clean', { ...at([1, 'm.example']), 'm.example': M }, []],
    ['unknown', { 'a.example': 'SERVFAIL' }, ['null 7.5 (0 to 15)']],
    ['its only host unknown', { ...at([1, 'm.example']), 'm.example': 'SERVFAIL' }, ['null 7.5 (0 to 15)']],
    ['null MX', at([0, '.']), []],
    ['nothing', { 'a.example': {} }, ['mx.none 15']],
    ['implicit', { 'a.example': { A: ['45.53.5.1'] } }, ['mx.implicit 10']],
    ['implicit and private', { 'a.example': { A: ['10.0.0.1'] } }, ['mx.implicit 10', 'mx.not_public 6']],
    ['null MX misused', { ...at([0, '.'], [1, 'm.example']), 'm.example': M }, ['mx.null_beside_others 8']],
    [
      'a literal is no dangling name',
      { ...at([1, '45.53.5.9'], [2, 'm.example']), 'm.example': M },
      ['mx.ip_literal 8'],
    ],
    ['a literal behind a host that works', { ...at([1, 'm.example'], [2, '45.53.5.9']), 'm.example': M }, []],
    ['literals alone', at([1, '45.53.5.9']), ['mx.ip_literal 15']],
    ['a host behind a web proxy alone', { ...at([1, 'm.example']), 'm.example': PROXIED }, ['mx.web_proxy 15']],
    [
      'a web proxy and a dangling name',
      { ...at([1, 'm.example'], [1, 'gone.example']), 'm.example': PROXIED },
      ['mx.web_proxy 15'],
    ],
    [
      'a web proxy before a host that works',
      { ...at([1, 'm.example'], [2, 'n.example']), 'm.example': PROXIED, 'n.example': M },
      ['mx.web_proxy 8'],
    ],
    [
      'a literal beside a host of the best preference without an answer',
      { ...at([1, '45.53.5.9'], [1, 's.example'], [2, 'm.example']), 'm.example': M, 's.example': 'SERVFAIL' },
      ['mx.ip_literal 0 (0 to 8)', 'mx.host_unknown 0 (0 to 4)', 'mx.family_unknown 0 (0 to 9)'],
    ],
    ['a verification MX alone', at([1, 'ms1.msv1.invalid']), ['mx.none_resolvable 15']],
    ['… and behind a host', { ...at([1, 'm.example'], [9, 'ms1.msv1.invalid']), 'm.example': M }, []],
    ['one dangling', { ...at([1, 'm.example'], [1, 'gone.example']), 'm.example': M }, ['mx.unresolvable 4']],
    ['one dangling behind a host that works', { ...at([1, 'm.example'], [2, 'gone.example']), 'm.example': M }, []],
    [
      'one dangling behind a host without an answer',
      { ...at([1, 's.example'], [2, 'gone.example'], [3, 'm.example']), 'm.example': M, 's.example': 'SERVFAIL' },
      ['mx.host_unknown 0 (0 to 8)', 'mx.family_unknown 0 (0 to 9)'],
    ],
    [
      'one unknown',
      { ...at([1, 'm.example'], [1, 's.example']), 'm.example': M, 's.example': 'SERVFAIL' },
      ['mx.host_unknown 0 (0 to 4)', 'mx.family_unknown 0 (0 to 9)'],
    ],
    [
      'a CNAME to one address',
      { ...at([1, 'al.example']), 'al.example': { CNAME: ['n.example'] }, 'n.example': { A: ['45.53.5.1'] } },
      ['mx.cname 3', 'mx.single_address 1'],
    ],
  ])('%s', async (_why, zone, expected) =>
    expect(
      told(mxLosses(fromMx(await runCheck(mx, labCtx(zone), A), { barriers: [], openBarriers: [] })), mxTable),
    ).toEqual(expected),
  )
})

describe('PTR', () => {
  const host = (zone: LabZone): LabZone => ({ ...at([1, 'm.example']), 'm.example': M, ...REVERSE, ...zone })
  const names = (n: number): LabZone => {
    const all = ['m.example', ...Array.from({ length: n - 1 }, (_, i) => `m${i}.example`)]
    return {
      ...host({ '1.5.53.45.in-addr.arpa': { PTR: all } }),
      ...Object.fromEntries(all.map((name) => [name, M])),
    }
  }
  it.each<[string, LabZone, string[]]>([
    ['clean', host({}), []],
    ['the mail hosts are unknown', { 'a.example': 'SERVFAIL' }, ['null 5 (0 to 10)']],
    ['null MX', at([0, '.']), []],
    ['no mail host', {}, ['ptr.no_address 10']],
    ['one of two missing', host({ '1.5.53.45.in-addr.arpa': {} }), ['ptr.missing 5']],
    ['one of two unknown', host({ '1.5.53.45.in-addr.arpa': 'TIMEOUT' }), ['ptr.not_asked 2.5 (0 to 5)']],
    [
      'both unconfirmed are one row',
      host({ '1.5.53.45.in-addr.arpa': { PTR: ['x.example'] }, '2.5.53.45.in-addr.arpa': { PTR: ['x.example'] } }),
      ['ptr.not_confirmed 5'],
    ],
    ['ten names', names(10), ['ptr.several_names 0.5']],
    ['eleven', names(11), ['ptr.many_names 0.5']],
    [
      'the last address of two may not be the last',
      host({ 'm.example': { ...M, AAAA: 'SERVFAIL' }, '1.5.53.45.in-addr.arpa': {} }),
      ['ptr.missing 5', 'null 0 (0 to 8)'],
    ],
    [
      'others may come before the only address that is known',
      host({ 'm.example': { A: 'TIMEOUT', AAAA: ['2a00:db8::1'] } }),
      ['null 0 (0 to 10)'],
    ],
    [
      'the best MX is not known',
      host({ ...at([1, 's.example'], [2, 'm.example']), 's.example': 'SERVFAIL' }),
      ['null 5 (0 to 10)'],
    ],
    [
      'only the best MX counts',
      host({ ...at([1, 'm.example'], [2, 'n.example']), 'n.example': { A: ['45.53.6.1'] } }),
      [],
    ],
  ])('%s', async (_why, zone, expected) =>
    expect(told(ptrLosses(fromPtr(await runCheck(ptr, labCtx(zone), A))), ptrTable)).toEqual(expected),
  )
})

describe('DMARC', () => {
  const record = (text: string): LabNode => ({ TXT: [text] })
  it.each<[string, LabNode | 'SERVFAIL', string[]]>([
    ['reject with reports', record('v=DMARC1; p=reject; rua=mailto:d@a.example'), []],
    ['unknown', 'SERVFAIL', ['null 15 (0 to 30)']],
    ['none', {}, ['dmarc.no_record 30']],
    ['no reports', record('v=DMARC1; p=reject'), ['dmarc.no_rua 2']],
    [
      'reports that go to a stranger',
      record('v=DMARC1; p=reject; rua=mailto:d@b.test'),
      ['dmarc.report_unauthorized 2'],
    ],
    ['quarantine', record('v=DMARC1; p=quarantine; rua=mailto:d@a.example'), ['dmarc.policy_quarantine 5']],
    ['testing quarantine is none', record('v=DMARC1; p=quarantine; t=y; rua=mailto:d@a.example'), ['dmarc.testing 15']],
    [
      'sub-domains weaker',
      record('v=DMARC1; p=reject; sp=none; rua=mailto:d@a.example'),
      ['dmarc.subdomains_weaker 1'],
    ],
    ['several', { TXT: ['v=DMARC1; p=reject', 'v=DMARC1; p=none'] }, ['dmarc.several_records 27']],
  ])('%s', async (_why, node, expected) => {
    const mail = { 'a.example': { MX: [[10, 'm.example']] }, 'm.example': M } as const
    const ctx = labCtx({ '_dmarc.a.example': node, ...mail })
    expect(told(dmarcLosses(fromDmarc(await runCheck(dmarc, ctx, A))), dmarcTable)).toEqual(expected)
  })
})

describe('SPF', () => {
  const includes = Array.from({ length: 11 }, (_, i) => `i${i}.example`)
  const below: LabZone = {
    ...Object.fromEntries(includes.map((name) => [name, { TXT: ['v=spf1 ip4:45.53.5.1 -all'] }])),
    'all.example': { TXT: ['v=spf1 +all'] },
    's.example': 'SERVFAIL',
    'soft.example': { TXT: ['v=spf1 ~all'] },
  }
  it.each<[string, readonly string[], string[]]>([
    ['clean', ['v=spf1 ip4:45.53.5.1 -all'], []],
    ['none', ['x'], ['spf.no_record 25']],
    ['several', ['v=spf1 -all', 'v=spf1 ~all'], ['spf.many_records 20']],
    ['syntax', ['v=spf1 ip4:x -all'], ['spf.syntax 20']],
    [
      'eleven lookups',
      [`v=spf1 ${includes.map((name) => `include:${name}`).join(' ')} -all`],
      ['spf.too_many_lookups 20'],
    ],
    ['an include without SPF', ['v=spf1 include:gone.example -all'], ['spf.include_without_record 20']],
    ['+all', ['v=spf1 +all'], ['spf.plus_all 25']],
    ['+all by an include', ['v=spf1 include:all.example -all'], ['spf.everybody 25']],
    ['?all', ['v=spf1 ip4:45.53.5.1 ?all'], ['spf.neutral_all 10']],
    ['no all', ['v=spf1 ip4:45.53.5.1'], ['spf.no_all 10']],
    ['~all without DMARC', ['v=spf1 ip4:45.53.5.1 ~all'], ['spf.softfail 3']],
    ['~all by a redirect', ['v=spf1 redirect=soft.example'], ['spf.softfail 3']],
    ['a redirect that depends on the message', ['v=spf1 redirect=%{l}.soft.example'], []],
    ['ptr', ['v=spf1 ptr -all'], ['spf.ptr 2']],
    ['everybody, and then broken', ['v=spf1 ip4:0.0.0.0/0 include:gone.example -all'], ['spf.everybody 25']],
    ['wide', ['v=spf1 ip4:45.0.0.0/12 -all'], ['spf.many_addresses 5']],
    [
      'long',
      [`v=spf1 ${Array.from({ length: 27 }, (_, i) => `ip4:45.53.100.${100 + i}`).join(' ')} -all`],
      ['spf.long 1'],
    ],
    ['terms after all', ['v=spf1 ip4:45.53.5.1 -all ip4:45.53.5.2'], ['spf.after_all 1']],
    ['only terms after all', ['v=spf1 -all ip4:45.53.5.1'], ['spf.names_nobody 20']],
    ['a private address alone', ['v=spf1 ip4:10.0.0.1 -all'], ['spf.names_nobody 20']],
    ['a term for a name that is gone', ['v=spf1 ip4:45.53.5.1 a:gone.example -all'], ['spf.dead_term 1']],
    ['a mechanism with "="', ['v=spf1 ip4:45.53.5.1 a=gone.example -all'], ['spf.equals_sign 5']],
    ['a part unknown', ['v=spf1 include:s.example -all'], ['null 12.5 (0 to 25)']],
  ])('%s', async (_why, records, expected) => {
    const ctx = labCtx({ ...below, 'a.example': { TXT: records } })
    const input = fromSpf(await runCheck(spf, ctx, A), UNKNOWN_CONTEXT)
    expect(told(spfLosses(input, { state: 'none', finding: 'x' }, 'sends_and_accepts_mail'), spfTable)).toEqual(
      expected,
    )
  })
})

const KEY = 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
const REVOKED = 'v=DKIM1; p='

/** What the selectors `one` and `two` hold, and what the score is given. */
it.each<[one: LabNode | 'SERVFAIL', two: LabNode | 'SERVFAIL', given: object]>([
  [{ TXT: [KEY] }, { TXT: [KEY] }, { state: 'found', isOpen: false }],
  [{ TXT: [KEY] }, 'SERVFAIL', { state: 'found', isOpen: true }],
  [{ TXT: [REVOKED] }, { TXT: [REVOKED] }, { state: 'broken', finding: 'dkim.only_revoked' }],
  [{ TXT: [REVOKED] }, 'SERVFAIL', { state: 'unknown', finding: 'dkim.not_asked' }], // one question is open
])('%j and %j', async (one, two, given) => {
  const zone = { 'one._domainkey.a.example': one, 'two._domainkey.a.example': two }
  const outcome = await runCheck(dkim, labCtx(zone), domain('a.example'), { selectors: ['one', 'two'] })
  expect(fromDkim(outcome)).toMatchObject(given)
})
