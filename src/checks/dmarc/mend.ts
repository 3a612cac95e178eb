import { isPasted, unpasted } from '../../net/dns/pasted.ts'
import { DMARC_VERSION, type DmarcRecord, type Policy, parseDmarc, weakest } from './parse.ts'
import { mendedUris, parseReportUris, withAsciiHosts } from './uri.ts'

/** A typing error in a published record. */
export type Slip =
  | 'leading_space'
  | 'hidden_character'
  | 'quotes'
  | 'backslashes'
  | 'version'
  | 'separator'
  | 'two_records'

export type Mended = {
  readonly record: DmarcRecord
  /** In the order of the list above, each once. */
  readonly slips: readonly Slip[]
  /** The first character that is neither printable ASCII nor a tab. */
  readonly hidden?: { readonly code: string; readonly at: number }
}

/** Maximum number of characters of a text that is repaired. */
const MAX_TEXT = 4_096
const TAGS = 'sp|np|p|rua|ruf|adkim|aspf|fo|psd|pct|rf|ri|t'
const TAG = new RegExp(`^(${TAGS})[ \\t]*[=:][ \\t]*(.*)$`, 'is')
/** Another tag after white space or a comma, where a ";" is missing. */
const FORGOTTEN = new RegExp(`(?<![ \\t,])[ \\t,]+(?=(?:${TAGS}|v)[ \\t]*=)`, 'gi')
/**
 * Another tag directly after a complete value: the strings of a TXT record are joined without a space (RFC 9989 §4.5,
 * RFC 7208 §3.3).
 */
const JOINED_VALUE = new RegExp(
  `^((?:[sn]?p)[ \\t]*=[ \\t]*(?:none|quarantine|reject)|(?:adkim|aspf)[ \\t]*=[ \\t]*[rs]|pct[ \\t]*=[ \\t]*\\d{1,3}|t[ \\t]*=[ \\t]*[yn])(?=(?:${TAGS}|v)[ \\t]*=)`,
  'i',
)
const JOINED_URI =
  /^(ru[af][ \t]*=[^?]*?\.[a-z]{2,24}?)(?=(?:ru[af]|adkim|aspf|pct|psd|[sn]p|fo)[ \t]*=|v[ \t]*=[ \t]*dmarc)/i
const VERSION = /^v[ \t]*[=:]?[ \t]*dmarc[ \t_-]?1?/i

/**
 * What the owner of a faulty record evidently meant: without hidden characters, quotes and backslashes; with the
 * separators that are missing or were lost where strings were joined; with `mailto:` before addresses; and with two
 * records in one text combined into one with the weaker policies and all addresses. An unreadable policy is `none`.
 * Undefined if the text has no version.
 */
export function mendDmarc(text: string): Mended | undefined {
  const cut = (isPasted(text, DMARC_VERSION) ? unpasted(text, DMARC_VERSION) : text).slice(0, MAX_TEXT)
  const { cleaned, slips, hidden } = clean(cut)
  const version = /(?<=^|[; \t])v[ \t]*[=:]?[ \t]*dmarc[ \t_-]?1?/i.exec(cleaned)
  if (!version) return undefined
  const after = cleaned.slice(version.index + version[0].length)
  if (
    version.index > 0 ||
    cut.length < Math.min(text.length, MAX_TEXT) ||
    !/^[vV][ \t]*=[ \t]*DMARC1$/.test(version[0])
  )
    slips.add('version')
  const { records, separated } = recordsOf(`${after};${cleaned.slice(0, version.index)}`)
  if (separated || !/^[ \t]*(?:;|$)/.test(after)) slips.add('separator')
  if (records.length > 1) slips.add('two_records')
  const record = merged(records.map(readTags))
  return { record, slips: ORDER.filter((slip) => slips.has(slip)), ...(hidden ? { hidden } : {}) }
}

const ORDER: readonly Slip[] = [
  'leading_space',
  'hidden_character',
  'quotes',
  'backslashes',
  'version',
  'separator',
  'two_records',
]

/**
 * The replacement for characters that are not printable ASCII: spaces and dashes have an equivalent, invisible
 * characters are removed, and for any other the meaning is not known.
 */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/\u00c2?(?!\t)\s/g, ' '], // a UTF-8 no-break space that was read one octet per character begins with U+00C2
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u2018\u2019]/g, "'"],
  [/[\u201c-\u201f\u00ab\u00bb]/g, '"'],
  [/(?!\t)[\p{Cf}\p{Cc}\p{Mn}]/gu, ''],
  [/[^\x20-\x7e\t]/g, '!'],
]

