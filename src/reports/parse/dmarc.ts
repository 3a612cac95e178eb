import { SaxesParser } from 'saxes'
import type { AppError } from '../../base/errors.ts'
import { canonicalName } from '../../names/domain.ts'
import { parseIp } from '../../names/ip.ts'
import { reportError } from '../problems.ts'
import { type DkimResult, type DmarcHead, type DmarcRow, MAX_COUNT, type SpfResult } from '../report.ts'
import { encodingOf, HEAD_OCTETS } from './containers.ts'

/** Maximum nesting of elements; reports have 6. */
const MAX_DEPTH = 32
/** Maximum length of a text or a tag, characters. */
const MAX_TEXT = 65_536
/** Characters that are parsed at once. */
const PIECE = 32_768
/**
 * Maximum length of a kept text, characters: names have 253, selectors and organizations less. An index of PostgreSQL
 * has room for it, whatever they are.
 */
const MAX_KEPT = 512
/** Results of one method that a record keeps. */
const MAX_RESULTS = 20
/** Policy overrides that a record keeps. */
const MAX_REASONS = 10
/** Records of a report. */
export const MAX_ROWS = 1_000_000
/** The elements of `policy_published` (RFC 7489 appendix C, RFC 9990 §3.1.1.4), without its domain. */
const POLICY = new Set(['p', 'sp', 'np', 'adkim', 'aspf', 'pct', 'fo', 'testing', 'discovery_method'])

/**
 * Reads a DMARC aggregate report as a stream: elements in any order, with any prefix, in any encoding. `onRow` gets
 * each record that has messages; the promise that it may return is waited for between chunks. Memory does not grow with
 * the records.
 * Rejects with AppError `bad_report` (with the line) for XML that is no report, and `payload_too_large` above
 * {@link MAX_ROWS} records.
 */
export async function readDmarc(
  octets: AsyncIterable<Uint8Array>,
  onRow: (row: DmarcRow) => void,
  flush: () => Promise<void> | undefined = () => undefined,
): Promise<DmarcHead> {
  const reader = dmarcReader(onRow)
  let decoder: InstanceType<typeof TextDecoder> | undefined
  for await (const chunk of octets) {
    let text: string
    if (decoder === undefined) {
      decoder = new TextDecoder(encodingOf(chunk.subarray(0, HEAD_OCTETS)))
      text = decoder.decode(chunk, { stream: true }).trimStart() // a declaration after an empty line
    } else text = decoder.decode(chunk, { stream: true })
    reader.write(text)
    const waiting = flush()
    if (waiting !== undefined) await waiting
  }
  return reader.end()
}

/** The texts of one record, by element. */
type Draft = {
  address: string
  count: string
  /** The lines of both. */
  lines: { address: number; count: number }
  disposition: string
  dkim: string
  spf: string
  reasons: string[]
  headerFrom: string
  envelopeFrom: string
  dkimResults: DkimResult[]
  spfResults: SpfResult[]
}

const emptyDraft = (): Draft => ({
  address: '',
  count: '',
  lines: { address: 0, count: 0 },
  disposition: '',
  dkim: '',
  spf: '',
  reasons: [],
  headerFrom: '',
  envelopeFrom: '',
  dkimResults: [],
  spfResults: [],
})

/** The texts of a record by `parent element`, as they are kept. */
const TEXTS: Readonly<Record<string, 'disposition' | 'dkim' | 'spf' | 'headerFrom' | 'envelopeFrom'>> = {
  'policy_evaluated disposition': 'disposition',
  'policy_evaluated dkim': 'dkim',
  'policy_evaluated spf': 'spf',
  'identifiers header_from': 'headerFrom',
  'identifiers envelope_from': 'envelopeFrom',
}

