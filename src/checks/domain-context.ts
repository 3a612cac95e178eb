import type { Problem } from '../base/problem.ts'
import { type MailHosts, noMailReason } from '../mailhosts/mailhosts.ts'
import type { Ip } from '../names/ip.ts'
import { registrableDomain } from '../names/suffix.ts'
import { DnsError } from '../net/dns/resolver.ts'
import {
  type Provider,
  providerOfAlias,
  providerOfHost,
  providerOfInbound,
  providerOfReturnPath,
} from '../providers/index.ts'
import { barriersOf, openBarriersOf } from './arrival.ts'
import type { LookupFailure } from './check.ts'
import type { DomainContext, Mailboxes, OtherRole, Role, StarttlsFacts } from './context.ts'
import type { DaneFacts } from './dane/index.ts'
import { type DkimFacts, hasUsableKey, isEverySelectors, maySignAbove } from './dkim/index.ts'
import { type DmarcFacts, publishedPolicyOf } from './dmarc/index.ts'
import { type DnssecFacts, dnssecState } from './dnssec/index.ts'
import type { StsFacts } from './mta-sts/index.ts'
import { hostState, type MxFacts } from './mx/index.ts'
import { noMailRole, roleProblem } from './problems.ts'
import type { PtrFacts } from './ptr/index.ts'
import { meansSenders, passes, type SpfFacts } from './spf/index.ts'

/** The facts from which the context is computed; absent ones were not looked up. */
type ContextFacts = {
  readonly spf?: SpfFacts | LookupFailure
  readonly mx?: MxFacts | LookupFailure
  readonly dmarc?: DmarcFacts | LookupFailure
  readonly dkim?: DkimFacts | LookupFailure
  readonly dnssec?: DnssecFacts | LookupFailure
  readonly starttls?: StarttlsFacts | LookupFailure
  readonly mta_sts?: StsFacts | LookupFailure
  readonly dane?: DaneFacts | LookupFailure
  readonly ptr?: PtrFacts | LookupFailure
}

/**
 * The role of the domain, from the facts of all checks: pure, and the only place that decides whether it sends or
 * accepts mail.
 */
export function contextOf(facts: ContextFacts): DomainContext {
  const spf = known(facts.spf)
  const mail = known(facts.mx)?.mail
  const dmarc = known(facts.dmarc)
  const tls = known(facts.starttls)
  const bySpf = sendsMail(spf, mail)
  const role = roleOf({ facts, mail, sends: bySpf, returnPath: returnPathOf(facts) })
  // Nothing can pass at a parked domain, also without an SPF record.
  const sends = role.role === 'parked' ? false : bySpf
  const takes = mail ? takesMail(mail, sends, tls) : null
  const noMail = mail && noMailIn(mail, role.role)
  const dkim = known(facts.dkim)
  const relaxed = relaxedAt(facts.dmarc)
  const mailboxes = mailboxesOf(mail, facts.dkim, tls)
  const above = registrableAbove(facts)
  return {
    ...role,
    ...(isReverse(facts) && { reverse: true }),
    ...(above !== undefined && { above }),
    otherRoles: otherRoles(facts, { role: role.role, ...(noMail === undefined ? {} : { noMail }) }),
    sends,
    takes,
    ...relaxed,
    canPass:
      sends === false || dkim?.discovery !== 'proven_absent' || maySignAbove(dkim, relaxed) || mayPass(facts.spf),
    silent: role.role === 'no_mail' || (sends === false && !(dkim && hasUsableKey(dkim))),
    enforces: enforcesPolicy(dmarc),
    signed: signedOf(known(facts.dnssec)),
    ...sendersOpenIn(facts.spf),
    ...(noMail === undefined ? {} : { noMail }),
    ...(mailboxes ? { mailboxes } : {}),
    ...(mail ? { mail } : {}),
    ...(facts.mx instanceof Error ? { mailError: facts.mx.problem } : {}),
    names: namesOf(known(facts.ptr)),
    sendingHosts: sendingHostsOf(spf, mail),
    ...(tls ? { tls } : {}),
    barriers: barriersOf({ mail, sts: known(facts.mta_sts), dane: known(facts.dane), tls }),
    openBarriers: openBarriersOf({ mail, sts: facts.mta_sts, dane: facts.dane, tls }),
  }
}

