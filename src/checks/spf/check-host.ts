import { familyOf, type Ip } from '../../names/ip.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { askOnce, checkedName, presentationOf } from './ask.ts'
import { evaluate, type Run, type SpfResult, type TraceStep, type Verdict, valuesFor } from './evaluate.ts'
import { expandName, expandText } from './expand.ts'
import { parseMacroString } from './macro.ts'
import { readNode, TOP } from './read.ts'

export type CheckHostInput = {
  readonly ip: Ip
  /** The MAIL FROM address, or empty for a bounce: the HELO name is then used (RFC 7208 §2.4). */
  readonly sender: string
  /** The HELO or EHLO argument as given; may be empty. */
  readonly helo: string
  /** The first domain, if it is not the sender's. */
  readonly domain?: string
  /** The receiving host, for `%{r}`. */
  readonly receiver?: string
}

export type CheckHostAnswer = {
  readonly result: SpfResult
  /**
   * The decisive directive, as published at the top of the tree; `default` if none matched; absent if no record was
   * evaluated.
   */
  readonly mechanism?: string
  /**
   * The domain owner's explanation of a `fail` (RFC 7208 §6.2): external text, at most 2,000 characters of visible
   * ASCII and spaces, unless the sender's address contains others.
   */
  readonly explanation?: string
  /**
   * Terms that needed a lookup (at most 10 before `permerror`), and those that found nothing (at most 2), RFC 7208
   * §4.6.4.
   */
  readonly lookups: number
  readonly voidLookups: number
  /** At most 100 steps. */
  readonly trace: readonly TraceStep[]
  /** The domain whose record was evaluated: the sender's, or that of the HELO name. */
  readonly domain: string
}

/**
 * Whether `ip` may send for the sender's domain: `check_host` of RFC 7208 §4. A query without an answer is `temperror`,
 * also at the deadline of `ctx.signal`; it never rejects with DnsError. At most 140 queries.
 */
export async function checkHost(
  ctx: Pick<Ctx, 'resolve' | 'signal' | 'now'>,
  input: CheckHostInput,
): Promise<CheckHostAnswer> {
  const at = input.sender.lastIndexOf('@')
  const helo = withALabels(input.helo)
  const senderDomain = at >= 0 ? withALabels(input.sender.slice(at + 1)) : withALabels(input.sender) || helo
  const run: Run = {
    ask: askOnce(ctx),
    ip: input.ip,
    families: [familyOf(input.ip)],
    values: {
      ip: input.ip,
      local: at > 0 ? input.sender.slice(0, at) : 'postmaster', // RFC 7208 §4.3
      senderDomain,
      helo,
      receiver: input.receiver ?? 'unknown',
      unixSeconds: Math.floor(ctx.now() / 1_000),
    },
    lookups: 0,
    voidLookups: 0,
    trace: [],
    ahead: 0,
    loading: new Map(),
  }
  const domain = input.domain ?? senderDomain
  const verdict = await evaluate(run, await readNode(run, domain, TOP))
  const explanation = verdict.result === 'fail' ? await explain(run, verdict) : undefined
  const { lookups, voidLookups, trace } = run
  return {
    result: verdict.result,
    ...(verdict.mechanism === undefined ? {} : { mechanism: verdict.mechanism }),
    ...(explanation === undefined ? {} : { explanation }),
    lookups,
    voidLookups,
    trace,
    domain,
  }
}

/** Macros contain A-labels (RFC 8616 §4); an invalid domain name stays unchanged. */
const withALabels = (name: string): string => (/[^\x00-\x7f]/.test(name) ? (checkedName(name) ?? name) : name)

/**
 * The domain owner's explanation of a `fail` (RFC 7208 §6.2); undefined if there is none or anything is wrong with it:
 * no answer, no record or several, a character outside ASCII, a syntax fault. It does not count toward a limit.
 */
async function explain(run: Run, { exp, domain }: Verdict): Promise<string | undefined> {
  if (!exp) return undefined
  const name = expandName(exp, await valuesFor(run, exp, domain))
  const answer = name ? await settled(run.ask(presentationOf(name), 'TXT')) : undefined
  if (!answer || answer instanceof DnsError || answer.records.length !== 1) return undefined
  const parts = parseMacroString(answer.records[0]!, 'explanation')
  return parts.ok ? expandText(parts.value, await valuesFor(run, parts.value, domain)) : undefined
}
