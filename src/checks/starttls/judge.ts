import type { Problem } from '../../base/problem.ts'
import { canonicalName } from '../../names/domain.ts'
import { providerOfHost } from '../../providers/index.ts'
import type { Finding, Outcome } from '../check.ts'
import type { CertificateKey, DomainContext, StarttlsFacts, TlsHost } from '../context.ts'
import { tlsProblem } from '../problems.ts'

const DAY_MS = 86_400_000
/** A certificate with less remaining time is reported. */
const SOON_DAYS = 14
/** RFC 8996 §4, §5 */
const OLD_PROTOCOLS = new Set(['SSLv2', 'SSLv3', 'TLSv1', 'TLSv1.1'])

/**
 * `pass`: every host that answered offers TLS without a finding of severity low or more; `fail`: one offers none, or
 * none that works; `warn`: a certificate or protocol needs attention; `unknown`: no host answered, the addresses of one
 * are not known, or the time was over before its outdated versions were tried; `not_applicable`: there is no mail host.
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
  const open = isPass ? hosts.flatMap(openReason)[0] : undefined
  if (open) return { status: 'unknown', reason: open, facts, findings }
  return { status: isPass ? 'pass' : 'warn', facts, findings }
}

/** Why it is not known whether a host without findings passes. */
function openReason({ host, address, offered, reason, outdatedReason }: TlsHost): readonly Problem[] {
  if (address === undefined && offered === null) return [reason ?? tlsProblem('no_answer')]
  return outdatedReason && !providerOfHost(host) ? [outdatedReason] : []
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
  const { key } = seen
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

/** Too few bits: RSA under 2048, curves under 224 (NIST SP 800-131A; RFC 9325 §4.5). */
const isShort = ({ type, bits }: CertificateKey): boolean =>
  bits !== null && ((type === 'rsa' && bits < 2048) || (type === 'ec' && bits < 224))

/**
 * Whether a certificate with these DNS names is valid for `host`: equal, or a `*` as the whole left-most label, which
 * stands for one label (RFC 9525 §6.3).
 */
export function nameMatches(host: string, names: readonly string[]): boolean {
  const wanted = canonicalName(host)
  const above = wanted.slice(wanted.indexOf('.') + 1)
  return names.map(canonicalName).some((name) => name === wanted || (wanted.includes('.') && name === `*.${above}`))
}

/** Why a sender that requires TLS with a valid certificate does not deliver to a host. */
export type TlsFault = 'no_starttls' | 'expired' | 'untrusted' | 'other_name'

/** {@link TlsFault} of a host; undefined if it has none, and if its TLS is not known. */
export function tlsFault({ host, offered, open, tls }: TlsHost, nowMs: number): TlsFault | undefined {
  if (offered === null || open) return undefined
  if (!tls) return 'no_starttls'
  if (tls.expiresAtMs <= nowMs) return 'expired'
  if (!tls.trusted) return 'untrusted'
  return nameMatches(host, tls.names) ? undefined : 'other_name'
}

const FULL_NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){1,126}[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * A greeting without a full host name (RFC 5321 §4.3.1), or with a name that is not among the PTR names of the address.
 * `names`: these PTR names; undefined: not known.
 */
function greetingFindings(seen: TlsHost, names: readonly string[] | undefined): Finding[] {
  const { host, address = '', bannerName, ehloName } = seen
  const said = bannerName ?? ehloName
  if (said === undefined) return []
  const args = { host, address, name: said }
  if (!FULL_NAME.test(said)) return [{ id: 'starttls.greeting', args }]
  if (names === undefined || names.length === 0) return []
  const known = [...names, host].map(canonicalName)
  const others = [bannerName, ehloName].filter((name) => name !== undefined && !known.includes(name))
  return others.length === 0
    ? []
    : [{ id: 'starttls.greeting_ptr', args: { ...args, name: others[0]!, names: names.slice(0, 5) } }]
}
