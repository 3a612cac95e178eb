import { hostError, lookupMailHosts, type MailHosts } from '../../mailhosts/mailhosts.ts'
import type { Email } from '../../names/email.ts'
import type { Ip } from '../../names/ip.ts'
import { familyOfSource, type SourceName } from '../../names/source.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { type AnswerBase, addressPart, answerOf, answerWithoutServer } from '../compose-answer.ts'
import { limitsFor } from '../provider.ts'
import type { Reason } from '../reasons.ts'
import type { Source } from '../source/source-rows.ts'
import type { MailboxAnswer } from '../verification.ts'
import { type Destination, destinationsOf, familiesOf, providerKeyOf } from './destinations.ts'
import type { DialogueResult } from './dialogue.ts'
import type { Held, VerifierState } from './state.ts'
import { tryHosts } from './try-hosts.ts'

type MailboxQuestion = {
  readonly email: Email
  readonly state: VerifierState
  readonly port: number
  readonly bindIp: Ip | undefined
  /** The pool, if it is to be used; empty: the system's choice. */
  readonly pool: readonly SourceName[] | undefined
  readonly poolAttempts: number
  /** The source from which a greylisted question was asked before. */
  readonly stickTo: SourceName | undefined
  /** The deadline; later callers of shared work may extend it. */
  readonly deadlineMs: () => number
  readonly reuse: boolean
}

/** Looks up the mail hosts and asks them. `partial` returns the answer from what is known so far, at any time. */
export function askMailbox(
  ctx: Ctx,
  question: MailboxQuestion,
): {
  readonly result: Promise<MailboxAnswer>
  readonly partial: () => MailboxAnswer
  /** Whether a mail host has been contacted. */
  readonly hasBegun: () => boolean
} {
  const results: DialogueResult[] = []
  let base: AnswerBase = { ...addressPart(question.email), mxHosts: [], provider: undefined, observedAtMs: ctx.now() }
  let begun = false
  const progress: Progress = {
    extend: (more) => (base = { ...base, ...more }),
    contactsHosts: () => (begun = true),
  }
  return {
    result: run(ctx, question, results, base, progress),
    partial: () => answerOf(base, results),
    hasBegun: () => begun,
  }
}

type Progress = {
  readonly extend: (more: Partial<AnswerBase>) => AnswerBase
  readonly contactsHosts: () => void
}

async function run(
  ctx: Ctx,
  question: MailboxQuestion,
  results: DialogueResult[],
  first: AnswerBase,
  { extend, contactsHosts }: Progress,
): Promise<MailboxAnswer> {
  const { email, state, port, deadlineMs, reuse } = question
  const hosts = await settled(lookupMailHosts(ctx, email.domain))
  if (hosts instanceof DnsError)
    return answerWithoutServer(
      first,
      'dns_failure',
      `the mail hosts of ${email.domain} could not be looked up: ${hosts.message}`,
    )
  const destinations = destinationsOf(hosts, ctx.random)
  const base = extend({
    mxHosts: hosts.hosts.map(({ exchange }) => exchange),
    provider: destinations[0]?.provider?.id,
  })
  const none = whyNoDestination(hosts, destinations, email)
  if (none) return answerWithoutServer(base, none.reason, none.message)
  const hold = await state.limits.hold(email.domain, providerKeyOf(destinations[0]!))
  if (hold) return answerWithoutServer(base, 'own_limit', hold.message, hold.retryAfterMs)
  await state.sources.load()
  const chosen = chooseSources(question, destinations)
  if (!('sources' in chosen))
    return answerWithoutServer(base, chosen.reason, chosen.message, chosen.untilMs - ctx.monotonic())
  const extended = extend({ skipped: chosen.skipped })
  const forced = question.pool === undefined ? chosen.sources : [question.bindIp].filter((s) => s !== undefined)
  const query = { email, port, sources: chosen.sources, forced, deadlineMs, reuse }
  contactsHosts()
  const held = await tryHosts(ctx, state, query, destinations, results)
  return conclude(extended, results, question, held, ctx.signal.aborted)
}

type NoAnswer = { readonly reason: Reason; readonly message: string }

