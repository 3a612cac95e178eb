/** What one node said; undefined: it failed or was not heard in time. */
export type Vote = { readonly node: string; readonly verdict: string | undefined }

export type Agreement = {
  /** The verdict that stands, or undefined when the nodes are too far apart. */
  readonly verdict: string | undefined
  /** `3/4`: nodes that gave the verdict, of all that were asked. */
  readonly agree: string
  /** The others, with what they said instead (null: nothing). */
  readonly dissent: readonly { readonly node: string; readonly verdict: string | null }[]
}

/**
 * What several nodes say together: one lying or dead node never flips a verdict. Of up to 5 nodes one may dissent or fail, from 6 on two;
 * with more, no verdict stands. Two nodes that differ leave none: either could be the liar.
 */
export function agreementOf(votes: readonly Vote[]): Agreement {
  const counts = new Map<string, number>()
  for (const { verdict } of votes) if (verdict !== undefined) counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
  const [verdict, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [undefined, 0]
  const allowed = votes.length >= 6 ? 2 : 1
  const answered = votes.filter((vote) => vote.verdict !== undefined).length
  const stands = count > answered / 2 && votes.length - count <= allowed
  return {
    verdict: stands ? verdict : undefined,
    agree: `${count}/${votes.length}`,
    dissent: votes
      .filter((vote) => vote.verdict === undefined || vote.verdict !== verdict)
      .map((vote) => ({ node: vote.node, verdict: vote.verdict ?? null })),
  }
}