function sendersOpenIn(spf: ContextFacts['spf']): Pick<DomainContext, 'sendersOpen'> {
  if (spf instanceof Error) return { sendersOpen: 'any' }
  const open = spf?.reading?.open
  return open === undefined ? {} : { sendersOpen: open === 'own' ? 'any' : 'mail_hosts' }
}

const namesOf = (ptr: PtrFacts | undefined): DomainContext['names'] =>
  Object.fromEntries((ptr?.addresses ?? []).flatMap(({ address, names, error }) => (error ? [] : [[address, names]])))

/** The addresses of the mail hosts that SPF passes. */
function sendingHostsOf(spf: SpfFacts | undefined, mail: MailHosts | undefined): readonly Ip[] {
  const passing = spf?.reading?.extent.passing
  const addresses = new Set(mail?.hosts.flatMap((host) => host.addresses))
  return passing ? [...addresses].filter((address) => passes(passing, address)) : []
}

type Seen = {
  readonly facts: ContextFacts
  readonly mail: MailHosts | undefined
  readonly sends: boolean | null
  readonly returnPath: ReturnPath | undefined
}
type ReturnPath = { readonly above: string; readonly provider: string }

/**
 * Null: there is no record, receivers return permerror, a decisive part is not known, or nobody passes without being
 * refused (`~all`) at a domain with MX hosts, which may send.
 */
function sendsMail(spf: SpfFacts | undefined, mail: Pick<MailHosts, 'kind'> | undefined): boolean | null {
  const reading = spf?.reading
  if (!reading || reading.permerrors.length > 0) return null
  if (reading.declaredNonSender) return false
  // A record that names senders was meant to let them send, even if what it names is gone.
  const { passesNobody } = reading
  if (passesNobody) return mail && mail.kind !== 'explicit' && !passesNobody.names ? false : null
  const { ip4, ip6, conditional, tooWide } = reading.extent.passing
  const isSomebody = ip4.length + ip6.length + conditional.length > 0 || tooWide
  return isSomebody && reading.unknown.length === 0 ? true : null
}

function enforcesPolicy(dmarc: DmarcFacts | undefined): boolean | null {
  const published = dmarc && publishedPolicyOf(dmarc)
  if (!published || published.kind === 'unknown') return null
  return published.kind === 'policy' && published.effective !== 'none'
}

/** The provider of all mail hosts that work, and whether a key is its own. */
function mailboxesOf(
  mail: MailHosts | undefined,
  found: ContextFacts['dkim'],
  tls: StarttlsFacts | undefined,
): Mailboxes | undefined {
  const working = mail?.kind === 'explicit' ? mail.hosts.filter((host) => hostState(host, tls) === 'works') : []
  const [provider, ...others] = new Set(working.map(({ exchange }) => providerOfHost(exchange)))
  if (provider?.kind !== 'mailbox' || others.length > 0) return undefined
  const dkim = known(found)
  const key = dkim ? keyAt(provider, dkim) : 'unknown'
  return { provider, key, isOpen: key !== 'usable' && (found instanceof Error || (dkim?.unanswered ?? 0) > 0) }
}

