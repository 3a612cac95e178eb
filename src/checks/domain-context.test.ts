import { describe, expect, it } from 'vitest'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { DnsError, type Resolve } from '../net/dns/resolver.ts'
import type { DomainContext, Role } from './context.ts'
import { contextOf } from './domain-context.ts'
import { lookupFacts, lookupOne, runInContext } from './run.ts'

const NOBODY = 'v=spf1 -all'
const SENDER = 'v=spf1 ip4:45.53.5.1 -all'
const MX = [[10, 'm.example']] as const
const HOST: LabZone = { 'm.example': { A: ['45.53.5.1'] } }
const NULL_MX = [[0, '.']] as const
const ADDRESS = { A: ['45.53.5.2'] }
const KEY = 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
const above = (policy: string): LabZone => ({ '_dmarc.a.example': { TXT: [`v=DMARC1; ${policy}`] } })

async function contextIn(zone: LabZone, name = 'a.example'): Promise<DomainContext> {
  const ctx = labCtx(zone)
  const at = domain(name)
  const [spf, mx, dmarc, dkim] = await Promise.all([
    lookupOne('spf', ctx, at, {}),
    lookupOne('mx', ctx, at, {}),
    lookupOne('dmarc', ctx, at, {}),
    lookupOne('dkim', ctx, at, {}),
  ])
  return contextOf({ spf, mx, dmarc, dkim })
}

