import type { StarttlsFields } from '../../answers/checks.ts'
import { printable } from '../../base/text.ts'
import { defineOptionalCheck } from '../check.ts'
import type { StarttlsFacts, TlsHost } from '../context.ts'
import { findings } from './findings.ts'
import { judgeStarttls, nameMatches } from './judge.ts'
import { lookupStarttls } from './lookup.ts'

export { tlsFaultProblem } from '../problems.ts'
export { nameMatches, type TlsFault, tlsFault } from './judge.ts'

/** STARTTLS: the TLS of each mail host. Only on request, because it connects to hosts that the domain names. */
export const starttls = defineOptionalCheck<StarttlsFacts, StarttlsFields>({
  table: findings,
  when: ({ starttls }) => starttls === true,
  lookup: lookupStarttls,
  judge: judgeStarttls,
  present: ({ facts }) => ({ hosts: (facts?.hosts ?? []).map(presentHost) }),
})

const presentHost = (seen: TlsHost) => {
  const { host, address, offered, tls, reason, bannerName, ehloName, key } = seen
  return {
    host,
    address: address ?? null,
    banner_name: bannerName === undefined ? null : printable(bannerName, 255),
    ehlo_name: ehloName === undefined ? null : printable(ehloName, 255),
    offered,
    protocol: tls?.protocol ?? null,
    outdated_protocol: seen.outdated ?? null,
    names: (tls?.names ?? []).map((name) => printable(name, 255)),
    issuer: tls ? printable(tls.issuer) : null,
    expires_at: tls ? new Date(tls.expiresAtMs).toISOString() : null,
    trusted: tls?.trusted ?? null,
    name_matches: tls ? nameMatches(host, tls.names) : null,
    key_type: key?.type ?? null,
    key_bits: key?.bits ?? null,
    reason: reason?.text,
    ...(seen.seenAtMs !== undefined && { seen_at: new Date(seen.seenAtMs).toISOString() }),
  }
}