/** A provider's key: by the alias of its selector, or by a selector that its customers publish. */
function keyAt(provider: Provider, facts: DkimFacts): Mailboxes['key'] {
  const { keys, discovery, dangling } = facts
  const own = keys
    .filter(({ key }) => key.state !== 'reports')
    .filter(({ cname, selector }) =>
      cname.length > 0
        ? cname.some((target) => providerOfAlias(target) === provider)
        : provider.cnames.length === 0 && provider.selectors.includes(selector),
    )
  if (!isEverySelectors(facts) && own.some(({ key }) => key.state === 'usable')) return 'usable'
  const isOff = dangling.some(({ target }) => providerOfAlias(target) === provider)
  return discovery === 'proven_absent' || own.length > 0 || isOff ? 'absent' : 'unknown'
}

function relaxedAt(dmarc: ContextFacts['dmarc']): Pick<DomainContext, 'relaxedAt'> {
  if (dmarc instanceof Error || dmarc?.unknown !== undefined) return { relaxedAt: null }
  const { applied, walk } = dmarc ?? {}
  return applied && applied.reading.record.adkim === 'r' && walk?.organizationalDomain !== undefined
    ? { relaxedAt: walk.organizationalDomain }
    : {}
}

const signedOf = (dnssec: DnssecFacts | undefined): boolean | null => (dnssec ? dnssecState(dnssec).signed : null)

/** Whether a record names senders that do not pass, also one that receivers cannot read. */
const namesSenders = (spf: SpfFacts | undefined): boolean =>
  spf?.reading?.passesNobody?.names === true || (spf !== undefined && meansSenders(spf))

/** Whether SPF lets anybody pass, as far as it is known. */
function mayPass(spf: ContextFacts['spf']): boolean {
  if (spf === undefined || spf instanceof Error) return true
  const { reading } = spf
  return reading !== undefined && reading.permerrors.length === 0 && !reading.passesNobody
}

/**
 * Without an MX, an address accepts mail (RFC 5321 §5.1); for a domain whose SPF lets nobody send, it is the address of
 * a website. An MX host must have an address that the internet reaches.
 */
function takesMail(
  { kind, hosts, truncated }: MailHosts,
  sends: boolean | null,
  tls: StarttlsFacts | undefined,
): boolean | null {
  if (kind !== 'explicit') return kind === 'implicit' && sends !== false
  const states = hosts.map((host) => hostState(host, tls))
  if (truncated > 0 || states.includes('works')) return true
  return states.includes('unknown') ? null : false
}

/**
 * A name below a domain that a sending provider uses for bounces: nothing signs as it, its MX hosts or its alias are the
 * provider's, and it has an SPF record that names somebody.
 */
function returnPathOf(facts: ContextFacts): ReturnPath | undefined {
  return facts.spf instanceof Error || bouncesTo(known(facts.spf)) ? returnPathIn(facts) : undefined
}

const bouncesTo = (spf: SpfFacts | undefined): boolean => spf?.reading !== undefined && !spf.reading.declaredNonSender

function returnPathIn(facts: ContextFacts): ReturnPath | undefined {
  const mail = known(facts.mx)?.mail
  const above = registrableAbove(facts)
  if (!mail || above === undefined || known(facts.dkim)?.discovery === 'found') return undefined
  const hosts = mail.kind === 'explicit' ? mail.hosts.map(({ exchange }) => exchange) : []
  const isBounces = (host: string): boolean => providerOfReturnPath(host) !== undefined && !providerOfInbound(host)
  const byMx = hosts.length > 0 && hosts.every(isBounces) ? providerOfReturnPath(hosts[0]!) : undefined
  const provider = mail.cname.map(providerOfReturnPath).find((one) => one !== undefined) ?? byMx
  return provider && { above, provider: provider.name }
}

/** What the role depends on, one reading of it. */
type Traits = {
  readonly kind: MailHosts['kind'] | 'absent'
  readonly sends: boolean | null
  readonly names: boolean
  readonly hasSpf: boolean
  readonly hasKeys: boolean
  /** An organizational domain is above the name. */
  readonly isBelow: boolean
  /** A DMARC record at the name asks to reject everything. */
  readonly isRejecting: boolean
  readonly isAlias: boolean
  readonly isReturnPath: boolean
}

