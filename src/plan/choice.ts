import type { PlanAnswer } from '../answers/plan.ts'
import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import { familyOf } from '../names/ip.ts'
import type { OverlayChange, OverlayRecord } from '../net/dns/overlay.ts'
import type { Draft } from './draft.ts'
import type { Snapshot } from './snapshot.ts'
import { aliasReplaced, keptBelow, NO_MAIL_CHOICE, REGISTRATION, SILENT_ORGANIZATION } from './words.ts'

/** What a domain does that has no mail, and what one does first that has some. */
type Ways = { readonly none: readonly Draft[]; readonly mail: readonly Draft[] }

/**
 * The two ways of an organizational domain with nothing that says whether it has mail (no MX, no SPF and no DKIM key):
 * one with an address, whatever its DMARC record says, one without an address that lets all mail as the domain be
 * rejected, and one that is an alias, beside which no record can stand (RFC 1034 §3.6.2): a live one is replaced first.
 * Without mail it has three records, in one step. Undefined for others.
 */
export function waysOf(
  domain: string,
  { context, facts, outcomes }: Snapshot,
  below: readonly string[] = [],
): Ways | undefined {
  const { spf, dkim, dmarc } = facts
  const { mail } = context
  if (!mail || spf instanceof Error || spf.records.length > 0 || spf.similar.length > 0) return undefined
  if (dkim instanceof Error || dkim.discovery === 'found' || dkim.discovery === 'unknown' || dmarc instanceof Error)
    return undefined
  if (context.above !== undefined || dmarc.applied?.inherited || dmarc.walk.steps[0]?.alias !== undefined)
    return undefined
  const isRejecting = dmarc.applied?.effective === 'reject'
  const [target] = mail.cname
  const isUnclear = mail.kind === 'implicit' || (mail.kind === 'none' && (isRejecting || target !== undefined))
  if (!isUnclear) return undefined
  const findings = (['mx', 'spf', 'dmarc'] as const).flatMap((key) => outcomes[key].findings.map(({ id }) => id))
  const { before, title, why } = NO_MAIL_CHOICE
  const about = { by: 'dns', findings } as const
  const rejecting: OverlayChange[] =
    isRejecting || dmarc.unknown !== undefined
      ? []
      : [{ name: `_dmarc.${domain}`, type: 'TXT', data: `v=DMARC1; p=reject${below.length > 0 ? '; sp=none' : ''}` }]
  const silent: OverlayChange[] = [
    { name: domain, type: 'MX', data: { preference: 0, exchange: '' } },
    { name: domain, type: 'TXT', data: 'v=spf1 -all' },
  ]
  const asked = [before, ...(rejecting.length === 0 ? [] : [below.length > 0 ? keptBelow(below) : SILENT_ORGANIZATION])]
  const addresses = mail.hosts.flatMap((host) => host.addresses)
  if (target === undefined || addresses.length === 0) {
    const freed: OverlayChange[] =
      target === undefined ? [] : [{ name: domain, type: 'CNAME', remove: true, data: target }]
    return { none: [{ title, ...about, changes: [...freed, ...silent, ...rejecting], why, before: asked }], mail: [] }
  }
  const replaced = { ...about, ...aliasReplaced(target) }
  const direct: OverlayChange[] = [
    { name: domain, type: 'CNAME', remove: true, data: target },
    ...addresses.map((data): OverlayRecord => ({ name: domain, type: familyOf(data) === 6 ? 'AAAA' : 'A', data })),
  ]
  return {
    none: [
      {
        ...replaced,
        title,
        before: asked,
        instructions: `${replaced.instructions} Then publish the null MX "0 ." and the TXT record "v=spf1 -all" at the domain${rejecting.length === 0 ? '' : `, and the TXT record "${rejecting[0]!.data}" at _dmarc.${domain}`}.`,
        changes: [],
        facts: { records: [...direct, ...silent, ...rejecting] },
        assumed: true,
      },
    ],
    mail: [{ ...replaced, changes: direct }],
  }
}

/** What only the registrar of a domain can do. */
export const registration = (): Draft => ({ ...REGISTRATION, by: 'registrar', findings: ['mx.no_domain'], changes: [] })

/** Faults of DNSSEC by which validating resolvers get no answer about the domain at all. */
const UNVALIDATED = ['dnssec.bogus', 'dnssec.ds_mismatch', 'dnssec.expired', 'dnssec.not_yet_valid'] as const

/** The repair of a signed zone that does not validate: all else waits for it. Undefined if there is no such fault. */
export function validation({ outcomes }: Snapshot): Draft | undefined {
  const found = outcomes.dnssec.findings.find(({ id }) => UNVALIDATED.some((one) => one === id))
  if (!found) return undefined
  const { repair = '' } = presentFinding(registry.dnssec.table, found)
  const isOfSigner = found.id === 'dnssec.expired' || found.id === 'dnssec.not_yet_valid'
  return {
    title: 'Repair DNSSEC',
    by: isOfSigner ? 'dns' : 'registrar',
    findings: [found.id],
    changes: [],
    why: 'Most receivers validate: to them the domain has no records, and no mail arrives.',
    instructions: `${repair} Then make the plan again.`,
  }
}

/** The organization whose DMARC record governs the name, and the way to its plan. */
export function organizationOf(
  domain: string,
  { facts: { dmarc }, context }: Snapshot,
): Pick<PlanAnswer, 'organization'> {
  const walked = dmarc instanceof Error ? undefined : dmarc.walk.organizationalDomain
  const organization = walked !== undefined && walked !== domain ? walked : context.above
  if (organization === undefined) return {}
  return { organization: { domain: organization, plan: `/v1/plan?domain=${organization}` } }
}
