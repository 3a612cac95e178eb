import { printable } from '../../base/text.ts'
import type { Finding } from '../check.ts'
import type { Applied, DmarcFacts } from './facts.ts'
import { finding } from './finding.ts'
import { authorizationFix, changedFix } from './fixes.ts'
import { type Destination, MAX_DESTINATIONS } from './reports.ts'

/** Destinations that are told one by one. */
const MAX_TOLD = 10

/** What is to say of where reports go (RFC 9989 §4.7 rua and ruf, RFC 9990 §4). */
export function reportFindings(facts: DmarcFacts, applied: Applied): Finding[] {
  const all = [...facts.rua, ...facts.ruf]
  const hosts = [...new Map(all.flatMap((uri) => (uri.host ? [[uri.host, uri] as const] : []))).values()]
  const of = (authorization: Destination['authorization']): Destination[] =>
    hosts.filter((uri) => uri.authorization === authorization).slice(0, MAX_TOLD)
  const invalid = all.filter((uri) => uri.problem !== undefined).slice(0, MAX_TOLD)
  const schemes = all.filter((uri) => uri.problem === undefined && uri.scheme !== 'mailto').slice(0, MAX_TOLD)
  return [
    ...invalid.map((uri) =>
      finding(
        'dmarc.report_uri',
        { uri: printable(uri.uri, 120), problem: uri.problem ?? '' },
        { evidence: applied.text, fix: changedFix(applied, {}) },
      ),
    ),
    ...schemes.map((uri) => finding('dmarc.report_scheme', { uri: printable(uri.uri, 120), scheme: uri.scheme })),
    ...of('unauthorized').map((uri) =>
      finding(
        'dmarc.report_unauthorized',
        { host: uri.host!, domain: applied.domain, reason: uri.reason ?? '' },
        { evidence: uri.uri, fix: authorizationFix(applied, uri) },
      ),
    ),
    ...of('unknown').map((uri) => finding('dmarc.report_unknown', { host: uri.host!, reason: uri.reason ?? '' })),
    ...(hosts.length > MAX_DESTINATIONS
      ? [finding('dmarc.report_limit', { hosts: hosts.length, limit: MAX_DESTINATIONS })]
      : []),
  ]
}
