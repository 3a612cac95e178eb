import type { CheckAnswer } from '../answers/check.ts'
import type { ProfileVerdict } from '../answers/profile.ts'
import type { Json } from '../base/json.ts'
import { GOOGLE, MICROSOFT, YAHOO } from './bulk-sender.ts'
import {
  judgeProfile,
  met,
  notMet,
  notObservable,
  type Profile,
  type Rule,
  type Ruling,
  unknown,
  verdictOf,
} from './profile.ts'

/** Profiles of domains: rule sets that somebody else wrote, judged by the answer of a check or report. */

const BOD = 'https://www.cisa.gov/news-events/directives/bod-18-01-enhance-email-and-web-security'
const GOV_UK = 'https://www.gov.uk/guidance/set-up-government-email-services-securely'
const GOV_UK_PARKED = 'https://www.gov.uk/guidance/protect-domains-that-dont-send-email'
const M3AAWG = 'https://www.m3aawg.org/sites/default/files/m3aawg_parked_domains_bp-2015-12.pdf'
const INTERNET_NL = 'https://internet.nl/faqs/'

type DomainRule = Rule<CheckAnswer>
type Judge = DomainRule['judge']
const NOT_APPLICABLE = (because: string): Ruling => ({ status: 'not_applicable', because })
const unasked = (reason: string | undefined): Ruling => unknown(reason ?? 'it could not be determined')

/** A rule about mail hosts: it does not apply without any. */
const ofHosts =
  (judge: (answer: CheckAnswer) => Ruling): Judge =>
  (answer) => {
    if (answer.mx_status === 'unknown') return unasked(answer.mx_reason)
    return answer.mx.length === 0 ? NOT_APPLICABLE('the domain has no mail hosts') : judge(answer)
  }
const hasNoMail = ({ domain_role: { name } }: CheckAnswer): boolean => name === 'parked' || name === 'no_mail'

const spfExists: Judge = ({ spf }) => {
  if (spf.status === 'unknown') return unasked(spf.reason)
  return spf.valid ? met('the SPF record is valid') : notMet(spf.reason ?? 'there is no valid SPF record')
}
const spfEndsIn =
  (qualifiers: readonly string[]): Judge =>
  ({ spf }) => {
    if (spf.status === 'unknown') return unasked(spf.reason)
    if (!spf.valid) return notMet(spf.reason ?? 'there is no valid SPF record')
    const end = spf.all === undefined ? 'nothing' : `${spf.all}all`
    return qualifiers.includes(end) ? met(`the record ends in ${end}`) : notMet(`the record ends in ${end}`)
  }
const spfPassesNobody: Judge = ({ spf }) => {
  if (spf.status === 'unknown') return unasked(spf.reason)
  const isClosed = spf.valid && /^v=spf1\s+-all\s*$/i.test(spf.record ?? '')
  return isClosed ? met('the record is v=spf1 -all') : notMet('the record is not v=spf1 -all')
}

const dmarcExists: Judge = ({ dmarc }) => {
  if (dmarc.status === 'unknown') return unasked(dmarc.reason)
  return dmarc.valid ? met(`the policy is ${dmarc.policy}`) : notMet(dmarc.reason ?? 'no DMARC record applies')
}
const dmarcIs =
  (policies: readonly string[]): Judge =>
  ({ dmarc }) => {
    if (dmarc.status === 'unknown') return unasked(dmarc.reason)
    if (!dmarc.valid) return notMet(dmarc.reason ?? 'no DMARC record applies')
    const { pct = 100, effective_policy: effective } = dmarc
    if (pct < 100) return notMet(`the policy is ${dmarc.policy} for ${pct} % of the mail`)
    return policies.includes(effective) ? met(`receivers apply ${effective}`) : notMet(`receivers apply ${effective}`)
  }
