import { gunzipSync } from 'node:zlib'
import type { Problem } from '../../base/problem.ts'
import { type Domain, parseDomain } from '../../names/domain.ts'
import { FetchError, isTheirs } from '../../net/fetch.ts'
import type { Ctx } from '../../world.ts'
import { type DmarcFacts, lookupPolicy, publishedPolicyOf } from '../dmarc/index.ts'
import { type OneRecord, oneRecord } from '../one-record.ts'
import { type BimiRecord, isBimi, locationProblem, otherImage, parseBimi, resemblesBimi } from './parse.ts'
import { enforcementProblem, logoProblem } from './problems.ts'
import { readSvg, type SvgReading } from './svg.ts'

/** Whether DMARC permits receivers to show a logo (draft-brand-indicators §7.1). */
type Enforcement =
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
    lookupPolicy(ctx, above.value, true),
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

/** The fetched logo, or why it could not be fetched. */
type Logo =
  | { readonly kind: 'read'; readonly bytes: number; readonly svg: SvgReading }
  /** Receivers get the same fault: an HTTP status, a certificate, a size, a file that is not a logo. */
  | { readonly kind: 'unusable'; readonly reason: Problem }
  /** Possibly a fault of our own network. */
  | { readonly kind: 'unknown'; readonly reason: Problem }

/** Maximum size of a logo, bytes, compressed and decompressed; 32 KiB are recommended. */
const MAX_BYTES = 512 * 1024
const REDIRECTS = 3

/** Fetches a logo and parses it. Does not reject because of the other side. */
export async function fetchLogo(ctx: Pick<Ctx, 'fetch' | 'signal'>, url: string): Promise<Logo> {
  try {
    const { status, body } = await ctx.fetch(url, ctx.signal, {
      maxBytes: MAX_BYTES,
      redirects: REDIRECTS,
      accept: 'image/svg+xml',
    })
    if (status !== 200) return { kind: 'unusable', reason: logoProblem('status', { status }) }
    const unpacked = unpack(body)
    if (!unpacked)
      return {
        kind: 'unusable',
        reason: logoProblem('compressed'),
      }
    return { kind: 'read', bytes: unpacked.length, svg: readSvg(new TextDecoder().decode(unpacked)) }
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    return { kind: isTheirs(error) ? 'unusable' : 'unknown', reason: error.problem }
  }
}

/** SVGZ is gzip (RFC 1952); a file that exceeds the bound when unpacked is not a logo. */
function unpack(body: Uint8Array): Uint8Array | undefined {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body
  try {
    return gunzipSync(body, { maxOutputLength: MAX_BYTES })
  } catch {
    return undefined
  }
}
