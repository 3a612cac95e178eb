import type { Problem } from '../base/problem.ts'
import type { MailHosts } from '../mailhosts/mailhosts.ts'
import { noMailReason } from '../mailhosts/no-mail.ts'
import type { Ip } from '../names/ip.ts'
import { barriersOf } from './arrival.ts'
import type { LookupFailure } from './check.ts'
import type { DomainContext, OtherRole, Role } from './context.ts'
import type { DaneFacts } from './dane/index.ts'
import { type DmarcFacts, publishedPolicyOf } from './dmarc/index.ts'
import type { StsFacts } from './mta-sts/index.ts'
import type { MxFacts } from './mx/index.ts'
import { noMailRole, roleProblem } from './problems.ts'
import type { PtrFacts } from './ptr/index.ts'
import { passes, type SpfFacts } from './spf/index.ts'
import type { StarttlsFacts } from './tls-host.ts'

/** The facts from which the context is computed; absent ones were not looked up. */
export type ContextFacts = {
  readonly spf?: SpfFacts | LookupFailure
  readonly mx?: MxFacts | LookupFailure
  readonly dmarc?: DmarcFacts | LookupFailure
  readonly starttls?: StarttlsFacts | LookupFailure
  readonly mta_sts?: StsFacts | LookupFailure
  readonly dane?: DaneFacts | LookupFailure
  readonly ptr?: PtrFacts | LookupFailure
}

/** The role of the domain, from the facts of all checks: pure, and the only place that decides whether it sends or accepts mail. */
export function contextOf(facts: ContextFacts): DomainContext {
  const spf = known(facts.spf)
  const mail = known(facts.mx)?.mail
  const dmarc = known(facts.dmarc)
  const tls = known(facts.starttls)
  const sends = sendsMail(spf, mail)
  const takes = mail ? takesMail(mail, sends) : null
  const role = roleOf({ spf, mail, dmarc, sends })
  const noMail = mail && noMailIn(mail, role.role)
  return {
    ...role,
    otherRoles: otherRoles(facts, role.role).map((other) => withNoMail(other, mail)),
    sends,
    takes,
    ...(noMail === undefined ? {} : { noMail }),
    ...(mail ? { mail } : {}),
    ...(facts.mx instanceof Error ? { mailError: facts.mx.problem } : {}),
    names: namesOf(known(facts.ptr)),
    sendingHosts: sendingHostsOf(spf, mail),
    ...(tls ? { tls } : {}),
    barriers: barriersOf({ mail, sts: known(facts.mta_sts), dane: known(facts.dane), tls }),
    isStsOpen: facts.mta_sts instanceof Error || known(facts.mta_sts)?.policy?.kind === 'unknown',
  }
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
  readonly spf: SpfFacts | undefined
  readonly mail: MailHosts | undefined
  readonly dmarc: DmarcFacts | undefined
  readonly sends: boolean | null
}

/**
 * Null: there is no record, receivers return permerror, a decisive part is not known, or nobody passes without being refused (`~all`) at a domain with MX
 * hosts, which may send.
 */
function sendsMail(spf: SpfFacts | undefined, mail: MailHosts | undefined): boolean | null {
  const reading = spf?.reading
  if (!reading || reading.permerrors.length > 0) return null
  if (reading.declaredNonSender) return false
  // `v=spf1 mx -all` without an MX was meant to let hosts send, unless there is a null MX.
  const { passesNobody } = reading
  if (passesNobody && (mail?.kind === 'null' || (mail && mail.kind !== 'explicit' && !passesNobody.names))) return false
  const { ip4, ip6, conditional, tooWide } = reading.extent.passing
  const isSomebody = ip4.length + ip6.length + conditional.length > 0 || tooWide
  return isSomebody && reading.unknown.length === 0 ? true : null
}

/** Without an MX, an address accepts mail (RFC 5321 §5.1); for a domain whose SPF lets nobody send, it is the address of a website. */
const takesMail = ({ kind }: MailHosts, sends: boolean | null): boolean =>
  kind === 'explicit' || (kind === 'implicit' && sends !== false)