const dmarcReports: Judge = ({ dmarc }) => {
  if (dmarc.status === 'unknown') return unasked(dmarc.reason)
  return dmarc.rua.length > 0 ? met('aggregate reports are asked for') : notMet('the record has no rua')
}
const dmarcReportsTo =
  (mailbox: string): Judge =>
  ({ dmarc }) => {
    if (dmarc.status === 'unknown') return unasked(dmarc.reason)
    const isThere = dmarc.rua.some(({ uri }) => uri.toLowerCase().startsWith(`mailto:${mailbox}`))
    return isThere ? met(`rua has ${mailbox}`) : notMet(`rua does not have ${mailbox}`)
  }

const dkimExists: Judge = (answer) => {
  if (hasNoMail(answer)) return NOT_APPLICABLE('the domain sends no mail')
  const { dkim } = answer
  if (dkim.keys.some(({ usable }) => usable))
    return met(`a key is published at ${dkim.keys.find(({ usable }) => usable)?.selector}`)
  if (dkim.discovery === 'proven_absent') return notMet('no key is published')
  return unknown('no key was found at the selectors that were tried; a selector from a message would tell')
}
const dkimRevoked: Judge = ({ dkim }) => {
  if (dkim.status === 'unknown' || dkim.discovery === 'unknown') return unasked(dkim.reason)
  const usable = dkim.keys.find((key) => key.usable)
  return usable ? notMet(`a usable key is published at ${usable.selector}`) : met('no usable key was found')
}

const mtaSts: Judge = ofHosts(({ mta_sts: sts }) => {
  if (sts.status === 'unknown') return unasked(sts.reason)
  return sts.policy?.mode === 'enforce'
    ? met('the policy is enforced')
    : notMet(`the mode is ${sts.policy?.mode ?? 'none'}`)
})
const tlsRpt: Judge = ofHosts(({ tls_rpt: rpt }) => {
  if (rpt.status === 'unknown') return unasked(rpt.reason)
  return rpt.valid ? met('TLS reports are asked for') : notMet(rpt.reason ?? 'there is no TLS-RPT record')
})

type Host = NonNullable<CheckAnswer['starttls']>['hosts'][number]
/** A rule about each mail host as it was connected to. */
const ofConnections = (judge: (host: Host) => boolean | null, yes: string, no: string): Judge =>
  ofHosts(({ starttls }) => {
    if (starttls === undefined)
      return unknown('no mail host was connected to: ask for the report, or with starttls=true')
    const wrong = starttls.hosts.find((host) => judge(host) === false)
    if (wrong) return notMet(`${wrong.host} ${no}`)
    const open = starttls.hosts.find((host) => judge(host) === null)
    if (open || starttls.hosts.length === 0) return unknown(`${open?.host ?? 'every host'} could not be asked`)
    return met(yes)
  })
const offersTls = ofConnections(({ offered }) => offered, 'every mail host offers STARTTLS', 'does not offer STARTTLS')
const modernTls = ofConnections(
  ({ offered, protocol, outdated_protocol: outdated }) => {
    if (offered === false) return false
    return protocol === null ? null : outdated === undefined || outdated === null
  },
  'every mail host speaks TLS 1.2 or later alone, as far as it was tried',
  'accepts an outdated version of TLS, or none',
)
const dane: Judge = ofHosts(({ dane: { status, reason, hosts } }) => {
  if (status === 'unknown') return unasked(reason)
  const bare = hosts.find(({ records }) => !records.some(({ usable }) => usable))
  if (bare) return notMet(`${bare.host} has no usable TLSA record`)
  return status === 'fail' ? notMet('a TLSA record does not match') : met('every mail host has a TLSA record')
})

