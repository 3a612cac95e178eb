/** What one node said; undefined: it failed or was not heard in time. */
export type Vote = { readonly node: string; readonly verdict: string | undefined }

export type Agreement = {
  /** `insufficient`: too few nodes answered for a quorum; `split`: enough answered, and too few of them agree. */
  readonly verdict: 'consistent' | 'split' | 'insufficient'
  /** What a quorum said; undefined where there is none. */
  readonly value: string | undefined
  /** `3/4`: nodes that said the most frequent word, of all that were asked. */
  readonly agree: string
  /** The others, with what they said instead (null: nothing). */
  readonly dissent: readonly { readonly node: string; readonly verdict: string | null }[]
}

/** How many of so many nodes may dissent or fail: one of up to 5, two from 6 on. */
const allowedOf = (nodes: number): number => (nodes >= 6 ? 2 : 1)

/** How many nodes must say the same: all but those that may dissent or fail, and two at least, since one voice agrees with nobody. */
const quorumOf = (nodes: number): number => Math.max(2, nodes - allowedOf(nodes))

/**
 * What several nodes say together. Of up to 5 nodes one may dissent or fail, from 6 on two: a lying or dead node never makes the value. Two nodes that differ
 * leave none: either could be the liar.
 */
export function agreementOf(votes: readonly Vote[]): Agreement {
  const { word, count, answered } = tallied(votes)
  const quorum = quorumOf(votes.length)
  const verdict = answered < quorum ? 'insufficient' : count >= quorum ? 'consistent' : 'split'
  return {
    verdict,
    value: verdict === 'consistent' ? word : undefined,
    agree: `${count}/${votes.length}`,
    dissent: votes
      .filter((vote) => vote.verdict === undefined || vote.verdict !== word)
      .map((vote) => ({ node: vote.node, verdict: vote.verdict ?? null })),
  }
}

/** Whether `heard`, of `nodes` that were asked, agree already, whatever the others will say. */
export const hasQuorum = (heard: readonly Vote[], nodes: number): boolean => tallied(heard).count >= quorumOf(nodes)

/** The most frequent word (of equals the one heard first), how many said it, and how many said anything. */
function tallied(votes: readonly Vote[]): {
  readonly word: string | undefined
  readonly count: number
  readonly answered: number
} {
  const counts = new Map<string, number>()
  for (const { verdict } of votes) if (verdict !== undefined) counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
  const [word, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [undefined, 0]
  return { word, count, answered: votes.filter((vote) => vote.verdict !== undefined).length }
}
