import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { isPasted } from '../../net/dns/pasted.ts'
import { dmarcProblem } from './problems.ts'
import { formatReportUri, MAX_URIS, parseReportUris, type ReportUri } from './uri.ts'

/** The action that a domain owner requests for mail that fails DMARC (RFC 9989 §4.7 p). */
export type Policy = 'none' | 'quarantine' | 'reject'

/** A DMARC policy record (RFC 9989 §4.7): the tags that could be read, with the defaults of missing ones. */
export type DmarcRecord = {
  readonly p?: Policy
  readonly sp?: Policy
  readonly np?: Policy
  readonly adkim: 'r' | 's'
  readonly aspf: 'r' | 's'
  readonly fo: readonly string[]
  readonly psd: 'y' | 'n' | 'u'
  /** `t=y`: the owner is testing, and policies are applied one step lower. */
  readonly testing: boolean
  readonly rua: readonly ReportUri[]
  readonly ruf: readonly ReportUri[]
  /** Tags that RFC 9989 removed (Appendix C.5.2), as written; older receivers still use them. */
  readonly removed: Readonly<Partial<Record<RemovedTag, string>>>
}
type RemovedTag = 'pct' | 'rf' | 'ri'

/** A fault in a record that is nevertheless a DMARC record. `at` is the zero-based index in the text. */
export type Fault = {
  /** `item`: not `tag=value`; `value`: an invalid value; `duplicate`: a repeated tag; `limit`: more than is read. */
  readonly kind: 'item' | 'value' | 'duplicate' | 'limit'
  readonly tag: string
  readonly value: string
  readonly at: number
}

export type DmarcReading = {
  readonly record: DmarcRecord
  readonly faults: readonly Fault[]
  /** Names of unregistered tags, in order (RFC 9989 §4.7: ignored). */
  readonly unknown: readonly string[]
  /** Names of tags that are not in lower case, as written. */
  readonly capitals: readonly string[]
  /** `p` directly follows `v`, as RFC 7489 §6.3 required. */
  readonly policySecond: boolean
}

/** Maximum number of tags of a record. */
export const MAX_TAGS = 100