const signed: Judge = ({ dnssec }) => {
  if (dnssec.bogus) return notMet('the signature is bogus')
  if (dnssec.signed === null) return unasked(dnssec.reason)
  return dnssec.signed ? met('the zone is signed') : notMet('the zone is not signed')
}
const signedHosts: Judge = ofHosts(({ dane: { hosts } }) => {
  if (hosts.some(({ secure }) => secure === null) || hosts.length === 0)
    return unknown('it could not be determined for every mail host')
  const plain = hosts.find(({ secure }) => !secure)
  return plain ? notMet(`the zone of ${plain.host} is not signed`) : met('the zones of all mail hosts are signed')
})
const isV6 = (address: string): boolean => address.includes(':')
const hostsOverV6: Judge = ofHosts(({ mx }) => {
  const unresolved = mx.find(({ resolvable }) => resolvable === null)
  if (unresolved) return unknown(`the addresses of ${unresolved.host} are not known`)
  const bare = mx.find(({ addresses }) => !addresses.some(({ address }) => isV6(address)))
  return bare ? notMet(`${bare.host} has no IPv6 address`) : met('every mail host has an IPv6 address')
})
const serversOverV6: Judge = ({ ns }) => {
  if (ns.status === 'unknown' && ns.servers.length === 0) return unasked(ns.reason)
  const count = ns.servers.filter(({ addresses }) => addresses.some(isV6)).length
  return count >= 2
    ? met(`${count} name servers have an IPv6 address`)
    : notMet(`${count} name servers have an IPv6 address`)
}
const refusesMail: Judge = ({ mx_status: status, mx_reason: reason, mx_kind: kind }) => {
  if (status === 'unknown') return unasked(reason)
  return kind === 'null' ? met('a null MX refuses mail') : notMet('there is no null MX (RFC 7505)')
}

/** The day on which the pages were read. */
const SEEN = '2026-11-26'

/** The findings that say why a rule is not met, by its id. */
const FAULTS: Readonly<Record<string, RegExp>> = {
  spf: /^spf\./,
  spf_policy: /^spf\./,
  dkim: /^dkim\./,
  dkim_key: /^dkim\.(?:short_key|broken_key)$/,
  dmarc: /^dmarc\.(?!policy_|no_rua|report_|rua_)/,
  dmarc_policy: /^dmarc\.(?!no_rua|report_|rua_)/,
  dmarc_enforced: /^dmarc\.(?!no_rua|report_|rua_)/,
  dmarc_reject: /^dmarc\.(?!no_rua|report_|rua_)/,
  dmarc_reports: /^dmarc\.(?!policy_)/,
  mta_sts: /^mta_sts\./,
  tls_rpt: /^tls_rpt\./,
  tls: /^starttls\.(?:not_offered|broken)$/,
  starttls: /^starttls\.(?:not_offered|broken)$/,
  tls_version: /^starttls\.(?:not_offered|old_)/,
  dane: /^dane\./,
  dnssec: /^dnssec\./,
  dnssec_mx: /^dane\.insecure$/,
  ipv6_mx: /^mx\.no_ipv6$/,
  ipv6_ns: /^ns\.no_ipv6$/,
  mx: /^mx\.null/,
  ptr: /^ptr\./,
}
const SEVERITIES: readonly string[] = ['critical', 'high', 'medium', 'low', 'info']

/**
 * A rule that is not met names the gravest finding that says why. It is accepted if such a finding is, and no other one
 * of severity medium or more is open.
 */
function explained(id: string, ruling: Ruling, { findings }: CheckAnswer): Ruling {
  const wanted = FAULTS[id]
  if (ruling.status !== 'not_met' || !wanted) return ruling
  const faults = findings
    .filter((one) => wanted.test(one.id))
    .toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
  const accepted = faults.find((one) => one.accepted)?.accepted
  const isOpen = faults.some((one) => !one.accepted && SEVERITIES.indexOf(one.severity) <= 2)
  return { ...ruling, ...(faults[0] && { finding: faults[0].id }), ...(accepted && !isOpen && { accepted }) }
}

const ruleOf =
  (by: string | readonly string[], reference: string) =>
  (id: string, text: string, judge: Judge): DomainRule => ({
    ...{ id, text, reference, by: typeof by === 'string' ? [by] : by },
    judge: (answer) => explained(id, judge(answer), answer),
  })

