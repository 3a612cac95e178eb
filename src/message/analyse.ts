import { atMost } from '../base/at-most.ts'
import { generalSelectors } from '../checks/dkim/index.ts'
import { addressState, lookupAddress } from '../checks/ptr/index.ts'
import { checkHost } from '../checks/spf/index.ts'
import type { HeavyAsk } from '../lane/heavy.ts'
import type { Ip } from '../names/ip.ts'
import { isPublic } from '../names/ip-range.ts'
import type { Ctx } from '../world.ts'
import type { VerifiedSignature } from './dkim.ts'
import { judgeDmarc, lookupDmarc } from './dmarc.ts'
import type { Arrival, GivenEnvelope } from './envelope.ts'
import type { AddressNames, Facts } from './facts.ts'
import { keyName, lookupKeys } from './keys.ts'
import { outline } from './outline.ts'
import { signatureProblem } from './problems.ts'
import { causes, type Verified, verify } from './verify.ts'

type Asking = Pick<Ctx, 'resolve' | 'signal' | 'now' | 'heavy'>

export type AnalyseOptions = {
  readonly envelope?: GivenEnvelope
  /** Names of hosts whose trace fields may be believed. */
  readonly receivedBy?: readonly string[]
  /** The time at which the expiry of signatures is judged, ms since the epoch; default now. */
  readonly at?: number
  /** The body is not here; `intact`: the header is as it was. */
  readonly headerOnly?: { readonly intact: boolean }
  /** The text was changed when it was copied. */
  readonly isCopied?: true
  /** Selectors of a domain that are known from elsewhere. */
  readonly selectorsOf?: (domain: string) => readonly string[]
  /** Who asks; `isMail`: a stranger sent it. */
  readonly by: Pick<HeavyAsk, 'caller' | 'isMail'>
  /** Called when the message is read, before the DNS is asked. */
  readonly onRead?: () => void
}

/** Maximum number of addresses of the path whose names are looked up. */
const MAX_NAMED = 10

/**
 * Takes a message apart: everything that it says, and what the DNS says about it. The message is read in the lane for
 * heavy work, before the DNS is asked and after it. Rejects with LaneError; never because of the DNS.
 */
export async function analyse(raw: Uint8Array, ctx: Asking, options: AnalyseOptions): Promise<Facts> {
  const { envelope: given, receivedBy = [], at = ctx.now(), selectorsOf, headerOnly, isCopied } = options
  const ask = { ...options.by, signal: ctx.signal }
  const input = { receivedBy, ...(given && { envelope: given }) }
  const { mail, mime, author, arrival, forwarding, links, signers, keys } = await ctx.heavy(outline, raw, input, ask)
  options.onRead?.()
  const spf = evaluateSpf(ctx, arrival)
  const [evaluated, alignment, names, answers] = await Promise.all([
    spf,
    lookupDmarc(ctx, author, spf, signers),
    namesOf(ctx, arrival),
    lookupKeys(ctx, keys),
  ])
  const verified = await ctx.heavy(
    verify,
    raw,
    { lfEnds: mail.lfEnds, keys: answers, at, ...(headerOnly && { headerOnly }), ...(isCopied && { isCopied }) },
    ask,
  )
  const dkim = await withOtherKeys(ctx, raw, { ...verified, lfEnds: mail.lfEnds }, ask, selectorsOf)
  const { envelope, hops, results, receivers } = arrival
  // DMARC relies on SPF of MAIL FROM (RFC 9989 §4.4.2). HELO stands for it where the reverse-path is empty (RFC 7208
  // §2.4), not where nobody knows it.
  const isHeloAlone = envelope.mailFrom === undefined && evaluated?.result === 'pass'
  const identifier = isHeloAlone && alignment?.alignment.spf === true ? undefined : evaluated
  const border = hops.find((hop) => hop.trusted && hop.address !== undefined && hop.address === envelope.ip)
  return {
    mail,
    mime,
    author,
    envelope,
    hops,
    names,
    results,
    receivers,
    ...(evaluated ? { spf: evaluated } : {}),
    dkim,
    arc: verified.arc,
    dmarc: judgeDmarc(alignment, author, identifier, dkim),
    links,
    connection: {
      ...(envelope.ip === undefined ? {} : { address: envelope.ip }),
      by: border?.by ?? '',
      forwardConfirmed: envelope.ip === undefined ? null : (names.get(envelope.ip)?.confirmed ?? null),
      tls: border?.tls ?? null,
    },
    ...(forwarding === undefined ? {} : { forwarding }),
    headerOnly: headerOnly !== undefined,
    isCopied: isCopied === true,
    smtputf8: hops.some((hop) => /^utf8/i.test(hop.with)),
    at,
  }
}

async function evaluateSpf(ctx: Asking, { envelope }: Arrival) {
  const { ip, helo = '', mailFrom } = envelope
  if (ip === undefined || (mailFrom === undefined && helo === '')) return undefined
  return checkHost(ctx, { ip, helo, sender: mailFrom ?? '' })
}

/** The names of the public addresses of the path and of the connection; the connection first. */
async function namesOf(ctx: Asking, { envelope, hops }: Arrival): Promise<ReadonlyMap<Ip, AddressNames>> {
  const addresses = [envelope.ip, ...hops.map(({ address }) => address)].filter((one) => one !== undefined)
  const asked = [...new Set(addresses)].filter(isPublic).slice(0, MAX_NAMED)
  const states = await atMost(MAX_NAMED, asked, async (address) => {
    const ptr = await lookupAddress(ctx, address)
    return [address, { names: ptr.names.slice(0, 5), confirmed: addressState(ptr).confirmed }] as const
  })
  return new Map(states)
}

/** Maximum number of other selectors of a signature whose keys are tried. */
const MAX_OTHERS = 10

/** Whether nothing is published at the name of a key. */
const isGone = ({ because }: Pick<VerifiedSignature, 'because'>): boolean =>
  because?.id === 'signature.key_gone' || because?.id === 'signature.key_dangling'

/** The signatures; for those that were made with the key of another selector, that is the cause. */
async function withOtherKeys(
  ctx: Asking,
  raw: Uint8Array,
  { dkim, otherKey, lfEnds }: Verified & { readonly lfEnds: number },
  ask: HeavyAsk,
  selectorsOf: AnalyseOptions['selectorsOf'],
): Promise<readonly VerifiedSignature[]> {
  if (otherKey.length === 0) return dkim
  const general = generalSelectors(ctx.now())
  const wanted = otherKey.map((index) => {
    const { domain, selector } = dkim[index]!
    const beside = dkim.filter((one) => one.domain === domain).map((one) => one.selector)
    const others = new Set([...beside, ...(selectorsOf?.(domain) ?? []), ...general])
    others.delete(selector)
    const selectors = [...others].slice(0, MAX_OTHERS)
    return { index, candidates: selectors.map((one) => ({ selector: one, name: keyName({ selector: one, domain }) })) }
  })
  const keys = await lookupKeys(
    ctx,
    wanted.flatMap(({ candidates }) => candidates.map(({ name }) => name)),
  )
  const found = await ctx.heavy(causes, raw, { lfEnds, wanted, keys }, ask)
  return dkim.map((one, index) => {
    const selector = found[otherKey.indexOf(index)]
    if (selector === undefined) return one
    return {
      ...one,
      because: signatureProblem('other_selector', { name: keyName(one), selector, isThere: !isGone(one) }),
    }
  })
}
