import type { CheckInput, DnsRecord, Finding, FindingTable, Outcome, Severity } from '../checks/check.ts'
import type { DomainContext } from '../checks/context.ts'
import { contextOf } from '../checks/domain-context.ts'
import { harmOf } from '../checks/harmless.ts'
import * as registry from '../checks/registry.ts'
import { CHECK_KEYS, type CheckKey, type FactSets, judgeOne, lookupOne, type Outcomes } from '../checks/run.ts'
import { isProvidersInclude } from '../checks/spf/index.ts'
import type { Domain } from '../names/domain.ts'
import { overlay } from '../net/dns/overlay.ts'
import { parseRecord } from '../net/dns/record-text.ts'
import { DnsError } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'
import { type Lender, lenderOf, repairBeside } from './borrowed-name.ts'
import type { Repeatable } from './context.ts'

/** Maximum number of fixes that are tried per domain; further ones are not offered. */
export const MAX_TRIED = 10

const RANK: Readonly<Record<Severity, number>> = { info: 0, low: 1, medium: 2, high: 3, critical: 4 }

type Setting = {
  readonly domain: Domain
  readonly input: CheckInput
  readonly facts: FactSets
  readonly outcomes: Outcomes
}

/**
 * The outcomes with only those fixes that help. Each fix is laid over the DNS; the facts of its check are looked up again, with most answers already cached,
 * and judged with the resulting context. A fix is kept if its finding is gone, no more severe one took its place (nor one of its severity if the check
 * fails), and the check did not become unknown. It must also do no harm, and not be published at a name whose records come from an alias or a wildcard. At
 * most 10 are tried, the most severe findings first.
 */
export async function withTriedFixes(ctx: Repeatable<Ctx>, setting: Setting): Promise<Outcomes> {
  const { facts, outcomes } = setting
  const found = CHECK_KEYS.flatMap((key) =>
    (outcomes[key]?.findings ?? []).flatMap((finding) => (finding.fix ? [{ key, finding, fix: finding.fix }] : [])),
  ).sort((a, b) => weightOf(b.key, b.finding) - weightOf(a.key, a.finding))
  if (found.length === 0) return outcomes
  const today = { ...setting, context: contextOf(facts) }
  const lender = await lenderAt(ctx, setting.domain, found)
  const helps = await Promise.all(
    found.slice(0, MAX_TRIED).map(async ({ key, finding, fix }) => {
      if (fix.name === setting.domain && lender !== undefined) return false
      return tried(ctx, today, key, finding, fix)
    }),
  )
  const refused = new Set(found.filter((_, i) => helps[i] !== true).map(({ finding }) => finding))
  if (refused.size === 0) return outcomes
  const repairOf = (fix: DnsRecord): { readonly repair?: string } =>
    fix.name === setting.domain && lender && !(lender instanceof DnsError) ? { repair: repairBeside(lender, fix) } : {}
  const kept = Object.entries(outcomes).map(([key, outcome]) => [
    key,
    withoutFixes(outcome as Outcome<unknown>, refused, repairOf),
  ])
  return Object.fromEntries(kept) as Outcomes
}

/** The source of the domain's records, if a fix at the name itself would remove them ({@link lenderOf}); looked up only if there is such a fix. */
async function lenderAt(
  ctx: Repeatable<Ctx>,
  domain: Domain,
  found: readonly { readonly fix: DnsRecord }[],
): Promise<Lender | DnsError | undefined> {
  if (!found.some(({ fix }) => fix.name === domain)) return undefined
  return lenderOf(ctx.anew(), domain).catch((error: unknown) => {
    if (error instanceof DnsError) return error
    throw error
  })
}

/** Whether a fix helps. */
async function tried(
  ctx: Repeatable<Ctx>,
  { domain, input, facts, outcomes, context: today }: Setting & { readonly context: DomainContext },
  key: CheckKey,
  finding: Finding,
  fix: DnsRecord,
): Promise<boolean> {
  const record = parseRecord({ name: `${fix.name}.`, type: fix.rtype, value: fix.value }, domain)
  if (!record.ok) return false
  const again = ctx.anew()
  const found = await lookupOne(key, { ...again, resolve: overlay(again.resolve, [record.value]) }, domain, input)
  const then: FactSets = { ...facts, [key]: found }
  const context = contextOf(then)
  if (harmOf({ key, fix, before: { facts, context: today }, after: { facts: then, context } })) return false
  const after = judgeOne(key, then, context)
  const before = outcomes[key]
  if (!before || (after.status === 'unknown' && before.status !== 'unknown')) return false
  // One check may have a finding of one id for several names: there must be one less.
  const count = ({ findings }: Outcome<unknown>) => findings.filter(({ id }) => id === finding.id).length
  // Replacing one finding by another of the same severity helps only if the check no longer fails.
  const least = weightOf(key, finding) + (after.status === 'fail' ? 0 : 1)
  const worse = after.findings.filter(
    (one) => weightOf(key, one) >= least && !before.findings.some(({ id }) => id === one.id) && !isOfProvider(one),
  )
  return count(after) < count(before) && worse.length === 0
}

/** Records that a known provider publishes are not questioned. */
const isOfProvider = ({ id, args }: Finding): boolean =>
  id === 'spf.include_without_record' && typeof args?.name === 'string' && isProvidersInclude(args.name)

const weightOf = (key: CheckKey, { id }: Finding): number =>
  RANK[(registry[key].table as FindingTable)[id]?.severity ?? 'info']

function withoutFixes<F>(
  outcome: Outcome<F>,
  refused: ReadonlySet<Finding>,
  repairOf: (fix: DnsRecord) => { readonly repair?: string },
): Outcome<F> {
  const findings = outcome.findings.map((finding) => {
    if (!refused.has(finding)) return finding
    const { fix, ...rest } = finding
    return fix ? { ...rest, ...repairOf(fix) } : rest
  })
  return { ...outcome, findings }
}