const bod = ruleOf('CISA', BOD)
const gov = ruleOf('GOV.UK', GOV_UK)
const parked = ruleOf('M3AAWG', M3AAWG)
const nl = ruleOf('Internet.nl', INTERNET_NL)
const ofAll = ruleOf(['Google', 'Yahoo', 'Microsoft'], GOOGLE)
const ofGoogle = ruleOf(['Google'], GOOGLE)
const inMessages = (): Ruling => notObservable('only a message shows it: analyse one, or read the DMARC reports')

/** A rule for those who send. */
const ofSenders =
  (judge: Judge): Judge =>
  (answer) =>
    hasNoMail(answer) || answer.domain_role.name === 'accepts_mail_only'
      ? NOT_APPLICABLE('the domain sends no mail')
      : judge(answer)

const longKeys: Judge = ({ dkim }) => {
  const usable = dkim.keys.filter((key) => key.usable && key.key_bits !== null)
  if (usable.length === 0) return unknown('the length of no key is known')
  const short = usable.find(({ key_type: type, key_bits: bits }) => type === 'rsa' && (bits ?? 0) < 1_024)
  return short ? notMet(`the key at ${short.selector} has ${short.key_bits} bits`) : met('every key is long enough')
}
const confirmedNames: Judge = ofHosts(({ ptr }) => {
  if (ptr.status === 'unknown') return unasked(ptr.reason)
  return ptr.forward_confirmed
    ? met('the names of the mail hosts resolve back to their addresses')
    : notMet(ptr.reason ?? 'an address of a mail host has no name that resolves back to it')
})