/** docs/score.md, "Roles". What comes through an alias of the whole name is not its own. */
function roleBy({ kind, sends, names, hasSpf, hasKeys, isBelow, isRejecting, isAlias, isReturnPath }: Traits): Role {
  if (kind === 'absent') return 'no_such_domain'
  if (isReturnPath) return 'return_path'
  const hasMx = kind === 'explicit' || kind === 'null'
  if (isBelow && !hasKeys && (isAlias || (!hasMx && !hasSpf))) return 'no_mail'
  if (sends === false) return kind === 'explicit' ? 'accepts_mail_only' : 'parked'
  if ((sends === true || names) && (kind === 'null' || kind === 'none')) return 'sends_only'
  return isRejecting && !isBelow && !hasMx && !hasSpf && !hasKeys ? 'parked' : 'sends_and_accepts_mail'
}

function roleOf({ facts, mail, sends, returnPath }: Seen): { readonly role: Role; readonly because: Problem } {
  const spf = known(facts.spf)
  if (isReverse(facts) && mail?.exists !== false) return { role: 'no_mail', because: roleProblem('reverse') }
  if (!mail && sends === false) return { role: 'accepts_mail_only', because: roleProblem('no_sender_no_mx_answer') }
  if (!mail) return { role: 'sends_and_accepts_mail', because: roleProblem('no_mx_answer') }
  const role = roleBy({
    kind: mail.exists ? mail.kind : 'absent',
    sends,
    names: namesSenders(spf),
    hasSpf: spf !== undefined && hasSpf(spf),
    hasKeys: hasKeys(known(facts.dkim)),
    isBelow: organizationAbove(facts) !== undefined,
    isRejecting: isRejecting(known(facts.dmarc)),
    isAlias: mail.cname.length > 0,
    isReturnPath: returnPath !== undefined,
  })
  const why = WITHOUT_MX[mail.kind] ?? roleProblem('no_mx')
  switch (role) {
    case 'no_such_domain':
      return { role, because: roleProblem('no_such_name') }
    case 'return_path':
      return { role, because: roleProblem('return_path', returnPath!) }
    case 'no_mail': {
      const above = organizationAbove(facts)!
      const target = mail.cname.at(-1)
      return {
        role,
        because: target === undefined ? roleProblem('below', { above }) : roleProblem('alias', { target, above }),
      }
    }
    case 'accepts_mail_only':
      return { role, because: roleProblem('no_sender_mx') }
    case 'parked':
      return { role, because: sends === false ? roleProblem('no_sender', { why }) : roleProblem('retired', { why }) }
    case 'sends_only':
      return { role, because: roleProblem('senders', { why }) }
    case 'sends_and_accepts_mail':
      return { role, because: because(mail, spf, sends) }
  }
}

/** Whether the name is one of a reverse zone, which names addresses (RFC 1035 §3.5, RFC 3596 §2.5). */
const isReverse = (facts: ContextFacts): boolean => /\.(?:in-addr|ip6)\.arpa$/.test(domainOf(facts) ?? '')

/** Also a text that was meant as a record. */
const hasSpf = ({ records, similar }: SpfFacts): boolean => records.length + similar.length > 0

/** Whether the name has DKIM keys, also below selectors that are not known: a name without any has nothing there. */
const hasKeys = (dkim: DkimFacts | undefined): boolean =>
  dkim !== undefined && (dkim.discovery === 'found' || dkim.hidden || isEverySelectors(dkim))

/**
 * The organizational domain above the name: by the tree walk, and where that finds no record, by the public suffix
 * list.
 */
function organizationAbove(facts: ContextFacts): string | undefined {
  const name = domainOf(facts)
  if (name === undefined) return undefined
  const walk = known(facts.dmarc)?.walk
  const isFound = walk?.steps.some(({ decision }) => FOUND.includes(decision)) === true
  const organization = isFound ? walk?.organizationalDomain : registrableAbove(facts)
  return organization === name ? undefined : organization
}

