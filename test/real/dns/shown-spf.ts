import { lameAt, numbered, record, type Shown, zoneOf } from './shown.ts'

const spf = (id: string, texts: readonly string[], more: readonly string[] = [], rest: Partial<Shown> = {}): Shown => ({
  id,
  zone: zoneOf({ spf: texts, more }),
  ...rest,
})
const FIXED = { fixed: true } as const

/** What shows each finding of SPF. */
export const spfShown: readonly Shown[] = [
  {
    id: 'spf.no_record_web',
    at: 'web.spf-no-record-web.test',
    zone: zoneOf({ more: ['web A 45.53.8.1'] }),
    fixed: true,
  },
  spf('spf.no_record', [], [], FIXED),
  spf('spf.not_spf', ['v=spf1; mx -all'], [], FIXED),
  spf('spf.many_records', ['v=spf1 mx -all', 'v=spf1 a:mx.dual.test ~all'], [], FIXED),
  spf('spf.syntax', ['v=spf1 mx ip4:45.53.5.1/33 -all']),
  spf('spf.too_long', [`v=spf1 mx ${numbered(650, (n) => `ip4:45.53.5.${n % 256}`).join(' ')} -all`]),
  spf(
    'spf.joined_terms',
    ['v=spf1 mx include:a.spf-joined-terms.test-all'],
    [record('a', 'v=spf1 ip4:45.53.5.1 -all')],
    FIXED,
  ),
  spf(
    'spf.doubled_name',
    ['v=spf1 mx a:mail.spf-doubled-name.test.spf-doubled-name.test -all'],
    ['mail A 45.53.5.1'],
    FIXED,
  ),
  spf(
    'spf.odd_name',
    ['v=spf1 mx include:https://a.spf-odd-name.test -all'],
    [record('a', 'v=spf1 ip4:45.53.5.1 -all')],
    FIXED,
  ),
  spf('spf.two_in_one', ['v=spf1 mx -all v=spf1 ip4:45.53.5.1 -all'], [], FIXED),
  // Names that hold nothing, and networks within other networks, can go without a change of what is authorised.
  spf(
    'spf.too_many_lookups',
    [`v=spf1 mx ip4:45.53.5.0/24 ${numbered(10, (n) => `a:h${n}.spf-too-many-lookups.test`).join(' ')} -all`],
    numbered(10, (n) => `h${n} A 45.53.5.${n}`),
    FIXED,
  ),
  spf(
    'spf.too_many_void_lookups',
    [`v=spf1 mx ${numbered(3, (n) => `a:v${n}.spf-too-many-void-lookups.test`).join(' ')} -all`],
    [],
    FIXED,
  ),
  spf(
    'spf.loop',
    ['v=spf1 mx include:a.spf-loop.test -all'],
    [record('a', 'v=spf1 include:spf-loop.test -all')],
    FIXED,
  ),
  spf(
    'spf.include_without_record',
    ['v=spf1 mx include:a.spf-include-without-record.test -all'],
    ['a A 45.53.8.1'],
    FIXED,
  ),
  spf('spf.include_broken', ['v=spf1 mx include:a.spf-include-broken.test -all'], [record('a', 'v=spf1 ip4:1 -all')]),
  {
    id: 'spf.too_many_mx',
    zone: zoneOf({
      mx: numbered(11, (n) => `@ MX ${n} m${n}`),
      more: numbered(11, (n) => `m${n} A 45.53.8.${n + 20}`),
    }),
  },
  spf('spf.plus_all', ['v=spf1 mx +all'], [], FIXED),
  spf('spf.everybody', ['v=spf1 mx ip4:0.0.0.0/1 ip4:128.0.0.0/1 -all'], [], FIXED),
  spf('spf.include_takeover', ['v=spf1 mx include:spf.nobody-has-this-name.com -all'], [], FIXED),
  spf('spf.neutral_all', ['v=spf1 mx ?all'], [], FIXED),
  spf('spf.no_all', ['v=spf1 mx'], [], FIXED),
  spf('spf.softfail', ['v=spf1 mx ~all']),
  { id: 'spf.sends_no_mail', at: 'parked.test' },
  spf('spf.ptr', ['v=spf1 mx ptr -all']),
  spf('spf.many_addresses', ['v=spf1 mx ip4:45.0.0.0/12 -all']),
  spf('spf.very_many_addresses', ['v=spf1 mx ip4:45.0.0.0/8 -all']),
  spf('spf.not_public', ['v=spf1 mx ip4:10.1.2.3 -all']),
  spf(
    'spf.lookups_near_limit',
    [`v=spf1 mx ${numbered(8, (n) => `a:h${n}.spf-lookups-near-limit.test`).join(' ')} -all`],
    numbered(8, (n) => `h${n} A 45.53.5.${n}`),
  ),
  spf('spf.long', [`v=spf1 mx ${numbered(28, (n) => `ip4:45.53.5.${n + 100}`).join(' ')} -all`]),
  spf('spf.very_long', [`v=spf1 mx ${numbered(32, (n) => `ip4:45.53.5.${n + 100}`).join(' ')} -all`]),
  spf('spf.after_all', ['v=spf1 mx -all ip4:45.53.5.1'], [], FIXED),
  spf(
    'spf.duplicate_include',
    ['v=spf1 mx include:a.spf-duplicate-include.test include:a.spf-duplicate-include.test -all'],
    [record('a', 'v=spf1 ip4:45.53.5.1 -all')],
    FIXED,
  ),
  spf('spf.unknown_modifier', ['v=spf1 mx x=a.lab.test -all']),
  spf('spf.names_nobody', ['v=spf1 a:gone.spf-names-nobody.test -all'], [], FIXED),
  spf('spf.dead_term', ['v=spf1 mx a:gone.spf-dead-term.test -all'], [], FIXED),
  spf(
    'spf.equals_sign',
    ['v=spf1 mx include=a.spf-equals-sign.test -all'],
    [record('a', 'v=spf1 ip4:45.53.5.1 -all')],
    FIXED,
  ),
  spf('spf.part_unknown', ['v=spf1 mx include:a.spf-part-unknown.test -all'], [lameAt('a')]),
  { id: 'spf.not_all_read', at: 'bomb.test' },
]