export const DOMAIN_PROFILES: readonly Profile<CheckAnswer>[] = [
  {
    name: 'bulk-sender',
    version: '2026.11',
    source: `${GOOGLE}, ${YAHOO}, ${MICROSOFT}`,
    seen: SEEN,
    rules: [
      ofAll('spf', 'The domain has a valid SPF record', ofSenders(spfExists)),
      ofAll('dkim', 'A DKIM key is published', dkimExists),
      ofGoogle('dkim_key', 'The DKIM keys have at least 1,024 bits', ofSenders(longKeys)),
      ofAll('dmarc', 'The domain has a DMARC record, at least p=none', ofSenders(dmarcExists)),
      ruleOf(['Google', 'Yahoo'], GOOGLE)(
        'ptr',
        'The mail hosts have names that resolve back',
        ofSenders(confirmedNames),
      ),
      ofAll('alignment', 'The author is aligned with a domain that passes SPF or DKIM', inMessages),
      ofGoogle('sending_tls', 'Messages are sent over TLS', inMessages),
      ruleOf(['Google', 'Yahoo'], `${GOOGLE}, RFC 8058 §3.1`)(
        'one_click',
        'Marketing mail has one-click unsubscription',
        inMessages,
      ),
      ruleOf(['Microsoft'], MICROSOFT)('unsubscribe', 'Bulk mail has a way to unsubscribe', inMessages),
      ruleOf(['Google', 'Yahoo'], YAHOO)('complaints', 'The complaint rate is below 0.3%', () =>
        notObservable('only the providers know it: see Google Postmaster Tools and the Yahoo Sender Hub'),
      ),
    ],
  },
  {
    name: 'bod-18-01',
    version: '2026.11',
    source: BOD,
    seen: SEEN,
    rules: [
      bod('starttls', 'All mail hosts offer STARTTLS', offersTls),
      bod('spf', 'The domain has a valid SPF record', spfExists),
      bod('dmarc', 'The domain has a DMARC record', dmarcExists),
      bod('dmarc_reject', 'The DMARC policy is reject for all mail', dmarcIs(['reject'])),
      bod(
        'dmarc_reports',
        'Aggregate reports go to reports@dmarc.cyber.dhs.gov',
        dmarcReportsTo('reports@dmarc.cyber.dhs.gov'),
      ),
      bod('ssl', 'SSLv2 and SSLv3 are off on mail hosts', () =>
        notObservable('this service makes no connection with SSLv2 or SSLv3'),
      ),
      bod('ciphers', '3DES and RC4 are off on mail hosts', () => notObservable('this service offers no such cipher')),
    ],
  },
  {
    name: 'uk-gov',
    version: '2026.11',
    source: `${GOV_UK}, ${GOV_UK_PARKED}`,
    seen: SEEN,
    rules: [
      gov('tls', 'Mail hosts offer TLS 1.2 or later', offersTls),
      gov('mta_sts', 'MTA-STS is enforced', mtaSts),
      gov('tls_rpt', 'TLS reports are asked for', tlsRpt),
      gov('spf', 'The SPF record ends in ~all or -all', spfEndsIn(['~all', '-all'])),
      gov('dkim', 'A DKIM key is published', dkimExists),
      gov('dmarc', 'The domain has a DMARC record', dmarcExists),
      gov('dmarc_reports', 'The DMARC record asks for aggregate reports', dmarcReports),
      gov('dmarc_enforced', 'The DMARC policy is quarantine or reject for all mail', dmarcIs(['quarantine', 'reject'])),
      {
        ...gov('no_mail', 'A domain without mail passes nobody and refuses mail', (answer) => {
          if (!hasNoMail(answer)) return NOT_APPLICABLE('the domain has mail')
          const [spf, mx, dmarc] = [spfPassesNobody(answer), refusesMail(answer), dmarcIs(['reject'])(answer)]
          return [spf, mx, dmarc].find(({ status }) => status !== 'met') ?? met('SPF, MX and DMARC say so')
        }),
        reference: GOV_UK_PARKED,
      },
    ],
  },
  {
    name: 'parked',
    version: '2026.11',
    source: M3AAWG,
    seen: SEEN,
    rules: [
      parked('spf', 'The SPF record is v=spf1 -all', spfPassesNobody),
      parked('dmarc', 'The DMARC policy is reject for all mail', dmarcIs(['reject'])),
      parked('dkim', 'No usable DKIM key is published', dkimRevoked),
      parked('mx', 'A null MX refuses mail', refusesMail),
    ],
  },
  {
    name: 'internet-nl',
    version: '2026.11',
    source: INTERNET_NL,
    seen: SEEN,
    rules: [
      nl('ipv6_ns', 'At least two name servers have an IPv6 address', serversOverV6),
      nl('ipv6_mx', 'Every mail host has an IPv6 address', hostsOverV6),
      nl('dnssec', 'The domain is signed', signed),
      nl('dnssec_mx', 'The domains of the mail hosts are signed', signedHosts),
      nl('dmarc', 'The domain has a DMARC record', dmarcExists),
      nl('dmarc_policy', 'The DMARC policy is quarantine or reject', dmarcIs(['quarantine', 'reject'])),
      nl('dkim', 'A DKIM key is published', dkimExists),
      nl('spf', 'The domain has an SPF record', spfExists),
      nl('spf_policy', 'The SPF record ends in ~all or -all', spfEndsIn(['~all', '-all'])),
      nl('starttls', 'Every mail host offers STARTTLS', offersTls),
      nl('tls_version', 'Mail hosts accept no outdated version of TLS', modernTls),
      nl('dane', 'Every mail host has a valid TLSA record', dane),
      nl('rpki', 'The routes of the addresses are authorized (RPKI)', () => notObservable('routes are not asked')),
    ],
  },
]

export const PROFILE_NAMES: readonly string[] = DOMAIN_PROFILES.map(({ name }) => name)

/** Profiles of the operator, which are judged by the answer as JSON. */
export type OwnProfiles = readonly Profile<Json>[]

/** What a domain is by each profile, and by the operator's own. */
export function profileVerdicts(answer: CheckAnswer, own: OwnProfiles = []): Readonly<Record<string, ProfileVerdict>> {
  const json: Json = own.length === 0 ? null : JSON.parse(JSON.stringify(answer))
  return Object.fromEntries([
    ...DOMAIN_PROFILES.map((profile) => [profile.name, verdictOf(judgeProfile(profile, answer))]),
    ...own.map((profile) => [profile.name, verdictOf(judgeProfile(profile, json))]),
  ])
}
