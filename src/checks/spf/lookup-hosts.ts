import { type Answer, DnsError } from '../../net/dns/resolver.ts'
import type { Ask } from './ask.ts'
import type { TermDraft } from './draft.ts'
import { MAX_MX_NAMES } from './run.ts'
import type { Found, SpfTerm } from './tree.ts'

/** Number of `mx` hosts whose addresses may still be queried. Shared by the terms of a tree. */
export type HostBudget = { exchanges: number }

/**
 * Queries what an `a`, `mx` or `exists` term finds. `reached`: a client can get to it within ten lookups, so its addresses of both families matter; of
 * another term only whether its lookup is void. An `a` finds something if its name has an address of either family, because a client may use either.
 */
export async function lookupHosts(ask: Ask, term: TermDraft, reached: boolean, budget: HostBudget): Promise<void> {
  switch (term.directive!.mechanism.kind) {
    case 'mx':
      return lookupExchanges(ask, term, reached, budget)
    case 'a':
      return reached ? lookupBoth(ask, term) : lookupEither(ask, term)
    default:
      return lookupExists(ask, term)
  }
}

async function lookupBoth(ask: Ask, term: TermDraft): Promise<void> {
  const [a, aaaa] = await Promise.all([asked(ask(term.name!, 'A')), asked(ask(term.name!, 'AAAA'))])
  const found = { ip4: foundIn(a), ip6: foundIn(aaaa) }
  term.found = found
  if (failedAs(term, a)) return
  noteGone(term, a)
  if (found.ip4.kind === 'found' || found.ip6.kind === 'found') term.state = 'found'
  else if (!failedAs(term, aaaa)) term.state = 'void'
}

/** AAAA is queried only if there is no A. */
async function lookupEither(ask: Ask, term: TermDraft): Promise<void> {
  const a = await asked(ask(term.name!, 'A'))
  if (failedAs(term, a)) return
  term.state = a.kind === 'found' ? 'found' : 'void'
  if (a.kind !== 'nodata') return
  const aaaa = await asked(ask(term.name!, 'AAAA'))
  if (!failedAs(term, aaaa) && aaaa.kind === 'found') term.state = 'found'
}

/** RFC 7208 §5.7: A, for clients of either family. */
async function lookupExists(ask: Ask, term: TermDraft): Promise<void> {
  const a = await asked(ask(term.name!, 'A'))
  if (failedAs(term, a)) return
  noteGone(term, a)
  term.state = a.kind === 'found' ? 'found' : 'void'
  const found: Found = { kind: term.state, addresses: [] }
  term.found = { ip4: found, ip6: found }
}

async function lookupExchanges(ask: Ask, term: TermDraft, reached: boolean, budget: HostBudget): Promise<void> {
  const mx = await asked(ask(term.name!, 'MX'))
  if (failedAs(term, mx)) return
  noteGone(term, mx)
  term.state = mx.kind === 'found' ? 'found' : 'void'
  term.exchanges = mx.records.length
  if (!reached || mx.records.length > MAX_MX_NAMES) return
  const names = mx.records.map(({ exchange }) => exchange).filter((exchange) => exchange !== '') // RFC 7505: null MX
  const wanted = names.slice(0, budget.exchanges)
  budget.exchanges -= wanted.length
  const [ip4, ip6] = await Promise.all(
    (['A', 'AAAA'] as const).map((type) => Promise.all(wanted.map((name) => asked(ask(name, type))))),
  )
  const all = wanted.length === names.length
  term.found = { ip4: together(term.state, ip4!, all), ip6: together(term.state, ip6!, all) }
}

/** The known addresses of the hosts of an `mx`. */
function together(kind: Found['kind'], answers: readonly (Answer<'A' | 'AAAA'> | DnsError)[], all: boolean): Found {
  const failed = answers.find((answer) => answer instanceof DnsError)
  const addresses = answers.flatMap((answer) => foundIn(answer).addresses)
  if (failed) return { kind, addresses, partial: true, reason: failed.problem }
  return { kind, addresses, ...(all ? {} : { partial: true }) }
}

function foundIn(answer: Answer<'A' | 'AAAA'> | DnsError): Found {
  if (answer instanceof DnsError) return { kind: 'unknown', addresses: [], reason: answer.problem }
  return { kind: answer.kind === 'found' ? 'found' : 'void', addresses: answer.records }
}

async function asked<T>(answer: Promise<T>): Promise<T | DnsError> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof DnsError) return error
    throw error
  }
}

/** Records the name that does not exist, if so. */
export function noteGone(term: TermDraft, { kind, cname }: Answer): void {
  if (kind === 'nxdomain') term.gone = cname.at(-1) ?? term.name!
}

/** Whether there was no answer, which the term then records. */
function failedAs<T extends object>(term: TermDraft, answer: T | DnsError): answer is DnsError {
  if (!(answer instanceof DnsError)) return false
  term.state = (answer.reason === 'invalid_name' ? 'malformed' : 'unknown') satisfies SpfTerm['state']
  term.reason = answer.problem
  return true
}
