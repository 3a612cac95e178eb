import { DnsError } from '../../net/dns/resolver.ts'
import { COPIES, type Copy } from './ask.ts'
import { type NsFacts, textOf } from './lookup.ts'

/**
 * How each server differs, in the order of the servers, and the records in which the servers agree with each other but
 * differ from the resolver.
 */
export type Comparison = { readonly odd: readonly (readonly Copy[])[]; readonly open: readonly Copy[] }

/**
 * Compares the mail records server by server. The answer of most servers is the usual one; in a tie, that of a server
 * with the usual serial, then that of the resolver. If the servers gave only one version and the resolver has another,
 * a server with another serial is the different one; with equal serials that proves nothing, because the resolver may
 * have an older version in its cache, and the record is `open`. `outdated`: the servers with another serial.
 */
export function compareCopies(facts: NsFacts, outdated: readonly boolean[]): Comparison {
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