/** Reads the records of a report from their elements, whose place is in `path`. `line`: where the parser is. */
function recordReader(path: readonly string[], line: () => number, onRow: (row: DmarcRow) => void) {
  let records = 0
  let messages = 0
  let draft = emptyDraft()
  let auth = { domain: '', selector: '', scope: '', result: '' }

  /** An element within a record, or the record itself, has ended. */
  function close(name: string, value: string): void {
    const depth = path.length + 1
    if (depth === 2) {
      closeRecord()
      return
    }
    const parent = path[depth - 2]
    if (parent === 'row') {
      if (name !== 'source_ip' && name !== 'count') return
      const what = name === 'count' ? 'count' : 'address'
      draft[what] = value
      draft.lines[what] = line()
      return
    }
    const field = TEXTS[`${parent} ${name}`]
    if (field !== undefined) {
      draft[field] = parent === 'identifiers' ? nameOf(value) : value.toLowerCase()
    } else if (parent === 'reason') {
      if (name === 'type' && value !== '' && draft.reasons.length < MAX_REASONS) draft.reasons.push(value.toLowerCase())
    } else if (path[2] === 'auth_results' || (depth === 4 && parent === 'auth_results')) closeResult(depth, name, value)
  }

  function closeResult(depth: number, name: string, value: string): void {
    if (depth === 5) {
      if (name === 'domain') auth.domain = nameOf(value)
      else if (name === 'selector') auth.selector = nameOf(value)
      else if (name === 'scope') auth.scope = value.toLowerCase()
      else if (name === 'result') auth.result = value.toLowerCase()
      return
    }
    const { domain, selector, scope, result } = auth
    if (domain === '' && result === '') return
    if (name === 'dkim' && draft.dkimResults.length < MAX_RESULTS) draft.dkimResults.push({ domain, selector, result })
    if (name === 'spf' && draft.spfResults.length < MAX_RESULTS) draft.spfResults.push({ domain, scope, result })
  }

  function closeRecord(): void {
    if (draft.count === '' && draft.address === '') return // an empty element
    const count = countOf(draft.count, draft.lines.count || line())
    if (count === 0) return // a record without messages says nothing
    const address = parseIp(draft.address.replace(DECORATED, '$1'))
    if (!address.ok) throw reportError('address', { text: draft.address, line: draft.lines.address || line() })
    messages += count
    if (messages > MAX_COUNT) throw reportError('count', { text: String(messages), max: MAX_COUNT, line: line() })
    onRow({
      address: address.value,
      count,
      disposition: draft.disposition,
      dkimAligned: alignedOf(draft.dkim),
      spfAligned: alignedOf(draft.spf),
      reasons: draft.reasons,
      headerFrom: draft.headerFrom,
      envelopeFrom: draft.envelopeFrom,
      dkim: draft.dkimResults,
      spf: draft.spfResults,
    })
  }

  return {
    open: (): void => {
      if (++records > MAX_ROWS) throw reportError('rows', { max: MAX_ROWS })
      draft = emptyDraft()
    },
    openResult: (): void => void (auth = { domain: '', selector: '', scope: '', result: '' }),
    close,
    counts: () => ({ records, messages }),
  }
}

