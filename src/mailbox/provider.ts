import * as shared from '../providers/index.ts'

/** A mail provider, recognized by its mail host, with its limits. */
export type Provider = SmtpLimits & { readonly id: string; readonly name: string }

/** The provider of a mail host, by its name (any case, one final dot allowed); undefined if it is not known. */
export const providerOf = (mxHost: string): Provider | undefined => withLimits(shared.providerOfHost(mxHost))

export const providerById = (id: string): Provider | undefined => withLimits(shared.providerById(id))

/** The limits toward a host of the provider, or of an unknown one. */
export const limitsFor = (provider: Provider | undefined): SmtpLimits => provider ?? DEFAULT_LIMITS

/** Whether more than one recipient may be asked about in one session. */
export const allowsSecondRcpt = (provider: Provider | undefined): boolean => {
  const { probe } = limitsFor(provider)
  return probe === 'batch' || probe === 'same_session'
}

/** The known providers; each is made once. */
const made = new Map<string, Provider>()

function withLimits(known: shared.Provider | undefined): Provider | undefined {
  if (!known) return undefined
  const { id, name } = known
  const provider = made.get(id) ?? { id, name, ...(SMTP_LIMITS[id] ?? DEFAULT_LIMITS) }
  made.set(id, provider)
  return provider
}

type SmtpLimits = {
  /** Concurrent connections to all its hosts together, from all nodes and source addresses that share a database. */
  readonly maxConnections: number
  /**
   * Recipients per minute, from all of them together; a new or throttled source address has less
   * (source/circuit-breaker.ts).
   */
  readonly perMinute: number
  /** What an accepted RCPT shows: that the mailbox exists, nothing, or it depends on the customer's settings. */
  readonly tells: 'existence' | 'nothing' | 'depends'
  /**
   * How to ask about a made-up mailbox, to detect a catch-all. `batch`: in one batch with the real one (RFC 2920).
   * `same_session`: after it. `own_session`: in a separate session, once per domain and day, because a second RCPT is
   * throttled; until the result is known, an accepted RCPT proves nothing. `never`: a second RCPT does harm
   * (throttling, a worse reputation).
   */
  readonly probe: 'batch' | 'same_session' | 'own_session' | 'never'
  /** The source of the row. */
  readonly seen: string
}

type Limits = Omit<SmtpLimits, 'seen'>
const open: Limits = { maxConnections: 10, perMinute: 120, tells: 'existence', probe: 'batch' }
const strict: Limits = { maxConnections: 4, perMinute: 30, tells: 'existence', probe: 'never' }
const gateway: Limits = { maxConnections: 5, perMinute: 60, tells: 'depends', probe: 'same_session' }

/** The limits of hosts of an unknown provider, and of providers that are not in the table. */
export const DEFAULT_LIMITS: SmtpLimits = {
  maxConnections: 20,
  perMinute: 120,
  tells: 'existence',
  probe: 'same_session',
  seen: 'the general limits of docs/verification.md',
}

