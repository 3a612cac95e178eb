import { X509Certificate } from 'node:crypto'
import { atMost } from '../../base/at-most.ts'
import { within } from '../../base/deadline.ts'
import type { Problem } from '../../base/problem.ts'
import { hostError, type MailHost } from '../../mailhosts/mailhosts.ts'
import { canonicalName, type Domain } from '../../names/domain.ts'
import { addressLiteral } from '../../net/smtp/commands.ts'
import type { TlsInfo } from '../../net/smtp/dial.ts'
import { textOf } from '../../net/smtp/reply.ts'
import { type Opened, openSession, type SessionOptions } from '../../net/smtp/session.ts'
import type { TranscriptLine } from '../../net/smtp/transcript.ts'
import type { Ctx } from '../../world.ts'
import { type CheckInput, mailHostsOf } from '../check.ts'
import type { CertificateKey, StarttlsFacts, TlsHost } from '../context.ts'
import { tlsProblem } from '../problems.ts'

/** Maximum number of mail hosts that are contacted, the best first, each at its first address. */
export const MAX_HOSTS = 10
/** Maximum number of hosts that are contacted at the same time. */
const AT_A_TIME = 5
/** Time limit for one host, and for one reply of it, ms. */
const HOST_MS = 9_000
const STAGE_MS = 6_000
const SMTP = 25

type Asker = Pick<Ctx, 'resolve' | 'dial' | 'now' | 'monotonic' | 'signal' | 'seen'>

/**
 * Connects to each mail host of `domain` and examines its STARTTLS: banner, EHLO, STARTTLS, EHLO, QUIT; no mail
 * transaction is started (RFC 3207). A second connection offers only TLS 1.0 and 1.1 (RFC 8996). At most 10 hosts, one
 * address each, 5 at a time, 9 s per host; one that breaks STARTTLS off is tried twice. With `ctx.seen` a host that
 * several domains share is contacted once, and an address has one connection at a time. Faults of a host or the
 * network are data. Rejects with DnsError if MX has no answer.
 */
export async function lookupStarttls(ctx: Asker, domain: Domain, input: CheckInput): Promise<StarttlsFacts> {
  const { kind, hosts } = await mailHostsOf(ctx, domain, input)
  return {
    domain,
    mail: kind,
    hosts: await atMost(AT_A_TIME, hosts.slice(0, MAX_HOSTS), (host) => lookupHost(ctx, domain, host, input)),
    leftOut: Math.max(0, hosts.length - MAX_HOSTS),
    nowMs: ctx.now(),
  }
}

async function lookupHost(ctx: Asker, domain: Domain, host: MailHost, input: CheckInput): Promise<TlsHost> {
  const named = { host: host.exchange, preference: host.preference }
  const address = host.addresses[0]
  if (address === undefined) {
    return { ...named, offered: null, reason: hostError(host)?.problem ?? tlsProblem('no_address') }
  }
  const options: SessionOptions = {
    target: { address, port: input.smtpPort ?? SMTP },
    serverName: host.exchange,
    heloName: input.helo ?? (async (source) => addressLiteral(source)),
    startTls: true,
    stageMs: () => STAGE_MS,
  }
  if (!ctx.seen) return { ...named, ...(await examine(ctx, options)) }
  const key = `starttls ${host.exchange} ${address} ${options.target.port}`
  const asking = { subject: domain, turn: address, signal: ctx.signal }
  const { value, atMs } = await ctx.seen(key, asking, (signal) => examine({ ...ctx, signal }, options))
  return { ...named, ...value, seenAtMs: atMs }
}

async function examine(ctx: Asker, options: SessionOptions): Promise<Omit<TlsHost, 'host' | 'preference'>> {
  const { address } = options.target
  const signal = within(HOST_MS, ctx.signal)
  // Where several domains share the host it has one connection at a time; one caller waits for both at once.
  const beside = ctx.seen ? undefined : outdatedVersion(ctx, options, signal)
  const [first] = await Promise.all([openSession(ctx, options, signal), beside])
  // One lost connection may be due to the network; a host that breaks off every handshake does it again.
  const opened = !first.ok && isLost(first) ? await openSession(ctx, options, signal) : first
  const facts = factsOf(opened)
  const key = facts.tls && keyOf(facts.tls)
  const seen = { address, ...facts, ...(key && { key }) }
  const outdated = await (beside ?? (seen.offered ? outdatedVersion(ctx, options, signal) : {}))
  return seen.offered ? { ...seen, ...outdated } : seen
}

