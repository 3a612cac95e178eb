import { mend } from './mend/mend.ts'
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

/** From strict to soft: merging uses the softest, so that no mail is refused that one of the records accepted. */
const STRICTNESS: readonly Qualifier[] = ['-', '~', '?']

/**
 * The record that is offered in place of texts that receivers do not use: each as its owner meant it, several of them merged (RFC 7208 §3.2), and `-all` as
 * `~all`, so that mail that receivers accept today is not refused at once. Undefined if a fault remains that only the owner can correct.
 */
export function mended(texts: readonly string[]): string | undefined {
  const record = meantBy(texts)
  return record && formatSpf(softened(record))
}

/** The one record that the owner of some texts meant; undefined when a fault remains. */
export function meantBy(texts: readonly string[]): SpfRecord | undefined {
  const records: SpfRecord[] = []
  for (const text of texts) {
    const found = mend(text)
    if (!found.ok) return undefined
    records.push(...found.value.records)
  }
  return records.length === 1 ? records[0]! : merged(records)
}

/** The record with `~all` for `-all`; a record that names nobody stays unchanged. */
export const softened = (record: SpfRecord): SpfRecord =>
  namesSomebody(record) && allOf(record)?.qualifier === '-' ? ending(record, '~') : record

/** Whether the record itself names a sender, or delegates that to another record. */
export const namesSomebody = (record: SpfRecord): boolean =>
  (record.redirect !== undefined && !allOf(record)) ||
  reachable(record).some(({ qualifier, mechanism }) => qualifier === '+' && mechanism.kind !== 'all')

/** One record with the combined meaning of several, with the softest of their `all`s. */
function merged(records: readonly SpfRecord[]): SpfRecord {
  const redirects = distinct(
    records.flatMap((record) => (record.redirect && !allOf(record) ? [record.redirect] : [])),
    formatMacroString,
  )
  const alls = records.flatMap((record) => allOf(record)?.qualifier ?? [])
  const alone = redirects.length === 1 && alls.length === 0
  const directives = distinct(
    [
      ...records.flatMap((record) => reachable(record).filter(({ mechanism }) => mechanism.kind !== 'all')),
      // With another record's all, a redirect would have no effect, so it becomes an include.
      ...(alone
        ? []
        : redirects.map((domain): Directive => ({ qualifier: '+', mechanism: { kind: 'include', domain } }))),
    ],
    formatDirective,
  )
  const exp = records.find((record) => record.exp)?.exp
  return {
    directives: alone ? directives : [...directives, { qualifier: softest(alls), mechanism: { kind: 'all' } }],
    ...(alone ? { redirect: redirects[0]! } : {}),
    ...(exp ? { exp } : {}),
    unknown: [],
  }
}

/** `+all` is never offered; `~all` replaces it. */
const softest = (alls: readonly Qualifier[]): Qualifier =>
  STRICTNESS[Math.max(...alls.map((qualifier) => STRICTNESS.indexOf(qualifier === '+' ? '~' : qualifier)))] ?? '~'

/** The record with another `all`, or with one at the end if there was none. */
export const withAll = (record: SpfRecord, qualifier: Qualifier): string => formatSpf(ending(record, qualifier))

function ending(record: SpfRecord, qualifier: Qualifier): SpfRecord {
  const before = reachable(record).filter(({ mechanism }) => mechanism.kind !== 'all')
  return { ...withoutRedirect(record), directives: [...before, { qualifier, mechanism: { kind: 'all' } }] }
}

/** The record without the directives that `drop` names. */
export const without = (record: SpfRecord, drop: (directive: Directive) => boolean): SpfRecord => ({
  ...record,
  directives: record.directives.filter((directive) => !drop(directive)),
})

/** The record with an include before its `all`. */
export const withInclude = (record: SpfRecord, name: string): string => {
  const own: Directive = { qualifier: '+', mechanism: { kind: 'include', domain: [{ kind: 'literal', text: name }] } }
  const end = record.directives.findIndex(({ mechanism }) => mechanism.kind === 'all')
  const at = end < 0 ? record.directives.length : end
  return formatSpf({ ...record, directives: record.directives.toSpliced(at, 0, own) })
}

/** The record without unused terms: terms after `all`, a redirect beside it, and duplicates. */
export function tidied(record: SpfRecord): SpfRecord {
  const rest = allOf(record) ? withoutRedirect(record) : record
  return { ...rest, directives: distinct(reachable(record), withoutQualifier) }
}

/** The record with the senders named after `all` in front of it, and with a redirect beside `all` as an include: they were meant to pass. */
export function reordered(record: SpfRecord): SpfRecord {
  const all = allOf(record)
  if (!all) return tidied(record)
  const { redirect } = record
  const named = record.directives.filter(({ mechanism }) => mechanism.kind !== 'all')
  const led: readonly Directive[] = redirect
    ? [{ qualifier: '+', mechanism: { kind: 'include', domain: redirect } }]
    : []
  return { ...withoutRedirect(record), directives: distinct([...named, ...led, all], withoutQualifier) }
}

const withoutQualifier = ({ mechanism }: Directive): string => formatDirective({ qualifier: '+', mechanism })

const withoutRedirect = ({ directives, exp, unknown }: SpfRecord): SpfRecord => ({
  directives,
  unknown,
  ...(exp ? { exp } : {}),
})

function distinct<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const key = keyOf(item).toLowerCase()
    return !seen.has(key) && seen.add(key)
  })
}
