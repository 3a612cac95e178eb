import type { Domain } from '../../names/domain.ts'
import { registrableDomain } from '../../names/suffix.ts'
import { type LegacyReading, legacyReading } from './legacy.ts'
import { type DmarcReading, type Policy, parseDmarc } from './parse.ts'
import { lowered, type Policies, policiesOf, shareOf, weaker } from './policy.ts'
import type { Destination } from './reports.ts'
import { judgeWalk, type Walk, type WalkAnswer } from './walk.ts'

/** Whether a name exists: `false` is NXDOMAIN and nothing else (RFC 9989 §3.2.13, RFC 8020); undefined when it could not be asked. */
export type Existence = boolean | undefined

/** The record that applies to the domain, and what it comes to. */
export type Applied = {
  /** The domain whose `_dmarc` name has the record. */
  readonly domain: string
  readonly text: string
  readonly reading: DmarcReading
  /** It stands at a parent and not at the domain itself. */
  readonly inherited: boolean
  /** Absent where the record cannot be applied (`broken` says why) or where it is not known which policy is meant. */
  readonly policies?: Policies
  readonly broken?: 'duplicate' | 'invalid'
  /** The tag that gives the policy of this name: `sp` and `np` for inherited records only (RFC 9989 §4.10.1). */
  readonly tag: 'p' | 'sp' | 'np'
  /** The published policy for this name. */
  readonly policy?: Policy
  /** The same after `t=y`. */
  readonly effective?: Policy
}

/** What the answers of the first wave come to, before report addresses are looked at. */
export type Discovery = {
  readonly domain: Domain
  readonly walk: Walk
  readonly exists: Existence
  readonly applied?: Applied
  /** Why the policy is not known; absent where it is, and where there is none. */
  readonly unknown?: string
  /** The RFC 7489 reading, only where it differs. */
  readonly legacy?: LegacyReading
  /** A DMARC record at the domain itself, where nobody looks for it. */
  readonly misplaced?: string
  /** One at {@link doubledName}. */
  readonly doubled?: string
}

/** Where a record ends up whose name was written without the dot at its end: the name server adds the domain once more (RFC 1035 §5.1). */
export const doubledName = (domain: string): string => `_dmarc.${domain}.${domain}`

export type DmarcFacts = Discovery & {
  readonly rua: readonly Destination[]
  readonly ruf: readonly Destination[]
}

/** What receivers enforce, for the score: `unusable` is several records or a broken one, and nothing else found. */
export type PublishedPolicy =
  | { readonly kind: 'unknown' | 'none' | 'unusable' }
  | {
      readonly kind: 'policy'
      readonly effective: Policy
      /** Percentage of the mail that receivers of RFC 7489 apply the policy to (RFC 7489 §6.3 pct); 100 where it is not given. */
      readonly share: number
      /** A valid `rua` that will get the reports; null where that could not be asked. */
      readonly reporting: boolean | null
      /** `sp` and `np` are not weaker than `p`. */
      readonly subdomainsCovered: boolean
    }

export type Asked = {
  readonly walk: readonly WalkAnswer[]
  readonly txt: WalkAnswer
  readonly exists: Existence
}

/** Reads the answers of the first wave. */
export function discover(domain: Domain, asked: Asked): Discovery {
  const walk = judgeWalk(domain, asked.walk)
  const texts = asked.txt.kind === 'unknown' ? [] : asked.txt.texts
  const applied = walk.applied && appliedOf(domain, walk.applied, asked.exists)
  const misplaced = texts.find((text) => parseDmarc(text).ok)
  const unknown =
    walk.unknown?.reason ??
    (applied && !applied.broken && !applied.policy
      ? 'it could not be determined whether the name exists, which decides between sp and np'
      : undefined)
  const legacy = legacyReading(domain, asked.walk)
  return {
    domain,
    walk,
    exists: asked.exists,
    ...(applied ? { applied } : {}),
    ...(unknown === undefined ? {} : { unknown }),
    ...(legacy && unknown === undefined && differs(legacy, walk, applied) ? { legacy } : {}),
    ...(misplaced === undefined ? {} : { misplaced }),
  }
}

function appliedOf(domain: Domain, found: NonNullable<Walk['applied']>, exists: Existence): Applied {
  const inherited = found.domain !== domain
  const base = { ...found, inherited }
  const policies = policiesOf(found.reading)
  const tag = inherited ? (exists === false ? 'np' : 'sp') : 'p'
  if (typeof policies === 'string') return { ...base, tag, broken: policies }
  // Whether the name exists decides between sp and np; it need not be known where both are the same.
  if (inherited && exists === undefined && policies.sp !== policies.np) return { ...base, tag, policies }
  const policy = policies[tag]
  return { ...base, tag, policies, policy, effective: found.reading.record.testing ? lowered(policy) : policy }
}

/** Where the two readings come to different things for mail of this domain; without a record in either there is nothing to differ. */
function differs(legacy: LegacyReading, walk: Walk, applied: Applied | undefined): boolean {
  const used = applied?.broken ? undefined : applied
  if (used === undefined && legacy.foundAt === undefined) return false
  return (
    legacy.foundAt !== used?.domain ||
    legacy.policy !== used?.effective ||
    (legacy.pct !== undefined && legacy.policy !== 'none') ||
    (walk.organizationalDomain !== undefined && legacy.organizationalDomain !== walk.organizationalDomain)
  )
}

/** Steps whose records were thrown away, public suffixes above the domain left out: those are not its owner's. */
export const discardedSteps = (facts: Pick<Discovery, 'domain' | 'walk'>): Walk['steps'] =>
  facts.walk.steps.filter(
    (step) =>
      step.decision.startsWith('discarded') &&
      (step.domain === facts.domain || registrableDomain(step.domain) !== undefined),
  )

/** What receivers enforce for mail of this domain. */
export function publishedPolicyOf(facts: DmarcFacts): PublishedPolicy {
  const { applied } = facts
  if (facts.unknown !== undefined) return { kind: 'unknown' }
  if (!applied) return { kind: discardedSteps(facts).length > 0 ? 'unusable' : 'none' }
  if (!applied.policies || !applied.effective) return { kind: 'unusable' }
  const { p, sp, np } = applied.policies
  return {
    kind: 'policy',
    effective: applied.effective,
    share: shareOf(applied.reading),
    reporting: reportingOf(facts.rua),
    subdomainsCovered: !weaker(sp, p) && !weaker(np, p),
  }
}

function reportingOf(rua: readonly Destination[]): boolean | null {
  // Receivers have to support mailto alone (RFC 9989 §4.8), and hardly any sends elsewhere.
  const usable = rua.filter(
    ({ problem, scheme, authorization, takesMail }) =>
      !problem && scheme === 'mailto' && authorization !== 'unauthorized' && takesMail !== false,
  )
  if (usable.some(({ authorization, takesMail }) => authorization !== 'unknown' && takesMail !== null)) return true
  return usable.length > 0 ? null : false
}
