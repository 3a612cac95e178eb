import { dkimStepsOf, type Provider, providerOfAlias } from '../../mailhosts/providers/index.ts'

/** Maximum number of providers whose steps are shown; those that host mailboxes come first. */
const MAX_TOLD = 3

/** How to enable DKIM at the providers of a domain, one instruction each. */
export function stepsAt(providers: readonly Provider[], domain: string): string[] {
  const byRank = [...providers].sort((a, b) => Number(a.kind !== 'mailbox') - Number(b.kind !== 'mailbox'))
  const steps = byRank.flatMap((provider) => {
    const text = dkimStepsOf(provider, domain)
    return text === undefined ? [] : [`${provider.name}: ${text}`]
  })
  return steps.slice(0, MAX_TOLD)
}

/** The provider of a selector: that of its alias, otherwise those of the domain that use the selector. */
export function providersOf(
  selector: string,
  target: string | undefined,
  providers: readonly Provider[],
): readonly Provider[] {
  const byAlias = target === undefined ? undefined : providerOfAlias(target)
  return byAlias ? [byAlias] : providers.filter(({ selectors }) => selectors.includes(selector.toLowerCase()))
}
