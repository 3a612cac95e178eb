import { providerOfHost } from '../../mailhosts/providers/index.ts'
import type { Finding, Outcome } from '../check.ts'
import type { DomainContext } from '../context.ts'
import type { StarttlsFacts, TlsHost } from '../tls-host.ts'
import { isShort, keyOf, nameMatches } from './certificate.ts'
import { greetingFindings } from './greeting.ts'
import { tlsProblem } from './problems.ts'

const DAY_MS = 86_400_000
/** A certificate with less remaining time is reported. */
const SOON_DAYS = 14
/** RFC 8996 §4, §5 */
const OLD_PROTOCOLS = new Set(['SSLv2', 'SSLv3', 'TLSv1', 'TLSv1.1'])

/**
 * `pass`: every host that answered offers TLS without a finding of severity low or more; `fail`: one offers none, or
 * none that works; `warn`: a certificate or protocol needs attention; `unknown`: no host answered, or the addresses of
 * one are not known; `not_applicable`: there is no mail host.
 */
export function judgeStarttls(
  facts: StarttlsFacts,
  { noMail, names }: Pick<DomainContext, 'noMail' | 'names'>,
): Outcome<StarttlsFacts> {
  const { hosts, mail } = facts
  if (mail === 'null' || mail === 'none' || noMail !== undefined)
    return { status: 'not_applicable', facts, findings: [] }
  const findings = [
    ...hosts.flatMap((host) => [
      ...hostFindings(host, facts.nowMs),
      ...greetingFindings(host, host.address && names[host.address]),
    ]),
    ...setFindings(facts),
  ]
  if (findings.some(({ id }) => BROKEN.has(id))) return { status: 'fail', facts, findings }
  if (hosts.every(({ offered, open }) => offered === null || open))
    return { status: 'unknown', reason: hosts[0]?.reason ?? tlsProblem('no_answer'), facts, findings }
  const isPass = findings.every(({ id }) => HARMLESS.has(id))
  const silent = isPass ? hosts.find(({ address, offered }) => address === undefined && offered === null) : undefined
  if (silent) return { status: 'unknown', reason: silent.reason ?? tlsProblem('no_answer'), facts, findings }
  return { status: isPass ? 'pass' : 'warn', facts, findings }
}

const BROKEN = new Set(['starttls.not_offered', 'starttls.broken'])
/**
 * Observations that do not count against the hosts: an untrusted certificate is not a fault if TLS is opportunistic
 * (RFC 7435 §3).
 */
const HARMLESS = new Set([
  'starttls.not_heard',
  'starttls.left_out',
  'starttls.untrusted',
  'starttls.name',
  'starttls.greeting',
  'starttls.greeting_ptr',
])

function hostFindings(seen: TlsHost, nowMs: number): Finding[] {
  const { host, address, offered, open, tls, reason, outdated } = seen
  const args = { host, address: address ?? '' }
  if (offered === null || open) return [{ id: 'starttls.not_heard', args: { ...args, reason: reason ?? '' } }]
  if (!offered) return [{ id: 'starttls.not_offered', args }]
  if (!tls) return [{ id: 'starttls.broken', args: { ...args, reason: reason ?? '' } }]
  const findings: Finding[] = []
  const days = Math.floor((tls.expiresAtMs - nowMs) / DAY_MS)
  const evidence = `${tls.subject}, issued by ${tls.issuer}`
  const expires = new Date(tls.expiresAtMs).toISOString()
  const ended = tls.expiresAtMs <= nowMs
  if (ended) findings.push({ id: 'starttls.expired', args: { ...args, expires }, evidence })
  else if (days < SOON_DAYS) findings.push({ id: 'starttls.expires_soon', args: { ...args, expires, days }, evidence })
  if (!tls.trusted && !ended)
    findings.push({
      id: 'starttls.untrusted',
      args: { ...args, reason: tls.trustError ?? tlsProblem('no_reason') },
      evidence,
    })
  if (!nameMatches(host, tls.names))
    findings.push({ id: 'starttls.name', args: { ...args, names: tls.names.slice(0, 10) }, evidence })
  const key = keyOf(seen)
  if (key && isShort(key))
    findings.push({
      id: 'starttls.short_key',
      args: { ...args, type: key.type.toUpperCase(), bits: key.bits ?? 0 },
      evidence,
    })
  if (OLD_PROTOCOLS.has(tls.protocol))
    findings.push({ id: 'starttls.old_protocol', args: { ...args, protocol: tls.protocol }, evidence: tls.cipher })
  else if (outdated !== undefined && !providerOfHost(host))
    // a provider's hosts are not judged
    findings.push({ id: 'starttls.old_accepted', args: { ...args, protocol: shown(outdated) } })
  return findings
}

/** The display form of `TLSv1.1`. */
const shown = (protocol: string): string => protocol.replace(/^TLSv1$/, 'TLS 1.0').replace('TLSv', 'TLS ')

const setFindings = ({ hosts, leftOut }: StarttlsFacts): Finding[] =>
  leftOut > 0 ? [{ id: 'starttls.left_out', args: { count: hosts.length + leftOut, seen: hosts.length } }] : []