const FOUND: readonly string[] = ['record', 'boundary_psd_n', 'boundary_psd_y']

const isRejecting = (dmarc: DmarcFacts | undefined): boolean =>
  dmarc?.applied !== undefined && !dmarc.applied.inherited && dmarc.applied.effective === 'reject'

/** The roles that are possible because of missing answers: those of every reading of what is not known. */
function otherRoles(facts: ContextFacts, own: OtherRole): readonly OtherRole[] {
  const mail = known(facts.mx)?.mail
  if ((mail && !mail.exists) || isReverse(facts)) return []
  const possible = new Map<string, OtherRole>()
  for (const hosts of hostsOf(facts, mail))
    for (const senders of sendersOf(facts, hosts.kind))
      for (const above of policiesOf(facts))
        for (const keys of keysOf(facts))
          for (const isReturnPath of returnPathsOf(facts, mail)) {
            const role = roleBy({ ...senders, ...hosts, ...above, hasKeys: keys, isReturnPath })
            const other = withNoMail(role, mail, hosts.kind)
            possible.set(keyOf(other), other)
          }
  possible.delete(keyOf(own))
  return [...possible.values()]
}

const keyOf = ({ role, noMail }: OtherRole): string => `${role} ${noMail !== undefined}`

/** What SPF may say. */
function sendersOf({ spf }: ContextFacts, kind: Traits['kind']): readonly Pick<Traits, 'sends' | 'names' | 'hasSpf'>[] {
  const found = known(spf)
  const own = {
    sends: sendsMail(found, kind === 'absent' ? undefined : { kind }),
    names: namesSenders(found),
    hasSpf: found !== undefined && hasSpf(found),
  }
  const record = { names: false, hasSpf: true }
  if (spf instanceof Error)
    return [
      { ...record, sends: true },
      { ...record, sends: false },
      { ...record, sends: null, names: true },
      { ...record, sends: null },
      { ...own, hasSpf: false },
    ]
  if (own.sends !== null || (found?.reading?.unknown ?? []).length === 0) return [own]
  return [own, { ...own, sends: true }, { ...own, sends: false }, { ...own, names: true }]
}

/** Where mail may go. An MX record that has no answer may be any; without one, the domain's own addresses count. */
function hostsOf(facts: ContextFacts, mail: MailHosts | undefined): readonly Pick<Traits, 'kind' | 'isAlias'>[] {
  const { mx } = facts
  if (mail) return [{ kind: mail.kind, isAlias: mail.cname.length > 0 }]
  if (!(mx instanceof DnsError)) return [{ kind: 'explicit', isAlias: false }]
  const isAddress = mx.question.type !== 'MX'
  const kinds: readonly Traits['kind'][] = isAddress
    ? ['implicit', 'none']
    : isSeen(facts)
      ? ['explicit', 'null', 'implicit', 'none']
      : ['absent', 'explicit', 'null', 'implicit', 'none']
  return kinds.flatMap((kind) => [
    { kind, isAlias: false },
    { kind, isAlias: true },
  ])
}

/**
 * Whether another answer shows that the name exists: to the question for its SPF record or for its SOA record, also one
 * that only a validator refuses.
 */
const isSeen = ({ spf, dnssec }: ContextFacts): boolean => known(spf)?.exists === true || known(dnssec)?.exists === true

/** What DMARC may say: whether there is an organization above, and whether a record at the name rejects everything. */
function policiesOf(facts: ContextFacts): readonly Pick<Traits, 'isBelow' | 'isRejecting'>[] {
  const found = known(facts.dmarc)
  const own = { isBelow: organizationAbove(facts) !== undefined, isRejecting: isRejecting(found) }
  if (found && publishedPolicyOf(found).kind !== 'unknown' && found.walk.organizationalDomain !== undefined)
    return [own]
  const name = domainOf(facts)
  const above = name !== undefined && registrableOf(facts) === name ? [false] : [false, true]
  return above.flatMap((isBelow) => [true, false].map((rejects) => ({ isBelow, isRejecting: rejects })))
}

