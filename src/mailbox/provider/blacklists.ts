/** The blacklists that a provider is known to act on at connection time, by the names of the set; the others are asked in front of most mail hosts. */
const RELIES_ON: Readonly<Record<string, readonly string[]>> = {
  barracuda: ['Barracuda BRBL'],
  cisco: ['SpamCop', 'Spamhaus ZEN'],
  icloud: ['Spamhaus ZEN'],
  gmx: ['Spamhaus ZEN', 'NordSpam'],
}
const MOST = ['Spamhaus ZEN'] as const

/** A listing of one of our own addresses. */
export type OwnListing = { readonly blacklist: string; readonly meaning: string }

/** Why an address is not worth trying with a provider: a list that the provider goes by has it. Undefined: nothing known against it. */
export function refusedBy(listings: readonly OwnListing[], provider: string): string | undefined {
  const relied = RELIES_ON[provider] ?? MOST
  const found = listings.find(({ blacklist }) => relied.includes(blacklist))
  return found && `listed by ${found.blacklist}${found.meaning ? ` (${found.meaning})` : ''}`
}
