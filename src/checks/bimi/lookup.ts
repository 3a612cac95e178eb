import type { Problem } from '../../base/problem.ts'
import { type Domain, parseDomain } from '../../names/domain.ts'
import type { Ctx } from '../../world.ts'
import { type DmarcFacts, lookupPolicy, publishedPolicyOf } from '../dmarc/index.ts'
import { type OneRecord, oneRecord } from '../one-record.ts'
import { fetchLogo, type Logo } from './logo.ts'
import { type BimiRecord, isBimi, locationProblem, otherImage, parseBimi, resemblesBimi } from './parse.ts'
import { enforcementProblem } from './problems.ts'

/** Whether DMARC permits receivers to show a logo (draft-brand-indicators §7.1). */
export type Enforcement =
  | { readonly kind: 'enforced' }
  | { readonly kind: 'not_enforced' | 'unknown'; readonly reason: Problem }

export type BimiFacts = OneRecord<BimiRecord> & {
  readonly domain: Domain
  /** The domain whose `default._bimi` name has the record: the domain itself, or its organizational domain. */
  readonly at: string
  readonly dmarc: Enforcement
  /** The logo; absent unless the record has a usable URL for it. */
  readonly logo?: Logo
}

type Asker = Pick<Ctx, 'resolve' | 'fetch' | 'signal'>
type Found = Pick<BimiFacts, 'at'> & OneRecord<BimiRecord>

/**
 * Queries the BIMI record of the default selector at `domain` and, if there is none, at its organizational domain
 * (draft-brand-indicators §7.2), together with DMARC of both and the logo. Rejects with DnsError if a BIMI name gives
 * no answer.
 */
export async function lookupBimi(ctx: Asker, domain: Domain): Promise<BimiFacts> {
  const own = recordsAt(ctx, domain).then((at) => withLogo(ctx, at))
  const [found, dmarc] = await Promise.all([own, lookupPolicy(ctx, domain)])
  const above = parseDomain(dmarc.walk.organizationalDomain ?? domain)
  if (!above.ok || above.value === domain) return { domain, ...found, dmarc: enforcementOf([dmarc]) }
  const [organizational, its] = await Promise.all([
    found.count === 0 ? recordsAt(ctx, above.value).then((at) => withLogo(ctx, at)) : found,
    lookupPolicy(ctx, above.value),
  ])
  const chosen = organizational.count === 0 && organizational.lookalike === undefined ? found : organizational
  return { domain, ...chosen, dmarc: enforcementOf([dmarc, its]) }
}

/** The logo is fetched while the DMARC queries are in progress. */
async function withLogo(ctx: Asker, found: Found): Promise<Found & Pick<BimiFacts, 'logo'>> {
  const url = found.parsed?.ok ? found.parsed.value.logo : ''
  if (url === '' || locationProblem(url) !== undefined || otherImage(url)) return found
  return { ...found, logo: await fetchLogo(ctx, url) }
}

async function recordsAt(ctx: Pick<Ctx, 'resolve' | 'signal'>, at: string): Promise<Found> {
  const answer = await ctx.resolve(`default._bimi.${at}`, 'TXT', ctx.signal)
  return { at, ...oneRecord(answer.records, { is: isBimi, resembles: resemblesBimi, parse: parseBimi }) }
}

/**
 * draft-brand-indicators §7.1 steps 7 to 9: both the domain and its organizational domain must satisfy the conditions.
 */
function enforcementOf(both: readonly DmarcFacts[]): Enforcement {
  const each = both.map(enforcementAt)
  const enforced: Enforcement = { kind: 'enforced' }
  return each.find((one) => one.kind === 'not_enforced') ?? each.find((one) => one.kind === 'unknown') ?? enforced
}

function enforcementAt(facts: DmarcFacts): Enforcement {
  const { domain } = facts
  const short = (id: keyof typeof enforcementProblem.table): Enforcement => ({
    kind: 'not_enforced',
    reason: enforcementProblem(id, { domain }),
  })
  const published = publishedPolicyOf(facts)
  if (facts.unknown !== undefined) return { kind: 'unknown', reason: facts.unknown }
  if (published.kind !== 'policy') return short('no_record')
  if (published.effective === 'none') return short('none')
  if (facts.applied?.policies?.sp === 'none') return short('none_below')
  const pct = facts.applied?.reading.record.removed.pct
  const partial = pct !== undefined && !/^0*100$/.test(pct)
  return published.effective === 'quarantine' && partial ? short('share') : { kind: 'enforced' }
}