/** Why there is no host to ask: NXDOMAIN, no record and a failed lookup are distinguished (RFC 5321 §5.1, RFC 7505). */
function whyNoDestination(
  hosts: MailHosts,
  destinations: readonly Destination[],
  { domain }: Email,
): NoAnswer | undefined {
  if (destinations.length > 0) return undefined
  if (hosts.kind === 'null')
    return { reason: 'null_mx', message: `${domain} declares with a null MX that it accepts no mail (RFC 7505)` }
  if (!hosts.exists) return { reason: 'domain_not_found', message: `the domain ${domain} does not exist` }
  if (hosts.kind === 'none')
    return { reason: 'no_mail_host', message: `${domain} has neither MX records nor an address` }
  const error = hosts.hosts.map(hostError).find((one) => one !== undefined)
  if (error)
    return {
      reason: 'dns_failure',
      message: `no address of a mail host of ${domain} could be looked up: ${error.message}`,
    }
  const names = hosts.hosts
    .map(({ exchange }) => exchange)
    .slice(0, 5)
    .join(', ')
  return { reason: 'no_mail_host', message: `none of the mail hosts of ${domain} has an address: ${names}` }
}

type ChosenSources =
  | { readonly sources: readonly Source[]; readonly skipped: NonNullable<AnswerBase['skipped']> }
  | (NoAnswer & { readonly untilMs: number })

/**
 * Only `bind_ip`: that source and no other. With the pool: `bind_ip` first, then the healthiest; without a configured
 * pool, the system's choice.
 */
function chooseSources(
  { bindIp, pool, poolAttempts, state, stickTo }: MailboxQuestion,
  destinations: readonly Destination[],
): ChosenSources {
  if (pool === undefined) return { sources: [bindIp], skipped: [] }
  const first = destinations[0]!
  const { perMinute } = limitsFor(first.provider)
  const members: readonly Source[] = pool.length > 0 ? pool : [undefined]
  const { usable, skipped } = state.sources.choose(
    members,
    { key: providerKeyOf(first), perMinute },
    familiesOf(destinations),
  )
  const preferred = [bindIp, stickTo].filter((source) => source !== undefined)
  const sources = [...new Set<Source>([...preferred.filter((s) => s === bindIp || usable.includes(s)), ...usable])]
  if (sources.length > 0) return { sources: ofBothFamilies(sources, poolAttempts), skipped }
  if (skipped.length === 0)
    return {
      reason: 'network_unreachable',
      message: 'no source address of the pool has the address family of the mail hosts',
      untilMs: 0,
    }
  const soonest = skipped.reduce((a, b) => (b.untilMs < a.untilMs ? b : a))
  const message = `every source address is paused for ${providerKeyOf(first)}; ${soonest.source ?? 'the default address'} ${soonest.why}`
  return { reason: 'source_blocked', message: message.slice(0, 512), untilMs: soonest.untilMs }
}

/**
 * The first `most` sources. If all have the same family and another source has the other, that one is last (RFC 5321
 * §5.1: all addresses are tried).
 */
export function ofBothFamilies(sources: readonly Source[], most: number): readonly Source[] {
  const first = sources.slice(0, most)
  const families = new Set(first.map(familyOfSource))
  if (families.has(undefined)) return first // a proxy, a node or the system's choice reaches both
  const other = sources.slice(most).find((source) => {
    const family = familyOfSource(source)
    return family !== undefined && !families.has(family)
  })
  return other === undefined || most < 2 ? first : [...first.slice(0, -1), other]
}

/** When to repeat a question that waited in vain for a connection, ms. */
const RETRY_MS = 30_000

function conclude(
  base: AnswerBase,
  results: readonly DialogueResult[],
  { state, bindIp }: MailboxQuestion,
  held: Held | undefined,
  timedOut: boolean,
): MailboxAnswer {
  if (results.length === 0 && held) return answerWithoutServer(base, held.reason, held.message, held.retryAfterMs)
  if (results.length === 0 && timedOut)
    return answerWithoutServer(
      base,
      'own_limit',
      'the limits of this service toward the mail host did not allow a connection in time',
      RETRY_MS,
    )
  if (results.length === 0)
    return answerWithoutServer(
      base,
      'network_unreachable',
      `no mail host has an address in the address family of ${bindIp ?? 'the source address'}`,
    )
  const answer = answerOf(base, results)
  const networks = answer.reason === 'connect_timeout' ? state.port25.blockedNetworks() : 0
  if (networks === 0) return answer
  return {
    ...answer,
    reason: 'port25_blocked',
    message: `this machine cannot reach port 25: connections to ${networks} unrelated networks timed out and none succeeded; ask the network provider to open outgoing port 25, or verify from another address or node`,
  }
}
