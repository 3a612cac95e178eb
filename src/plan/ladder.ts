import {
  type DmarcFacts,
  type DmarcRecord,
  formatDmarc,
  lowered,
  type Policy,
  shareOf,
  weaker,
} from '../checks/dmarc/index.ts'

/**
 * The next record of a DMARC ladder. `quarantine`: from none; `whole`: a partial quarantine for all mail; `reject`: the
 * last stage; `subdomains`: `sp` after `p`; `missing`: `np`, for names that do not exist.
 */
export type Stage = {
  readonly kind: 'quarantine' | 'whole' | 'reject' | 'subdomains' | 'missing'
  readonly value: string
  /** What the stage asks for. */
  readonly policy: Policy
  readonly optional: boolean
}

/** What the ladders depend on beside the record. */
export type LadderInput = {
  /** Nothing is sent as the name: it may go to reject at once. */
  readonly isSilent: boolean
  /** The record governs names below it: `sp` and `np` count (RFC 9989 §4.7). */
  readonly governs: boolean
  /** Mail as names below it passes: their policy stays as it is when the domain's own goes to reject at once. */
  readonly keepsBelow?: boolean
  /** An earlier stage of the plan has to wait: nothing that needs no wait comes behind it. */
  readonly isWaiting?: boolean
}

const STEP_UP = { none: 'quarantine', quarantine: 'reject', reject: 'reject' } as const satisfies Record<Policy, Policy>

/**
 * The next stage after the record that applies to a name and stands at it, by what receivers of RFC 9989 (`t`, no
 * `pct`) and of RFC 7489 (`pct`, no `t`) apply; pure. No stage makes either do less, or more by over one level, but for
 * a name that sends nothing. Partial stages are met and never proposed. Undefined: the last stage is reached, or the
 * record governs a public suffix.
 */
export function nextStage({ applied }: Pick<DmarcFacts, 'applied'>, input: LadderInput): Stage | undefined {
  if (!applied?.policies || applied.inherited || applied.reading.record.psd === 'y') return undefined
  const { record } = applied.reading
  const { p } = applied.policies
  const tags = { testing: record.testing, share: shareOf(applied.reading) }
  if (input.isSilent && input.keepsBelow) return keepingStage(record, p, tags)
  if (input.isSilent) return silentStage(record, p, tags)
  const own = policyStage(record, p, tags)
  if (own && !own.optional) return own
  const below = input.governs ? subdomainStage(record, p, own !== undefined) : undefined
  return below && !below.optional ? below : (missingStage(record, p, input) ?? own ?? below)
}

type Tags = { readonly testing: boolean; readonly share: number }

const textOf = (record: DmarcRecord): string => formatDmarc(record)
const withoutTags = ({ removed: { pct: _, ...removed }, ...record }: DmarcRecord): DmarcRecord => ({
  ...record,
  testing: false,
  removed,
})

function silentStage(record: DmarcRecord, p: Policy, { testing, share }: Tags): Stage | undefined {
  const { sp, np, ...rest } = record
  if (p === 'reject' && !testing && share === 100 && !isWeaker(sp, p) && !isWeaker(np, p)) return undefined
  const kept = { ...(sp === 'reject' && { sp }), ...(np === 'reject' && { np }) }
  return {
    kind: 'reject',
    value: textOf({ ...withoutTags({ ...rest, ...kept, removed: {} }), p: 'reject' }),
    policy: 'reject',
    optional: false,
  }
}

/** {@link silentStage} that keeps what applies below the domain; `sp` rises afterwards, as that of a domain that sends. */
function keepingStage(record: DmarcRecord, p: Policy, { testing, share }: Tags): Stage | undefined {
  if (p === 'reject' && !testing && share === 100) return subdomainStage(record, p, false)
  const kept: DmarcRecord = { ...withoutTags({ ...record, removed: {} }), p: 'reject', sp: record.sp ?? p }
  return { kind: 'reject', value: textOf(kept), policy: 'reject', optional: false }
}