describe('the role of a domain', () => {
  it.each<[string, LabZone, Role, string?]>([
    ['NXDOMAIN', {}, 'no_such_domain'],
    ['SPF and MX', { 'a.example': { TXT: [SENDER], MX }, ...HOST }, 'sends_and_accepts_mail'],
    ['nothing but an address', { 'a.example': ADDRESS }, 'sends_and_accepts_mail'],
    ['-all and an MX', { 'a.example': { TXT: [NOBODY], MX }, ...HOST }, 'accepts_mail_only'],
    [
      '-all by redirect',
      { 'a.example': { TXT: ['v=spf1 redirect=b.example'], MX }, 'b.example': { TXT: [NOBODY] }, ...HOST },
      'accepts_mail_only',
    ],
    ['a sender with a null MX', { 'a.example': { TXT: [SENDER], MX: NULL_MX } }, 'sends_only'],
    ['a sender with neither MX nor address', { 'a.example': { TXT: [SENDER] } }, 'sends_only'],
    ['a sender with an address', { 'a.example': { TXT: [SENDER], ...ADDRESS } }, 'sends_and_accepts_mail'],
    ['-all and a null MX', { 'a.example': { TXT: [NOBODY], MX: NULL_MX } }, 'parked'],
    ['-all and nothing else', { 'a.example': { TXT: [NOBODY] } }, 'parked'],
    ['-all and a web page', { 'a.example': { TXT: [NOBODY], ...ADDRESS } }, 'parked'],
    ['-all from a wildcard', { '*.example': { TXT: [NOBODY] } }, 'parked'],
    ['~all that names nobody, and a null MX', { 'a.example': { TXT: ['v=spf1 ~all'], MX: NULL_MX } }, 'parked'],
    [
      'names without an address, and a null MX',
      { 'a.example': { TXT: ['v=spf1 a mx -all'], MX: NULL_MX } },
      'sends_only',
    ],
    [
      'mx, and neither MX nor null MX',
      { 'a.example': { TXT: ['v=spf1 mx -all'], ...ADDRESS } },
      'sends_and_accepts_mail',
    ],
    ['~all beside an MX', { ...HOST, 'a.example': { TXT: ['v=spf1 ~all'], MX } }, 'sends_and_accepts_mail'],
    ['a sender named with "="', { 'a.example': { TXT: ['v=spf1 ip4=192.0.2.1 -all'], MX: NULL_MX } }, 'sends_only'],
    [
      'a sender named after all',
      { ...HOST, 'a.example': { TXT: ['v=spf1 -all ip4:192.0.2.1'], MX } },
      'sends_and_accepts_mail',
    ],
    [
      'a redirect beside all',
      { ...HOST, 'a.example': { TXT: ['v=spf1 redirect=b.example -all'], MX } },
      'sends_and_accepts_mail',
    ],
    [
      'a sender by a name of its own',
      { 'a.example': { TXT: ['v=spf1 exists:%{i}.x.example -all'], MX: NULL_MX } },
      'sends_only',
    ],
    ['a broken SPF', { 'a.example': { TXT: ['v=spf1 ip4:x -all'], MX: NULL_MX } }, 'sends_and_accepts_mail'],
    ['MX not known', { 'a.example': { TXT: [SENDER], MX: 'SERVFAIL' } }, 'sends_and_accepts_mail'],
    ['-all, MX not known', { 'a.example': { TXT: [NOBODY], MX: 'SERVFAIL' } }, 'accepts_mail_only'],
    ['SPF not known', { 'a.example': { TXT: 'SERVFAIL', MX: NULL_MX } }, 'sends_and_accepts_mail'],
    ['a name below an enforcing domain', { ...above('p=reject'), 'w.a.example': ADDRESS }, 'no_mail', 'w.a.example'],
    ['the same below p=none', { ...above('p=none'), 'w.a.example': ADDRESS }, 'no_mail', 'w.a.example'],
    ['the same without a DMARC record', { 'w.gone.com': ADDRESS }, 'no_mail', 'w.gone.com'],
    [
      'the same with a DMARC record of its own',
      { ...above('p=reject'), 'w.a.example': ADDRESS, '_dmarc.w.a.example': { TXT: ['v=DMARC1; p=reject'] } },
      'no_mail',
      'w.a.example',
    ],
    [
      'the same with a DKIM key',
      { ...above('p=reject'), 'w.a.example': ADDRESS, 'mail._domainkey.w.a.example': { TXT: [KEY] } },
      'sends_and_accepts_mail',
      'w.a.example',
    ],
    [
      'the same with a key at an unknown selector',
      { ...above('p=reject'), 'w.a.example': ADDRESS, 'x9y8._domainkey.w.a.example': { TXT: [KEY] } },
      'sends_and_accepts_mail',
      'w.a.example',
    ],
    [
      'a name below psd=y is an organizational domain',
      { '_dmarc.gov.example': { TXT: ['v=DMARC1; p=none; psd=y'] }, 'a.gov.example': ADDRESS },
      'sends_and_accepts_mail',
      'a.gov.example',
    ],
    ['a name of a reverse zone', { '5.53.45.in-addr.arpa': { NS: ['ns.example'] } }, 'no_mail', '5.53.45.in-addr.arpa'],
    ['without anything but p=reject', { 'a.example': {}, ...above('p=reject') }, 'parked'],
    ['the same with an address', { 'a.example': ADDRESS, ...above('p=reject') }, 'parked'],
    ['the same in a test', { 'a.example': ADDRESS, ...above('p=reject; t=y') }, 'sends_and_accepts_mail'],
    [
      'the same with an MX',
      { ...above('p=reject'), ...HOST, 'w.a.example': { MX } },
      'sends_and_accepts_mail',
      'w.a.example',
    ],
    [
      'an alias of the domain above',
      { ...above('p=reject'), ...HOST, 'a.example': { MX, TXT: [SENDER] }, 'w.a.example': { CNAME: ['a.example'] } },
      'no_mail',
      'w.a.example',
    ],
    [
      'an alias of another organization',
      { ...above('p=reject'), ...HOST, 'b.other': { MX, TXT: [SENDER] }, 'w.a.example': { CNAME: ['b.other'] } },
      'no_mail',
      'w.a.example',
    ],
    [
      'the same with an SPF of its own',
      { ...above('p=reject'), 'w.a.example': { ...ADDRESS, TXT: [SENDER] } },
      'sends_and_accepts_mail',
      'w.a.example',
    ],
  ])('%s', async (_why, zone, role, name) => expect((await contextIn(zone, name)).role).toBe(role))
})

