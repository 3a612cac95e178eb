import { canonicalName, isWithin } from '../../names/domain.ts'
import { familyOf, type Ip, reverseName } from '../../names/ip.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ask } from './ask.ts'
import { ADDRESS } from './read.ts'

/** Maximum number of PTR names that are evaluated; the others are ignored (RFC 7208 §4.6.4, §5.5). */
const MAX_PTR_NAMES = 10

type Client = { readonly ask: Ask; readonly ip: Ip }

/**
 * Whether a validated name of the client is `target` or below it (RFC 7208 §5.5); `void`: it has no name at all. A
 * query without an answer is no match, not an error.
 */
export async function validatedUnder(
  client: Client,
  target: string,
): Promise<{ readonly matches: boolean; readonly void: boolean }> {
  const names = await pointerNames(client)
  const wanted = canonicalName(target)
  const valid = await validated(
    client,
    names.filter((name) => isWithin(name, wanted)),
  )
  return { matches: valid.length > 0, void: names.length === 0 }
}

/**
 * The value of `%{p}`: a validated name of the client, preferably the domain itself, otherwise one below it, otherwise
 * any; `unknown` if there is none (RFC 7208 §7.3). Its query is not counted: §4.6.4 limits terms, and a macro is not a
 * term.
 */
export async function validatedName(client: Client, domain: string): Promise<string> {
  const valid = await validated(client, await pointerNames(client))
  const wanted = canonicalName(domain)
  return valid.find((name) => name === wanted) ?? valid.find((name) => isWithin(name, wanted)) ?? valid[0] ?? 'unknown'
}

async function pointerNames({ ask, ip }: Client): Promise<readonly string[]> {
  const answer = await settled(ask(reverseName(ip), 'PTR'))
  return answer instanceof DnsError ? [] : answer.records.slice(0, MAX_PTR_NAMES).map(canonicalName)
}

/** Those of the names that have the address of the client. */
async function validated({ ask, ip }: Client, names: readonly string[]): Promise<readonly string[]> {
  const answers = await Promise.all(names.map((name) => settled(ask(name, ADDRESS[familyOf(ip)]))))
  return names.filter((_, i) => {
    const answer = answers[i]!
    return !(answer instanceof DnsError) && answer.records.includes(ip)
  })
}
