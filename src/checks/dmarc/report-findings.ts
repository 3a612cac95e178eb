import { printable } from '../../base/text.ts'
import type { Finding } from '../check.ts'
import { deadMailHosts } from '../dead-mail-hosts.ts'
import type { Applied, DmarcFacts } from './facts.ts'
import { finding } from './findings.ts'
import { authorizationFix, type Basis, changedFix } from './fixes.ts'
import { destinationProblem } from './problems.ts'
import type { Mail } from './record-findings.ts'
import { type Destination, MAX_DESTINATIONS } from './reports.ts'

/** Maximum number of report destinations that are reported individually. */
const MAX_TOLD = 10

/** The findings about report destinations (RFC 9989 §4.7 rua and ruf, RFC 9990 §4). */
export function reportFindings(facts: DmarcFacts, applied: Applied, basis: Basis, context: Mail): Finding[] {
  const all = [...facts.rua, ...facts.ruf]
  const hosts = [...new Map(all.flatMap((uri) => (uri.host ? [[uri.host, uri] as const] : []))).values()]
  const of = (authorization: Destination['authorization']): Destination[] =>
    hosts.filter((uri) => uri.authorization === authorization).slice(0, MAX_TOLD)
  const invalid = all.filter((uri) => uri.problem !== undefined).slice(0, MAX_TOLD)
  const schemes = all.filter((uri) => uri.problem === undefined && uri.scheme !== 'mailto').slice(0, MAX_TOLD)
  // About a host without authorization there is no further finding; a domain that accepts no mail cannot receive its
  // own reports.
  const takesNone = hosts.filter(
    (uri) =>
      uri.authorization !== 'unauthorized' &&
      (uri.takesMail === false ||
        (uri.takesMail !== undefined && uri.host === facts.domain && context.takes === false)),
  )
  return [
    ...invalid.map((uri) =>
      finding(
        'dmarc.report_uri',
        { uri: printable(uri.uri, 120), problem: uri.problem ?? '' },
        { evidence: applied.text, fix: changedFix(basis) },
      ),
    ),
    ...schemes.map((uri) => finding('dmarc.report_scheme', { uri: printable(uri.uri, 120), scheme: uri.scheme })),
    ...of('unauthorized').map((uri) =>
      finding(
        'dmarc.report_unauthorized',
        { host: uri.host!, domain: applied.domain, reason: uri.reason ?? '', takesNone: context.takes === false },
        { evidence: uri.uri, ...(uri.takesMail === false ? {} : { fix: authorizationFix(applied, uri) }) },
      ),
    ),
    ...takesNone.slice(0, MAX_TOLD).map((uri) => {
      const reason = uri.takesMail === false ? (uri.reason ?? '') : destinationProblem('no_mail')
      const isOwn = uri.host === facts.domain && context.takes === false
      const cause = isOwn ? deadMailHosts(context.mail) : undefined
      const unreachable = finding(
        'dmarc.rua_unreachable',
        { host: uri.host!, reason },
        { evidence: uri.uri, ...(isOwn && cause === undefined ? { fix: changedFix(basis) } : {}) },
      )
      return { ...unreachable, ...(cause !== undefined && { follows: cause }) }
    }),
    ...of('unknown').map((uri) => finding('dmarc.report_unknown', { host: uri.host!, reason: uri.reason ?? '' })),
    ...(hosts.length > MAX_DESTINATIONS
      ? [finding('dmarc.report_limit', { hosts: hosts.length, limit: MAX_DESTINATIONS })]
      : []),
  ]
}
