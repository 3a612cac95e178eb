import { printable } from '../../base/text.ts'
import { hostError } from '../../mailhosts/mailhosts.ts'
import { unpasted } from '../../net/dns/pasted.ts'
import type { DnsRecord, Finding, Outcome } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { type MakeFinding, makeFinding } from '../finding.ts'
import { tlsFaultProblem } from '../starttls/index.ts'
import type { findings } from './findings.ts'
import { type PolicyAnswer, policyUrl, type StsFacts } from './lookup.ts'
import { formatStsRecord, parseStsRecord } from './parse.ts'
import { formatStsPolicy, MAX_AGE_SECONDS, matchesMx, type Refusal, refusalsOf, type StsPolicy } from './policy.ts'
import { stsFetchProblem, stsHostProblem } from './problems.ts'

/**
 * A policy with a shorter lifetime protects little: an attacker waits until it has expired (RFC 8461 §3.2 recommends
 * weeks).
 */
const SHORT_AGE_SECONDS = 86_400

type Judged = { readonly status: 'pass' | 'warn' | 'fail' | 'not_applicable'; readonly findings: readonly Finding[] }

/**
 * `pass`: senders will require TLS for every mail host; `warn`: they do not require it (no record, testing, none) or
 * something is weak, also a record without a policy; `fail`: an announced policy that senders cannot use, or that excludes mail hosts; `unknown`: the
 * policy could not be fetched.
 */
type Mail = Pick<DomainContext, 'noMail' | 'mail' | 'mailError' | 'tls' | 'takes'>

export function judgeMtaSts(found: StsFacts, mail: Mail): Outcome<StsFacts> {
  const { policy } = found
  const facts = { ...found, uncovered: uncoveredMx(policy, mail) }
  if (policy?.kind === 'unknown') {
    const unknown = finding('mta_sts.policy_unknown', { url: policyUrl(facts.domain), reason: policy.problem })
    return { status: 'unknown', reason: policy.problem, facts, findings: [unknown] }
  }
  const judged = policy ? judgePolicy(facts, policy, mail) : judgeRecord(facts, mail)
  const isEnforced = policy?.kind === 'read' && policy.policy.mode === 'enforce'
  const unseen =
    mail.tls && mail.mail?.hosts.find(({ addresses, errors }) => addresses.length === 0 && hostError({ errors }))
  if (isEnforced && unseen && judged.status === 'pass')
    return { ...judged, facts, status: 'unknown', reason: hostError(unseen)!.problem }
  if (!isEnforced || mail.mail) return { ...judged, facts }
  // Whether the policy excludes mail hosts decides the status.
  return { ...judged, facts, status: 'unknown', reason: mail.mailError ?? stsFetchProblem('no_mail_hosts') }
}

function uncoveredMx(policy: PolicyAnswer | undefined, { mail }: Mail): readonly string[] {
  if (policy?.kind !== 'read') return []
  return refusalsOf(policy.policy, namesOf(mail), undefined).map(({ host }) => host)
}

const namesOf = (mail: DomainContext['mail']): readonly string[] => (mail?.hosts ?? []).map(({ exchange }) => exchange)

function judgeRecord(facts: StsFacts, { noMail, mail, takes }: Mail): Judged {
  const { domain, parsed, count } = facts
  const evidence = facts.lookalike ?? facts.records.join(' | ')
  if (count > 1) return fail(finding('mta_sts.several_records', { domain, count }, { evidence, fix: firstGood(facts) }))
  if (facts.lookalike !== undefined)
    return fail(finding('mta_sts.version', { domain }, { evidence, fix: repaired(facts) }))
  if (parsed && !parsed.ok)
    return fail(
      finding('mta_sts.syntax', { problem: parsed.problem, at: parsed.at ?? -1 }, { evidence, fix: rewritten(facts) }),
    )
  if (noMail !== undefined)
    return { status: 'not_applicable', findings: [finding('mta_sts.no_mail', { domain, reason: noMail })] }
  const none = finding('mta_sts.no_record', { domain })
  // A policy cannot name hosts that no mail reaches.
  if (takes === false) return { status: 'warn', findings: [none] }
  const mx = mail && mail.hosts.length > 0 ? namesOf(mail) : [`*.${domain}`]
  const text = formatStsPolicy({ mode: 'testing', maxAgeSeconds: SHORT_AGE_SECONDS, mx })
  return { status: 'warn', findings: [{ ...none, file: { url: policyUrl(domain), text } }] }
}

