import { atMost } from '../../base/at-most.ts'
import { within } from '../../base/deadline.ts'
import { printable } from '../../base/text.ts'
import { lookupMailHosts, type MailHost } from '../../mailhosts/mailhosts.ts'
import type { Domain } from '../../names/domain.ts'
import { addressLiteral } from '../../net/smtp/commands.ts'
import { textOf } from '../../net/smtp/reply.ts'
import { type Opened, openSession, type SessionOptions } from '../../net/smtp/session.ts'
import type { Ctx } from '../../world.ts'
import type { CheckInput } from '../check.ts'
import type { StarttlsFacts, TlsHost } from '../tls-host.ts'
import { greetingNames } from './greeting.ts'

/** Maximum number of mail hosts that are contacted, the best first, each at its first address. */
export const MAX_HOSTS = 10
/** Maximum number of hosts that are contacted at the same time. */
const AT_A_TIME = 5
/** Time for one host, and for one reply of it, ms. */
const HOST_MS = 9_000
const STAGE_MS = 6_000
const SMTP = 25

type Asker = Pick<Ctx, 'resolve' | 'dial' | 'now' | 'monotonic' | 'signal'>

/**
 * Connects to each mail host of `domain` and looks at its STARTTLS: banner, EHLO, STARTTLS, EHLO, QUIT; no mail transaction is begun (RFC 3207).
 * A second connection beside it offers TLS 1.0 and 1.1 alone (RFC 8996). At most 10 hosts, one address each, 5 at a time, 9 s a host; one that breaks STARTTLS off is asked twice.
 * What a host or the network does is data. Rejects with DnsError when MX stays unanswered.
 */
export async function lookupStarttls(ctx: Asker, domain: Domain, input: CheckInput): Promise<StarttlsFacts> {
  const { kind, hosts } = await lookupMailHosts(ctx, domain)
  return {
    domain,
    mail: kind,
    hosts: await atMost(AT_A_TIME, hosts.slice(0, MAX_HOSTS), (host) => lookupHost(ctx, host, input)),
    leftOut: Math.max(0, hosts.length - MAX_HOSTS),
    nowMs: ctx.now(),
  }
}

async function lookupHost(ctx: Asker, host: MailHost, input: CheckInput): Promise<TlsHost> {
  const named = { host: host.exchange, preference: host.preference }
  const address = host.addresses[0]
  if (address === undefined) {
    const error = host.errors.A ?? host.errors.AAAA
    return { ...named, offered: null, reason: error?.message ?? 'the host has no address' }
  }
  const options: SessionOptions = {
    target: { address, port: input.smtpPort ?? SMTP },
    serverName: host.exchange,
    heloName: input.helo ?? (async (source) => addressLiteral(source)),
    startTls: true,
    stageMs: () => STAGE_MS,
  }
  const signal = within(HOST_MS, ctx.signal)
  const [first, version] = await Promise.all([openSession(ctx, options, signal), outdatedVersion(ctx, options, signal)])
  // One lost connection may be the network's; the host that cuts every handshake does it again.
  const opened = !first.ok && isLost(first) ? await openSession(ctx, options, signal) : first
  const outdated = version === undefined ? {} : { outdated: version }
  if (!opened.ok) return { ...named, address, ...greetingNames(opened.transcript), ...ended(opened), ...outdated }
  const { tls, capabilities, quit, transcript } = opened.session
  const seen = { ...named, address, ...greetingNames(transcript()), ...outdated }
  void quit() // RFC 5321 §4.1.1.10: said, not waited for; it ends by itself after a second and never rejects for what the network does
  if (tls) return { ...seen, offered: true, tls }
  if (!capabilities.has('STARTTLS')) return { ...seen, offered: false }
  return { ...seen, offered: true, reason: 'the server refused STARTTLS after it had announced it' }
}

const isLost = ({ outcome, tls }: Exclude<Opened, { readonly ok: true }>): boolean =>
  !tls && outcome.stage === 'starttls' && (outcome.fault === 'connection_lost' || outcome.fault === 'tls_failure')

/** The TLS version that a host agrees to when it is offered TLS 1.0 and 1.1 alone; undefined where there is no TLS then, for whatever reason. */
async function outdatedVersion(ctx: Asker, options: SessionOptions, signal: AbortSignal): Promise<string | undefined> {
  const opened = await openSession(ctx, { ...options, tlsOffer: 'outdated' }, signal)
  if (!opened.ok) return opened.tls?.protocol
  void opened.session.quit()
  return opened.session.tls?.protocol
}

/** A session that ended early: TLS that broke off is the host's; what came before says nothing of its TLS. */
function ended({
  outcome,
  tls,
}: Exclude<Opened, { readonly ok: true }>): Pick<TlsHost, 'offered' | 'open' | 'tls' | 'reason'> {
  const said = outcome.reply
    ? `it answered ${outcome.reply.code} ${textOf(outcome.reply)} to us (${outcome.stage})`
    : `${outcome.message} (${outcome.stage})`
  const reason = printable(said, 300)
  if (tls) return { offered: true, tls }
  if (outcome.stage !== 'starttls') return { offered: null, reason }
  const broke = !outcome.reply && outcome.fault !== 'timeout' && outcome.fault !== 'aborted'
  return { offered: true, reason, ...(broke ? {} : { open: true }) }
}
