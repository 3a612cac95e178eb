import { lookupMailHosts, type MailHosts } from '../../mailhosts/mailhosts.ts'
import type { Email } from '../../names/email.ts'
import { familyOf, type Ip } from '../../names/ip.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { type About, aboutEmail, answerOf, unasked } from '../compose-answer.ts'
import { UNKNOWN_PROVIDER } from '../provider/provider.ts'
import type { Reason } from '../reasons.ts'
import type { Source } from '../source/sources.ts'
import type { MailboxAnswer } from '../verification.ts'
import type { Conversed } from './dialogue.ts'
import { familiesOf, keyOf, type Rooms, type Stop, stopsOf } from './query.ts'
import { walk } from './try-hosts.ts'

/** One question that nobody has answered yet. */
export type Unsettled = {
  readonly email: Email
  readonly rooms: Rooms
  readonly port: number
  readonly bindIp: Ip | undefined
  /** The pool, where it is to be used; empty: the system's choice. */
  readonly pool: readonly Ip[] | undefined
  readonly poolAttempts: number
  /** The source address to stay with. */
  readonly stickTo: Ip | undefined
  readonly deadlineMs: number
  readonly reuse: boolean
}

/** Looks the mail hosts up and asks them. `sofar` tells at any time what is known. */
export function settle(
  ctx: Ctx,
  question: Unsettled,
): { readonly result: Promise<MailboxAnswer>; readonly sofar: () => MailboxAnswer } {
  const heard: Conversed[] = []
  let about: About = { ...aboutEmail(question.email), mxHosts: [], provider: undefined, observedAtMs: ctx.now() }
  const learn = (more: Partial<About>): About => (about = { ...about, ...more })
  return { result: run(ctx, question, heard, about, learn), sofar: () => answerOf(about, heard) }
}

async function run(
  ctx: Ctx,
  question: Unsettled,
  heard: Conversed[],
  first: About,
  learn: (more: Partial<About>) => About,
): Promise<MailboxAnswer> {
  const { email, rooms } = question
  const hosts = await settled(lookupMailHosts(ctx, email.domain))
  if (hosts instanceof DnsError)
    return unasked(first, 'dns_failure', `the mail hosts of ${email.domain} could not be looked up: ${hosts.message}`)
  const stops = stopsOf(hosts, ctx.random)
  const about = learn({ mxHosts: hosts.hosts.map(({ exchange }) => exchange), provider: stops[0]?.provider?.id })
  const nowhere = noStops(hosts, stops, email)
  if (nowhere) return unasked(about, nowhere.reason, nowhere.message)
  const hold = rooms.courtesy.hold(email.domain, keyOf(stops[0]!))
  if (hold) return unasked(about, 'rate_limited', hold.message, hold.retryAfterMs)
  await rooms.sources.load()
  const chosen = sourcesFor(question, stops)
  if (!('from' in chosen)) return unasked(about, chosen.reason, chosen.message, chosen.untilMs - ctx.now())
  const told = learn({ skipped: chosen.skipped })
  const { port, deadlineMs, reuse } = question
  await walk(ctx, rooms, { email, hosts, port, from: chosen.from, deadlineMs, reuse }, stops, heard)
  return concluded(told, heard, question, ctx.signal.aborted)
}

type Nowhere = { readonly reason: Reason; readonly message: string }

/** Why there is nobody to ask; NXDOMAIN told from no record, and both from what could not be found out (RFC 5321 §5.1, RFC 7505). */
function noStops(hosts: MailHosts, stops: readonly Stop[], { domain }: Email): Nowhere | undefined {
  if (stops.length > 0) return undefined
  if (hosts.kind === 'null')
    return { reason: 'null_mx', message: `${domain} says by its null MX that it takes no mail (RFC 7505)` }
  if (!hosts.exists) return { reason: 'domain_not_found', message: `the domain ${domain} does not exist` }
  if (hosts.kind === 'none')
    return { reason: 'no_mail_host', message: `${domain} has neither MX records nor an address` }
  const error = hosts.hosts.flatMap(({ errors }) => [errors.A, errors.AAAA]).find((one) => one !== undefined)
  if (error)
    return {
      reason: 'dns_failure',
      message: `no address of a mail host of ${domain} could be looked up: ${error.message}`,
    }
  const names = hosts.hosts
    .map(({ exchange }) => exchange)
    .slice(0, 5)
    .join(', ')
  return { reason: 'no_mail_host', message: `none of the mail hosts that ${domain} names has an address: ${names}` }
}

type Chosen =
  | { readonly from: readonly Source[]; readonly skipped: NonNullable<About['skipped']> }
  | (Nowhere & { readonly untilMs: number })

/** `bind_ip` alone: that one and no other. The pool: `bind_ip` first, then the healthiest; without a configured pool, the system's choice. */
function sourcesFor({ bindIp, pool, poolAttempts, rooms, stickTo }: Unsettled, stops: readonly Stop[]): Chosen {
  if (pool === undefined) return { from: [bindIp], skipped: [] }
  const first = stops[0]!
  const { perMinute } = first.provider ?? UNKNOWN_PROVIDER
  const members: readonly Source[] = pool.length > 0 ? pool : [undefined]
  const { usable, skipped } = rooms.sources.pick(members, { key: keyOf(first), perMinute }, familiesOf(stops))
  const preferred = [bindIp, stickTo].filter((source) => source !== undefined)
  const from = [...new Set<Source>([...preferred.filter((s) => s === bindIp || usable.includes(s)), ...usable])]
  if (from.length > 0) return { from: ofBothFamilies(from, poolAttempts), skipped }
  if (skipped.length === 0)
    return {
      reason: 'network_unreachable',
      message: 'no source address of the pool is of the family of the mail hosts’ addresses',
      untilMs: 0,
    }
  const soonest = skipped.reduce((a, b) => (b.untilMs < a.untilMs ? b : a))
  const message = `every source address rests toward ${keyOf(first)}; ${soonest.source ?? 'the default address'} ${soonest.why}`
  return { reason: 'source_blocked', message: message.slice(0, 512), untilMs: soonest.untilMs }
}

/** The first `most` sources; where they are all of one family and there is one of the other, that one has the last place (RFC 5321 §5.1: all addresses are tried). */
export function ofBothFamilies(from: readonly Source[], most: number): readonly Source[] {
  const first = from.slice(0, most)
  const families = new Set(first.map((source) => source && familyOf(source)))
  const other = from.slice(most).find((source) => !families.has(source && familyOf(source)))
  return other === undefined || most < 2 ? first : [...first.slice(0, -1), other]
}

function concluded(
  about: About,
  heard: readonly Conversed[],
  { rooms, bindIp }: Unsettled,
  late: boolean,
): MailboxAnswer {
  if (heard.length === 0 && late)
    return unasked(
      about,
      'rate_limited',
      'the limits of this service toward the mail host held the question back until time was up',
    )
  if (heard.length === 0)
    return unasked(
      about,
      'network_unreachable',
      `no mail host has an address of the family of ${bindIp ?? 'the source address'}`,
    )
  const answer = answerOf(about, heard)
  const networks = answer.reason === 'connect_timeout' ? rooms.reach.blocked() : 0
  if (networks === 0) return answer
  return {
    ...answer,
    reason: 'port25_blocked',
    message: `this machine does not seem to reach port 25: connections to ${networks} unrelated networks timed out and none came about; ask its provider to open outgoing port 25, or verify from another address or node`,
  }
}
