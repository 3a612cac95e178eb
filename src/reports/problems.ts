import { errorsOf } from '../base/errors.ts'
import { quoted, shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'

type Named = { readonly domain: string }

/** Why a report that was read is not taken, and why an import has to be repeated. */
export const importError = errorsOf('report_import', {
  forbidden: { forbidden: ({ domain }: Named) => `the key is not made for ${quoted(domain)} (keys create --domains)` },
  bad_report: {
    unknown_domain: ({ domain }: Named) =>
      `nobody here takes reports about ${quoted(domain)}: name it in --reports-domains, or make a monitor or a key for it`,
    too_old: ({ day, oldest }: { day: string; oldest: string }) =>
      `the report is about ${shown(day, 20)}; reports are kept from ${shown(oldest, 20)} on (--reports-keep)`,
  },
  payload_too_large: {
    too_many_apart: ({ max }: { max: number }) =>
      `the message brings more than ${counted(max, 'report')} that do not count`,
    no_room: () => 'the room for reports that do not count is full: it is not kept',
  },
  limit_reached: {
    too_many_words: ({ max }: { max: number }) =>
      `something is said about ${counted(max, 'sender')} of this domain: take one of them back first`,
  },
  upstream_unavailable: {
    unanswered: () => 'the DNS does not answer, so that the signature of the message cannot be verified now: try again',
  },
})

type Line = { readonly line?: number }
const at = ({ line }: Line): string => (line === undefined ? '' : ` in line ${line}`)

/**
 * Why an input cannot be read as reports. `at` of the error is not used: the line is a value of the sentence and of
 * `refused` in the answer.
 */
export const reportError = errorsOf('reports', {
  bad_report: {
    none: () =>
      'there is no report in it; accepted are DMARC aggregate reports (XML) and TLS reports (JSON), also in gzip, zip, messages and mbox',
    empty: () => 'the file is empty',
    format: ({ what }: { what: string }) =>
      `it is ${shown(what, 40)}, which is not read; send the report (XML or JSON) itself, or in gzip, zip or a message`,
    root: ({ name }: { name: string }) =>
      `there is no report in it: the root element of the XML is ${quoted(name)}, not "feedback"`,
    xml: (v: Line & { reason: string }) => `the XML cannot be read${at(v)}: ${quoted(v.reason, 160)}`,
    doctype: (v: Line) => `the XML has a document type${at(v)}, which no report needs`,
    second: (v: Line) => `a second report begins${at(v)}: send each as a file, or all of them in a zip`,
    depth: (v: Line & { max: number }) => `elements are nested more than ${v.max} deep${at(v)}`,
    long_text: (v: Line & { max: number }) => `a text or an attribute${at(v)} is longer than ${v.max} characters`,
    cut_off: () => 'the file ends within the report',
    missing: ({ what }: { what: string }) => `the report has no ${shown(what, 80)}`,
    time: ({ what, text }: { what: string; text: string }) =>
      `the ${shown(what, 20)} of the report is ${quoted(text, 60)}; write it in Unix seconds or as 2026-11-23T00:00:00Z`,
    policy_domains: ({ one, other }: { one: string; other: string }) =>
      `the TLS report has no policy-domain, and the name of its file and the fields of its message do not agree: ${quoted(one)}, ${quoted(other)}`,
    domain: ({ text }: { text: string }) => `the domain of the report is ${quoted(text)}`,
    range: ({ begin, end }: { begin: string; end: string }) =>
      `the report is about the time from ${quoted(begin)} to ${quoted(end)}, which is not possible`,
    count: (v: Line & { text: string; max: number }) =>
      `the count ${quoted(v.text)}${at(v)} is not a whole number from 0 to ${v.max}`,
    address: (v: Line & { text: string }) => `the source address ${quoted(v.text)}${at(v)} is not an IP address`,
    json: ({ reason }: { reason: string }) => `the JSON cannot be read: ${quoted(reason, 160)}`,
    archive: ({ kind, reason }: { kind: 'gzip' | 'zip' | 'message'; reason: string }) =>
      `the ${shown(kind, 20)} cannot be read: ${quoted(reason, 160)}`,
    nesting: ({ max }: { max: number }) => `archives and messages are nested more than ${max} deep`,
    members: ({ max }: { max: number }) => `an object of the JSON has more than ${counted(max, 'member')}`,
    json_depth: ({ max }: { max: number }) => `objects and arrays of the JSON are nested more than ${max} deep`,
  },
  payload_too_large: {
    rows: ({ max }: { max: number }) => `the report has more than ${counted(max, 'row')}`,
    policies: ({ max }: { max: number }) => `the TLS report has more than ${counted(max, 'policy', 'policies')}`,
    details: ({ max }: { max: number }) => `the TLS report has more than ${counted(max, 'failure detail')}`,
    entries: ({ max }: { max: number }) =>
      `the input has more than ${counted(max, 'file')} and messages in it: send it in parts, or name it to reports import`,
    unpacked: ({ max }: { max: number }) => `the input unpacks to more than ${counted(max, 'octet')}: send it in parts`,
    too_large: ({ max }: { max: number }) => `the input has more than ${counted(max, 'octet')} (--max-report)`,
  },
})
