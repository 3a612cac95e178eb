import type { Problem } from '../../base/problem.ts'
import { canonicalName, type Domain } from '../../names/domain.ts'
import { registrableDomain } from '../../names/suffix.ts'
import {
  type DmarcReading,
  lowered,
  type Policies,
  type Policy,
  parseDmarc,
  policiesOf,
  shareOf,
  weaker,
} from './parse.ts'
import { walkProblem } from './problems.ts'
import type { Destination } from './reports.ts'
import { judgeWalk, type LegacyReading, legacyReading, type Walk, type WalkAnswer } from './walk.ts'

/** Whether a name exists: `false` is NXDOMAIN only (RFC 9989 §3.2.13, RFC 8020); undefined if there was no answer. */
export type Existence = boolean | undefined

/** The record that applies to the domain, and its effect. */
export type Applied = {
  /** The domain whose `_dmarc` name has the record. */
  readonly domain: string
  readonly text: string
  readonly reading: DmarcReading
  /** It is at a parent and not at the domain itself. */
  readonly inherited: boolean
  /** Absent if the record cannot be applied (`broken` says why) or if it is not known which policy is meant. */
  readonly policies?: Policies
  readonly broken?: 'duplicate' | 'invalid'
  /** The tag with the policy of this name: `sp` and `np` only for inherited records (RFC 9989 §4.10.1). */
  readonly tag: 'p' | 'sp' | 'np'
  /** The published policy for this name. */
  readonly policy?: Policy
  /** The same after `t=y`. */
  readonly effective?: Policy
}

/** The result of the first round of queries, before report addresses are checked. */
export type Discovery = {
  readonly domain: Domain
  readonly walk: Walk
  readonly exists: Existence
  readonly applied?: Applied
  /** Why the policy is not known; absent if it is, and if there is none. */
  readonly unknown?: Problem
  /** The RFC 7489 reading, if it differs. */
  readonly legacy?: LegacyReading
  /** A DMARC record at the domain itself, where receivers do not look for it. */
  readonly misplaced?: string
  /** One at {@link doubledName}. */
  readonly doubled?: string
}

/**
 * The place of a record whose name was written without the final dot: the name server appends the domain again (RFC
 * 1035 §5.1).
 */
export const doubledName = (domain: string): string => `_dmarc.${domain}.${domain}`

export type DmarcFacts = Discovery & {
  readonly rua: readonly Destination[]
  readonly ruf: readonly Destination[]
}

/** What receivers enforce, for the score: `unusable` is several records or a broken one, and no other record. */
export type PublishedPolicy =
  | { readonly kind: 'unknown' | 'none' | 'unusable' }
  | {
      readonly kind: 'policy'
      readonly effective: Policy
      /** Percentage of the mail to which receivers of RFC 7489 apply the policy (RFC 7489 §6.3 pct); default 100. */
      readonly share: number
      /** A valid `rua` that will get the reports; null if that has no answer. */
      readonly reporting: boolean | null
      /** `sp` and `np` are not weaker than `p`. */
      readonly subdomainsCovered: boolean
    }

export type Asked = {
  readonly walk: readonly WalkAnswer[]
  readonly txt: WalkAnswer
  readonly exists: Existence
}

/** Reads the answers of the first round. */
export function discover(domain: Domain, asked: Asked): Discovery {
  const walk = judgeWalk(domain, asked.walk)
  const texts = asked.txt.kind === 'unknown' ? [] : asked.txt.texts
  const applied = walk.applied && appliedOf(domain, walk.applied, asked.exists)
  const misplaced = texts.find((text) => parseDmarc(text).ok)
  const unknown =
    walk.unknown?.reason ?? (applied && !applied.broken && !applied.policy ? walkProblem('existence') : undefined)
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
  // Whether the name exists decides between sp and np; it does not matter if both are the same.
  if (inherited && exists === undefined && policies.sp !== policies.np) return { ...base, tag, policies }
  const policy = policies[tag]
  return { ...base, tag, policies, policy, effective: found.reading.record.testing ? lowered(policy) : policy }
}

/** Whether `sp` and `np` of the record count: it is that of an organizational domain (RFC 9989 §4.7). */
export const governsBelow = ({ walk }: Pick<DmarcFacts, 'walk'>, { domain }: Pick<Applied, 'domain'>): boolean =>
  walk.organizationalDomain === undefined || walk.organizationalDomain === domain

/** The tag that is written in the record with the policy of this name: without `np` it is `sp`, without `sp` it is `p`. */
export function writtenTag({ tag, reading: { record } }: Pick<Applied, 'tag' | 'reading'>): 'p' | 'sp' | 'np' {
  if (tag === 'np' && record.np !== undefined) return 'np'
  return tag !== 'p' && record.sp !== undefined ? 'sp' : 'p'
}

/** Whether the two readings differ for mail of this domain; without a record in either, they do not. */
function differs(legacy: LegacyReading, walk: Walk, applied: Applied | undefined): boolean {
  const used = applied?.broken ? undefined : applied
  if (used === undefined && legacy.foundAt === undefined) return false
  const { policy, pct = 100 } = legacy
  // With pct=0, all mail gets the policy one step lower (RFC 7489 §6.6.4), as with t=y.
  const effective = pct === 0 && policy !== undefined ? lowered(policy) : policy
  return (
    legacy.foundAt !== used?.domain ||
    effective !== used?.effective ||
    (pct > 0 && pct < 100 && policy !== 'none') ||
    (walk.organizationalDomain !== undefined && legacy.organizationalDomain !== walk.organizationalDomain)
  )
}

/** Steps whose records were discarded, without public suffixes above the domain: those do not belong to its owner. */
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
    subdomainsCovered: !governsBelow(facts, applied) || (!weaker(sp, p) && !weaker(np, p)),
  }
}

function reportingOf(rua: readonly Destination[]): boolean | null {
  // Receivers must support only mailto (RFC 9989 §4.8), and hardly any sends reports elsewhere.
  const usable = rua.filter(
    ({ problem, scheme, authorization, takesMail }) =>
      !problem && scheme === 'mailto' && authorization !== 'unauthorized' && takesMail !== false,
  )
  if (usable.some(({ authorization, takesMail }) => authorization !== 'unknown' && takesMail !== null)) return true
  return usable.length > 0 ? null : false
}

/**
 * Whether an authenticated identifier is aligned with the author domain (RFC 9989 §4.4): strict is the same name,
 * relaxed the same organizational domain.
 */
export function aligned(
  author: { readonly domain: string; readonly organizationalDomain: string },
  identifier: { readonly domain: string; readonly organizationalDomain: string },
  mode: 'r' | 's',
): boolean {
  if (canonicalName(author.domain) === canonicalName(identifier.domain)) return true
  return mode === 'r' && canonicalName(author.organizationalDomain) === canonicalName(identifier.organizationalDomain)
}
