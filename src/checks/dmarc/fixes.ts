import type { DnsRecord } from '../check.ts'
import type { Applied, Discovery } from './facts.ts'
import { mendDmarc, mergeTwo } from './mend.ts'
import {
  type DmarcReading,
  type DmarcRecord,
  formatDmarc,
  type Policies,
  type Policy,
  parseDmarc,
  policiesOf,
  shareOf,
  weaker,
  weakest,
} from './parse.ts'
import { authorizationName, type Destination } from './reports.ts'
import { mendedUris } from './uri.ts'
import type { Step } from './walk.ts'

const txt = (name: string, value: string): DnsRecord => ({ name, rtype: 'TXT', value })

/**
 * The record to publish at `domain`, with no policy stronger than `today`: what nobody applied until now begins at what
 * applies to the name, and what it was meant to request is a later stage of the plan.
 */
function atMost(domain: string, today: Policies, record: DmarcRecord): DnsRecord {
  const { p, sp, np, ...rest } = record
  const policies = {
    p: weakest(p ?? 'none', today.p),
    ...(sp && { sp: weakest(sp, today.sp) }),
    ...(np && { np: weakest(np, today.np) }),
  }
  return txt(`_dmarc.${domain}`, formatDmarc({ ...rest, ...policies }))
}

const NOTHING: Policies = { p: 'none', sp: 'none', np: 'none' }
const ofAll = (policy: Policy): Policies => ({ p: policy, sp: policy, np: policy })
/** The policies of a record as published; nothing where it cannot be applied. */
function policiesIn(reading: DmarcReading | undefined): Policies {
  const policies = reading && policiesOf(reading)
  return policies === undefined || typeof policies === 'string' ? NOTHING : policies
}

/** Whether a mended record requests less than its owner wrote. */
export const softening = ({ p = 'none' }: Pick<DmarcRecord, 'p'>, { value } = NO_FIX): boolean =>
  value !== '' && weaker(policyIn(value), p)
const NO_FIX = { value: '' }
function policyIn(text: string): Policy {
  const read = parseDmarc(text)
  return read.ok ? (read.value.record.p ?? 'none') : 'none'
}

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

const mailbox = (domain: string): string => `mailto:dmarc-reports@${domain}`

/** What was meant as a record where no receiver reads it, and what the name gets today. */
export type Meant = { readonly record: DmarcRecord; readonly fix: DnsRecord }

/** A record at another name, moved to the right name. */
export function movedFix(facts: Discovery): Meant | undefined {
  const text = facts.misplaced ?? facts.doubled
  const parsed = text === undefined ? undefined : parseDmarc(text)
  if (!parsed?.ok) return undefined
  const record = revived(parsed.value)
  return { record, fix: atMost(facts.domain, NOTHING, record) }
}

/** A record that nobody applied, for publication: `t` and `pct` of stages that never began are left out. */
const revived = (reading: DmarcReading): DmarcRecord => ({ ...tidied(reading), testing: false, removed: {} })

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

/** The input of a fix: the record as its owner meant it, and the policies that apply today. */
export type Basis = {
  readonly domain: string
  readonly record: DmarcRecord
  readonly today: Policies
}

/** `deadHost`: the domain itself if it accepts no mail; addresses there are removed, because no report can arrive. */
export function basisOf(
  { domain, broken, reading }: Applied,
  meant: DmarcRecord | undefined,
  deadHost?: string | undefined,
): Basis {
  const whole = meant ? { ...reading, record: meant } : reading
  const record = broken ? revived(whole) : tidied(whole)
  const alive = (uris: DmarcRecord['rua']) => uris.filter(({ host }) => deadHost === undefined || host !== deadHost)
  return {
    domain,
    record: { ...record, rua: alive(record.rua), ruf: alive(record.ruf) },
    today: broken ? NOTHING : policiesIn(reading),
  }
}

/** The record, whose policies stay as they are applied today. */
export const changedFix = ({ domain, record, today }: Basis): DnsRecord => atMost(domain, today, record)

/**
 * With a mailbox for reports if there is none (`before`: in front of others): without reports nobody can tell when a
 * stricter policy is safe.
 */
export const reported = (basis: Basis, before = false): Basis => {
  if (basis.record.rua.length > 0 && !before) return basis
  const rua = [{ uri: mailbox(basis.domain), scheme: 'mailto' as const }, ...basis.record.rua]
  return { ...basis, record: { ...basis.record, rua } }
}

/**
 * One record in place of several, with `inForce`, the policy of a record above that applies while these are discarded
 * (default none), and all their report addresses.
 */
export function mergedFix(step: Step, inForce: Policy = 'none'): Meant | undefined {
  const [first, ...others] = step.records.flatMap((text) => mendDmarc(text)?.record ?? [])
  if (!first) return undefined
  const merged = others.reduce(mergeTwo, first)
  const record = { ...merged, testing: false, removed: {} }
  return { record, fix: inPlaceOf(inForce, step.domain, record) }
}

/** A record that takes the place of one above it: never weaker for this name, or for the names that it governs. */
function inPlaceOf(inForce: Policy, domain: string, record: DmarcRecord): DnsRecord {
  const { p = 'none', sp, np, ...rest } = record
  const least = (policy: Policy): Policy => (weaker(policy, inForce) ? inForce : policy)
  const policies = { p: least(p), ...(sp && { sp: least(sp) }), ...(np && { np: least(np) }) }
  return atMost(domain, ofAll(inForce), { ...rest, ...policies })
}

/** A text that was meant as a record, as its owner meant it. */
export function mendedFix(step: Step, inForce: Policy = 'none'): Meant | undefined {
  const meant = mendDmarc(step.records[0] ?? '')?.record
  const reading = meant && parseDmarc(formatDmarc(meant))
  if (!reading?.ok) return undefined
  const record = revived(reading.value)
  return { record, fix: inPlaceOf(inForce, step.domain, record) }
}

/** The record that the owner of a destination has to publish (RFC 9990 §4); none if the name would be too long. */
export function authorizationFix(applied: Applied, destination: Destination): DnsRecord | undefined {
  const name = authorizationName(applied.domain, destination.host!)
  return name.length <= 253 ? txt(name, 'v=DMARC1') : undefined
}
