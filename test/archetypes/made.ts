import { sequence } from '../../src/checks/repeatable.ts'
import { type DomainCase, domains, type WrittenNode, type WrittenZone } from './cases.ts'

/**
 * Random zones, made of parts that whole domains of the field seldom have together: SPF trees with loops, voids and
 * faults, redirects and macros, several records, aliases at names of mail, policies of subdomains, public suffixes,
 * wildcards, and mistakes of MTA-STS and TLSA.
 */
const ORGANIZATION = 'made-of-parts.com'

/** Names of others. */
export const OTHERS: WrittenZone = {
  'live.others.net': { TXT: ['v=spf1 ip4:45.53.8.0/24 ~all'] },
  'nested.others.net': { TXT: ['v=spf1 include:live.others.net ip4:45.53.9.9 -all'] },
  'loop.others.net': { TXT: ['v=spf1 include:loop.others.net -all'] },
  'broken.others.net': { TXT: ['v=spf1 ip4:1.2.3 -all'] },
  'two.others.net': { TXT: ['v=spf1 ip4:45.53.8.1 -all', 'v=spf1 ip4:45.53.8.2 -all'] },
  'none.others.net': { TXT: ['not spf'] },
  'alias.others.net': { CNAME: ['live.others.net'] },
  'fail.others.net': { '!': 'SERVFAIL' },
  'wide.others.net': { TXT: ['v=spf1 ip4:45.0.0.0/8 -all'] },
  'void.others.net': { TXT: ['v=spf1 a:v1.others.net a:v2.others.net ip4:45.53.10.1 -all'] },
  'deep.others.net': {
    TXT: [`v=spf1 ${[1, 2, 3, 4, 5].map((i) => `include:deep${i}.others.net`).join(' ')} -all`],
  },
  ...Object.fromEntries(
    [1, 2, 3, 4, 5].map((i) => [`deep${i}.others.net`, { TXT: [`v=spf1 ip4:45.53.11.${i} -all`] }]),
  ),
  'host.others.net': { A: ['45.53.12.1'] },
  'mx.others.net': { A: ['45.53.13.1'] },
  'mx6.others.net': { AAAA: ['2a01:4f8::25'] },
  'mxa.others.net': { CNAME: ['mx.others.net'] },
  'hidden.others.net': { A: ['10.1.2.3'] },
  'reports.net': { MX: [[10, 'mx.others.net']] },
  'agreed.net': { MX: [[10, 'mx.others.net']] },
  '*._report._dmarc.agreed.net': { TXT: ['v=DMARC1'] },
  'mailless.net': { MX: [[0, '.']] },
  '1.13.53.45.in-addr.arpa': { PTR: ['mx.others.net'] },
  'site.others.net': { A: ['45.53.14.1'] },
  'records.others.net': { TXT: ['v=DMARC1; p=none; rua=mailto:x@agreed.net'], A: ['45.53.14.2'] },
  'keys.others.net': { TXT: ['v=DKIM1; k=rsa; p=<rsa2048>'] },
  'sts.others.net': { TXT: ['v=STSv1; id=1'], A: ['45.53.14.3'] },
}

