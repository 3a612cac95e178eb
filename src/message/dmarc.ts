import type { Problem } from '../base/problem.ts'
import { aligned, type DmarcFacts, lookupPolicy, type Policy, publishedPolicyOf } from '../checks/dmarc/index.ts'
import { type Domain, parseMailDomain } from '../names/domain.ts'
import { registrableDomain } from '../names/suffix.ts'
import type { Ctx } from '../world.ts'
import { dmarcResultProblem } from './problems.ts'

/** What DMARC says of a message (RFC 9989 §5.3). */
export type MessageDmarc = {
  /** `unknown`: nothing aligned passes, and SPF could not be evaluated. */
  readonly result: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror' | 'unknown'
  readonly because?: Problem
  readonly domain?: Domain
  /** The policy that applies to the domain, and what receivers would do with a message that fails (`t=y` lowers it). */
  readonly policy?: Policy
  readonly would?: Policy
  readonly organizationalDomain?: string
  readonly modes?: { readonly dkim: 'r' | 's'; readonly spf: 'r' | 's' }
  /** The record was found at this domain. */
  readonly foundAt?: string
  /** The identifiers that are aligned and pass. */
  readonly alignedBy: readonly ('spf' | 'dkim')[]
  /**
   * Whether each identifier is aligned with the author domain, whatever its result; null where that could not be found
   * out.
   */
  readonly alignment: { readonly spf: boolean | null; readonly dkim: readonly (boolean | null)[] }
}

/** An identifier and the result of its method. */
type Identifier = { readonly domain: string; readonly result: string }

/** What the DNS says of an author domain, and which identifiers are aligned with it. */
type DmarcAlignment = { readonly facts: DmarcFacts; readonly alignment: MessageDmarc['alignment'] }

/** Looks at an author domain; undefined if there is none. Never rejects because of the DNS. */
export async function lookupDmarc(
  ctx: Pick<Ctx, 'resolve' | 'signal'>,
  author: { readonly domain?: Domain },
  spf: Promise<Identifier | undefined>,
  signers: readonly string[],
): Promise<DmarcAlignment | undefined> {
  if (author.domain === undefined) return undefined
  const facts = await lookupPolicy(ctx, author.domain)
  const modes = modesOf(facts)
  const isAligned = alignedWith(ctx, facts)
  const [ofSpf, dkim] = await Promise.all([
    spf.then((one) => (one?.domain ? isAligned(one.domain, modes.spf) : null)),
    Promise.all(signers.map((domain) => isAligned(domain, modes.dkim))),
  ])
  return { facts, alignment: { spf: ofSpf, dkim } }
}

function modesOf({ applied }: DmarcFacts) {
  const record = applied?.reading.record
  return { dkim: record?.adkim ?? 'r', spf: record?.aspf ?? 'r' } as const
}

/**
 * Evaluates DMARC for an author domain (RFC 9989 §5.3): `spf` is undefined if it could not be evaluated, because the
 * connection is not known.
 */
