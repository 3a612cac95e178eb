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
  disposition: '',
  dkim: '',
  spf: '',
  reasons: [],
  headerFrom: '',
  envelopeFrom: '',
  dkimResults: [],
  spfResults: [],
})

function dmarcReader(onRow: (row: DmarcRow) => void) {
  const parser = new SaxesParser()
  const path: string[] = []
  let text = ''
  let records = 0
  let messages = 0
  let isComplete = false
  let draft = emptyDraft()
  let auth = { domain: '', selector: '', scope: '', result: '' }
  const head: Record<string, string | undefined> = {}
  const policy: Record<string, string> = {}
  let lastEvent = 0
  let written = 0

  const line = (): number => parser.line
  const addText = (more: string): void => {
    lastEvent = parser.position
    if (text.length < MAX_KEPT) text += more.slice(0, MAX_KEPT - text.length)
  }
  parser.on('error', (error) => {
    throw reportError('xml', { reason: error.message.replace(/^\d+:\d+: /, ''), line: line() })
  })
  parser.on('doctype', () => {
    throw reportError('doctype', { line: line() })
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('opentag', ({ name }) => {
    lastEvent = parser.position
    if (path.length >= MAX_DEPTH) throw reportError('depth', { max: MAX_DEPTH, line: line() })
    const local = name.slice(name.indexOf(':') + 1)
    if (path.length === 0 && local !== 'feedback') throw reportError('none')
    path.push(local)
    text = ''
    if (path.length === 2 && local === 'record') {
      if (++records > MAX_ROWS) throw reportError('rows', { max: MAX_ROWS })
      draft = emptyDraft()
    } else if (path.length === 4 && path[2] === 'auth_results')
      auth = { domain: '', selector: '', scope: '', result: '' }
  })
  parser.on('closetag', () => {
    lastEvent = parser.position
    const depth = path.length
    const name = path.pop()!
    const value = text.trim()
    text = ''
    if (depth === 1) isComplete = true
    else if (path[1] === 'record' || (depth === 2 && name === 'record')) closeInRecord(depth, name, value)
    else if (depth === 2 && name === 'version') head.version = value
    else if (path[1] === 'report_metadata')
      head[depth === 4 && path[2] === 'date_range' ? name : `metadata_${name}`] = value
    else if (path[1] === 'policy_published' && depth === 3) {
      if (name === 'domain') head.domain = value
      else if (POLICY.has(name)) policy[name] = value
    }
  })

  function closeInRecord(depth: number, name: string, value: string): void {
    if (depth === 2) {
      closeRecord()
      return
    }
    const parent = path[depth - 2]
    if (parent === 'row') {
      if (name === 'source_ip') draft.address = value
      else if (name === 'count') draft.count = value
    } else if (parent === 'policy_evaluated') {
      if (name === 'disposition') draft.disposition = value.toLowerCase()
      else if (name === 'dkim') draft.dkim = value.toLowerCase()
      else if (name === 'spf') draft.spf = value.toLowerCase()
    } else if (parent === 'reason') {
      if (name === 'type' && value !== '' && draft.reasons.length < MAX_REASONS) draft.reasons.push(value.toLowerCase())
    } else if (parent === 'identifiers') {
      if (name === 'header_from') draft.headerFrom = nameOf(value)
      else if (name === 'envelope_from') draft.envelopeFrom = nameOf(value)
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
    const count = countOf(draft.count, line())
    if (count === 0) return // a record without messages says nothing
    const address = parseIp(draft.address)
    if (!address.ok) throw reportError('address', { text: draft.address, line: line() })
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
    write: (chunk: string): void => {
      for (let at = 0; at < chunk.length; at += PIECE) {
        const piece = chunk.slice(at, at + PIECE)
        parser.write(piece)
        written += piece.length
        // The parser holds a text or tag until it ends. Between two pieces its position counts the last one twice.
        if (written - lastEvent > MAX_TEXT) throw reportError('long_text', { max: MAX_TEXT, line: line() })
      }
    },
    end: (): DmarcHead => {
      if (!isComplete) throw reportError(path.length === 0 && records === 0 ? 'none' : 'cut_off')
      parser.close()
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

/** A name in the form for comparison, cut: what is not a name stays readable in the row. */
const nameOf = (text: string): string => canonicalName(text).slice(0, 253)

const alignedOf = (result: string): boolean | null => (result === '' ? null : result === 'pass')

function countOf(text: string, line: number): number {
  if (text === '') return 0
  const count = /^\+?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!(count <= MAX_COUNT)) throw reportError('count', { text, max: MAX_COUNT, line })
  return count
}

/** Unix seconds; some write a fraction. */
function timeOf(what: 'begin' | 'end', text: string | undefined): number {
  const seconds = text !== undefined && /^\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Math.floor(Number(text)) : Number.NaN
  if (Number.isNaN(seconds)) throw reportError('missing', { what: `date_range with a ${what} in Unix seconds` })
  return seconds
}

/** The line of a fault, where its sentence has one. */
export const lineOf = (error: AppError): number | undefined => {
  const { line } = error.problem.values
  return typeof line === 'number' ? line : undefined
}
