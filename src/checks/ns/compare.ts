import { DnsError, type ServerAnswer } from '../../net/dns/resolver.ts'
import { type Copy, type Heard, isRefusal } from './ask.ts'
import { compareCopies } from './copies.ts'
import type { NameServer, NsFacts } from './lookup.ts'

/** What one server comes to. `lame`: it answers, but not for the zone; null: it did not answer or could not be asked. */
export type ServerState = {
  readonly server: NameServer
  readonly lame: boolean | null
  readonly serial: number | null
  /** In what it is the odd one: the serial, a mail record. */
  readonly differs: readonly ('serial' | Copy)[]
  /** Why it did not answer. */
  readonly reason?: string
  /** Whether it answers over TCP: false where it answered over UDP alone; null: not known. */
  readonly tcp: boolean | null
  /** Why it did not answer over TCP, and whether its machine refused the connection. */
  readonly tcpReason?: string
  readonly isRefused?: boolean
}

/** All servers, and the mail records in which they differ from the resolver without one of them being odd. */
export type Comparison = { readonly states: readonly ServerState[]; readonly open: readonly Copy[] }

/** Answers that a server gives when it does not know the zone (RFC 1912 §2.8); silence proves nothing. */
const LAME_REASONS = new Set(['refused', 'servfail', 'notimp', 'formerr', 'rcode'])

/** Puts what the servers said side by side: who is lame, and who has another serial or other mail records than most. */
export function compareServers(facts: NsFacts): Comparison {
  const serials = facts.servers.map(({ heard }) => serialOf(heard))
  const usual = mostCommon(serials.filter((serial) => serial !== null))
  const outdated = serials.map((serial) => serial !== null && serial !== usual)
  const { odd, open } = compareCopies(facts, outdated)
  const states = facts.servers.map((server, i): ServerState => {
    const error = soaOf(server.heard)
    return {
      server,
      lame: lameOf(server.heard),
      serial: serials[i]!,
      differs: [...(outdated[i] ? (['serial'] as const) : []), ...odd[i]!],
      ...(error instanceof DnsError ? { reason: error.message } : {}),
      ...tcpOf(server.heard),
    }
  })
  return { states, open }
}

/** What the first address showed of TCP, where it answered over UDP (RFC 7766 §5). Silence counts when it was asked twice. */
function tcpOf(heard: readonly Heard[]): Pick<ServerState, 'tcp' | 'tcpReason' | 'isRefused'> {
  const first = heard.find(({ overTcp }) => overTcp !== undefined)
  const said = first?.overTcp && first.copies[first.overTcp]
  if (!said) return { tcp: null }
  if (!(said instanceof DnsError)) return { tcp: true }
  const isUp = first.soa !== undefined && !(first.soa instanceof DnsError)
  const isRefused = isRefusal(said)
  if (isUp && (isRefused || first.silentOverTcp)) return { tcp: false, tcpReason: said.message, isRefused }
  return { tcp: isUp && ANSWERED.has(said.reason) ? true : null }
}

/** Errors that came as an answer. */
const ANSWERED: ReadonlySet<string> = new Set(['refused', 'servfail', 'formerr', 'notimp', 'rcode', 'malformed'])

const soaOf = (heard: readonly Heard[]): ServerAnswer<'SOA'> | DnsError | undefined =>
  heard.find(({ soa }) => soa !== undefined)?.soa

function lameOf(heard: readonly Heard[]): boolean | null {
  const soa = soaOf(heard)
  if (soa && !(soa instanceof DnsError)) return !soa.authoritative || soa.kind !== 'found'
  if (soa && LAME_REASONS.has(soa.reason)) return true
  const others = heard.flatMap(({ copies }) => Object.values(copies))
  // The answer that got lost may have been the one about the SOA record.
  return others.some((answer) => !(answer instanceof DnsError) && answer.authoritative) ? false : null
}

function serialOf(heard: readonly Heard[]): number | null {
  const soa = soaOf(heard)
  return soa && !(soa instanceof DnsError) && soa.authoritative ? (soa.records[0]?.serial ?? null) : null
}

/** The most common number; among equally common ones the one that is later by RFC 1982. */
function mostCommon(numbers: readonly number[]): number | undefined {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  return [...counts].sort(([a, countA], [b, countB]) => countB - countA || (isLater(a, b) ? -1 : 1))[0]?.[0]
}

/** RFC 1982 §3.2: serials go round. */
const isLater = (a: number, b: number): boolean => (a - b) >>> 0 < 2 ** 31
