/** The answer of one node; undefined: it failed or was not received in time. */
export type Vote = { readonly node: string; readonly verdict: string | undefined }

type Agreement = {
  /** `insufficient`: too few nodes answered for a quorum; `split`: enough answered, but too few of them agree. */
  readonly verdict: 'consistent' | 'split' | 'insufficient'
  /** The answer of a quorum; undefined if there is none. */
  readonly value: string | undefined
  /** `3/4`: nodes that gave the most frequent answer, of all queried nodes. */
  readonly agree: string
  /** The other nodes, with their answers (null: none). */
  readonly dissent: readonly { readonly node: string; readonly verdict: string | null }[]
}

/** How many of this number of nodes may dissent or fail: one of up to 5, two from 6 on. */
const allowedOf = (nodes: number): number => (nodes >= 6 ? 2 : 1)

/** How many nodes must agree: all except those that may dissent or fail, and at least two. */
const quorumOf = (nodes: number): number => Math.max(2, nodes - allowedOf(nodes))

/**
 * The combined answer of several nodes. Of up to 5 nodes one may dissent or fail, from 6 on two: a lying or dead node
 * never determines the value. Two nodes that differ give none, because either could be wrong.
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

/** Whether `heard`, of `nodes` queried nodes, already agree, whatever the others answer. */
export const hasQuorum = (heard: readonly Vote[], nodes: number): boolean => tallied(heard).count >= quorumOf(nodes)

/** The most frequent answer (of equals the first one), how many gave it, and how many answered at all. */
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