/** By the id of the provider in the shared table (providers). */
export const SMTP_LIMITS: Readonly<Record<string, SmtpLimits>> = {
  google: { ...open, seen: '550 5.1.1 NoSuchUser at RCPT' },
  // Its terms forbid asking about many names ("namespace mining").
  outlook: { ...strict, maxConnections: 2, perMinute: 10, seen: 'MX of outlook.com, hotmail.com: 550 5.5.0' },
  microsoft365: {
    ...gateway,
    maxConnections: 10,
    probe: 'own_session',
    seen: 'learn.microsoft.com: directory-based edge blocking (550 5.4.1) where the tenant uses it, else all are accepted; 451 4.4.4, 452 at a second RCPT',
  },
  yahoo: { ...strict, tells: 'nothing', seen: 'senders.yahooinc.com; accepts at RCPT and refuses at DATA' },
  yahoojp: { ...strict, tells: 'depends', seen: 'MX of yahoo.co.jp' },
  icloud: {
    ...strict,
    probe: 'same_session',
    seen: 'support.apple.com/102322; refuses addresses by Proofpoint’s list',
  },
  proton: { ...open, maxConnections: 4, perMinute: 60, probe: 'same_session', seen: 'custom domains may accept all' },
  zoho: { ...strict, seen: '550 5.1.1 Invalid Recipients; 421 after many unknown names' },
  yandex: { ...strict, seen: '550 5.7.1 No such user!' },
  mailru: { ...strict, seen: 'help.mail.ru/mail/help/postmaster: too many unknown recipients get the address blocked' },
  qq: { ...strict, maxConnections: 2, seen: 'service.mail.qq.com error pages (frequency limits)' },
  netease: { ...strict, maxConnections: 2, seen: 'help.mail.163.com error codes (MI:DMC, RP:CEL)' },
  fastmail: { ...open, probe: 'same_session', seen: '550 5.1.1 at RCPT' },
  gmx: { ...strict, seen: 'postmaster.gmx.net' },
  ionos: { ...strict, seen: 'postmaster.1und1.de' },
  // Only hosts with an imprint are accepted: 554 … tosa@rx.t-online.de
  't-online': { ...strict, maxConnections: 2, seen: 'postmaster.t-online.de' },
  comcast: { ...strict, seen: 'postmaster.comcast.net' },
  cox: { ...strict, seen: 'postmaster.cox.net error codes (IPBL…)' },
  charter: { ...strict, seen: 'spectrum.net postmaster codes (AUP#…)' },
  cloudfilter: { ...strict, seen: 'MX of cox.net, charter.net, centurylink.net' },
  orange: { ...strict, maxConnections: 2, seen: 'postmaster.orange.fr (OFR_…): at most two connections at once' },
  free: { ...strict, maxConnections: 2, seen: 'postmaster.free.fr' },
  laposte: { ...strict, maxConnections: 2, seen: 'postmaster.laposte.net (LPN…)' },
  sfr: { ...strict, maxConnections: 2, seen: 'postmaster.sfr.fr (LPN…)' },
  ovh: { ...open, maxConnections: 5, seen: 'docs.ovh.com' },
  rackspace: { ...strict, seen: 'docs.rackspace.com' },
  godaddy: { ...strict, seen: 'godaddy.com/help (IB… codes: too many recipients this hour)' },
  libero: { ...strict, seen: 'MX of libero.it' },
  seznam: { ...strict, seen: 'napoveda.seznam.cz' },
  naver: { ...strict, seen: 'MX of naver.com' },
  migadu: { ...open, maxConnections: 5, probe: 'same_session', seen: 'migadu.com/guides' },
  amazonses: { ...gateway, seen: 'docs.aws.amazon.com/ses (inbound-smtp.<region>.amazonaws.com)' },
  mimecast: { ...gateway, seen: 'community.mimecast.com: SMTP error codes (greylisting 451, DOC-1369)' },
  proofpoint: { ...gateway, seen: '450 … verification in progress; 554 blocked, ipcheck.proofpoint.com' },
  barracuda: { ...gateway, seen: '550 permanent failure … (x:blocked)' },
  cisco: { ...gateway, seen: '550 #5.1.0 Address rejected; 554 … poor reputation' },
  spamexperts: { ...gateway, seen: 'documentation.n-able.com/spamexperts' },
  trendmicro: { ...gateway, seen: 'docs.trendmicro.com (Email Security)' },
  sophos: { ...gateway, seen: 'docs.sophos.com' },
  symantec: { ...gateway, seen: '553-mail rejected … (#5.1.1)' },
  forcepoint: { ...gateway, seen: 'MX of mailcontrol.com' },
  hornetsecurity: { ...gateway, seen: 'MX of hornetsecurity.com' },
  cloudflare: { ...gateway, seen: 'developers.cloudflare.com/email-routing' },
}

/** The blacklists that a provider is known to use at connection time. */
const USED_BY: Readonly<Record<string, readonly string[]>> = {
  barracuda: ['Barracuda BRBL'],
  cisco: ['SpamCop', 'Spamhaus ZEN'],
  icloud: ['Spamhaus ZEN'],
  gmx: ['Spamhaus ZEN', 'NordSpam'],
}
/** What most mail hosts use. */
const COMMON = ['Spamhaus ZEN'] as const

/** A listing of one of our own addresses. */
export type OwnListing = { readonly blacklist: string; readonly meaning: string }

/**
 * Why an address is not used toward a provider: it is on a blacklist that the provider uses. Undefined if no such
 * listing is known.
 */
export function refusedBy(listings: readonly OwnListing[], provider: string): string | undefined {
  const used = USED_BY[provider] ?? COMMON
  const found = listings.find(({ blacklist }) => used.includes(blacklist))
  return found && `listed by ${found.blacklist}${found.meaning ? ` (${found.meaning})` : ''}`
}