function dmarcReader(onRow: (row: DmarcRow) => void) {
  const parser = new SaxesParser()
  const path: string[] = []
  let text = ''
  let isComplete = false
  const head: Record<string, string | undefined> = {}
  const policy: Record<string, string> = {}
  let lastEvent = 0
  let written = 0

  const line = (): number => parser.line
  const record = recordReader(path, line, onRow)
  const addText = (more: string): void => {
    lastEvent = parser.position
    if (text.length < MAX_KEPT) text += more.slice(0, MAX_KEPT - text.length)
  }
  parser.on('error', (error) => {
    if (isComplete) return // what a mail gateway adds
    // A word in angle brackets in a text about the reporter is no element.
    if (path[1] === 'report_metadata' && error.message.endsWith('unexpected close tag.')) return
    throw reportError('xml', { reason: error.message.replace(/^\d+:\d+: /, ''), line: line() })
  })
  parser.on('doctype', (text) => {
    throw /^\s*html\b/i.test(text) ? reportError('format', { what: HTML }) : reportError('doctype', { line: line() })
  })
  parser.on('text', addText)
  // In it nothing is noise; a text that says "&amp;" there is none that a report has.
  parser.on('cdata', (more) => addText(more.replaceAll('&lt;', '<').replaceAll('&amp;', '&')))
  parser.on('opentag', ({ name }) => {
    lastEvent = parser.position
    if (path.length >= MAX_DEPTH) throw reportError('depth', { max: MAX_DEPTH, line: line() })
    const local = name.slice(name.indexOf(':') + 1).toLowerCase()
    if (isComplete) {
      if (local === 'feedback') throw reportError('second', { line: line() })
      return
    }
    if (path.length === 0 && local !== 'feedback')
      throw local === 'html'
        ? reportError('format', { what: HTML })
        : reportError('root', { name: name.slice(name.indexOf(':') + 1) })
    path.push(local)
    text = ''
    if (path.length === 2 && local === 'record') record.open()
    else if (path.length === 4 && path[2] === 'auth_results') record.openResult()
  })
  parser.on('closetag', () => {
    lastEvent = parser.position
    if (isComplete) return
    const depth = path.length
    const name = path.pop()!
    const value = text.trim()
    text = ''
    if (depth === 1) isComplete = true
    else if (path[1] === 'record' || (depth === 2 && name === 'record')) record.close(name, value)
    else if (depth === 2 && name === 'version') head.version = value
    else if (path[1] === 'report_metadata')
      head[depth === 4 && path[2] === 'date_range' ? name : `metadata_${name}`] = value
    else if (path[1] === 'policy_published' && depth === 3) {
      if (name === 'domain') head.domain = value
      else if (POLICY.has(name)) policy[name] = value
    }
  })

  let held = ''
  return {
    write: (text: string): void => {
      const whole = held + text
      const end = endOfWhole(whole)
      held = whole.slice(end)
      const chunk = repaired(whole.slice(0, end))
      for (let at = 0; at < chunk.length; at += PIECE) {
        const piece = chunk.slice(at, at + PIECE)
        parser.write(piece)
        written += piece.length
        // The parser holds a text or tag until it ends. Between two pieces its position counts the last one twice.
        if (written - lastEvent > MAX_TEXT) throw reportError('long_text', { max: MAX_TEXT, line: line() })
      }
    },
    end: (): DmarcHead => {
      // Behind the last record only the last tag may be missing: nothing of the data is, whatever text stands there.
      const { records, messages } = record.counts()
      const isWhole = isComplete || (path.length === 1 && records > 0 && !(held + text).includes('<'))
      if (!isWhole) throw reportError(path.length === 0 && records === 0 ? 'none' : 'cut_off')
      if (isComplete) {
        parser.write(repaired(held))
        parser.close()
      }
      return {
        organization: head.metadata_org_name ?? null,
        email: head.metadata_email ?? null,
        reportId: head.metadata_report_id ?? null,
        domain: head.domain === undefined ? null : nameOf(head.domain),
        begin: timeOf('begin', head.begin),
        end: timeOf('end', head.end),
        policy,
        records,
        messages,
      }
    },
  }
}

const HTML = 'an HTML page'

/** An address with what some write around it: `[IPv6:2001:db8::1]`, `192.0.2.1/32`, `192.0.2.1:25`, `fe80::1%eth0`. */
const DECORATED = /^\[?(?:IPv6:)?([\d.]+|[\da-f:.]*:[\da-f:.]*:[\da-f:.]*)(?:%\w{1,20})?\]?(?:\/32|\/128|:\d{1,5})?$/i

