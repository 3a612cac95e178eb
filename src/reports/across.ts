import { inTurns } from '../base/at-most.ts'
import { type Domain, parseDomain } from '../names/domain.ts'
import type { SenderWord } from '../store/postgres/report-notes.ts'
import type { SourceSum } from '../store/postgres/report-sums.ts'
import type { SenderFacts } from './home.ts'
import { organizationOf } from './report.ts'
import { findSenders, type Sender, type Verdict } from './senders.ts'

/** What a provider sends for one domain. */
type SentFor = {
  readonly domain: string
  readonly messages: number
  readonly passing: number
  readonly verdict: Verdict
}

/** A sender with the domains for which it sends, those that lose most mail first. */
export type AcrossSender = {
  readonly id: string
  readonly name: string
  readonly messages: number
  readonly passing: number
  readonly domains: readonly SentFor[]
}

/** What is known beside the reports, whichever domain is asked about. */
export type SharedFacts = Pick<SenderFacts, 'hostOf' | 'rangeOf' | 'networkOf'> & {
  /** What the owners of the domains said. */
  readonly words: readonly (SenderWord & { readonly domain: string })[]
}

/**
 * The senders over several domains, those with most domains first. A name in From counts for its organizational domain
 * if `sees` allows that, else for itself. Forwarded mail, what looks forged and what nothing names is nobody's. Each
 * domain is judged without its SPF record, which is not asked for. Others get their turn in between.
 */
export async function acrossDomains(
  sources: readonly SourceSum[],
  sees: (domain: Domain) => boolean,
  shared: SharedFacts,
): Promise<{ readonly senders: readonly AcrossSender[]; readonly domains: number }> {
  const byDomain = new Map<string, SourceSum[]>()
  await inTurns(sources, (source) => {
    const organization = parseDomain(organizationOf(source.name))
    const domain = organization.ok && sees(organization.value) ? organization.value : source.name
    const own = byDomain.get(domain)
    if (own) own.push(source)
    else byDomain.set(domain, [source])
  })
  const words = Map.groupBy(shared.words, ({ domain }) => domain)
  const found = new Map<string, { readonly name: string; readonly domains: Map<string, SentFor> }>()
  await inTurns(byDomain, async ([domain, own]) => {
    for (const sender of await findSenders(own, factsOf(domain, shared, words.get(domain) ?? []))) {
      const named = namedAs(sender)
      if (!named) continue
      const known = found.get(named.id) ?? { name: named.name, domains: new Map<string, SentFor>() }
      const before = known.domains.get(domain)
      const messages = sender.messages + (before?.messages ?? 0)
      const passing = sender.passing + (before?.passing ?? 0)
      // Several hosts of one name: as the one with most mail, which comes first, was judged.
      known.domains.set(domain, { domain, messages, passing, verdict: before?.verdict ?? sender.verdict })
      found.set(named.id, known)
    }
  })
  const sum = (domains: ReadonlyMap<string, SentFor>, of: 'messages' | 'passing'): number =>
    domains.values().reduce((total, one) => total + one[of], 0)
  const senders = [...found]
    .map(([id, { name, domains }]) => ({
      ...{ id, name, messages: sum(domains, 'messages'), passing: sum(domains, 'passing') },
      domains: [...domains.values()].sort(
        (a, b) => b.messages - b.passing - (a.messages - a.passing) || b.messages - a.messages,
      ),
    }))
    .sort((a, b) => b.domains.length - a.domains.length || b.messages - a.messages || (a.id < b.id ? -1 : 1))
  return { senders, domains: byDomain.size }
}

/** A provider, or the zone of hosts, signatures or return paths of which some mail passes. */
function namedAs({ id, key, name, verdict, provider, passing }: Sender): { id: string; name: string } | undefined {
  if (verdict === 'forwarded' || verdict === 'forged' || verdict === 'not_ours') return undefined
  if (provider) return { id: `provider:${provider.id}`, name: provider.name }
  const zone = /^(?:host|hosts|signer|path):([^:]+)/.exec(key)?.[1]
  if (zone === undefined || passing === 0) return undefined
  const organization = organizationOf(zone)
  return { id: `zone:${organization}`, name: id.includes(':host') ? organization : name }
}

const NONE: ReadonlySet<never> = new Set()

const factsOf = (domain: string, shared: SharedFacts, words: readonly SenderWord[]): SenderFacts => ({
  ...{ domain, ...shared, mailProviders: NONE, words, isSpfKnown: true, sendsNothing: false },
  spfOf: () => undefined,
  mailHostOf: () => undefined,
  isListed: () => false,
  hasKey: () => undefined,
})
