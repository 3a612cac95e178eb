import { parseSpf } from './parse.ts'
import {
  allOf,
  type Directive,
  formatDirective,
  formatMacroString,
  formatSpf,
  type Qualifier,
  reachable,
  type SpfRecord,
} from './terms.ts'

/** From strict to soft: merging takes the softest, so that nothing is refused that one of the records let through. */
const STRICTNESS: readonly Qualifier[] = ['-', '~', '?']
/** Faults that {@link repaired} mends in one record. */
const MAX_REPAIRS = 30

/** One record that does what several were meant to do together (RFC 7208 §3.2); undefined when one of them cannot be read. */
export function merged(texts: readonly string[]): string | undefined {
  const records: SpfRecord[] = []
  for (const text of texts) {
    const record = parseSpf(text)
    if (!record.ok) return undefined
    records.push(record.value)
  }
  const redirects = distinct(
    records.flatMap((record) => (record.redirect && !allOf(record) ? [record.redirect] : [])),
    formatMacroString,
  )
  const alls = records.flatMap((record) => allOf(record)?.qualifier ?? [])
  const alone = redirects.length === 1 && alls.length === 0
  const directives = distinct(
    [
      ...records.flatMap((record) => reachable(record).filter(({ mechanism }) => mechanism.kind !== 'all')),
      // Beside another record's all a redirect would do nothing: it becomes an include.
      ...(alone
        ? []
        : redirects.map((domain): Directive => ({ qualifier: '+', mechanism: { kind: 'include', domain } }))),
    ],
    formatDirective,
  )
  const exp = records.find((record) => record.exp)?.exp
  return formatSpf({
    directives: alone ? directives : [...directives, { qualifier: softest(alls), mechanism: { kind: 'all' } }],
    ...(alone ? { redirect: redirects[0]! } : {}),
    ...(exp ? { exp } : {}),
    unknown: [],
  })
}

/** `+all` is never offered: `~` stands in for it. */
const softest = (alls: readonly Qualifier[]): Qualifier =>
  STRICTNESS[Math.max(...alls.map((qualifier) => STRICTNESS.indexOf(qualifier === '+' ? '~' : qualifier)))] ?? '~'

/** The record with another `all`, or with one at the end where there was none. */
export function withAll(record: SpfRecord, qualifier: Qualifier): string {
  const before = reachable(record).filter(({ mechanism }) => mechanism.kind !== 'all')
  return formatSpf({ ...withoutRedirect(record), directives: [...before, { qualifier, mechanism: { kind: 'all' } }] })
}

/** The record without the directives that `drop` names. */
export const without = (record: SpfRecord, drop: (directive: Directive) => boolean): string =>
  formatSpf({ ...record, directives: record.directives.filter((directive) => !drop(directive)) })

/** The record without what is never looked at: terms after `all`, a redirect beside it, and terms that stand twice. */
export function tidied(record: SpfRecord): SpfRecord {
  const rest = allOf(record) ? withoutRedirect(record) : record
  return {
    ...rest,
    directives: distinct(reachable(record), ({ mechanism }) => formatDirective({ qualifier: '+', mechanism })),
  }
}

const withoutRedirect = ({ directives, exp, unknown }: SpfRecord): SpfRecord => ({
  directives,
  unknown,
  ...(exp ? { exp } : {}),
})

/** The record with its usual slips mended (`ipv4:`, `a:192.0.2.1`, `redirect:`, …); undefined when a fault remains that only its owner can mend. */
export function repaired(text: string): string | undefined {
  let rest = text
  for (let i = 0; i < MAX_REPAIRS; i++) {
    const record = parseSpf(rest)
    if (record.ok) return formatSpf(record.value)
    const at = record.at ?? 0
    const from = rest.lastIndexOf(' ', Math.max(0, at - 1)) + 1
    const space = rest.indexOf(' ', at)
    const to = space < 0 ? rest.length : space
    const term = rest.slice(from, to)
    const mended = mend(term)
    if (from < 'v=spf1 '.length || mended === undefined || mended === term) return undefined
    rest = rest.slice(0, from) + mended + rest.slice(to)
  }
  return undefined
}

const IPV4 = '\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}(?:/\\d{1,2})?'
const SLIPS: readonly (readonly [RegExp, string])[] = [
  [/^(.*[^;,])[;,]+$/, '$1'],
  [/^all[.:]$/i, 'all'],
  [/^([+\-?~])?all[.:]$/i, '$1all'],
  [new RegExp(`^([+\\-?~]?)(?:(?:ip|ipv4|ip6|ipv6|a|mx):)?(${IPV4})$`, 'i'), '$1ip4:$2'],
  [/^([+\-?~]?)(?:ip|ipv6|ip4|ipv4):([0-9a-f:]{2,39}(?:\/\d{1,3})?)$/i, '$1ip6:$2'],
  [/^([+\-?~]?)includes:/i, '$1include:'],
  [/^([+\-?~]?)exist:/i, '$1exists:'],
  [/^\+?redirect:/i, 'redirect='],
  [/^\+?exp:/i, 'exp='],
]

function mend(term: string): string | undefined {
  if (term.length > 300) return undefined
  const slip = SLIPS.find(([shape]) => shape.test(term))
  return slip ? term.replace(slip[0], slip[1]) : undefined
}

function distinct<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const key = keyOf(item).toLowerCase()
    return !seen.has(key) && seen.add(key)
  })
}