function judgePolicy(facts: StsFacts, answer: Exclude<PolicyAnswer, { kind: 'unknown' }>, mail: Mail): Judged {
  const url = policyUrl(facts.domain)
  switch (answer.kind) {
    case 'content_type':
      return fail(finding('mta_sts.policy_type', { url, type: printable(answer.contentType, 80) }))
    case 'invalid':
      return fail(finding('mta_sts.policy_syntax', { url, problem: answer.problem }))
    case 'refused':
      return { status: 'warn', findings: [finding('mta_sts.no_policy', { url, reason: answer.problem })] }
    case 'read':
      return judgeRead(answer.policy, mail)
    default: {
      const never: never = answer
      throw new Error(never)
    }
  }
}

function judgeRead(policy: StsPolicy, { mail, mailError, tls }: Mail): Judged {
  const { mode, maxAgeSeconds, mx } = policy
  const hosts = namesOf(mail)
  const shut = refusalFindings(policy, refusalsOf(policy, hosts, tls), hosts.length)
  const found = [...shut]
  if (mode === 'testing') found.push(finding('mta_sts.testing'))
  if (mode === 'none') found.push(finding('mta_sts.none'))
  if (mode !== 'none' && maxAgeSeconds < SHORT_AGE_SECONDS)
    found.push(finding('mta_sts.short_max_age', { seconds: maxAgeSeconds }))
  if (maxAgeSeconds > MAX_AGE_SECONDS)
    found.push(finding('mta_sts.long_max_age', { seconds: maxAgeSeconds, limit: MAX_AGE_SECONDS }))
  const weak = found.length > 0
  if (!mail) found.push(finding('mta_sts.mx_unknown', { reason: mailError ?? '' }))
  else if (mode !== 'none') {
    const unused = mx.filter((pattern) => !hosts.some((host) => matchesMx(pattern, host)))
    if (unused.length > 0) {
      const isMissed = shut.some(({ id }) => id.startsWith('mta_sts.uncovered_mx'))
      const about = finding('mta_sts.unused_mx', { patterns: unused.slice(0, 20) })
      found.push(isMissed ? { ...about, follows: shut[0]!.id } : about)
    }
  }
  return { status: mode === 'enforce' && shut.length > 0 ? 'fail' : weak ? 'warn' : 'pass', findings: found }
}

/** The hosts that the policy excludes, or would exclude once it is enforced. */
function refusalFindings({ mode, mx }: StsPolicy, refusals: readonly Refusal[], count: number): Finding[] {
  const unnamed = refusals.filter(({ fault }) => fault === 'not_named').map(({ host }) => host)
  const without = refusals.flatMap(({ host, fault }) =>
    fault === 'not_named' ? [] : [stsHostProblem('tls', { host, why: tlsFaultProblem(fault) })],
  )
  const all = refusals.length === count
  const isTested = mode === 'testing'
  const found: Finding[] = []
  if (unnamed.length > 0)
    found.push(
      finding(isTested ? 'mta_sts.uncovered_mx_testing' : 'mta_sts.uncovered_mx', {
        hosts: unnamed,
        patterns: mx.slice(0, 20),
        all,
      }),
    )
  if (without.length > 0)
    found.push(finding(isTested ? 'mta_sts.mx_tls_testing' : 'mta_sts.mx_tls', { hosts: without, all }))
  return found
}

const fail = (found: Finding): Judged => ({ status: 'fail', findings: [found] })

function firstGood(facts: StsFacts): DnsRecord | undefined {
  const good = facts.records.find((text) => parseStsRecord(text).ok)
  return good === undefined ? undefined : record(facts, good)
}

/** The record with the letters and digits of its id, or the first id: another one says that the policy has changed. */
function rewritten(facts: StsFacts): DnsRecord {
  const [, written = ''] = /\bid[ \t]*[=:][ \t]*([^;]{0,100})/i.exec(facts.records[0]!.slice(0, 2_000)) ?? []
  const id = written.replace(/[^A-Za-z0-9]/g, '').slice(0, 32) || '1' // RFC 8461 §3.1
  return record(facts, formatStsRecord({ id, extensions: [] }))
}

function repaired(facts: StsFacts): DnsRecord | undefined {
  const rest = unpasted(facts.lookalike!, /v\s{0,8}=?\s{0,8}sts/i)
    .slice(0, 2_000)
    .replace(/^v\s{0,8}=?\s{0,8}sts[-v]{0,2}1?\s{0,8};?/i, '')
  const parsed = parseStsRecord(`v=STSv1;${rest}`)
  return parsed.ok ? record(facts, formatStsRecord(parsed.value)) : undefined
}

const record = (facts: StsFacts, value: string): DnsRecord => ({
  name: `_mta-sts.${facts.domain}`,
  rtype: 'TXT',
  value,
})

const finding: MakeFinding<typeof findings> = makeFinding
