import { lameAt, numbered, record, type Shown, zoneOf } from './shown.ts'

const mx = (id: string, lines: readonly string[], rest: Partial<Shown> = {}): Shown => ({
  id,
  zone: zoneOf({ mx: lines }),
  ...rest,
})
const FIXED = { fixed: true } as const
/** A mail host whose address has these names. */
const ptr = (
  id: string,
  address: string,
  names: readonly string[],
  rest: Partial<Shown> = {},
  more: readonly string[] = [],
): Shown => ({
  id,
  zone: zoneOf({ mx: ['@ MX 10 mail', `mail A ${address}`, ...more] }),
  pointers: names.map((name) => [address, name] as const),
  ...rest,
})

/**
 * What shows each finding of MX. `mx.family_unknown` is in no row: a resolver that knows A of a name and fails for AAAA
 * is not to be had from these servers.
 */
export const mxShown: readonly Shown[] = [
  { id: 'mx.no_domain', at: 'missing.test' },
  { id: 'mx.reverse_zone', at: '53.45.in-addr.arpa' },
  { id: 'mx.none', zone: zoneOf({ mx: [], spf: [] }), ...FIXED },
  { id: 'mx.null_missing', zone: [record('@', 'v=spf1 -all'), record('_dmarc', 'v=DMARC1; p=reject')], fixed: true },
  { id: 'mx.null', at: 'parked.test' },
  {
    id: 'mx.no_replies',
    zone: ['@ MX 0 .', record('@', 'v=spf1 ip4:45.53.8.1 -all'), record('_dmarc', 'v=DMARC1; p=reject')],
  },
  mx('mx.ipv6_only', ['@ MX 10 mx', 'mx AAAA 2a00:1450:4001::25', 'mx AAAA 2a00:1450:4002::25']),
  mx('mx.missing_dot', ['@ MX 10 mail.mx-missing-dot.test', 'mail A 45.53.8.1', 'mail A 45.53.8.2'], FIXED),
  mx('mx.underscore', ['@ MX 10 mx_1', 'mx_1 A 45.53.8.1', 'mx_1 A 45.53.8.2']),
  { id: 'mx.null_beside_others', at: 'nullandmx.test', fixed: true },
  mx('mx.implicit', ['@ A 45.53.8.1'], FIXED),
  { id: 'mx.none_resolvable', at: 'dangling.test' },
  { id: 'mx.unresolvable', at: 'dangling.test' },
  { id: 'mx.ip_literal', at: 'literal.test', fixed: true },
  { id: 'mx.cname', at: 'neglected.test', fixed: true },
  { id: 'mx.not_public', at: 'loopback.test' },
  mx('mx.duplicate', ['@ MX 10 mx.accept.test.', '@ MX 20 mx.accept.test.']),
  mx('mx.single_address', ['@ MX 10 mx.accept.test.']),
  mx('mx.single_host', ['@ MX 10 mx', 'mx A 45.53.8.1', 'mx A 45.53.8.2']),
  { id: 'mx.too_many', at: 'manymx.test' },
  mx('mx.too_many_addresses', ['@ MX 10 mx', ...numbered(25, (n) => `mx A 45.53.9.${n + 100}`)]),
  mx('mx.host_unknown', ['@ MX 10 mx.accept.test.', '@ MX 20 mail', lameAt('mail')]),
]

/** What shows each finding of PTR. */
export const ptrShown: readonly Shown[] = [
  { id: 'ptr.no_address', at: 'dangling.test' },
  ptr('ptr.missing', '45.53.12.1', [], FIXED),
  ptr('ptr.not_confirmed', '45.53.12.2', ['other.lab.test'], FIXED),
  ptr('ptr.generic', '45.53.12.3', ['45-53-12-3.ptr-generic.test'], FIXED, ['45-53-12-3 A 45.53.12.3']),
  ptr('ptr.several_names', '45.53.12.4', ['mail.ptr-several-names.test', 'other.lab.test'], FIXED),
  ptr(
    'ptr.many_names',
    '45.53.12.5',
    numbered(11, (n) => (n === 1 ? 'mail.ptr-many-names.test' : `n${n}.lab.test`)),
    FIXED,
  ),
  ptr('ptr.not_asked', '45.53.15.1', []),
  ptr('ptr.confirmation_unknown', '45.53.12.6', ['mx.servfail.test']),
  mx(
    'ptr.too_many',
    numbered(8, (n) => [`@ MX ${n} m${n}`, ...numbered(5, (i) => `m${n} A 45.53.9.${n * 5 + i + 120}`)]).flat(),
  ),
]
