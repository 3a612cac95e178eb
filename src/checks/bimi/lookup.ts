import type { Parsed } from '../../base/parsed.ts'
import type { Domain } from '../../names/domain.ts'
import type { Ctx } from '../../world.ts'
import { type DmarcFacts, type DmarcStanding, lookupDmarc, standingOf } from '../dmarc/index.ts'
import { type BimiRecord, isBimi, parseBimi, resemblesBimi } from './parse.ts'

/** Whether DMARC lets receivers show a logo (draft-brand-indicators §7.1). */
export type Enforcement = { readonly kind: 'enforced' | 'not_enforced' | 'unknown'; readonly why: string }

export type BimiFacts = {
  readonly domain: Domain
  /** The domain whose `default._bimi` name has the record: the domain itself, or its organizational domain. */
  readonly at: string
  /** The BIMI records there, at most 10, and how many there are. */
  readonly records: readonly string[]
  readonly count: number
  /** A text that was meant to be one, when there is none. */
  readonly lookalike?: string
  /** The one record, read; absent unless there is exactly one. */
  readonly parsed?: Parsed<BimiRecord>
  readonly dmarc: Enforcement
}

/**
 * Asks for the BIMI record of the default selector at `domain` and, where there is none, at its organizational domain (draft-brand-indicators §7.2),
 * and for DMARC beside it. At most two waits. Rejects with DnsError when a BIMI name gives no answer.
 */
export async function lookupBimi(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<BimiFacts> {
  const [own, dmarc] = await Promise.all([recordsAt(ctx, domain), lookupDmarc(ctx, domain)])
  const above = dmarc.walk.organizationalDomain
  const elsewhere = own.count === 0 && own.lookalike === undefined && above !== undefined && above !== domain
  const found = elsewhere ? await recordsAt(ctx, above) : own
  return { domain, ...found, dmarc: enforcementOf(standingOf(dmarc), dmarc) }
}

async function recordsAt(
  ctx: Pick<Ctx, 'resolve' | 'signal'>,
  at: string,
): Promise<Pick<BimiFacts, 'at' | 'records' | 'count' | 'lookalike' | 'parsed'>> {
  const answer = await ctx.resolve(`default._bimi.${at}`, 'TXT', ctx.signal)
  const records = answer.records.filter(isBimi)
  const lookalike = records.length === 0 ? answer.records.find(resemblesBimi) : undefined
  return {
    at,
    records: records.slice(0, 10),
    count: records.length,
    ...(lookalike === undefined ? {} : { lookalike }),
    ...(records.length === 1 ? { parsed: parseBimi(records[0]!) } : {}),
  }
}

/** draft-brand-indicators §7.1: quarantine or reject, for subdomains too, and for all of the mail. */
function enforcementOf(standing: DmarcStanding, facts: DmarcFacts): Enforcement {
  if (standing.kind === 'unknown') return { kind: 'unknown', why: facts.unknown ?? '' }
  if (standing.kind !== 'policy') return { kind: 'not_enforced', why: 'there is no usable DMARC record' }
  if (standing.effective === 'none') return { kind: 'not_enforced', why: 'its DMARC policy is none' }
  if (facts.applied?.policies?.sp === 'none')
    return { kind: 'not_enforced', why: 'its DMARC policy for subdomains is none' }
  const pct = facts.applied?.reading.record.removed.pct
  if (pct !== undefined && !/^0*100$/.test(pct))
    return { kind: 'not_enforced', why: 'its DMARC policy has a pct under 100' }
  return { kind: 'enforced', why: '' }
}
