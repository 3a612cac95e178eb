import { defineFindings, info, low, medium } from '../check.ts'

export const findings = defineFindings({
  'tls_rpt.no_record': low({
    title: 'No TLS reports',
    detail: ({ domain }) =>
      `_smtp._tls.${domain} has no TLSRPT record, so senders do not report when mail to the domain cannot be encrypted.`,
    repair: 'Publish the record shown, with a mailbox that exists.',
    unoffered: 'Publish "v=TLSRPTv1; rua=mailto:" with a mailbox that exists at _smtp._tls.',
    reference: 'RFC 8460 §3',
  }),
  'tls_rpt.no_mail': info({
    title: 'No TLS reports needed',
    detail: ({ domain, reason }) => `${domain} ${reason}, so there is nothing to report on.`,
    reference: 'RFC 7505 §3',
  }),
  'tls_rpt.several_records': medium({
    title: 'Several TLSRPT records',
    detail: ({ domain, count }) =>
      `_smtp._tls.${domain} has ${count} TLSRPT records; senders then act as if there were none.`,
    repair: 'Keep one, with all addresses.',
    reference: 'RFC 8460 §3',
  }),
  'tls_rpt.version': medium({
    title: 'Invalid TLSRPT version',
    detail: ({ domain }) =>
      `The record at _smtp._tls.${domain} does not begin with exactly "v=TLSRPTv1;", so senders ignore it.`,
    repair: 'Correct the version.',
    reference: 'RFC 8460 §3',
  }),
  'tls_rpt.syntax': medium({
    title: 'Invalid TLSRPT record',
    detail: ({ problem, at }) => `${problem}${Number(at) >= 0 ? ` (at character ${at})` : ''}.`,
    repair: 'Correct the record; the one shown has the right form.',
    unoffered: 'Correct the record.',
    reference: 'RFC 8460 §3',
  }),
  'tls_rpt.report_uri': low({
    title: 'Invalid TLS report address',
    detail: ({ uri, problem }) => `${JSON.stringify(uri)}: ${problem}. No reports are sent there.`,
    repair: 'Write it as mailto:name@domain or https://host/path, or remove it.',
    reference: 'RFC 8460 §3',
  }),
})
