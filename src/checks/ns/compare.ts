import type { Problem } from '../../base/problem.ts'
import { DnsError, type ServerAnswer } from '../../net/dns/resolver.ts'
import { COPIES, type Copy, type Heard, isRefusal } from './ask.ts'
import { type NameServer, type NsFacts, textOf } from './lookup.ts'

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
type Comparison = { readonly states: readonly ServerState[]; readonly open: readonly Copy[] }

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

/**
 * How each server differs, in the order of the servers, and the records in which the servers agree with each other but
 * differ from the resolver.
 */
type ComparedCopies = { readonly odd: readonly (readonly Copy[])[]; readonly open: readonly Copy[] }

/**
 * Compares the mail records server by server. The answer of most servers is the usual one; in a tie, that of a server
 * with the usual serial, then that of the resolver. If the servers gave only one version and the resolver has another,
 * a server with another serial is the different one; with equal serials that proves nothing, because the resolver may
 * have an older version in its cache, and the record is `open`. `outdated`: the servers with another serial.
 */
function compareCopies(facts: NsFacts, outdated: readonly boolean[]): ComparedCopies {
  const each = COPIES.map((copy) => ({ copy, ...compareCopy(facts, copy, outdated) }))
  return {
    odd: facts.servers.map((_, i) => each.flatMap(({ copy, odd }) => (odd.has(i) ? [copy] : []))),
    open: each.flatMap(({ copy, open }) => (open ? [copy] : [])),
  }
}

type Text = { readonly server: number; readonly text: string }
const NOTHING = { odd: new Set<number>(), open: false }

function compareCopy(facts: NsFacts, copy: Copy, outdated: readonly boolean[]) {
  const resolved = facts.resolved[copy]
  const heard = facts.servers.flatMap((_, server) => textsOf(facts, server, copy))
  if (new Set(heard.map(({ text }) => text)).size > 1) {
    const usual = usualText(heard, resolved, outdated)
    return { odd: new Set(heard.filter(({ text }) => text !== usual).map(({ server }) => server)), open: false }
  }
  if (resolved === undefined || heard.length === 0 || heard[0]!.text === resolved) return NOTHING
  const current = heard.some(({ server }) => !outdated[server])
  // The resolver's version differs from that of the current servers: it came from an outdated one.
  const suspects = outdated.flatMap((late, server) => (late && !textsOf(facts, server, copy).length ? [server] : []))
  if (!current) return { odd: new Set(heard.map(({ server }) => server)), open: false }
  return suspects.length === 1 ? { odd: new Set(suspects), open: false } : { odd: new Set<number>(), open: true }
}

/** The authoritative answer of a server for a record; a name that is an alias is not compared. */
export function textsOf(facts: NsFacts, server: number, copy: Copy): Text[] {
  return facts.servers[server]!.heard.flatMap(({ copies }) => {
    const answer = copies[copy]
    if (!answer || answer instanceof DnsError || !answer.authoritative || answer.cname.length > 0) return []
    return [{ server, text: textOf(answer, copy) }]
  })
}

function usualText(heard: readonly Text[], resolved: string | undefined, outdated: readonly boolean[]): string {
  const texts = [...new Set(heard.map(({ text }) => text))]
  const holders = (text: string) => heard.filter((one) => one.text === text)
  const ranked = texts.map((text) => ({
    text,
    rank: [
      holders(text).length,
      holders(text).filter(({ server }) => !outdated[server]).length,
      Number(text === resolved),
    ],
  }))
  return ranked.sort((a, b) => b.rank[0]! - a.rank[0]! || b.rank[1]! - a.rank[1]! || b.rank[2]! - a.rank[2]!)[0]!.text
}