const CURVE_BITS: Readonly<Record<string, number>> = { prime256v1: 256, secp384r1: 384, secp521r1: 521, secp224r1: 224 }

/** The key of the certificate that a host presented; undefined if there is none that can be parsed. */
function keyOf({ chain }: TlsInfo): CertificateKey | undefined {
  const leaf = chain[0]
  if (!leaf) return undefined
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = new X509Certificate(leaf).publicKey
    if (type === 'rsa' || type === 'rsa-pss') return { type: 'rsa', bits: details?.modulusLength ?? null }
    if (type === 'ec') return { type: 'ec', bits: CURVE_BITS[details?.namedCurve ?? ''] ?? null }
    return { type: 'other', bits: null }
  } catch {
    return undefined // external bytes that are not a certificate
  }
}

function factsOf(opened: Opened): Omit<TlsHost, 'host' | 'preference'> {
  if (!opened.ok) return { ...greetingNames(opened.transcript), ...ended(opened) }
  const { tls, capabilities, quit, transcript } = opened.session
  const names = greetingNames(transcript())
  quit() // RFC 5321 §4.1.1.10: sent, but not waited for; the connection ends by itself after a second
  if (tls) return { ...names, offered: true, tls }
  if (!capabilities.has('STARTTLS')) return { ...names, offered: false }
  return { ...names, offered: true, reason: tlsProblem('refused') }
}

type Failed = Exclude<Opened, { readonly ok: true }>

const isLost = ({ outcome, tls }: Failed): boolean =>
  !tls && outcome.stage === 'starttls' && (outcome.fault === 'connection_lost' || outcome.fault === 'tls_failure')

/**
 * The TLS version that a host accepts if only TLS 1.0 and 1.1 are offered; nothing if there is no TLS then, with the
 * reason if that is because the time was over.
 */
async function outdatedVersion(
  ctx: Asker,
  options: SessionOptions,
  signal: AbortSignal,
): Promise<Pick<TlsHost, 'outdated' | 'outdatedReason'>> {
  const opened = await openSession(ctx, { ...options, tlsOffer: 'outdated' }, signal)
  if (opened.ok) opened.session.quit()
  const tls = opened.ok ? opened.session.tls : opened.tls
  if (tls) return { outdated: tls.protocol }
  return !opened.ok && signal.aborted ? { outdatedReason: reasonOf(opened) } : {}
}

/**
 * A session that ended early: a TLS handshake that was broken off is attributed to the host; an earlier end shows
 * nothing about its TLS.
 */
function ended(opened: Failed): Pick<TlsHost, 'offered' | 'open' | 'tls' | 'reason'> {
  const { outcome, tls } = opened
  const reason = reasonOf(opened)
  if (tls) return { offered: true, tls }
  if (outcome.stage !== 'starttls') return { offered: null, reason }
  const broke = !outcome.reply && outcome.fault !== 'timeout' && outcome.fault !== 'aborted'
  return { offered: true, reason, ...(broke ? {} : { open: true }) }
}

const reasonOf = ({ outcome }: Failed): Problem =>
  outcome.reply
    ? tlsProblem('reply', {
        code: outcome.reply.code,
        text: textOf(outcome.reply).slice(0, 300),
        stage: outcome.stage,
      })
    : tlsProblem('ended', { why: outcome.problem, stage: outcome.stage })

/** The names in a server's banner and in its reply to EHLO (RFC 5321 §4.2, §4.1.1.1). Absent if there is none. */
type GreetingNames = { readonly bannerName?: string; readonly ehloName?: string }

/** Reads the names from a transcript: the first word after 220, and after the first 250. */
function greetingNames(lines: readonly TranscriptLine[]): GreetingNames {
  const said = lines.filter(({ from }) => from === 'server').map(({ text }) => text)
  const bannerName = firstWord(said, /^220[ -](\S{1,255})/)
  const ehloName = firstWord(said, /^250[ -](\S{1,255})/)
  return { ...(bannerName ? { bannerName } : {}), ...(ehloName ? { ehloName } : {}) }
}

const firstWord = (lines: readonly string[], pattern: RegExp): string | undefined =>
  lines.flatMap((line) => pattern.exec(line)?.[1] ?? []).map(canonicalName)[0]