const isWeaker = (policy: Policy | undefined, than: Policy): boolean => policy !== undefined && weaker(policy, than)

/** The ladder of `p`. What is written beside it stays, `t` and `pct` of a policy of none too. */
function policyStage(record: DmarcRecord, p: Policy, { testing, share }: Tags): Stage | undefined {
  const isPartial = testing || share < 100
  if (p === 'none') return { kind: 'quarantine', value: textOf({ ...record, p: 'quarantine' }), ...REQUIRED }
  if (p === 'quarantine' && isPartial) return { kind: 'whole', value: textOf(withoutTags(record)), ...REQUIRED }
  if (p === 'reject' && !isPartial) return undefined
  return { kind: 'reject', value: textOf({ ...withoutTags(record), p: 'reject' }), policy: 'reject', optional: true }
}
const REQUIRED = { policy: 'quarantine', optional: false } as const

/** The ladder of a written `sp`, which rises after `p`; one that is not written goes with `p`. */
function subdomainStage(record: DmarcRecord, p: Policy, isRising: boolean): Stage | undefined {
  const { sp } = record
  if (sp === undefined || !weaker(sp, p)) return undefined
  const raised = STEP_UP[sp]
  // Quarantine while p is at quarantine or on its way to reject; reject only beside p=reject.
  if (raised === 'reject' && isRising) return undefined
  const value = textOf({ ...record, sp: raised })
  return { kind: 'subdomains', value, policy: raised, optional: raised === 'reject' }
}

/** Names that do not exist lose nothing: one optional stage without a wait, before those that wait. */
function missingStage(record: DmarcRecord, p: Policy, { governs, isWaiting }: LadderInput): Stage | undefined {
  if (!governs || isWaiting || !isWeaker(record.np, p)) return undefined
  return { kind: 'missing', value: textOf({ ...record, np: p }), policy: p, optional: true }
}

/** How strict receivers are by each reading, 0 to 2: of RFC 9989, and of RFC 7489 with the share of `pct`. */
export function strengthOf({ applied }: Pick<DmarcFacts, 'applied'>): readonly [now: number, older: number] {
  if (!applied?.policy || applied.broken) return [0, 0]
  const { policy, reading } = applied
  const share = shareOf(reading)
  const level = { none: 0, quarantine: 1, reject: 2 } as const
  const older = level[lowered(policy)] + ((level[policy] - level[lowered(policy)]) * share) / 100
  return [level[applied.effective ?? 'none'], older]
}

/**
 * A record of its own for a name that is governed by a record above it: a policy, with what the record above asks for
 * (RFC 9989 §4.10.1: its own record comes first). Report addresses are kept where their hosts accept reports about the
 * name (`keeps`). No `sp`, `np` or `psd`.
 */
export function ownRecord(record: DmarcRecord, p: Policy, keeps: (host: string | undefined) => boolean): string {
  const { adkim, aspf, fo } = record
  const alive = (uris: DmarcRecord['rua']) => uris.filter(({ host, problem }) => !problem && keeps(host))
  return textOf({
    ...{ p, adkim, aspf, fo, psd: 'u', testing: false, removed: {} },
    rua: alive(record.rua),
    ruf: alive(record.ruf),
  })
}

/** The findings about DMARC that a stage is for, the first that is there. */
export const STAGE_FINDINGS: Readonly<Record<Stage['kind'], readonly string[]>> = {
  quarantine: ['dmarc.policy_none'],
  whole: ['dmarc.testing', 'dmarc.pct_partial'],
  reject: ['dmarc.policy_none', 'dmarc.policy_quarantine', 'dmarc.testing', 'dmarc.pct_partial'],
  subdomains: ['dmarc.subdomains_weaker'],
  missing: ['dmarc.subdomains_weaker'],
}
