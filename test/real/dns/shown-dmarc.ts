import { GOOD_KEY, lameAt, numbered, record, type Shown, zoneOf } from './shown.ts'

const RUA = 'rua=mailto:dmarc@'
const dmarc = (
  id: string,
  texts: readonly string[],
  more: readonly string[] = [],
  rest: Partial<Shown> = {},
): Shown => ({
  id,
  zone: zoneOf({ dmarc: texts, more }),
  ...rest,
})
const FIXED = { fixed: true } as const
const own = (id: string): string => `${RUA}${id.replaceAll(/[._]/g, '-')}.test`
/** A record with a fault in it, whose reports stay within the domain. */
const faulty = (id: string, tags: string, rest: Partial<Shown> = FIXED): Shown =>
  dmarc(id, [`v=DMARC1; ${tags}; ${own(id)}`], [], rest)

/** What shows each finding of DMARC. */
export const dmarcShown: readonly Shown[] = [
  dmarc('dmarc.no_record', [], [], FIXED),
  { id: 'dmarc.no_record_parked', zone: ['@ MX 0 .', record('@', 'v=spf1 -all')], fixed: true },
  dmarc('dmarc.misplaced', [], [record('@', `v=DMARC1; p=reject; ${own('dmarc.misplaced')}`)], FIXED),
  dmarc(
    'dmarc.doubled_name',
    [],
    [record('_dmarc.dmarc-doubled-name.test', `v=DMARC1; p=reject; ${own('dmarc.doubled_name')}`)],
    FIXED,
  ),
  dmarc('dmarc.other_txt', ['site-verification=1']),
  dmarc(
    'dmarc.several_records',
    [`v=DMARC1; p=reject; ${own('dmarc.several_records')}`, `v=DMARC1; p=quarantine; ${own('dmarc.several_records')}`],
    [],
    FIXED,
  ),
  dmarc('dmarc.malformed', [`v=dmarc1; p=reject; ${own('dmarc.malformed')}`], [], FIXED),
  faulty('dmarc.duplicate_tag', 'p=reject; p=reject'),
  dmarc('dmarc.unusable_policy', ['v=DMARC1; p=rejct'], [], FIXED),
  faulty('dmarc.invalid_policy', 'p=rejct'),
  dmarc('dmarc.missing_policy', [`v=DMARC1; ${own('dmarc.missing_policy')}`], [], FIXED),
  faulty('dmarc.policy_none', 'p=none'),
  faulty('dmarc.policy_quarantine', 'p=quarantine'),
  faulty('dmarc.testing', 'p=quarantine; t=y'),
  faulty('dmarc.subdomains_weaker', 'p=quarantine; sp=none'),
  dmarc('dmarc.no_rua', ['v=DMARC1; p=reject'], [], FIXED),
  { id: 'dmarc.inherited', at: 'sub.dmarc-inherited.test', zone: zoneOf({ more: subDomain() }) },
  faulty('dmarc.syntax', 'p=reject; nonsense'),
  {
    id: 'dmarc.hidden_character',
    // A no-break space in UTF-8, as it comes from a web page.
    zone: zoneOf({ dmarc: [], more: [`_dmarc TXT "v=DMARC1;\\194\\160p=reject; ${own('dmarc.hidden_character')}"`] }),
    fixed: true,
  },
  dmarc('dmarc.quotes', [`v=DMARC1; p=none; rua="mailto:dmarc@dmarc-quotes.test"`], [], FIXED),
  faulty('dmarc.separator', 'p=quarantine sp=quarantine'),
  dmarc('dmarc.two_records', [`v=DMARC1; p=none; ${own('dmarc.two_records')}; v=DMARC1; p=reject`], [], FIXED),
  faulty('dmarc.tag_case', 'P=reject', {}),
  {
    id: 'dmarc.alias',
    zone: zoneOf({
      dmarc: [],
      more: ['_dmarc CNAME kept', record('kept', `v=DMARC1; p=reject; ${own('dmarc.alias')}`)],
    }),
  },
  faulty('dmarc.ignored_value', 'p=reject; adkim=x'),
  faulty('dmarc.limit', `p=reject; ${numbered(110, (n) => `x${n}=1`).join('; ')}`),
  faulty('dmarc.unknown_tags', 'p=reject; foo=bar', {}),
  faulty('dmarc.removed_tags', 'p=reject; ri=86400', {}),
  faulty('dmarc.pct_partial', 'p=reject; pct=50'),
  dmarc('dmarc.size_suffix', [`v=DMARC1; p=reject; ${own('dmarc.size_suffix')}!10m`]),
  faulty('dmarc.fo_without_ruf', 'p=reject; fo=1', {}),
  dmarc('dmarc.policy_order', [`v=DMARC1; ${own('dmarc.policy_order')}; p=reject`]),
  dmarc('dmarc.long_record', [
    `v=DMARC1; p=reject; rua=${numbered(30, (n) => `mailto:a-long-name-of-a-mailbox-${n}@dmarc-long-record.test`).join()}`,
  ]),
  dmarc('dmarc.report_uri', [`v=DMARC1; p=reject; ${own('dmarc.report_uri')},dmarc@lab.test`], [], FIXED),
  dmarc('dmarc.report_scheme', [`v=DMARC1; p=reject; ${own('dmarc.report_scheme')},https://lab.test/r`]),
  dmarc('dmarc.report_unauthorized', ['v=DMARC1; p=reject; rua=mailto:d@accept.test'], [], FIXED),
  dmarc('dmarc.report_unknown', ['v=DMARC1; p=reject; rua=mailto:d@servfail.test']),
  {
    id: 'dmarc.rua_unreachable',
    zone: zoneOf({
      dmarc: ['v=DMARC1; p=reject; rua=mailto:d@reports.dmarc-rua-unreachable.test'],
      more: ['reports MX 0 .'],
    }),
    fixed: true,
  },
  { id: 'dmarc.report_limit', at: 'manyrua.test' },
  faulty('dmarc.psd_misused', 'p=reject; psd=y', {}),
  {
    id: 'dmarc.walk_gap',
    at: 'sub.dmarc-walk-gap.test',
    zone: zoneOf({ dmarc: [], more: [...subDomain(), record('_dmarc.sub', 'v=DMARC1; p=reject'), lameAt('_dmarc')] }),
  },
  {
    id: 'dmarc.legacy_differs',
    zone: zoneOf({ dmarc: [`v=DMARC1; p=reject; t=y; ${own('dmarc.legacy_differs')}`] }),
  },
]

/** A name below that has mail of its own. */
function subDomain(): readonly string[] {
  return ['sub MX 10 mx.accept.test.', record('sub', 'v=spf1 mx -all'), record('s1._domainkey.sub', GOOD_KEY)]
}
