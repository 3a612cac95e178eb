import type { Ip } from '../../names/ip.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import type { Ask } from './ask.ts'
import type { TermDraft } from './draft.ts'
import { MAX_MX_NAMES } from './run.ts'

/**
 * Asks what an `a`, `mx` or `exists` term finds. For an `a` a name with an address of either family is found, for a client may
 * come from either; AAAA is asked only where there is no A. `own`: the domain's own record, whose addresses are counted.
 */
export async function lookupHosts(ask: Ask, term: TermDraft, own: boolean): Promise<void> {
  try {
    const mechanism = term.directive!.mechanism
    if (mechanism.kind === 'mx') return await lookupExchanges(ask, term, own && mechanism.cidr.ip4 !== undefined)
    const answer = await ask(term.name!, 'A')
    term.addresses = answer.records
    term.state = answer.kind === 'found' ? 'found' : 'void'
    if (mechanism.kind === 'a' && answer.kind === 'nodata') {
      term.state = (await ask(term.name!, 'AAAA')).kind === 'found' ? 'found' : 'void'
    }
  } catch (error) {
    failed(term, error)
  }
}

/** All addresses of an `a` or `mx` term, both families. A part that cannot be asked leaves the term as it was. */
export async function lookupAddresses(ask: Ask, term: TermDraft): Promise<void> {
  try {
    const names = term.directive!.mechanism.kind === 'mx' ? await exchangesOf(ask, term.name!) : [term.name!]
    if (names.length > MAX_MX_NAMES) return
    term.addresses = await addressesOf(ask, names, ['A', 'AAAA'])
    term.allAddresses = true
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
  }
}

async function lookupExchanges(ask: Ask, term: TermDraft, counted: boolean): Promise<void> {
  const { kind, records } = await ask(term.name!, 'MX')
  term.state = kind === 'found' ? 'found' : 'void'
  term.exchanges = records.length
  if (!counted || records.length > MAX_MX_NAMES) return
  // The question that decides was answered: what the hosts' addresses are only adds to the count.
  try {
    term.addresses = await addressesOf(ask, await exchangesOf(ask, term.name!), ['A'])
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
  }
}

const exchangesOf = async (ask: Ask, name: string): Promise<readonly string[]> =>
  (await ask(name, 'MX')).records.map(({ exchange }) => exchange).filter((exchange) => exchange !== '')

/** At most 10 names. */
async function addressesOf(ask: Ask, names: readonly string[], types: readonly ('A' | 'AAAA')[]): Promise<Ip[]> {
  const answers = await Promise.all(names.flatMap((name) => types.map((type) => ask(name, type))))
  return answers.flatMap(({ records }) => records)
}

function failed(term: TermDraft, error: unknown): void {
  if (!(error instanceof DnsError)) throw error
  term.state = error.reason === 'invalid_name' ? 'malformed' : 'unknown'
  term.reason = error.message
}