const TERMS = [
  'ip4:45.53.5.1',
  'ip4:45.53.6.0/24',
  'ip6:2a01:4f8::/64',
  'a',
  'mx',
  'ptr',
  'a:host.others.net',
  'mx:reports.net',
  'a:gone.<name>',
  'mx:gone.<name>',
  'a/24',
  'mx/28',
  'include:live.others.net',
  'include:nested.others.net',
  'include:loop.others.net',
  'include:broken.others.net',
  'include:two.others.net',
  'include:none.others.net',
  'include:gone.others.net',
  'include:free-to-take-12345.com',
  'include:alias.others.net',
  'include:fail.others.net',
  'include:wide.others.net',
  'include:void.others.net',
  'include:deep.others.net',
  'include:<name>',
  'include:_spf.<name>',
  'include:spf.protection.outlook.com',
  'include:_spf.google.com',
  'include:sendgrid.net',
  'include:amazonses.com',
  'exists:%{i}._list.<name>',
  'exists:%{ir}.%{v}._x.others.net',
  'exists:host.others.net',
  'include:%{d2}',
  'include:%{ir}.x.others.net',
  'a:%{h}',
  'ip4:10.0.0.0/8',
  'ip4:0.0.0.0/1',
  'ip4:128.0.0.0/1',
  'ip4:45.53.5.178/28',
  '-ip4:45.53.8.8',
  '~ip4:45.53.7.1',
  '?include:live.others.net',
  'ip4=45.53.5.9',
  'ipv4:45.53.7.7',
  'include=live.others.net',
  'mx',
  'mx',
  'a',
  'exp=explain.<name>',
  'ra=postmaster',
  'unknown=x',
] as const
const ENDS = [
  '-all',
  '-all',
  '~all',
  '~all',
  '?all',
  '+all',
  'all',
  '',
  'redirect=nested.others.net',
  'redirect=gone.others.net',
  'redirect=_spf.<name>',
  'redirect=<name>',
  '-all redirect=live.others.net',
  '-all ip4:45.53.5.1',
] as const
const SPACES = [' ', ' ', ' ', ' ', ' ', '  ', '\t', '\u00c2\u00a0'] as const
const FRAMES = [
  (t: string) => t,
  (t: string) => t,
  (t: string) => t,
  (t: string) => t,
  (t: string) => t,
  (t: string) => t,
  (t: string) => t,
  (t: string) => `"${t}"`,
  (t: string) => ` ${t}`,
  (t: string) => t.toUpperCase(),
  (t: string) => `SPF: ${t}`,
  (t: string) => t.replace('v=spf1', 'v=spf2.0'),
  (t: string) => `<name>. 3600 IN TXT "${t}"`,
]
const KEYS = [
  'v=DKIM1; k=rsa; p=<rsa2048>',
  'v=DKIM1; k=rsa; p=<rsa2048>',
  'v=DKIM1; k=rsa; p=<rsa1024>',
  'k=rsa; t=y; p=<rsa2048>',
  'v=DKIM1; p=',
  'v=DKIM1; k=ed25519; p=<ed25519>',
  'v=DKIM1; k=rsa; p=<rsa512>',
  '"v=DKIM1; k=rsa; p=<rsa2048>"',
  '<rsa2048>',
  's1.keys.others.net',
  'v=DKIM1; k=rsa; p=<rsa2048',
] as const

