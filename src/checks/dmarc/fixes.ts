import type { DnsRecord } from '../check.ts'
import type { Applied, Discovery } from './facts.ts'
import { isHarmlessRecord, isUnenforced } from './harmless.ts'
import { mendDmarc, mergeTwo } from './mend.ts'
import { type DmarcReading, type DmarcRecord, formatDmarc, type Policy, parseDmarc, shareOf, weaker } from './parse.ts'
import { authorizationName, type Destination } from './reports.ts'
import { mendedUris } from './uri.ts'
import type { Step } from './walk.ts'

const txt = (name: string, value: string): DnsRecord => ({ name, rtype: 'TXT', value })

/**
 * What receivers apply today (undefined: no record), and whether they may apply more: not while none of the domain's
 * own mail can pass.
 */
type Today = { readonly before: DmarcReading | undefined; readonly mayRise: boolean }

/**
 * The record to publish at `domain` in place of the one that applies today, if that is harmless; if none applies today,
 * the published policy one step lower (`t=y`, and `pct=0` for receivers of RFC 7489), or as one that requests nothing
 * yet.
 */
function harmlessFix(domain: string, { before, mayRise }: Today, record: DmarcRecord): DnsRecord | undefined {
  const softened = { ...record, testing: true, removed: { pct: '0' } }
  for (const one of [record, ...(isUnenforced(before) ? [softened, atMostQuarantine(softened)] : [])]) {
    const text = formatDmarc(one)
    const after = parseDmarc(text)
    if (after.ok && isHarmlessRecord(before, after.value, mayRise)) return txt(`_dmarc.${domain}`, text)
  }
  return undefined
}

const atMostQuarantine = (record: DmarcRecord): DmarcRecord => {
  const { p, sp, np } = record
  const cap = (policy: Policy): Policy => (policy === 'reject' ? 'quarantine' : policy)
  return { ...record, ...(p && { p: cap(p) }), ...(sp && { sp: cap(sp) }), ...(np && { np: cap(np) }) }
}

/**
 * How the record of a fix differs from what its owner published: it requests one step less, or nothing yet; empty: not
 * at all.
 */
export const softening = ({ value } = NO_FIX): '' | 'lower' | 'nothing' => {
  if (!/; t=y(?:;|$)/.test(value)) return ''
  return /(?:^|; )[sn]?p=reject/.test(value) ? 'lower' : 'nothing'
}
const NO_FIX = { value: '' }

/**
 * The first record of a domain without one: monitoring, nothing is refused (RFC 9989 §5.1.4); a domain without mail may
 * reject everything at once. Without `rua` if no report can arrive.
 */
export function startFix(
  { domain }: Pick<Discovery, 'domain'>,
  mail: { readonly none: boolean; readonly takes: boolean },
): DnsRecord {
  const rua = mail.takes ? `; rua=${mailbox(domain)}` : ''
  return txt(`_dmarc.${domain}`, mail.none ? 'v=DMARC1; p=reject' : `v=DMARC1; p=none${rua}`)
}

/** The mailbox that fixes suggest for reports. */
const mailbox = (domain: string): string => `mailto:dmarc-reports@${domain}`

/** A record at another name, moved to the right name. */
export function movedFix(facts: Discovery, mayRise: boolean): DnsRecord | undefined {
  const text = facts.misplaced ?? facts.doubled
  const parsed = text === undefined ? undefined : parseDmarc(text)
  return parsed?.ok ? harmlessFix(facts.domain, { before: undefined, mayRise }, tidied(parsed.value)) : undefined
}

/**
 * A record for publication: with a policy, corrected addresses, without removed tags; a `pct` below 100 stays, because
 * receivers of RFC 7489 apply it.
 */
function tidied(reading: DmarcReading): DmarcRecord {
  const { record } = reading
  const uris = (list: DmarcRecord['rua']): DmarcRecord['rua'] => [
    ...new Map(
      list
        .flatMap(({ size: _, ...uri }) => (uri.problem === undefined ? [uri] : mendedUris(uri)))
        .map((uri) => [uri.uri, uri]),
    ).values(),
  ]
  const share = shareOf(reading)
  return {
    ...record,
    p: record.p ?? 'none',
    removed: share < 100 ? { pct: String(share) } : {},
    rua: uris(record.rua),
    ruf: uris(record.ruf),
  }
}

/** The input of a fix: the applied record as its owner meant it, and what receivers apply today. */
export type Basis = Today & {
  readonly domain: string
  readonly tag: Applied['tag']
  readonly record: DmarcRecord
}

