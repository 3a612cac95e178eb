import type { Problem } from '../../base/problem.ts'
import { DnsError, type ServerAnswer } from '../../net/dns/resolver.ts'
import { type Copy, type Heard, isRefusal } from './ask.ts'
import { compareCopies } from './copies.ts'
import type { NameServer, NsFacts } from './lookup.ts'

/** The state of one server. `lame`: it answers, but not for the zone; null: no answer. */
export type ServerState = {
  readonly server: NameServer
  readonly lame: boolean | null
  readonly serial: number | null
  /** How it differs from the other servers: the serial, a mail record. */
  readonly differs: readonly ('serial' | Copy)[]
  /** Why it did not answer. */
  readonly reason?: Problem
  /** Whether it answers over TCP: false if it answered only over UDP; null: not known. */
  readonly tcp: boolean | null
  /** Why it did not answer over TCP, and whether the connection was refused. */
  readonly tcpReason?: Problem
  readonly isRefused?: boolean
}

/** All servers, and the mail records in which all of them differ from the resolver. */
export type Comparison = { readonly states: readonly ServerState[]; readonly open: readonly Copy[] }

/** Answers of a server that does not know the zone (RFC 1912 §2.8); a missing answer proves nothing. */
const LAME_REASONS = new Set(['refused', 'servfail', 'notimp', 'formerr', 'rcode'])

/** Compares the answers of the servers: which are lame, and which differ from most in the serial or in mail records. */
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
      ...(error instanceof DnsError ? { reason: error.problem } : {}),
      ...tcpOf(server.heard),
    }
  })
  return { states, open }
}

/**
 * The result of the first address over TCP, if it answered over UDP (RFC 7766 §5). A missing answer counts if the query
 * was sent twice.
 */
function tcpOf(heard: readonly Heard[]): Pick<ServerState, 'tcp' | 'tcpReason' | 'isRefused'> {
  const first = heard.find(({ overTcp }) => overTcp !== undefined)
  const said = first?.overTcp && first.copies[first.overTcp]
  if (!said) return { tcp: null }
  if (!(said instanceof DnsError)) return { tcp: true }
  const isUp = first.soa !== undefined && !(first.soa instanceof DnsError)
  const isRefused = isRefusal(said)
  if (isUp && (isRefused || first.silentOverTcp)) return { tcp: false, tcpReason: said.problem, isRefused }
  return { tcp: isUp && ANSWERED.has(said.reason) ? true : null }
}

/** Errors that arrived as an answer. */
const ANSWERED: ReadonlySet<string> = new Set(['refused', 'servfail', 'formerr', 'notimp', 'rcode', 'malformed'])

const soaOf = (heard: readonly Heard[]): ServerAnswer<'SOA'> | DnsError | undefined =>
  heard.find(({ soa }) => soa !== undefined)?.soa

function lameOf(heard: readonly Heard[]): boolean | null {
  const soa = soaOf(heard)
  if (soa && !(soa instanceof DnsError)) return !soa.authoritative || soa.kind !== 'found'
  if (soa && LAME_REASONS.has(soa.reason)) return true
  const others = heard.flatMap(({ copies }) => Object.values(copies))
  // The lost answer may have been the one about the SOA record.
  return others.some((answer) => !(answer instanceof DnsError) && answer.authoritative) ? false : null
}

function serialOf(heard: readonly Heard[]): number | null {
  const soa = soaOf(heard)
  return soa && !(soa instanceof DnsError) && soa.authoritative ? (soa.records[0]?.serial ?? null) : null
}

/** The most common number; among equally common ones the one that is later according to RFC 1982. */
function mostCommon(numbers: readonly number[]): number | undefined {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  return [...counts].sort(([a, countA], [b, countB]) => countB - countA || (isLater(a, b) ? -1 : 1))[0]?.[0]
}

/** RFC 1982 §3.2: serials go round. */
const isLater = (a: number, b: number): boolean => (a - b) >>> 0 < 2 ** 31