/** What is no data: the encoding is known without a declaration, and some stand in the wrong place. */
const NOISE = new RegExp(
  [
    /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/, // begins no reference
    /&#(?:x0?[0-8bcef]|x1[\da-f]|[0-8]|1[124-9]|2\d|3[01]);/, // a control character, which XML does not have
    /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/,
    /<(?!\/?[a-z_][\w:.-]{0,100}[\s/>]|[!?])/, // begins no tag
    /<!--[^<>]{0,2000}-->/, // some hold two hyphens
    /<\/?xsd?:schema(?:\s[^<>]{0,2000})?>/, // a schema around the data
    /<\?xml\s[^<>]{0,2000}>/,
    /<[a-z_][\w:.-]{0,100}\s[^<>]{1,2000}>/, // attributes: none is read, and some are not well-formed
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
)

const repaired = (text: string): string =>
  text.replace(NOISE, (found) => {
    if (found === '&' || found === '<') return found === '&' ? '&amp;' : '&lt;'
    const [, tag] = /^<(?!\/?xsd?:schema|\?|!--)([^\s>]+)/i.exec(found) ?? []
    return tag === undefined ? '' : `<${tag}${found.endsWith('/>') ? '/' : ''}>`
  })

/** Longest beginning of a reference or tag that is looked at as a whole. */
const MAX_OPEN = 2_100
/** The index up to which no reference and no tag is cut. */
function endOfWhole(text: string): number {
  const at = Math.max(text.lastIndexOf('<'), text.lastIndexOf('&'))
  if (at < 0 || text.length - at > MAX_OPEN) return text.length
  return /[>;]/.test(text.slice(at)) ? text.length : at
}

/** A name in the form for comparison, cut: what is not a name stays readable in the row. */
const nameOf = (text: string): string => canonicalName(text).slice(0, 253)

const alignedOf = (result: string): boolean | null => (result === '' ? null : result === 'pass')

function countOf(text: string, line: number): number {
  if (text === '') throw reportError('missing', { what: `count in the record that ends in line ${line}` })
  const count = /^\+?\d{1,16}(?:\.0{1,6})?$/.test(text) ? Number(text) : Number.NaN
  if (!(count <= MAX_COUNT)) throw reportError('count', { text, max: MAX_COUNT, line })
  return count
}

/**
 * Unix seconds; some write a fraction, or smaller units, or a time of RFC 3339 (in UTC without a zone) or RFC 5322.
 * Throws AppError `bad_report` for another text.
 */
function timeOf(what: 'begin' | 'end', text = ''): number {
  if (text === '') throw reportError('missing', { what: `date_range with a ${what} in Unix seconds` })
  const seconds = Math.floor(secondsOf(text))
  if (Number.isNaN(seconds)) throw reportError('time', { what, text })
  return seconds
}

/** 13 digits are milliseconds, 16 microseconds, 19 nanoseconds: as seconds they would be thousands of years away. */
const UNITS: Readonly<Record<number, number>> = { 13: 1e3, 16: 1e6, 19: 1e9 }
function secondsOf(text: string): number {
  const compact = /^(20\d\d)(\d\d)(\d\d)$/.exec(text) // as seconds it would be August 1970
  if (compact) return Date.parse(compact.slice(1).join('-')) / 1_000
  if (/^\d{1,12}(?:\.\d{1,9})?$|^\d(?:\.\d{1,12})?e\+?0?9$/i.test(text)) return Number(text)
  if (/^\d+$/.test(text)) return Number(text) / (UNITS[text.length] ?? Number.NaN)
  const [, day, time = '00:00:00', zone = 'Z'] =
    /^(\d{4}[-/]\d\d[-/]\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?)?$/i.exec(text) ??
    []
  if (day === undefined)
    return /^(?:[a-z]{3}, )?\d{1,2} [a-z]{3} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})$/i.test(text)
      ? Date.parse(text) / 1_000
      : Number.NaN
  const offset = /^[+-]/.test(zone) ? zone.replace(/^(...):?/, '$1:') : 'Z'
  return Date.parse(`${day.replaceAll('/', '-')}T${time}${offset}`) / 1_000
}

/** The line of a fault, where its sentence has one. */
export const lineOf = (error: AppError): number | undefined => {
  const { line } = error.problem.values
  return typeof line === 'number' ? line : undefined
}
