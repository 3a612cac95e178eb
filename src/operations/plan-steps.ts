import type { CheckInput } from '../checks/check.ts'
import { severityOf } from '../checks/finding.ts'
import * as registry from '../checks/registry.ts'
import {
  CHECK_KEYS,
  type CheckKey,
  type FactSets,
  type Judgements,
  judgeFacts,
  lookupChecks,
  rememberedJudgements,
} from '../checks/run.ts'
import type { Domain } from '../names/domain.ts'
import { type OverlayChange, overlay } from '../net/dns/overlay.ts'
import { presentationOf } from '../net/dns/record-text.ts'
import { DnsError, settled } from '../net/dns/resolver.ts'
import type { Fetch } from '../net/fetch.ts'
import type { Laid, Look, Looks } from '../plan/look.ts'
import { type Draft, makePlan, type Plan } from '../plan/plan.ts'
import { gradeOf } from '../score/score.ts'
import { scoreOf } from '../score/score-inputs.ts'
import type { Ctx } from '../world.ts'
import type { Repeatable } from './context.ts'
import { firstFacts, isWithin, lenderOf, repairBeside, takesRecords } from './judge-domain.ts'

/** The facts of a check, and what its checks said. */
type Known = { readonly facts: FactSets; readonly judgements?: Judgements }

/**
 * The plan of a domain: `known` is what a check found in the same context, `seeds` steps that come first. Never rejects
 * because of a remote server.
 */
export async function planSteps(
  ctx: Repeatable<Ctx>,
  domain: Domain,
  input: CheckInput,
  known?: Known,
  seeds: readonly Draft[] = [],
): Promise<Plan> {
  const judgements = known?.judgements ?? rememberedJudgements()
  const start = judged(known?.facts ?? (await firstFacts(ctx, domain, input)), judgements)
  const seen = await input.seen?.()
  const looks = looksOf(ctx, domain, input, start, judgements)
  return makePlan(start, { domain, nowMs: ctx.now(), ...(seen && { seen }) }, looks, seeds)
}

/** The look at a domain as it is published. */
export const firstLook = async (ctx: Repeatable<Ctx>, domain: Domain, input: CheckInput): Promise<Look> =>
  judged(await firstFacts(ctx, domain, input))

/**
 * How a plan looks at the domain: through an overlay on the answers that the check already has. Mail hosts and name
 * servers are not contacted again.
 */
export function looksOf(
  ctx: Repeatable<Ctx>,
  domain: Domain,
  input: CheckInput,
  start: Look,
  judgements = rememberedJudgements(),
): Looks {
  const differing = start.outcomes.ns.findings.some(({ id }) => id === 'ns.differs')
  return {
    again: async (before, laid, changed) => {
      await ownTurn()
      const run = ctx.anew()
      const world = { ...run, resolve: overlay(run.resolve, laid.changes), fetch: withPolicy(run.fetch, laid.policy) }
      const keys = [...new Set(changed.flatMap((change) => affectedBy(change, domain)))]
      const asking = { ctx: world, domain, input }
      return judged(await lookupChecks(before.facts, { keys, changes: changed }, asking), judgements)
    },
    obstacle: async (fix) => {
      if (!isWithin(fix.name, domain)) return undefined
      try {
        const lender = await lenderOf(ctx.anew(), domain)
        return lender && takesRecords(lender, domain, fix.name) ? repairBeside(lender, fix) : undefined
      } catch (error) {
        if (error instanceof DnsError) return `Whether a record can stand at ${domain} is not known: ${error.message}.`
        throw error
      }
    },
    published: async (name, type) => {
      if (differing) return { unknown: 'the name servers of the domain give different answers' }
      const answer = await settled(ctx.resolve(name, type, ctx.signal))
      if (answer instanceof DnsError) return { unknown: answer.message }
      // The records of an alias are those of its target.
      if (answer.cname.length > 0 && type !== 'CNAME') return { values: [] }
      return { values: answer.records.map((data) => presentationOf(type, data)) }
    },
  }
}

/**
 * Resolves in a turn of the event loop in which no other plan tries anything: however many plans are made, whoever asks
 * something else waits for one trial.
 */
const ownTurn = (): Promise<void> => (lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve))))
let lastTurn: Promise<void> = Promise.resolve()

function judged(facts: FactSets, judgements?: Judgements): Look {
  const all = judgeFacts(facts, judgements)
  const { score, scoreMin: least, scoreMax: most } = scoreOf(all)
  const severities = CHECK_KEYS.flatMap((key) =>
    (all.outcomes[key]?.findings ?? []).map((finding) => ({ severity: severityOf(registry[key].table, finding) })),
  )
  const grade = gradeOf({ score, least, most }, severities)
  return { ...all, facts, score: { score, grade } }
}

/** The policy file as if it were published. */
const withPolicy =
  (fetch: Fetch, policy: Laid['policy']): Fetch =>
  async (url, signal, options) =>
    policy && String(url) === policy.url
      ? { status: 200, contentType: 'text/plain', body: Buffer.from(policy.text), url: policy.url }
      : fetch(url, signal, options)

const ALL_MAIL: readonly CheckKey[] = ['spf', 'mx', 'ptr', 'dkim', 'dmarc', 'mta_sts', 'tls_rpt', 'dane', 'bimi']

/** The checks whose facts a change can alter. The TLS of mail hosts and the name servers stay as they were seen. */
function affectedBy({ name, type }: OverlayChange, domain: Domain): readonly CheckKey[] {
  const place = PLACES.find(([pattern]) => pattern.test(name))
  if (place) return place[1]
  return name === domain && type === 'TXT' ? ['spf', 'ptr', 'dkim', 'dmarc'] : ALL_MAIL
}

const PLACES: readonly (readonly [RegExp, readonly CheckKey[]])[] = [
  [/^_dmarc\.|\._report\._dmarc\./, ['dmarc', 'bimi']],
  [/\._domainkey\./, ['dkim']],
  [/^_mta-sts\./, ['mta_sts']],
  [/^_smtp\._tls\./, ['tls_rpt']],
  [/\._bimi\./, ['bimi']],
  [/\.(?:in-addr|ip6)\.arpa$/, ['ptr']],
]
