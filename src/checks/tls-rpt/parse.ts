import { type Parsed, parsed, problem } from '../../base/parsed.ts'
import { parseReportUris, type ReportUri } from '../dmarc/index.ts'

/** A TLSRPT record (RFC 8460 §3). A destination with a `problem` cannot be used; there is at least one without. */
export type TlsRptRecord = {
  readonly rua: readonly ReportUri[]
  /** Extensions, as written; none is defined today. At most 20. */
  readonly extensions: readonly string[]
}

const MAX_FIELDS = 100
const MAX_EXTENSIONS = 20
const EXTENSION = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}=[\x21-\x3a\x3c\x3e-\x7e]+$/

/** Whether a text is a TLSRPT record at all: those that are not are discarded before records are counted (RFC 8460 §3). */
export const isTlsRpt = (text: string): boolean => /^v=TLSRPTv1[ \t]*(?:;|$)/.test(text.slice(0, 2_000))

/** Whether a text was probably meant to be a TLSRPT record. */
export const resemblesTlsRpt = (text: string): boolean =>
  /^["\s]{0,8}v\s{0,8}=?\s{0,8}tls-?rpt/i.test(text.slice(0, 64))

/** Reads a TLSRPT record by the grammar of RFC 8460 §3, which leaves no room: senders need not use what breaks it. At most 50 destinations a field. */
export function parseTlsRpt(text: string): Parsed<TlsRptRecord> {
  if (!isTlsRpt(text)) return problem('the record does not begin with "v=TLSRPTv1;"', 0)
  const fields = text.split(';')
  if (fields.length > MAX_FIELDS) return problem(`the record has more than ${MAX_FIELDS} fields`)
  if (fields.at(-1)!.trim() === '') fields.pop() // one ";" may end the record
  const rua: ReportUri[] = []
  const extensions: string[] = []
  let at = fields[0]!.length + 1
  for (const field of fields.slice(1)) {
    const body = field.trim()
    const start = at + field.indexOf(body)
    at += field.length + 1
    if (body === '') return problem('a field is empty', start)
    if (body.startsWith('rua=')) rua.push(...parseReportUris(body.slice(4)).uris.map(withoutSize))
    else if (EXTENSION.test(body)) extensions.push(body)
    else return problem(`${JSON.stringify(body.slice(0, 60))} is no field of the form name=value`, start)
  }
  if (rua.length === 0) return problem('there is no rua')
  const wrong = rua.find((uri) => uri.problem !== undefined)
  if (wrong && rua.every((uri) => uri.problem !== undefined))
    return problem(`rua has no address that can be used: ${JSON.stringify(wrong.uri.slice(0, 60))}: ${wrong.problem}`)
  return parsed({ rua, extensions: extensions.slice(0, MAX_EXTENSIONS) })
}

/** Prints a record; `parseTlsRpt` of it gives the record again. */
export const formatTlsRpt = (record: TlsRptRecord): string =>
  ['v=TLSRPTv1', `rua=${record.rua.map((uri) => uri.uri).join(',')}`, ...record.extensions].join('; ')

/** RFC 8460 §3 has no sizes and only these schemes. */
function withoutSize({ size, ...uri }: ReportUri): ReportUri {
  if (size !== undefined) return { ...uri, problem: 'a "!" must be written as %21' }
  const supported = uri.scheme === 'mailto' || uri.scheme === 'https'
  return uri.problem === undefined && !supported ? { ...uri, problem: 'not a mailto or https address' } : uri
}