const VERSION = /^[vV][ \t]*=[ \t]*DMARC1$/
const MISPLACED_VERSION = /(?:^|[; \t])v=DMARC1\b/
const LOOKALIKE = /^[^\x21-\x7e]*["'\\]*[^\x21-\x7e]*v[^\x21-\x7e]*[=:]?[^\x21-\x7e]*dmarc/i

/**
 * Reads a TXT record as a DMARC policy record (RFC 9989 §4.7, §4.8). Not `ok` if the text does not begin with the tag
 * `v=DMARC1`: such a record must be ignored as a whole. Everything else that is wrong is a fault, and the tag has its
 * default.
 */
export function parseDmarc(text: string): Parsed<DmarcReading> {
  const items = itemsOf(text)
  const first = trimmedEnd(items[0]!.text)
  // RFC 9989 §4.7 v: the value matches exactly, and the tag is the first. The name of the tag is an ABNF string, which
  // is case-insensitive.
  if (!VERSION.test(first)) return problem(dmarcProblem('version'), 0)
  const faults: Fault[] = []
  const { tags, capitals } = tagsOf(items, faults)
  if (first.startsWith('V')) capitals.unshift('V')
  if (items.length > MAX_TAGS + 1) faults.push({ kind: 'limit', tag: '', value: '', at: items[MAX_TAGS + 1]!.at })
  return parsed({
    record: recordOf(tags, faults),
    faults: faults.sort((a, b) => a.at - b.at),
    unknown: [...tags.keys()].filter((name) => !KNOWN.has(name)),
    capitals,
    policySecond: /^[ \t]*p[ \t]*=/i.test(items[1]?.text ?? ''),
  })
}

type Item = { readonly text: string; readonly at: number }

/**
 * The tags after the version, the first of each name; invalid items and repeated tags are added to `faults`. Names are
 * accepted in any case, as deployed receivers do.
 */
function tagsOf(items: readonly Item[], faults: Fault[]): { readonly tags: Tags; readonly capitals: string[] } {
  const tags = new Map<string, { value: string; at: number }>()
  const capitals: string[] = []
  for (const [i, item] of items.slice(1, MAX_TAGS + 1).entries()) {
    const body = trimmed(item.text)
    if (body === '' && i === items.length - 2) break // one ";" may end the record
    const at = item.at + item.text.search(/[^ \t]|$/)
    const [, written, text = ''] = /^([A-Za-z]+)[ \t]*=(.*)$/s.exec(body) ?? []
    const name = written?.toLowerCase()
    const value = trimmed(text)
    if (name === undefined) faults.push({ kind: 'item', tag: '', value: body, at })
    else if (tags.has(name)) faults.push({ kind: 'duplicate', tag: name, value, at })
    else tags.set(name, { value, at })
    if (written !== undefined && written !== name) capitals.push(written)
  }
  return { tags, capitals }
}

/**
 * Without white space at its ends: space and tab (RFC 5234 WSP). A no-break space or any other octet is part of the
 * text.
 */
const trimmed = (text: string): string => trimmedEnd(text).replace(/^[ \t]+/, '')
const trimmedEnd = (text: string): string => text.replace(/(?<![ \t])[ \t]+$/, '')

/** The version as it is written inside a longer text. */
export const DMARC_VERSION = /v ?= ?DMARC ?1/i

/** Whether a text that is no DMARC record was probably meant to be one. */
export const resemblesDmarc = (text: string): boolean =>
  isPasted(text, DMARC_VERSION) || LOOKALIKE.test(text.slice(0, 64)) || MISPLACED_VERSION.test(text.slice(0, 512))

/**
 * Formats a record in the order of RFC 7489 §6.3, without defaults; `parseDmarc` of the result returns the same record.
 */
export function formatDmarc(record: DmarcRecord): string {
  const tags: [string, string | undefined][] = [
    ['p', record.p],
    ['sp', record.sp],
    ['np', record.np],
    ['adkim', record.adkim === 's' ? 's' : undefined],
    ['aspf', record.aspf === 's' ? 's' : undefined],
    ['psd', record.psd === 'u' ? undefined : record.psd],
    ['t', record.testing ? 'y' : undefined],
    ['fo', record.fo.join(':') === '0' ? undefined : record.fo.join(':')],
    ['rua', record.rua.length > 0 ? record.rua.map(formatReportUri).join(',') : undefined],
    ['ruf', record.ruf.length > 0 ? record.ruf.map(formatReportUri).join(',') : undefined],
    ...Object.entries(record.removed),
  ]
  return ['v=DMARC1', ...tags.flatMap(([tag, value]) => (value === undefined ? [] : [`${tag}=${value}`]))].join('; ')
}

const KNOWN = new Set(['p', 'sp', 'np', 'adkim', 'aspf', 'fo', 'psd', 't', 'rua', 'ruf', 'pct', 'rf', 'ri'])
const POLICY = ['none', 'quarantine', 'reject'] as const

type Tags = ReadonlyMap<string, { readonly value: string; readonly at: number }>

function recordOf(tags: Tags, faults: Fault[]): DmarcRecord {
  /** The value of a tag if it is one of `values`, in any case (RFC 5234 §2.3); otherwise a fault. */
  function oneOf<T extends string>(tag: string, values: readonly T[]): T | undefined {
    const found = tags.get(tag)
    if (found === undefined) return undefined
    const value = values.find((candidate) => candidate === found.value.toLowerCase())
    if (value === undefined) faults.push({ kind: 'value', tag, ...found })
    return value
  }
  function uris(tag: 'rua' | 'ruf'): readonly ReportUri[] {
    const found = tags.get(tag)
    if (found === undefined) return []
    const { uris, written, empty } = parseReportUris(found.value)
    if (empty > 0) faults.push({ kind: 'item', tag, value: ',', at: found.at })
    if (written > MAX_URIS) faults.push({ kind: 'limit', tag, value: String(written), at: found.at })
    return uris
  }
  const p = oneOf('p', POLICY)
  const sp = oneOf('sp', POLICY)
  const np = oneOf('np', POLICY)
  const removed = (['pct', 'rf', 'ri'] as const).flatMap((tag) => (tags.has(tag) ? [[tag, tags.get(tag)!.value]] : []))
  return {
    ...(p ? { p } : {}),
    ...(sp ? { sp } : {}),
    ...(np ? { np } : {}),
    adkim: oneOf('adkim', ['r', 's']) ?? 'r',
    aspf: oneOf('aspf', ['r', 's']) ?? 'r',
    fo: failureOptions(tags, faults),
    psd: oneOf('psd', ['y', 'n', 'u']) ?? 'u',
    testing: oneOf('t', ['y', 'n']) === 'y',
    rua: uris('rua'),
    ruf: uris('ruf'),
    removed: Object.fromEntries(removed),
  }
}

/**
 * The values of `fo` (RFC 9989 §4.7). Looser than the ABNF of §4.8, which the text above it contradicts with `fo=0:d`:
 * any list of the four.
 */
function failureOptions(tags: Tags, faults: Fault[]): readonly string[] {
  const found = tags.get('fo')
  if (found === undefined) return ['0']
  const options = found.value.split(':', 10).map((option) => trimmed(option).toLowerCase())
  if (options.every((option) => /^[01ds]$/.test(option)) && found.value.length <= 64) return options
  faults.push({ kind: 'value', tag: 'fo', ...found })
  return ['0']
}

function itemsOf(text: string): Item[] {
  let at = 0
  return text.split(';').map((item) => {
    const here = { text: item, at }
    at += item.length + 1
    return here
  })
}

/** The policies of one record, for the name itself and for the names below it. */
export type Policies = { readonly p: Policy; readonly sp: Policy; readonly np: Policy }

/**
 * The policies of a record, or why it cannot be applied (RFC 9989 §4.10.1). A missing `p` is `none` (§4.7). If `p`,
 * `sp` or `np` has an invalid value, the record counts as `p=none` if it names a valid destination of aggregate
 * reports; otherwise DMARC is not applied.
 */
export function policiesOf(reading: DmarcReading): Policies | 'duplicate' | 'invalid' {
  // RFC 6376 §3.2, the source of the syntax in RFC 9989 §4.7: a repeated tag makes the whole list invalid.
  if (reading.faults.some((fault) => fault.kind === 'duplicate')) return 'duplicate'
  const { record } = reading
  if (invalidPolicyTags(reading).length > 0) {
    return record.rua.some((uri) => uri.problem === undefined) ? { p: 'none', sp: 'none', np: 'none' } : 'invalid'
  }
  const p = record.p ?? 'none'
  const sp = record.sp ?? p
  return { p, sp, np: record.np ?? sp }
}

/** Those of `p`, `sp` and `np` with an invalid value. */
export const invalidPolicyTags = (reading: DmarcReading): readonly string[] =>
  reading.faults
    .filter((fault) => fault.kind === 'value' && ['p', 'sp', 'np'].includes(fault.tag))
    .map((fault) => fault.tag)

const STRENGTH: Record<Policy, number> = { none: 0, quarantine: 1, reject: 2 }

export const weaker = (a: Policy, b: Policy): boolean => STRENGTH[a] < STRENGTH[b]

/** The weaker of two policies; a missing one is `none` (RFC 9989 §4.7). */
export const weakest = (a: Policy = 'none', b: Policy = 'none'): Policy => (weaker(b, a) ? b : a)

/** The policy that is applied while testing: one step lower (RFC 9989 §4.7 t). */
export const lowered = (policy: Policy): Policy => (policy === 'reject' ? 'quarantine' : 'none')

/** The `pct` of a record, 0 to 100 (RFC 7489 §6.3); 100 if it is missing or not a number. */
export const shareOf = ({ record }: DmarcReading): number => {
  const pct = record.removed.pct
  return pct !== undefined && /^\d{1,9}$/.test(pct) ? Math.min(100, Number(pct)) : 100
}
