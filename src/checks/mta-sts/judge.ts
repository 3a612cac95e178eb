import { printable } from '../../base/text.ts'
import type { DnsRecord, Finding, Outcome } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { type MakeFinding, makeFinding } from '../finding.ts'
import type { findings } from './findings.ts'
import { type PolicyAnswer, policyUrl, type StsFacts } from './lookup.ts'
import { formatStsRecord, parseStsRecord } from './parse.ts'
import { formatStsPolicy, MAX_AGE_SECONDS, matchesMx, type StsPolicy } from './policy.ts'

/** A policy that lasts less than this protects little: an attacker waits until it has run out (RFC 8461 §3.2 speaks of weeks). */
export const SHORT_AGE_SECONDS = 86_400

type Judged = { readonly status: 'pass' | 'warn' | 'fail' | 'not_applicable'; readonly findings: readonly Finding[] }

/**
 * `pass`: senders will insist on TLS to every mail host; `warn`: they do not insist (no record, testing, none) or something is weak;
 * `fail`: a policy is announced that senders cannot use, or that shuts mail hosts out; `unknown`: the policy could not be asked for.
 */
export function judgeMtaSts(facts: StsFacts, { noMail }: Pick<DomainContext, 'noMail'>): Outcome<StsFacts> {
  const { policy } = facts
  if (policy?.kind === 'unknown') {
    const found = finding('mta_sts.policy_unknown', { url: policyUrl(facts.domain), reason: policy.message })
    return { status: 'unknown', reason: policy.message, facts, findings: [found] }
  }
  const judged = policy ? judgePolicy(facts, policy) : judgeRecord(facts, noMail)
  return { ...judged, facts }
}

/** The mail hosts that the policy does not name; empty where either is not known. */
export function uncoveredMx(facts: StsFacts): readonly string[] {
  if (facts.policy?.kind !== 'read' || facts.mail.kind !== 'known') return []
  const { mode, mx } = facts.policy.policy
  return mode === 'none' ? [] : facts.mail.hosts.filter((host) => !mx.some((pattern) => matchesMx(pattern, host)))
}

function judgeRecord(facts: StsFacts, noMail: string | undefined): Judged {
  const { domain, parsed, count } = facts
  const evidence = facts.lookalike ?? facts.records.join(' | ')
  if (count > 1) return fail(finding('mta_sts.several_records', { domain, count }, { evidence, fix: firstGood(facts) }))
  if (facts.lookalike !== undefined)
    return fail(finding('mta_sts.version', { domain }, { evidence, fix: repaired(facts) }))
  if (parsed && !parsed.ok)
    return fail(finding('mta_sts.syntax', { problem: parsed.problem, at: parsed.at ?? -1 }, { evidence }))
  if (noMail !== undefined)
    return { status: 'not_applicable', findings: [finding('mta_sts.no_mail', { domain, reason: noMail })] }
  const mx = facts.mail.kind === 'known' && facts.mail.hosts.length > 0 ? facts.mail.hosts : [`*.${domain}`]
  const start = formatStsPolicy({ mode: 'testing', maxAgeSeconds: SHORT_AGE_SECONDS, mx })
  const args = { domain, url: policyUrl(domain), policy: start.trim().split('\n') }
  return { status: 'warn', findings: [finding('mta_sts.no_record', args)] }
}

function judgePolicy(facts: StsFacts, answer: Exclude<PolicyAnswer, { kind: 'unknown' }>): Judged {
  const url = policyUrl(facts.domain)
  switch (answer.kind) {
    case 'status':
      return fail(finding('mta_sts.policy_status', { url, status: answer.status }))
    case 'content_type':
      return fail(finding('mta_sts.policy_type', { url, type: printable(answer.contentType, 80) }))
    case 'invalid':
      return fail(finding('mta_sts.policy_syntax', { url, problem: answer.problem }))
    case 'refused':
      return fail(
        answer.reason === 'certificate'
          ? finding('mta_sts.policy_certificate', { url, reason: printable(answer.message, 300) })
          : finding('mta_sts.policy_refused', { url, reason: printable(answer.message, 300) }),
      )
    case 'read':
      return judgeRead(facts, answer.policy)
    default: {
      const never: never = answer
      throw new Error(never)
    }
  }
}

function judgeRead(facts: StsFacts, policy: StsPolicy): Judged {
  const { mode, maxAgeSeconds, mx } = policy
  const found: Finding[] = []
  const uncovered = uncoveredMx(facts)
  if (uncovered.length > 0)
    found.push(
      finding(mode === 'enforce' ? 'mta_sts.uncovered_mx' : 'mta_sts.uncovered_mx_testing', { hosts: uncovered }),
    )
  if (mode === 'testing') found.push(finding('mta_sts.testing'))
  if (mode === 'none') found.push(finding('mta_sts.none'))
  if (mode !== 'none' && maxAgeSeconds < SHORT_AGE_SECONDS)
    found.push(finding('mta_sts.short_max_age', { seconds: maxAgeSeconds }))
  if (maxAgeSeconds > MAX_AGE_SECONDS)
    found.push(finding('mta_sts.long_max_age', { seconds: maxAgeSeconds, limit: MAX_AGE_SECONDS }))
  const weak = found.length > 0
  const { mail } = facts
  if (mail.kind === 'unknown') found.push(finding('mta_sts.mx_unknown', { reason: mail.reason }))
  else if (mode !== 'none') {
    const unused = mx.filter((pattern) => !mail.hosts.some((host) => matchesMx(pattern, host)))
    if (unused.length > 0) found.push(finding('mta_sts.unused_mx', { patterns: unused.slice(0, 20) }))
  }
  return { status: mode === 'enforce' && uncovered.length > 0 ? 'fail' : weak ? 'warn' : 'pass', findings: found }
}

const fail = (found: Finding): Judged => ({ status: 'fail', findings: [found] })

function firstGood(facts: StsFacts): DnsRecord | undefined {
  const good = facts.records.find((text) => parseStsRecord(text).ok)
  return good === undefined ? undefined : record(facts, good)
}

function repaired(facts: StsFacts): DnsRecord | undefined {
  const rest = facts.lookalike!.slice(0, 2_000).replace(/^["\s]{0,8}v\s{0,8}=?\s{0,8}sts[-v]{0,2}1?\s{0,8};?/i, '')
  const parsed = parseStsRecord(`v=STSv1;${rest}`)
  return parsed.ok ? record(facts, formatStsRecord(parsed.value)) : undefined
}

const record = (facts: StsFacts, value: string): DnsRecord => ({
  name: `_mta-sts.${facts.domain}`,
  rtype: 'TXT',
  value,
})

const finding: MakeFinding<typeof findings> = makeFinding