/** Whether the name may have DKIM keys. */
function keysOf({ dkim }: ContextFacts): readonly boolean[] {
  const found = known(dkim)
  if (dkim instanceof Error || (found && !hasKeys(found) && found.unanswered > 0)) return [false, true]
  return [hasKeys(found)]
}

/** Whether the name may be a return path: by an MX record, or because a key that would say otherwise was not found. */
function returnPathsOf(facts: ContextFacts, mail: MailHosts | undefined): readonly boolean[] {
  const name = domainOf(facts)
  const isBelow = name === undefined || registrableOf(facts) !== name
  if (!mail) return isBelow && known(facts.dkim)?.discovery !== 'found' ? [false, true] : [false]
  const isOne = returnPathOf(facts) !== undefined
  const dkim = known(facts.dkim)
  const isOpen = dkim === undefined || (dkim.discovery !== 'found' && dkim.unanswered > 0) || facts.spf instanceof Error
  return isOne && isOpen ? [true, false] : [isOne]
}

const domainOf = (
  facts: { readonly [K in 'mx' | 'dmarc' | 'spf' | 'dkim']?: ContextFacts[K] | undefined },
): string | undefined =>
  [facts.mx, facts.dmarc, facts.spf, facts.dkim]
    .map((one) => known<{ readonly domain: string }>(one)?.domain)
    .find((one) => one !== undefined)

function registrableOf(facts: ContextFacts): string | undefined {
  const name = domainOf(facts)
  return name === undefined ? undefined : registrableDomain(name)
}

function registrableAbove(facts: ContextFacts): string | undefined {
  const above = registrableOf(facts)
  return above === domainOf(facts) ? undefined : above
}

function withNoMail(role: Role, mail: MailHosts | undefined, kind: Traits['kind']): OtherRole {
  const isNone = TAKES_NONE.has(role) || kind === 'null' || kind === 'none'
  const noMail = mail ? noMailIn(mail, role) : isNone ? noMailRole('maybe') : undefined
  return noMail === undefined ? { role } : { role, noMail }
}

const TAKES_NONE: ReadonlySet<Role> = new Set<Role>(['sends_only', 'parked', 'no_mail'])

const WITHOUT_MX: Readonly<Record<MailHosts['kind'], Problem | undefined>> = {
  explicit: undefined,
  null: roleProblem('null_declares'),
  implicit: roleProblem('no_mx'),
  none: roleProblem('no_mx_no_address'),
}

/** Why mail to the domain has no destination, or none of its own. */
function noMailIn(mail: MailHosts, role: Role): Problem | undefined {
  if (role === 'return_path') return noMailRole('return_path')
  if (mail.kind !== 'implicit') return noMailReason(mail)
  if (role === 'parked') return noMailRole('parked')
  return role === 'no_mail' ? noMailRole('web_name') : undefined
}

function because({ kind }: MailHosts, spf: SpfFacts | undefined, sends: boolean | null): Problem {
  const why = sends ? roleProblem('spf_senders') : withoutSenders(spf)
  return kind === 'explicit' ? roleProblem('with_mx', { why }) : why
}

function withoutSenders(spf: SpfFacts | undefined): Problem {
  if (!spf) return roleProblem('no_spf_answer')
  if (!spf.reading) return roleProblem('no_spf')
  if (spf.reading.permerrors.length > 0) return roleProblem('spf_unusable')
  if (namesSenders(spf)) return roleProblem('spf_senders')
  return spf.reading.unknown.length > 0 ? roleProblem('spf_part') : roleProblem('spf_neutral')
}

const known = <Facts>(facts: Facts | LookupFailure | undefined): Facts | undefined =>
  facts === undefined || facts instanceof Error ? undefined : facts