describe('DKIM, MX and PTR in the role of the domain', () => {
  it.each<[string, LabZone, [string, string, string]]>([
    [
      '-all and nothing else',
      { 'a.example': { TXT: [NOBODY] } },
      ['not_applicable', 'not_applicable', 'not_applicable'],
    ],
    [
      '-all and null MX',
      { 'a.example': { TXT: [NOBODY], MX: NULL_MX } },
      ['not_applicable', 'not_applicable', 'not_applicable'],
    ],
    [
      '-all and a web page',
      { 'a.example': { TXT: [NOBODY], ...ADDRESS } },
      ['not_applicable', 'not_applicable', 'not_applicable'],
    ],
    ['no SPF and nothing else', { 'a.example': { TXT: ['x'] } }, ['fail', 'fail', 'fail']],
    ['a sender without a mail host', { 'a.example': { TXT: [SENDER] } }, ['fail', 'warn', 'fail']],
    ['no such domain', {}, ['not_applicable', 'fail', 'not_applicable']],
    ['-all, MX unknown', { 'a.example': { TXT: [NOBODY], MX: 'SERVFAIL' } }, ['not_applicable', 'unknown', 'unknown']],
  ])('%s', async (_why, zone, expected) => {
    const status = async (key: 'dkim' | 'mx' | 'ptr') =>
      (await runInContext(key, labCtx(zone), domain('a.example'))).status
    expect([await status('dkim'), await status('mx'), await status('ptr')]).toEqual(expected)
  })
})

describe('a domain without mail is judged alike by MX and DMARC', () => {
  it.each<[string, LabZone]>([
    ['an address for a web page', { 'a.example': { TXT: [NOBODY], ...ADDRESS } }],
    ['a null MX', { 'a.example': { TXT: [NOBODY], MX: NULL_MX } }],
    [
      'a null MX, -all by redirect',
      { 'a.example': { TXT: ['v=spf1 redirect=b.example'], MX: NULL_MX }, 'b.example': { TXT: [NOBODY] } },
    ],
  ])('%s', async (_why, zone) => {
    const at = domain('a.example')
    const mx = await runInContext('mx', labCtx(zone), at)
    expect(mx.findings.map(({ id }) => id)).not.toContain('mx.implicit')
    const none = await runInContext('dmarc', labCtx(zone), at)
    expect(none.findings.map(({ id, fix }) => [id, fix?.value])).toEqual([
      ['dmarc.no_record_parked', 'v=DMARC1; p=reject'],
    ])
    const reject = await runInContext(
      'dmarc',
      labCtx({ ...zone, '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject'] } }),
      at,
    )
    expect(reject.findings.map(({ id }) => id)).not.toContain('dmarc.no_rua')
  })
})

describe('a name whose MX has no answer', () => {
  const refusing = (zone: LabZone) => {
    const lab = labCtx(zone)
    const resolve: Resolve = async (name, type, signal, options) => {
      if (name !== '.' && !options?.checkingDisabled) throw new DnsError('servfail', { name, type })
      return lab.resolve(name, type, signal, options)
    }
    return { ...lab, resolve }
  }
  const SOA = {
    mname: 'ns.a.example',
    rname: 'h.a.example',
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum: 1,
  }
  it.each<[string, LabZone, boolean]>([
    ['an answer that only a validator refuses: it exists', { 'a.example': { SOA: [SOA], DS: [], MX } }, false],
    ['NXDOMAIN without validation', {}, true],
  ])('%s', async (_why, zone, mayBeAbsent) => {
    const at = domain('a.example')
    const facts = await lookupFacts(refusing(zone), at, {})
    const { otherRoles } = contextOf(facts)
    expect(otherRoles.some(({ role }) => role === 'no_such_domain')).toBe(mayBeAbsent)
  })
})