/** The text in printable ASCII, without quotes and backslashes, and which typing errors that removed. */
function clean(written: string) {
  const text = withAsciiHosts(written)
  const slips = new Set<Slip>()
  const at = text.search(/[^\x20-\x7e\t]/)
  const hidden = at < 0 ? undefined : { code: codeOf(text.codePointAt(at)!), at }
  if (hidden) slips.add('hidden_character')
  const ascii = FOREIGN.reduce((part, [pattern, by]) => part.replace(pattern, by), text)
  if (/^[ \t]/.test(text)) slips.add('leading_space')
  const unquoted = ascii.replace(/["`]|(?<=^|[\s;,=])'|'(?=$|[\s;,])/g, '')
  if (unquoted !== ascii) slips.add('quotes')
  const cleaned = unquoted.replaceAll('\\', '').trim()
  if (unquoted.includes('\\')) slips.add('backslashes')
  return { cleaned, slips, hidden }
}

const codeOf = (point: number): string => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`

/** The items of each record in a text without its first version, and whether a separator had to be inserted. */
function recordsOf(text: string): { readonly records: readonly (readonly string[])[]; readonly separated: boolean } {
  const records: string[][] = [[]]
  const written = text
    .replace(/^[;:,.\s]+/, '')
    .split(';')
    .map((item) => item.trim())
    .filter((item) => item !== '')
  const parts = written.flatMap((item) => item.split(FORGOTTEN).flatMap(unjoined))
  for (const part of parts) {
    const version = VERSION.exec(part)
    if (version) records.push([])
    const rest = version ? part.slice(version[0].length).replace(/^[;:,.\s]+/, '') : part
    if (rest !== '') records.at(-1)!.push(rest)
  }
  return {
    records: records.filter((items, i) => items.length > 0 || i === 0),
    separated: parts.length > written.length,
  }
}

/** An item split where one tag runs into the next. */
function unjoined(item: string): readonly string[] {
  const out: string[] = []
  let rest = item.trim()
  for (;;) {
    const joined = JOINED_VALUE.exec(rest) ?? JOINED_URI.exec(rest)
    if (!joined || out.length >= 20) return [...out, rest]
    out.push(joined[0])
    rest = rest.slice(joined[0].length)
  }
}

function readTags(items: readonly string[]): DmarcRecord {
  const tags = new Map<string, string>()
  let last: string | undefined
  for (const item of items) {
    const [, name, value = ''] = TAG.exec(item) ?? []
    const tag = name?.toLowerCase()
    const before = tags.get(tag ?? last ?? '')
    const isList = tag === 'rua' || tag === 'ruf'
    // A list of addresses separated by ";" instead of ",".
    if (tag === undefined && (last === 'rua' || last === 'ruf') && item.includes('@'))
      tags.set(last, `${before},${item}`)
    else if (tag !== undefined && before === undefined) tags.set(tag, value)
    else if (tag !== undefined && isList) tags.set(tag, `${before},${value}`)
    else if (tag !== undefined && /^[sn]?p$/.test(tag)) tags.set(tag, weakest(policyIn(before), policyIn(value)))
    last = tag ?? last
  }
  for (const tag of ['p', 'sp', 'np']) if (tags.has(tag)) tags.set(tag, policyIn(tags.get(tag)))
  for (const tag of ['rua', 'ruf']) {
    const uris = urisIn(tags.get(tag) ?? '')
    if (uris === '') tags.delete(tag)
    else tags.set(tag, uris)
  }
  const text = [...tags].map(([tag, value]) => `; ${tag}=${value}`).join('')
  const reading = parseDmarc(`v=DMARC1${text}`)
  if (!reading.ok) throw new Error('a record with its version is one')
  return reading.value.record
}

/**
 * The policy that a word means, by its first letters, as in "rejct" and "quarantined". An unreadable word is `none`.
 */
function policyIn(value = ''): Policy {
  const word = value.toLowerCase().replace(/[^a-z]/g, '')
  if (word.startsWith('rej')) return 'reject'
  return word.startsWith('qua') ? 'quarantine' : 'none'
}

const urisIn = (value: string): string =>
  parseReportUris(value)
    .uris.flatMap((uri) => (uri.problem === undefined ? [uri] : mendedUris(uri)))
    .map(({ uri, size }) => `${uri}${size ?? ''}`)
    .join(',')

/** One record of several: the weakest policies and all addresses. */
function merged(records: readonly DmarcRecord[]): DmarcRecord {
  const [first, ...others] = records
  if (first === undefined || others.length === 0) return first ?? readTags([])
  return others.reduce(mergeTwo, first)
}

/** Two records as one: the weaker of each policy, the other tags of the first, and all addresses, each once. */
export function mergeTwo(a: DmarcRecord, b: DmarcRecord): DmarcRecord {
  const uris = (tag: 'rua' | 'ruf') =>
    [...new Map([...a[tag], ...b[tag]].map((uri) => [uri.uri, uri])).values()].slice(0, 10)
  const p = weakest(a.p, b.p)
  const sp = weakest(a.sp ?? a.p, b.sp ?? b.p)
  const np = weakest(a.np ?? a.sp ?? a.p, b.np ?? b.sp ?? b.p)
  const { sp: _, np: __, ...rest } = a
  return {
    ...rest,
    p,
    ...(sp === p ? {} : { sp }),
    ...(np === sp ? {} : { np }),
    testing: a.testing || b.testing,
    removed: { ...b.removed, ...a.removed },
    rua: uris('rua'),
    ruf: uris('ruf'),
  }
}