/** `deadHost`: the domain itself if it accepts no mail; addresses there are removed, because no report can arrive. */
export function basisOf(
  { domain, tag, broken, reading }: Applied,
  meant: DmarcRecord | undefined,
  { mayRise, deadHost }: { readonly mayRise: boolean; readonly deadHost?: string | undefined },
): Basis {
  const record = tidied(meant ? { ...reading, record: meant } : reading)
  const alive = (uris: DmarcRecord['rua']) => uris.filter(({ host }) => deadHost === undefined || host !== deadHost)
  return {
    domain,
    tag,
    before: broken ? undefined : reading,
    mayRise,
    record: { ...record, rua: alive(record.rua), ruf: alive(record.ruf) },
  }
}

/** The record with changes. */
export const changedFix = ({ record, ...basis }: Basis, change: Partial<DmarcRecord> = {}): DnsRecord | undefined =>
  harmlessFix(basis.domain, basis, { ...record, ...change })

/** With a mailbox for reports if there is none: without reports nobody can tell when a stricter policy is safe. */
export const reported = (basis: Basis): Basis => {
  if (basis.record.rua.length > 0) return basis
  const rua = [{ uri: mailbox(basis.domain), scheme: 'mailto' as const }]
  return { ...basis, record: { ...basis.record, rua } }
}

/**
 * The policy of this name set to `policy`, in the tag that applies; `sp` and `np` that would then be weaker are
 * removed. A stronger policy stays.
 */
function withPolicy({ tag, record }: Basis, policy: Policy): DmarcRecord {
  const { sp, np, ...rest } = record
  const raised = (now: Policy): Policy => (weaker(now, policy) ? policy : now)
  if (tag === 'np' && np) return { ...record, np: raised(np) }
  if (tag !== 'p' && sp) return { ...record, sp: raised(sp) }
  const p = raised(rest.p ?? 'none')
  return { ...rest, p, ...(sp && !weaker(sp, p) ? { sp } : {}), ...(np && !weaker(np, p) ? { np } : {}) }
}

/** One step from none to quarantine. */
export const stepFix = (basis: Basis): DnsRecord | undefined =>
  harmlessFix(basis.domain, basis, withPolicy(basis, 'quarantine'))

/** A domain without mail may reject everything at once. */
export const refusingFix = (basis: Basis): DnsRecord =>
  txt(`_dmarc.${basis.domain}`, formatDmarc({ ...withPolicy(basis, 'reject'), testing: false, removed: {} }))

/** The record without `sp` and `np` that are weaker than `p`. */
export function subdomainFix(basis: Basis): DnsRecord | undefined {
  const { sp, np, ...rest } = basis.record
  const p = rest.p ?? 'none'
  return harmlessFix(basis.domain, basis, {
    ...rest,
    ...(sp && !weaker(sp, p) ? { sp } : {}),
    ...(np && !weaker(np, p) ? { np } : {}),
  })
}

/**
 * One record in place of several: the weakest of their policies, not weaker than `inForce`, the policy of a record
 * above that applies while these are discarded; and all their report addresses.
 */
export function mergedFix(step: Step, mayRise: boolean, inForce: Policy = 'none'): DnsRecord | undefined {
  const records = step.records.flatMap((text) => {
    const meant = mendDmarc(text)?.record
    return meant ? [meant] : []
  })
  const [first, ...others] = records
  if (!first) return undefined
  const merged = others.reduce(mergeTwo, first)
  const p = weaker(merged.p ?? 'none', inForce) ? inForce : merged.p
  const today = parseDmarc(`v=DMARC1; p=${inForce}`)
  const { sp, np, ...rest } = merged
  const kept = { ...(sp && !weaker(sp, inForce) ? { sp } : {}), ...(np && !weaker(np, inForce) ? { np } : {}) }
  const record = { ...rest, ...kept, ...(p ? { p } : {}), removed: {} }
  return harmlessFix(step.domain, { before: today.ok ? today.value : undefined, mayRise }, record)
}

/** A text that was meant as a record, as its owner meant it. */
export function mendedFix(step: Step, mayRise: boolean): DnsRecord | undefined {
  const meant = mendDmarc(step.records[0] ?? '')?.record
  const reading = meant && parseDmarc(formatDmarc(meant))
  return reading?.ok ? harmlessFix(step.domain, { before: undefined, mayRise }, tidied(reading.value)) : undefined
}

/** The record that the owner of a destination has to publish (RFC 9990 §4); none if the name would be too long. */
export function authorizationFix(applied: Applied, destination: Destination): DnsRecord | undefined {
  const name = authorizationName(applied.domain, destination.host!)
  return name.length <= 253 ? txt(name, 'v=DMARC1') : undefined
}
