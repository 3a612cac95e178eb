import type { Problem } from '../../base/problem.ts'
import type { DnsRecord, Finding, Outcome } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { roleProblem, validationProblem } from '../problems.ts'
import { type DaneFacts, type HostState, hostStates } from './lookup.ts'
import { keyDigest, type Tlsa } from './tlsa.ts'

/**
 * `pass`: every host has records that senders use; `fail`: a host does not match its own records, so senders that use
 * DANE do not deliver; `warn`: records without effect, or only for some hosts; `unknown`: records that no trusted
 * resolver validated; `not_applicable`: no records, or no mail host. It never costs points.
 */
export function judgeDane(
  found: DaneFacts,
  { tls, noMail, signed }: Pick<DomainContext, 'tls' | 'noMail' | 'signed'>,
): Outcome<DaneFacts> {
  // The certificates that the hosts presented (RFC 7672 §2.2), and whether the zone is signed at all.
  const facts = { ...found, ...(tls && { tls }), isUnsigned: signed === false }
  if (facts.mail === 'null' || facts.mail === 'none' || noMail !== undefined)
    return { status: 'not_applicable', reason: withoutHost(facts.mail), facts, findings: [] }
  const states = hostStates(facts)
  const findings = [...states.flatMap((state) => hostFindings(facts, state)), ...setFindings(facts, states)]
  if (findings.some(({ id }) => BROKEN.has(id))) return { status: 'fail', facts, findings }
  const reason = openReason(facts, states)
  if (reason !== undefined) return { status: 'unknown', reason, facts, findings }
  const { misplaced } = facts
  if (misplaced !== undefined) {
    const names = states.map(({ host }) => `_25._tcp.${host.host}`)
    return {
      status: 'warn',
      facts,
      findings: [...findings, { id: 'dane.misplaced', args: { name: misplaced, names } }],
    }
  }
  if (states.every(({ records }) => records.length === 0)) return { status: 'not_applicable', facts, findings }
  return { status: findings.every(({ id }) => id === 'dane.rollover') ? 'pass' : 'warn', facts, findings }
}

/** Why there is no mail host to protect. */
const withoutHost = (mail: DaneFacts['mail']): Problem =>
  roleProblem(mail === 'null' ? 'null_mx' : mail === 'none' ? 'no_mx_no_address' : 'no_mx')

/**
 * The hosts to which senders that use DANE do not deliver, as far as their TLS was checked, with the finding that
 * reports it (RFC 7672 §2.2).
 */
export const refusedHosts = (facts: DaneFacts): { readonly host: string; readonly finding: string }[] =>
  hostStates(facts)
    .filter(({ inForce }) => inForce)
    .flatMap((state) =>
      forceFindings(state)
        .filter(({ id }) => BROKEN.has(id))
        .map(({ id }) => ({ host: state.host.host, finding: id })),
    )

const BROKEN = new Set(['dane.mismatch', 'dane.no_starttls'])

function openReason(facts: DaneFacts, states: readonly HostState[]): Problem | undefined {
  const failed = states.find(({ host }) => host.error !== undefined)
  if (failed) return failed.host.error!.problem
  const isInForce = states.some(({ inForce }) => inForce)
  const open = states.find(({ secure, records }) => (records.length > 0 || isInForce) && secure === null)
  if (!open) return undefined
  if (open.host.hostSecure === null) return validationProblem('addresses', { host: open.host.host })
  return facts.believed === false ? validationProblem('not_believed') : validationProblem('not_known')
}

function hostFindings(facts: DaneFacts, state: HostState): Finding[] {
  const { host, secure, records, inForce } = state
  const args = { host: host.host, name: host.name }
  const findings: Finding[] = []
  if (host.error && facts.mxSecure && host.hostSecure)
    findings.push({ id: 'dane.unanswered', args: { ...args, reason: host.error.problem } })
  for (const { record, problem } of records)
    if (problem)
      findings.push({
        id: `dane.${problem.kind}`,
        args: { ...args, problem: problem.problem },
        evidence: shown(record),
      })
  if (records.length > 0 && secure === false)
    findings.push({ id: 'dane.insecure', args: { ...args, part: insecurePart(facts, state) } })
  if (records.length > 0 && secure && !inForce) findings.push({ id: 'dane.unusable', args })
  return inForce ? [...findings, ...forceFindings(state)] : findings
}

/** The findings about records that senders use. */
function forceFindings(state: HostState): Finding[] {
  const { host, records, seen } = state
  const args = { host: host.host, name: host.name }
  const usable = records.filter(({ problem }) => problem === undefined)
  if (seen && !seen.open && (seen.offered === false || (seen.offered && !seen.tls)))
    return [{ id: 'dane.no_starttls', args, evidence: usable.map(({ record }) => shown(record)).join(', ') }]
  if (usable.every(({ matches }) => matches === false))
    return [
      { id: 'dane.mismatch', args, evidence: usable.map(({ record }) => shown(record)).join(', '), ...fixOf(state) },
    ]
  if (usable.length === 1 && usable[0]!.record.usage === 3) return [{ id: 'dane.rollover', args }]
  return []
}

function setFindings({ domain, mxSecure }: DaneFacts, states: readonly HostState[]): Finding[] {
  // A host that could not be queried is not one without records.
  const without = states.filter(({ host, inForce, secure }) => !inForce && !host.error && secure !== null)
  if (without.length > 0 && states.some(({ inForce }) => inForce))
    return [{ id: 'dane.partial', args: { hosts: without.map(({ host }) => host.host) } }]
  if (states.some(({ host, records }) => records.length > 0 || host.error)) return []
  const ready = mxSecure ? states.find(({ host, seen }) => host.hostSecure && seen?.tls) : undefined
  return [{ id: 'dane.none', args: { domain, secure: mxSecure }, ...(ready ? fixOf(ready) : {}) }]
}

function fixOf({ host, seen }: HostState): { fix?: DnsRecord } {
  const leaf = seen?.tls?.chain[0]
  const digest = leaf && keyDigest(leaf)
  return digest ? { fix: { name: host.name, rtype: 'TLSA', value: `3 1 1 ${digest}` } } : {}
}

const insecurePart = ({ mxSecure, domain }: DaneFacts, { host }: HostState): string => {
  if (!mxSecure) return `the MX records of ${domain}`
  return host.hostSecure ? 'the TLSA records' : `the addresses of ${host.host}`
}

const shown = ({ usage, selector, matchingType, data }: Tlsa): string =>
  `TLSA ${usage} ${selector} ${matchingType} ${data.slice(0, 128)}`