/** A random zone and the name in it that is asked for. */
export function madeZone(seed: number): DomainCase {
  const random = sequence(seed * 7919 + 13)
  const of = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!
  const maybe = (chance: number): boolean => random() < chance
  const some = <T>(all: readonly T[], most: number): T[] =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => of(all))

  const kind = of(['organization', 'organization', 'below', 'below', 'wildcard', 'suffix', 'deep'] as const)
  const at =
    kind === 'organization'
      ? ORGANIZATION
      : kind === 'suffix'
        ? `shop.${ORGANIZATION}`
        : kind === 'deep'
          ? `a.b.${ORGANIZATION}`
          : `name.${ORGANIZATION}`
  const zone: Record<string, WrittenNode> = { ...OTHERS }
  const put = (name: string, node: WrittenNode): void => {
    if (zone[name] && ('CNAME' in zone[name] || 'CNAME' in node)) return
    zone[name] = { ...zone[name], ...node }
  }
  const named = (text: string): string => text.replaceAll(/<name>/gi, at)
  const spf = (): string => {
    const terms = [...new Set(some(TERMS, of([0, 2, 3, 4, 6])))]
    const text = ['v=spf1', ...terms.map(named), named(of(ENDS))].filter(Boolean).join(of(SPACES))
    const frame = of(FRAMES)
    return named(frame(text))
  }
  const dmarc = (address: string): string => {
    const tags = [
      of(['v=DMARC1', 'v=DMARC1', 'v=DMARC1', 'v=DMARC1', 'V=DMARC1', 'v=dmarc1', '"v=DMARC1', 'v=DMARC1.']),
      of(['p=none', 'p=none', 'p=quarantine', 'p=reject', 'p=reject', 'p=block', 'P=Reject', '', 'p=none']),
      of(['', '', '', 'sp=none', 'sp=quarantine', 'sp=reject', 'sp=x']),
      of(['', '', '', 'np=reject', 'np=none', 'np=quarantine']),
      of(['', '', '', '', 'pct=0', 'pct=20', 'pct=100', 'pct=x']),
      of(['', '', '', '', 't=y', 't=n']),
      of(['', '', '', '', '', 'psd=n', 'psd=y']),
      of(['', '', 'adkim=s', 'aspf=s', 'adkim=s; aspf=s', 'fo=1', 'ri=3600', 'rf=afrf']),
      of([
        `rua=mailto:${address}`,
        `rua=mailto:${address}`,
        '',
        '',
        `rua=${address}`,
        'rua=mailto:x@reports.net',
        'rua=mailto:x@agreed.net',
        `rua=mailto:x@reports.net,mailto:${address}`,
        'rua=mailto:x@gmail.com',
        'rua=mailto:x@mailless.net',
        'rua=mailto:x@gone.others.net!10m',
        'rua=https://x.example/r',
      ]),
      of(['', '', '', 'ruf=mailto:f@reports.net', `ruf=mailto:${address}`]),
    ]
    return tags.filter(Boolean).join(of(['; ', '; ', ';', ' ; ', ';; ', ' ', ';\u00c2\u00a0'] as const))
  }
  const mail = (): WrittenNode =>
    of<WrittenNode>([
      { MX: [[10, 'mx.others.net']] },
      { MX: [[10, `mail.${at}`]], A: ['45.53.14.9'] },
      {
        MX: [
          [10, `mail.${at}`],
          [20, 'mx.others.net'],
        ],
      },
      {
        MX: [
          [10, `mail.${at}`],
          [20, `gone.${at}`],
        ],
      },
      { MX: [[0, 'smtp.google.com']] },
      { MX: [[0, 'm365nospf-com.mail.protection.outlook.com']] },
      { MX: [[0, '.']] },
      {
        MX: [
          [0, '.'],
          [10, 'mx.others.net'],
        ],
      },
      { MX: [[10, 'hidden.others.net']] },
      { MX: [[10, '45.53.13.1']] },
      { MX: [[10, 'mxa.others.net']] },
      { MX: [[10, 'mx6.others.net']] },
      { MX: [[10, 'gone.others.net']] },
      { MX: [[10, 'mx.free-to-take-12345.com']] },
      {
        MX: [
          [10, 'mx.others.net'],
          [32767, 'ms1.msv1.invalid'],
        ],
      },
      { A: ['45.53.14.1'] },
      { A: ['10.0.0.1'] },
      {},
      { '!MX': 'SERVFAIL' },
    ])

  // The name itself.
  const isAlias = maybe(0.04)
  if (isAlias) put(at, { CNAME: [of(['site.others.net', 'gone.others.net', 'records.others.net'])] })
  else {
    const texts = [
      ...(maybe(0.8) ? [spf()] : []),
      ...(maybe(0.12) ? [spf()] : []),
      ...(maybe(0.3) ? ['google-site-verification=x'] : []),
      ...(maybe(0.05) ? [dmarc(`d@${at}`)] : []),
    ]
    put(at, { ...mail(), ...(texts.length > 0 && { TXT: texts }) })
    if (maybe(0.03)) zone[at] = { ...mail(), '!TXT': 'SERVFAIL' }
  }
  if (maybe(0.8)) put(`mail.${at}`, { A: [of(['45.53.15.1', '45.53.15.1', '10.0.0.4', '104.16.1.1'])] })
  put('1.15.53.45.in-addr.arpa', { PTR: [of([`mail.${at}`, `mail.${at}`, 'host-45-53-15-1.isp.net'])] })
  put(
    `_spf.${at}`,
    of<WrittenNode>([
      { TXT: ['v=spf1 ip4:45.53.16.1 -all'] },
      { TXT: [`v=spf1 include:${at} -all`] },
      { TXT: ['v=spf1 ip4:45.53.16.1 ipv6:x ~all'] },
      {},
    ]),
  )

  // DMARC of the name, and above it.
  const policy = (name: string): void => {
    const own = `_dmarc.${name}`
    const way = random()
    if (way < 0.18) return
    if (way < 0.24)
      put(own, { CNAME: [of(['records.others.net', 'gone.others.net', 'site.others.net', 'none.others.net'])] })
    else if (way < 0.3) put(own, { TXT: [dmarc(`d@${name}`), dmarc(`d@${name}`)] })
    else if (way < 0.32) put(own, { '!TXT': 'SERVFAIL' })
    else put(own, { TXT: [dmarc(`d@${name}`)] })
  }
  if (kind === 'organization' || maybe(0.5)) policy(at)
  if (kind !== 'organization') policy(ORGANIZATION)
  if (kind === 'suffix') zone[`_dmarc.${ORGANIZATION}`] = { TXT: [`v=DMARC1; p=${of(['none', 'reject'])}; psd=y`] }
  if (kind === 'deep' && maybe(0.5)) policy(`b.${ORGANIZATION}`)
  if (kind !== 'organization' && maybe(0.6)) put(ORGANIZATION, { MX: [[10, 'mx.others.net']], TXT: ['v=spf1 mx -all'] })

  // Keys.
  const selectors = some(['default', 'google', 'selector1', 'k1', 's1', 'mail', 'dkim'], 3)
  for (const selector of selectors)
    put(
      `${selector}._domainkey.${at}`,
      maybe(0.75)
        ? { TXT: [of(KEYS)] }
        : { CNAME: [of(['keys.others.net', 'gone.others.net', 'selector1-x._domainkey.nobody.onmicrosoft.com'])] },
    )
  if (maybe(0.05)) put(`*._domainkey.${at}`, { TXT: [of(['v=DKIM1; p=', 'v=DKIM1; k=rsa; p=<rsa2048>'])] })
  if (maybe(0.04)) put(`_domainkey.${at}`, { CNAME: [of(['keys.others.net', 'gone.others.net'])] })
  if (maybe(0.05)) put(`default._domainkey.${at}.${at}`, { TXT: [KEYS[0]] })
  if (kind !== 'organization' && maybe(0.3)) put(`default._domainkey.${ORGANIZATION}`, { TXT: [KEYS[0]] })

  // MTA-STS, TLS-RPT, TLSA, BIMI.
  const policies: Record<string, string | [number, string, string]> = {}
  if (maybe(0.3)) {
    put(
      `_mta-sts.${at}`,
      of<WrittenNode>([
        { TXT: ['v=STSv1; id=20260101'] },
        { TXT: ['v=STSv1; id=20260101'] },
        { TXT: ['v=STSv1'] },
        { TXT: ['"v=STSv1; id=1"'] },
        { TXT: ['v=STSv1; id=1', 'v=STSv1; id=2'] },
        { CNAME: ['sts.others.net'] },
        { CNAME: ['gone.others.net'] },
      ]),
    )
    if (maybe(0.8)) put(`mta-sts.${at}`, { A: ['45.53.14.1'] })
    const mode = of(['enforce', 'testing', 'none'])
    const host = of(['mx.others.net', `mail.${at}`, '*.others.net', `*.${at}`, 'elsewhere.net'])
    if (maybe(0.8))
      policies[`mta-sts.${at}`] = of<string | [number, string, string]>([
        `version: STSv1\r\nmode: ${mode}\r\nmx: ${host}\r\nmax_age: 604800\r\n`,
        `version: STSv1\nmode: ${mode}\nmx: ${host}\nmax_age: 5\n`,
        [404, 'text/html', 'no'],
        [200, 'text/html', `version: STSv1\r\nmode: ${mode}\r\nmx: ${host}\r\nmax_age: 604800\r\n`],
        'mode: enforce',
      ])
  }
  if (maybe(0.2))
    put(
      `_smtp._tls.${at}`,
      of<WrittenNode>([
        { TXT: [`v=TLSRPTv1; rua=mailto:t@${at}`] },
        { TXT: [`v=TLSRPTv1; rua=t@${at}`] },
        { TXT: ['v=TLSRPTv1'] },
        { CNAME: ['gone.others.net'] },
        { TXT: ['"v=TLSRPTv1; rua=mailto:x@agreed.net"'] },
      ]),
    )
  if (maybe(0.15))
    put(`_25._tcp.mail.${at}`, {
      TLSA: [
        of([
          [3, 1, 1, 'ab'.repeat(32)],
          [3, 1, 1, 'ab'],
          [9, 1, 1, 'ab'.repeat(32)],
          [1, 0, 1, 'ab'.repeat(32)],
        ]),
      ],
    })
  if (maybe(0.1))
    put(
      `default._bimi.${at}`,
      of<WrittenNode>([
        { TXT: ['v=BIMI1; l=https://x.example/l.svg'] },
        { TXT: ['v=bimi1; l=http://x'] },
        { CNAME: ['gone.others.net'] },
      ]),
    )

  const row = {
    id: `made ${seed}`,
    class: kind,
    domain: at,
    policies,
    secure: maybe(0.3) ? [ORGANIZATION] : [],
    expect: {},
  }
  if (kind !== 'wildcard')
    return keyed({
      ...row,
      zone: maybe(0.1)
        ? {
            ...zone,
            [`*.${at}`]: of<WrittenNode>([
              { TXT: ['v=spf1 -all'] },
              { A: ['45.53.14.1'] },
              { MX: [[10, 'mx.others.net']], TXT: ['v=spf1 mx -all'] },
              { CNAME: ['site.others.net'] },
            ]),
          }
        : zone,
    })
  const { [at]: own = {}, ...rest } = zone
  const above = Object.entries(rest).filter(([name]) => !name.endsWith(`.${at}`))
  return keyed({ ...row, zone: { ...Object.fromEntries(above), [`*.${ORGANIZATION}`]: own } })
}

const KEY_TEXTS = domains() as unknown as { readonly keys: Readonly<Record<string, string>> }
const keyed = (row: DomainCase): DomainCase =>
  JSON.parse(JSON.stringify(row).replace(/<([a-z0-9]+)>/g, (written, name: string) => KEY_TEXTS.keys[name] ?? written))
