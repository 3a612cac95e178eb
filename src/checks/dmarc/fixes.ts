import type { DnsRecord } from '../check.ts'
import type { Applied, Discovery } from './facts.ts'
import { type DmarcRecord, formatDmarc, type Policy, parseDmarc } from './parse.ts'
import { policiesOf, weaker } from './policy.ts'
import { authorizationName, type Destination } from './reports.ts'
import type { Step } from './walk.ts'

const txt = (name: string, value: string): DnsRecord => ({ name, rtype: 'TXT', value })
const at = (domain: string, record: DmarcRecord): DnsRecord => txt(`_dmarc.${domain}`, formatDmarc(record))

/** The start of a domain without a record: monitored, nothing refused (RFC 9989 §5.1.4); a domain that declares that it has no mail may refuse all at once. */
export const startFix = ({ domain }: Pick<Discovery, 'domain'>, hasNoMail: boolean): DnsRecord =>
  txt(`_dmarc.${domain}`, hasNoMail ? 'v=DMARC1; p=reject' : `v=DMARC1; p=none; rua=${mailbox(domain)}`)

/** The mailbox that fixes suggest for reports. */
const mailbox = (domain: string): string => `mailto:dmarc-reports@${domain}`

/** A misplaced record, moved to where it is looked for. */
export function movedFix(facts: Discovery): DnsRecord | undefined {
  const parsed = facts.misplaced === undefined ? undefined : parseDmarc(facts.misplaced)
  return parsed?.ok ? at(facts.domain, parsed.value.record) : undefined
}

/** The applied record with changes. A removed `pct` under 100 becomes `t=y` only when it was 0 (RFC 9989 Appendix A.6). */
export function changedFix(applied: Applied, change: Partial<DmarcRecord>): DnsRecord {
  const { record } = applied.reading
  const testing = record.testing || /^0+$/.test(record.removed.pct ?? '')
  // A URI that is none is left out, and so is the size that reporters ignore.
  const uris = (list: DmarcRecord['rua']) =>
    list.flatMap(({ size: _, ...uri }) => (uri.problem === undefined ? [uri] : []))
  const clean = { ...record, removed: {}, testing, rua: uris(record.rua), ruf: uris(record.ruf) }
  return at(applied.domain, { ...clean, p: record.p ?? 'none', ...change })
}

/** The record with a mailbox for reports where it has none: without reports nobody can tell when a stricter policy is safe. */
export function reported(applied: Applied): Applied {
  const { record } = applied.reading
  if (record.rua.length > 0) return applied
  const rua = [{ uri: mailbox(applied.domain), scheme: 'mailto' as const }]
  return { ...applied, reading: { ...applied.reading, record: { ...record, rua } } }
}

/** The record with the policy of this name set to `policy`, in whichever tag gives it; `sp` and `np` that would then be weaker go. */
export function policyFix(applied: Applied, policy: Policy): DnsRecord {
  const { sp, np, ...rest } = applied.reading.record
  if (applied.tag === 'np' && np) return changedFix(applied, { np: policy })
  if (applied.tag !== 'p' && sp) return changedFix(applied, { sp: policy })
  return changedFix(
    { ...applied, reading: { ...applied.reading, record: rest } },
    {
      p: policy,
      ...(sp && !weaker(sp, policy) ? { sp } : {}),
      ...(np && !weaker(np, policy) ? { np } : {}),
    },
  )
}

/** The record without `sp` and `np` that are weaker than `p`. */
export function subdomainFix(applied: Applied): DnsRecord {
  const { sp, np, ...rest } = applied.reading.record
  const p = rest.p ?? 'none'
  return changedFix(
    { ...applied, reading: { ...applied.reading, record: rest } },
    { ...(sp && !weaker(sp, p) ? { sp } : {}), ...(np && !weaker(np, p) ? { np } : {}) },
  )
}

/** A broken record made whole: what could be read, and the weakest policy where `p` could not. */
export function repairedFix(applied: Applied): DnsRecord {
  const { record } = applied.reading
  return changedFix(applied, record.rua.some((uri) => uri.problem === undefined) ? {} : { rua: [] })
}

/** One record in place of several: the weakest of their policies, so that nothing is refused of a sudden, and all their report addresses. */
export function mergedFix(step: Step): DnsRecord | undefined {
  const records = step.records.flatMap((text) => {
    const parsed = parseDmarc(text)
    return parsed.ok && typeof policiesOf(parsed.value) !== 'string' ? [parsed.value.record] : []
  })
  const weakest = records.toSorted((a, b) => (weaker(a.p ?? 'none', b.p ?? 'none') ? -1 : 1))[0]
  if (!weakest) return undefined
  const all = (tag: 'rua' | 'ruf') => [
    ...new Map(
      records.flatMap((record) => record[tag].filter((uri) => !uri.problem)).map((uri) => [uri.uri, uri]),
    ).values(),
  ]
  return at(step.domain, {
    ...weakest,
    p: weakest.p ?? 'none',
    removed: {},
    rua: all('rua').slice(0, 10),
    ruf: all('ruf').slice(0, 10),
  })
}

/** A text that was meant to be a record, with its version written as it must be. */
export function versionFix(step: Step): DnsRecord | undefined {
  const text = step.records[0]?.slice(0, 4096) ?? ''
  const rest = text.replace(/^[ \t"'\\]{0,8}v[ \t]{0,8}=?[ \t]{0,8}dmarc[ \t]?1?[ \t]{0,8}[;:,.]?/i, '')
  const parsed = parseDmarc(`v=DMARC1;${rest}`)
  if (!parsed.ok || typeof policiesOf(parsed.value) === 'string') return undefined
  const { record } = parsed.value
  return at(step.domain, { ...record, p: record.p ?? 'none', removed: {} })
}

/** What the owner of a destination has to publish (RFC 9990 §4); none where the name would be too long. */
export function authorizationFix(applied: Applied, destination: Destination): DnsRecord | undefined {
  const name = authorizationName(applied.domain, destination.host!)
  return name.length <= 253 ? txt(name, 'v=DMARC1') : undefined
}
