/** The blacklists that a provider is known to use at connection time. */
const USED_BY: Readonly<Record<string, readonly string[]>> = {
  barracuda: ['Barracuda BRBL'],
  cisco: ['SpamCop', 'Spamhaus ZEN'],
  icloud: ['Spamhaus ZEN'],
  gmx: ['Spamhaus ZEN', 'NordSpam'],
}
/** What most mail hosts use. */
const COMMON = ['Spamhaus ZEN'] as const

/** A listing of one of our own addresses. */
export type OwnListing = { readonly blacklist: string; readonly meaning: string }

/**
 * Why an address is not used toward a provider: it is on a blacklist that the provider uses. Undefined if no such
 * listing is known.
 */
export function refusedBy(listings: readonly OwnListing[], provider: string): string | undefined {
  const used = USED_BY[provider] ?? COMMON
  const found = listings.find(({ blacklist }) => used.includes(blacklist))
  return found && `listed by ${found.blacklist}${found.meaning ? ` (${found.meaning})` : ''}`
}