export function judgeDmarc(
  looked: DmarcAlignment | undefined,
  author: { readonly domain?: Domain; readonly domains: number },
  spf: Identifier | undefined,
  dkim: readonly Identifier[],
): MessageDmarc {
  if (author.domain === undefined || !looked) {
    const because =
      author.domains > 1
        ? dmarcResultProblem('several_authors', { count: author.domains })
        : dmarcResultProblem('no_author')
    return { result: 'permerror', because, alignedBy: [], alignment: { spf: null, dkim: dkim.map(() => null) } }
  }
  const { facts, alignment } = looked
  const published = publishedPolicyOf(facts)
  const organization = facts.walk.organizationalDomain
  const alignedBy = [
    ...(spf?.result === 'pass' && alignment.spf === true ? ['spf' as const] : []),
    ...(dkim.some((one, i) => one.result === 'pass' && alignment.dkim[i] === true) ? ['dkim' as const] : []),
  ]
  const base = {
    domain: author.domain,
    ...(organization === undefined ? {} : { organizationalDomain: organization }),
    alignedBy,
    alignment,
  }
  if (published.kind === 'unknown')
    return { ...base, result: 'temperror', ...(facts.unknown ? { because: unansweredOf(facts) } : {}) }
  if (published.kind !== 'policy') {
    const because = published.kind === 'none' ? dmarcResultProblem('no_record') : dmarcResultProblem('unusable')
    return { ...base, result: published.kind === 'none' ? 'none' : 'permerror', because }
  }
  const known = {
    ...base,
    policy: facts.applied!.policy ?? published.effective,
    would: published.effective,
    foundAt: facts.applied!.domain,
    modes: modesOf(facts),
  }
  if (alignedBy.length > 0) return { ...known, result: 'pass' }
  // RFC 9989 §5.3.6: a temporary error of a method that might have passed leaves the result open.
  const isOpen = (one: Identifier | undefined, is: boolean | null | undefined): boolean =>
    is !== false && (one?.result === 'temperror' || (one?.result === 'pass' && is === null))
  if (isOpen(spf, alignment.spf) || dkim.some((one, i) => isOpen(one, alignment.dkim[i])))
    return { ...known, result: 'temperror', because: dmarcResultProblem('open') }
  if (dkim.some((one, i) => one.result === 'unknown' && alignment.dkim[i] !== false))
    return { ...known, result: 'unknown', because: dmarcResultProblem('body_missing') }
  if (spf === undefined) return { ...known, result: 'unknown', because: dmarcResultProblem('spf_unknown') }
  return { ...known, result: 'fail', because: unalignedOf(author.domain, known.modes, spf, dkim, alignment) }
}

/** What passes for another domain, or for one that only relaxed alignment would accept. */
function unalignedOf(
  author: Domain,
  modes: { readonly dkim: 'r' | 's'; readonly spf: 'r' | 's' },
  spf: Identifier | undefined,
  dkim: readonly Identifier[],
  alignment: MessageDmarc['alignment'],
): Problem {
  const ofSpf = spf?.result === 'pass' && alignment.spf === false ? [spf.domain] : []
  const ofDkim = dkim.flatMap(({ result, domain }, i) =>
    result === 'pass' && alignment.dkim[i] === false ? domain : [],
  )
  if (ofSpf.length + ofDkim.length === 0) return dmarcResultProblem('nothing_aligned')
  const isBelow = (one: string): boolean => registrableDomain(one) === registrableDomain(author)
  const strictSpf = modes.spf === 's' ? ofSpf.filter(isBelow) : []
  const strictDkim = modes.dkim === 's' ? ofDkim.filter(isBelow) : []
  const tags = [...(strictDkim.length > 0 ? ['adkim=s'] : []), ...(strictSpf.length > 0 ? ['aspf=s'] : [])]
  return tags.length > 0
    ? dmarcResultProblem('strict', { ...passing(strictSpf, strictDkim), tags: tags.join(', ') })
    : dmarcResultProblem('unaligned', passing(ofSpf, ofDkim))
}

/** The methods that pass, in words, and the domains for which they do. */
function passing(
  spf: readonly string[],
  dkim: readonly string[],
): { readonly methods: string; readonly names: readonly string[] } {
  const methods = [...(spf.length > 0 ? ['SPF'] : []), ...(dkim.length > 0 ? ['DKIM'] : [])]
  return {
    methods: `${methods.join(' and ')} ${methods.length > 1 ? 'pass' : 'passes'}`,
    names: [...new Set([...spf, ...dkim])],
  }
}

const unansweredOf = ({ unknown }: DmarcFacts): Problem => dmarcResultProblem('unanswered', { why: unknown! })

/**
 * Whether an identifier is aligned with the author domain of these facts; null if its organizational domain could not
 * be found out.
 */
function alignedWith(ctx: Pick<Ctx, 'resolve' | 'signal'>, author: DmarcFacts) {
  return async (identifier: string, mode: 'r' | 's'): Promise<boolean | null> => {
    const name = parseMailDomain(identifier)
    if (!name.ok) return false
    if (name.value === author.domain) return true
    if (mode === 's') return false
    const authors = author.walk.organizationalDomain
    const { organizationalDomain: own } = (await lookupPolicy(ctx, name.value)).walk
    if (authors === undefined || own === undefined) return null
    return aligned(
      { domain: author.domain, organizationalDomain: authors },
      { domain: name.value, organizationalDomain: own },
      mode,
    )
  }
}
