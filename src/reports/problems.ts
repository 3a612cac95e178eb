import { errorsOf } from '../base/errors.ts'
import { quoted, shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'

type Named = { readonly domain: string }

/** Why a report that was read is not taken, and why an import has to be repeated. */
export const importError = errorsOf('report_import', {
  forbidden: {
    code: 'forbidden',
    detail: ({ domain }: Named) => `the key is not made for ${quoted(domain)} (keys create --domains)`,
  },
  unknown_domain: {
    code: 'bad_report',
    detail: ({ domain }: Named) =>
      `nobody here takes reports about ${quoted(domain)}: name it in --reports-domains, or make a monitor or a key for it`,
  },
  too_old: {
    code: 'bad_report',
    detail: ({ day, oldest }: { day: string; oldest: string }) =>
      `the report is about ${shown(day, 20)}; reports are kept from ${shown(oldest, 20)} on (--reports-keep)`,
  },
  too_many_apart: {
    code: 'payload_too_large',
    detail: ({ max }: { max: number }) => `the message brings more than ${counted(max, 'report')} that do not count`,
  },
  no_room: {
    code: 'payload_too_large',
    detail: () => 'the room for reports that do not count is full: it is not kept',
  },
  too_many_words: {
    code: 'limit_reached',
    detail: ({ max }: { max: number }) =>
      `something is said about ${counted(max, 'sender')} of this domain: take one of them back first`,
  },
  unanswered: {
    code: 'upstream_unavailable',
    detail: () => 'the DNS does not answer, so that the signature of the message cannot be verified now: try again',
  },
})

type Line = { readonly line?: number }
const at = ({ line }: Line): string => (line === undefined ? '' : ` in line ${line}`)

/**
 * Why an input cannot be read as reports. `at` of the error is not used: the line is a value of the sentence and of
 * `refused` in the answer.
 */
export const reportError = errorsOf('reports', {
  none: {
    code: 'bad_report',
    detail: () =>
      'there is no report in it; accepted are DMARC aggregate reports (XML) and TLS reports (JSON), also in gzip, zip, messages and mbox',
  },
  empty: { code: 'bad_report', detail: () => 'the file is empty' },
  format: {
    code: 'bad_report',
    detail: ({ what }: { what: string }) =>
      `it is ${shown(what, 40)}, which is not read; send the report (XML or JSON) itself, or in gzip, zip or a message`,
  },
  root: {
    code: 'bad_report',
    detail: ({ name }: { name: string }) =>
      `there is no report in it: the root element of the XML is ${quoted(name)}, not "feedback"`,
  },
  xml: {
    code: 'bad_report',
    detail: (v: Line & { reason: string }) => `the XML cannot be read${at(v)}: ${quoted(v.reason, 160)}`,
  },
  doctype: { code: 'bad_report', detail: (v: Line) => `the XML has a document type${at(v)}, which no report needs` },
  second: {
    code: 'bad_report',
    detail: (v: Line) => `a second report begins${at(v)}: send each as a file, or all of them in a zip`,
  },
  depth: {
    code: 'bad_report',
    detail: (v: Line & { max: number }) => `elements are nested more than ${v.max} deep${at(v)}`,
  },
  long_text: {
    code: 'bad_report',
    detail: (v: Line & { max: number }) => `a text or an attribute${at(v)} is longer than ${v.max} characters`,
  },
  cut_off: { code: 'bad_report', detail: () => 'the file ends within the report' },
  missing: { code: 'bad_report', detail: ({ what }: { what: string }) => `the report has no ${shown(what, 80)}` },
  time: {
    code: 'bad_report',
    detail: ({ what, text }: { what: string; text: string }) =>
      `the ${shown(what, 20)} of the report is ${quoted(text, 60)}; write it in Unix seconds or as 2026-11-23T00:00:00Z`,
  },
  policy_domains: {
    code: 'bad_report',
    detail: ({ one, other }: { one: string; other: string }) =>
      `the TLS report has no policy-domain, and the name of its file and the fields of its message do not agree: ${quoted(one)}, ${quoted(other)}`,
  },
  domain: { code: 'bad_report', detail: ({ text }: { text: string }) => `the domain of the report is ${quoted(text)}` },
  range: {
    code: 'bad_report',
    detail: ({ begin, end }: { begin: string; end: string }) =>
      `the report is about the time from ${quoted(begin)} to ${quoted(end)}, which is not possible`,
  },
  count: {
    code: 'bad_report',
    detail: (v: Line & { text: string; max: number }) =>
      `the count ${quoted(v.text)}${at(v)} is not a whole number from 0 to ${v.max}`,
  },
  address: {
    code: 'bad_report',
    detail: (v: Line & { text: string }) => `the source address ${quoted(v.text)}${at(v)} is not an IP address`,
  },
  json: {
    code: 'bad_report',
    detail: ({ reason }: { reason: string }) => `the JSON cannot be read: ${quoted(reason, 160)}`,
  },
  archive: {
    code: 'bad_report',
    detail: ({ kind, reason }: { kind: 'gzip' | 'zip' | 'message'; reason: string }) =>
      `the ${shown(kind, 20)} cannot be read: ${quoted(reason, 160)}`,
  },
  nesting: {
    code: 'bad_report',
    detail: ({ max }: { max: number }) => `archives and messages are nested more than ${max} deep`,
  },
  rows: {
    code: 'payload_too_large',
    detail: ({ max }: { max: number }) => `the report has more than ${counted(max, 'row')}`,
  },
  policies: {
    code: 'payload_too_large',
    detail: ({ max }: { max: number }) => `the TLS report has more than ${counted(max, 'policy', 'policies')}`,
  },
  details: {
    code: 'payload_too_large',
    detail: ({ max }: { max: number }) => `the TLS report has more than ${counted(max, 'failure detail')}`,
  },
  members: {
    code: 'bad_report',
    detail: ({ max }: { max: number }) => `an object of the JSON has more than ${counted(max, 'member')}`,
  },
  json_depth: {
    code: 'bad_report',
    detail: ({ max }: { max: number }) => `objects and arrays of the JSON are nested more than ${max} deep`,
  },
  entries: {
    code: 'payload_too_large',
    detail: ({ max }: { max: number }) =>
      `the input has more than ${counted(max, 'file')} and messages in it: send it in parts, or name it to reports import`,
  },
  unpacked: {
    code: 'payload_too_large',
    detail: ({ max }: { max: number }) => `the input unpacks to more than ${counted(max, 'octet')}: send it in parts`,
  },
  too_large: {
    code: 'payload_too_large',
    detail: ({ max }: { max: number }) => `the input has more than ${counted(max, 'octet')} (--max-report)`,
  },
})