/** docs/score.md, "Roles". */
function roleOf({ spf, mail, dmarc, sends }: Seen): { readonly role: Role; readonly because: Problem } {
  if (!mail && sends === false) return { role: 'takes_mail_only', because: roleProblem('no_sender_no_mx_answer') }
  if (!mail) return { role: 'sends_and_takes_mail', because: roleProblem('no_mx_answer') }
  if (!mail.exists) return { role: 'no_such_domain', because: roleProblem('no_such_name') }
  const why = WITHOUT_MX[mail.kind]
  if (sends === false && !why) return { role: 'takes_mail_only', because: roleProblem('no_sender_mx') }
  if (sends === false && why) return { role: 'parked', because: roleProblem('no_sender', { why }) }
  if (sends === true && why && mail.kind !== 'implicit')
    return { role: 'sends_only', because: roleProblem('senders', { why }) }
  const from = policyFrom(dmarc)
  const alias = from === undefined ? undefined : ownAlias(mail, from)
  if (from !== undefined && alias !== undefined) {
    const because = roleProblem('alias', { target: alias, above: from })
    return { role: 'web_name_only', because }
  }
  if (from !== undefined && spf && spf.records.length === 0 && mail.kind !== 'explicit' && mail.kind !== 'null') {
    const because = roleProblem('below', { above: from })
    return { role: 'web_name_only', because }
  }
  return { role: 'sends_and_takes_mail', because: because(mail, spf, sends) }
}

/** The roles that are possible because of missing answers. */
function otherRoles(facts: ContextFacts, role: Role): readonly Role[] {
  const [spf, mail] = [known(facts.spf), known(facts.mx)?.mail]
  if (mail && !mail.exists) return []
  const sends = sendsMail(spf, mail)
  const isSpfOpen =
    facts.spf instanceof Error || (spf?.reading !== undefined && spf.reading.unknown.length > 0 && sends === null)
  const possible = new Set<Role>()
  if (facts.mx instanceof Error) {
    if (isSpfOpen || sends === false) possible.add('takes_mail_only').add('parked')
    if (isSpfOpen || sends !== false) possible.add('sends_and_takes_mail').add('sends_only')
  } else if (mail && isSpfOpen) {
    if (mail.kind === 'explicit') possible.add('takes_mail_only')
    else possible.add('parked')
    if (mail.kind === 'null' || mail.kind === 'none') possible.add('sends_only')
  }
  if (facts.dmarc instanceof Error && spf?.records.length === 0 && (mail?.kind === 'implicit' || mail?.kind === 'none'))
    possible.add('web_name_only')
  possible.delete(role)
  return [...possible]
}

function withNoMail(role: Role, mail: MailHosts | undefined): OtherRole {
  const noMail = mail ? noMailIn(mail, role) : TAKES_NONE.has(role) ? noMailRole('maybe') : undefined
  return noMail === undefined ? { role } : { role, noMail }
}

const TAKES_NONE: ReadonlySet<Role> = new Set<Role>(['sends_only', 'parked', 'web_name_only'])

const WITHOUT_MX: Readonly<Record<MailHosts['kind'], Problem | undefined>> = {
  explicit: undefined,
  null: roleProblem('null_declares'),
  implicit: roleProblem('no_mx'),
  none: roleProblem('no_mx_no_address'),
}

/** Why mail to the domain has no destination. */
function noMailIn(mail: MailHosts, role: Role): Problem | undefined {
  if (mail.kind !== 'implicit') return noMailReason(mail)
  if (role === 'parked') return noMailRole('parked')
  return role === 'web_name_only' ? noMailRole('web_name') : undefined
}

/** The name in the domain above of which a name is an alias: its records are those of that name (`www` as an alias of the domain itself). */
function ownAlias({ cname }: MailHosts, above: string): string | undefined {
  const target = cname.at(-1)
  return target !== undefined && (target === above || target.endsWith(`.${above}`)) ? target : undefined
}

/** The domain above whose record enforces a policy for this name; undefined if there is none. */
function policyFrom(dmarc: DmarcFacts | undefined): string | undefined {
  if (!dmarc?.applied?.inherited) return undefined
  const published = publishedPolicyOf(dmarc)
  return published.kind === 'policy' && published.effective !== 'none' ? dmarc.applied.domain : undefined
}

function because({ kind }: MailHosts, spf: SpfFacts | undefined, sends: boolean | null): Problem {
  const why = sends ? roleProblem('spf_senders') : withoutSenders(spf)
  return kind === 'explicit' ? roleProblem('with_mx', { why }) : why
}

function withoutSenders(spf: SpfFacts | undefined): Problem {
  if (!spf) return roleProblem('no_spf_answer')
  if (!spf.reading) return roleProblem('no_spf')
  if (spf.reading.permerrors.length > 0) return roleProblem('spf_unusable')
  return spf.reading.unknown.length > 0 ? roleProblem('spf_part') : roleProblem('spf_neutral')
}

const known = <Facts>(facts: Facts | LookupFailure | undefined): Facts | undefined =>
  facts === undefined || facts instanceof Error ? undefined : facts
