import { DnsError } from '../../net/dns/resolver.ts'
import type { Copy, Heard } from './ask.ts'
import { type NameServer, type NsFacts, textOf } from './lookup.ts'

/** What one server comes to. `lame`: it answers, but not for the zone; null: it did not answer or could not be asked. */
export type ServerState = {
  readonly server: NameServer
  readonly lame: boolean | null
  readonly serial: number | null
  /** In what it differs: the serial from that of most servers, a mail record from what the resolver says. */
  readonly differs: readonly ('serial' | Copy)[]
  /** Why it did not answer. */
  readonly reason?: string
}

/** Answers that a server gives when it does not know the zone (RFC 1912 §2.8); silence proves nothing. */
const LAME_REASONS = new Set(['refused', 'servfail', 'notimp', 'formerr', 'rcode'])

export function serverStates(facts: NsFacts): ServerState[] {
  const serials = facts.servers.map((server) => serialOf(server.heard))
  const usual = mostCommon(serials.filter((serial) => serial !== null))
  return facts.servers.map((server, i) => {
    const serial = serials[i]!
    const error = server.heard?.soa
    return {
      server,
      lame: lameOf(server.heard),
      serial,
      differs: [
        ...(serial !== null && serial !== usual ? (['serial'] as const) : []),
        ...(server.heard ? differing(server.heard, facts.resolved) : []),
      ],
      ...(error instanceof DnsError ? { reason: error.message } : {}),
    }
  })
}

function lameOf(heard: Heard | undefined): boolean | null {
  if (!heard) return null
  const { soa } = heard
  if (soa instanceof DnsError) return LAME_REASONS.has(soa.reason) ? true : null
  return !soa.authoritative || soa.kind !== 'found'
}

function serialOf(heard: Heard | undefined): number | null {
  if (!heard || heard.soa instanceof DnsError || !heard.soa.authoritative) return null
  return heard.soa.records[0]?.serial ?? null
}

function differing(heard: Heard, resolved: NsFacts['resolved']): Copy[] {
  const { answer, copy } = heard
  if (answer instanceof DnsError || !answer.authoritative || answer.cname.length > 0) return []
  const known = resolved[copy]
  return known !== undefined && textOf(answer, copy) !== known ? [copy] : []
}

/** The most common number; among equally common ones the highest, since serials grow (RFC 1982). */
function mostCommon(numbers: readonly number[]): number | undefined {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  return [...counts].sort(([a, countA], [b, countB]) => countB - countA || b - a)[0]?.[0]
}
