import type { PlanAnswer } from '../answers/plan.ts'
import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import type { OverlayChange } from '../net/dns/overlay.ts'
import type { Draft } from './draft.ts'
import type { Snapshot } from './snapshot.ts'
import { keptBelow, NO_MAIL_CHOICE, REGISTRATION, SILENT_ORGANIZATION } from './words.ts'

/**
 * The records of a domain without mail, in one step, for an organizational domain with nothing that says whether it has
 * mail (no MX, no SPF and no DKIM key): one with an address, whatever its DMARC record says, and one without an address
 * that lets all mail as the domain be rejected. Undefined for others.
 */
export function silentDraft(
  domain: string,
  { context, facts, outcomes }: Snapshot,
  below: readonly string[] = [],
): Draft | undefined {
  const { spf, dkim, dmarc } = facts
  const { mail } = context
  if (!mail || spf instanceof Error || spf.records.length > 0 || spf.similar.length > 0) return undefined
  if (dkim instanceof Error || dkim.discovery === 'found' || dkim.discovery === 'unknown' || dmarc instanceof Error)
    return undefined
  if (context.above !== undefined || dmarc.applied?.inherited) return undefined
  // Beside an alias no record can stand (RFC 1034 §3.6.2).
  if (mail.cname.length > 0 || dmarc.walk.steps[0]?.alias !== undefined) return undefined
  const isRejecting = dmarc.applied?.effective === 'reject'
  if (mail.kind !== 'implicit' && !(mail.kind === 'none' && isRejecting)) return undefined
  const changes: OverlayChange[] = [
    { name: domain, type: 'MX', data: { preference: 0, exchange: '' } },
    { name: domain, type: 'TXT', data: 'v=spf1 -all' },
    ...(isRejecting
      ? []
      : [
          {
            name: `_dmarc.${domain}`,
            type: 'TXT',
            data: `v=DMARC1; p=reject${below.length > 0 ? '; sp=none' : ''}`,
          } as const,
        ]),
  ]
  const findings = (['mx', 'spf', 'dmarc'] as const).flatMap((key) => outcomes[key].findings.map(({ id }) => id))
  return {
    title: NO_MAIL_CHOICE.title,
    by: 'dns',
    findings,
    changes,
    why: NO_MAIL_CHOICE.why,
    before: [
      NO_MAIL_CHOICE.before,
      ...(isRejecting ? [] : [below.length > 0 ? keptBelow(below) : SILENT_ORGANIZATION]),
    ],
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
