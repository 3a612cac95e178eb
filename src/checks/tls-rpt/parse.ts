import { type Parsed, parsed, problem } from '../../base/parsed.ts'
import { MAX_URIS, parseReportUris, type ReportUri, reportUriProblem } from '../dmarc/index.ts'
import { hasVersion, parseFields } from '../mta-sts/index.ts'
import { tlsRptProblem } from './problems.ts'

/** A TLSRPT record (RFC 8460 §3). A destination with a `problem` cannot be used; at least one has none. */
export type TlsRptRecord = {
  readonly rua: readonly ReportUri[]
  /** Extensions, as written; none is defined today. At most 20. */
  readonly extensions: readonly string[]
}

const VERSION = 'v=TLSRPTv1'
/** Maximum number of extensions that are kept. */
const MAX_EXTENSIONS = 20

/** Whether a text is a TLSRPT record at all: others are discarded before records are counted (RFC 8460 §3). */
export const isTlsRpt = (text: string): boolean => hasVersion(text, VERSION)

/** Whether a text was probably meant to be a TLSRPT record. */
export const resemblesTlsRpt = (text: string): boolean =>
  /^["\s]{0,8}v\s{0,8}=?\s{0,8}tls-?rpt/i.test(text.slice(0, 64))

/**
 * Reads a TLSRPT record by the grammar of RFC 8460 §3, strictly: senders need not use a record that violates it. At
 * most 50 destinations per field.
 */
export function parseTlsRpt(text: string): Parsed<TlsRptRecord> {
  const fields = parseFields(text, VERSION, 'rua')
  if (!fields.ok) return fields
  const rua = fields.value.filter((field) => field.name === 'rua').flatMap((field) => urisOf(field.value))
  const extensions = fields.value.filter((field) => field.name !== 'rua').map((field) => `${field.name}=${field.value}`)
  if (rua.length === 0) return problem(tlsRptProblem('no_rua'))
  const [wrong] = rua
  if (wrong?.problem && rua.every((uri) => uri.problem !== undefined))
    return problem(tlsRptProblem('no_address', { text: wrong.uri, why: wrong.problem }))
  return parsed({ rua, extensions: extensions.slice(0, MAX_EXTENSIONS) })
}

/** Formats a record; `parseTlsRpt` of the result returns the same record. */
export const formatTlsRpt = (record: TlsRptRecord): string =>
  [VERSION, `rua=${record.rua.map((uri) => uri.uri).join(',')}`, ...record.extensions].join('; ')

/** The grammar does not permit a comma beside an empty item. */
function urisOf(value: string): readonly ReportUri[] {
  const { uris, empty } = parseReportUris(value)
  const nothing = empty > 0 ? [{ uri: '', scheme: '', problem: reportUriProblem('empty') }] : []
  return [...uris.map(withoutSize), ...nothing].slice(-MAX_URIS)
}

/** RFC 8460 §3 has no sizes, and only these schemes. */
function withoutSize({ size, ...uri }: ReportUri): ReportUri {
  if (size !== undefined) return { ...uri, problem: reportUriProblem('exclamation') }
  const supported = uri.scheme === 'mailto' || uri.scheme === 'https'
  return uri.problem === undefined && !supported ? { ...uri, problem: tlsRptProblem('scheme') } : uri
}
