import { createHash } from 'node:crypto'
import { applies } from '../checks/context.ts'
import { hasUsableKey as hasKey } from '../checks/dkim/index.ts'
import type { StsFacts } from '../checks/mta-sts/index.ts'
import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import type { CheckKey } from '../checks/run.ts'
import { correctedBelow } from '../checks/spf/index.ts'
import type { MailHosts } from '../mailhosts/mailhosts.ts'
import { isWithin } from '../names/domain.ts'
import { familyOf, type Ip, reverseName } from '../names/ip.ts'
import { isPublic } from '../names/ip-range.ts'
import type { OverlayChange, OverlayRecord } from '../net/dns/overlay.ts'
import { parseRecord } from '../net/dns/record-text.ts'
import { ASSUMED_ADDRESS, assumedKey, assumedTarget, correctedPolicy } from './assumed.ts'
import type { Draft } from './draft.ts'
import type { Snapshot } from './snapshot.ts'
import type { Found } from './trial.ts'
import { keyTitle } from './words.ts'

/** A step that no record of the domain makes, or not alone, for a finding; `ids`: all findings that it is for. */
export type Work = { readonly found: Found; readonly draft: Omit<Draft, 'findings'>; readonly ids?: readonly string[] }
/** What others have to do about a domain as it is; pure. */
export type OthersWork = (now: Snapshot, domain: string) => readonly Work[]

const foundIn = ({ outcomes }: Pick<Snapshot, 'outcomes'>, key: CheckKey): readonly Found[] =>
  (outcomes[key]?.findings ?? []).map((finding) => ({ key, finding }))

/** A permerror of SPF that no record of the domain alone ends: of includes to move, and of the records of others. */
export const spfBelow: OthersWork = (now, domain) => {
  const { spf } = now.facts
  if (spf instanceof Error) return []
  return foundIn(now, 'spf').flatMap((found): Work[] => {
    const corrected = correctedBelow(spf, found.finding, `v=spf1 ip4:${ASSUMED_ADDRESS} ~all`) ?? []
    if (corrected.length === 0) return []
    const records = corrected.map(({ name, text }): OverlayRecord => ({ name, type: 'TXT', data: text }))
    const isMove = found.finding.id === 'spf.too_many_lookups'
    const isOwn = ({ name }: OverlayRecord): boolean => !isMove && isWithin(name, domain) && !isUnread(found, name)
    const { repair, title } = presentFinding(registry.spf.table, withoutFix(found))
    const changes = records.filter(isOwn)
    const draft = {
      title: isMove
        ? 'Bring SPF within the limit of lookups'
        : `Correct the included SPF record of ${records[0]!.name}`,
      by: isMove || changes.length > 0 ? 'dns' : 'mail provider',
      instructions: repair ?? title,
      changes,
      facts: { records: records.filter((one) => !isOwn(one)) },
      ...(changes.length < records.length && { assumed: true as const }),
    } as const
    return [{ found, draft }]
  })
}

/** Whether the record at a name stands for one that only its owner knows. */
const isUnread = ({ finding: { id, args } }: Found, name: string): boolean => id !== 'spf.loop' && args?.name === name
const withoutFix = ({ finding: { fix: _fix, ...rest } }: Found): Found['finding'] => rest

/** Findings for which the policy file must change. */
const POLICY_FAULTS: ReadonlySet<string> = new Set([
  'mta_sts.uncovered_mx',
  'mta_sts.uncovered_mx_testing',
  'mta_sts.policy_type',
  'mta_sts.policy_syntax',
])
/** Findings that a new key resolves. */
const NEEDS_KEY: ReadonlySet<string> = new Set([
  'dkim.dangling',
  'dkim.proven_absent',
  'dkim.none_found',
  'dkim.parent_key',
  'dkim.only_revoked',
  'dkim.short_key',
  'dkim.ed25519_only',
])
/** An MTA-STS policy that excludes mail hosts, or that senders cannot use. */
export const policyFile: OthersWork = (now) => {
  const { mta_sts: facts } = now.facts
  const hosts = now.context.mail?.hosts.map(({ exchange }) => exchange) ?? []
  const found = foundIn(now, 'mta_sts').find(({ finding: { id } }) => POLICY_FAULTS.has(id))
  if (!found || facts instanceof Error || hosts.length === 0) return []
  return [{ found, draft: published(facts, 'Correct the MTA-STS policy', correctedPolicy(facts, hosts)) }]
}

/** The policy of a record that has none, or the removal of the record. */
export const missingPolicy: OthersWork = (now, domain) => {
  const { mta_sts: facts } = now.facts
  const hosts = now.context.mail?.hosts.map(({ exchange }) => exchange) ?? []
  const found = foundIn(now, 'mta_sts').find(({ finding: { id } }) => id === 'mta_sts.no_policy')
  if (!found || facts instanceof Error || hosts.length === 0) return []
  const file = correctedPolicy(facts, hosts)
  const { repair } = presentFinding(registry.mta_sts.table, found.finding)
  const draft = {
    title: 'Serve the MTA-STS policy',
    by: 'web server',
    instructions: repair ?? '',
    file,
    changes: [],
    facts: { records: [{ name: `mta-sts.${domain}`, type: 'A', data: ASSUMED_ADDRESS }], policy: file },
  } as const
  return [{ found, draft }]
}

/** A policy that mail hosts do not meet, in testing until they do: until then some senders do not deliver. */
export const policyForTesting: OthersWork = (now) => {
  const { mta_sts: facts } = now.facts
  const hosts = now.context.mail?.hosts.map(({ exchange }) => exchange) ?? []
  const found = foundIn(now, 'mta_sts').find(({ finding: { id } }) => id === 'mta_sts.mx_tls')
  if (!found || facts instanceof Error || hosts.length === 0) return []
  return [
    { found, draft: published(facts, 'Set the MTA-STS policy to testing', correctedPolicy(facts, hosts, 'testing')) },
  ]
}

/** The publication of a policy file. */
function published(
  { domain, alias }: Pick<StsFacts, 'domain' | 'alias'>,
  title: string,
  file: { readonly url: string; readonly text: string },
): Work['draft'] {
  const id = createHash('sha256').update(file.text).digest('hex').slice(0, 16) // RFC 8461 §3.1: it changes with the policy
  return {
    title,
    by: 'web server',
    instructions: `Publish the policy at ${file.url} first, then ${alias === undefined ? 'the record with the new id' : `change the id of the record at ${alias}, of which _mta-sts.${domain} is an alias`}: senders fetch the policy again when the id changes (RFC 8461 §3.1).`,
    file,
    changes: alias === undefined ? [{ name: `_mta-sts.${domain}`, type: 'TXT', data: `v=STSv1; id=${id}` }] : [],
    facts: { records: [], policy: file },
  }
}

/** TLSA records of hosts without TLS, for which senders that check them deliver nothing (RFC 7672 §2.2). */
export const tlsaWithoutTls: OthersWork = (now, domain) => {
  const { dane: facts } = now.facts
  const found = foundIn(now, 'dane').filter(({ finding: { id } }) => id === 'dane.no_starttls')
  const [first] = found
  if (!first || facts instanceof Error) return []
  const hosts = found.map(({ finding: { args } }) => ({ host: String(args?.host), name: String(args?.name) }))
  const own = hosts.filter(({ name }) => isWithin(name, domain))
  if (own.length === 0) return []
  const draft = {
    title: 'Remove the TLSA records until there is TLS',
    by: 'dns',
    instructions: `Or enable STARTTLS on ${own.map(({ host }) => host).join(', ')} at once, and leave them.`,
    changes: own.map(({ name }): OverlayChange => ({ name, type: 'TLSA', remove: true })),
  } as const
  return [{ found: first, draft }]
}

/** Hosts that take no mail, or not that of all senders, by what they are. */
export const deadHosts: OthersWork = ({ context: { mail }, outcomes }, domain) => {
  const found = foundIn({ outcomes }, 'mx').find(({ finding: { id } }) => TAKE_NONE.includes(id))
  if (!found || !mail) return []
  const { id, fix, args } = found.finding
  if (id === 'mx.ip_literal')
    return ['mx', 'mx1', 'mail-in'].map((label) => ({ found, draft: namedHost(mail, domain, `${label}.${domain}`) }))
  // A domain without mail has a record for that; which provider a verification record is meant for only its owner knows.
  if (id === 'mx.none_resolvable' && (fix || args?.providers !== undefined)) return []
  const hosts = mail.hosts.filter(DEAD[id]!)
  if (hosts.length === 0) return []
  const names = hosts.map(({ exchange }) => exchange)
  const records = names.flatMap((name) => [
    { name, type: 'A', data: ASSUMED_ADDRESS } as const,
    ...(id === 'mx.ipv6_only' ? [] : [{ name, type: 'AAAA', remove: true } as const]),
    { name: reverseName(ASSUMED_ADDRESS), type: 'PTR', data: name } as const,
  ])
  const draft = {
    ...deadWords(id, names, hosts[0]?.proxy, domain),
    by: 'dns',
    assumed: true,
    changes: [],
    facts: { records },
  } as const
  return [{ found, draft }]
}

/** Which mail hosts a finding is about. */
const DEAD: Readonly<Record<string, (host: MailHosts['hosts'][number]) => boolean>> = {
  'mx.not_public': ({ addresses }) => addresses.length > 0 && !addresses.some(isPublic),
  'mx.web_proxy': ({ proxy }) => proxy !== undefined,
  'mx.none_resolvable': ({ addresses }) => addresses.length === 0,
  'mx.ipv6_only': ({ addresses }) => addresses.length > 0,
}

function deadWords(id: string, names: readonly string[], proxy: string | undefined, domain: string) {
  const all = names.join(', ')
  const own = names.filter((name) => isWithin(name, domain))
  if (id === 'mx.not_public')
    return {
      title: 'Publish a public address of the mail host',
      instructions: `Replace the address records of ${all} by the public address at which the mail server is reached: senders on the internet cannot connect to a private one.`,
    }
  if (id === 'mx.web_proxy')
    return {
      title: 'Take the mail host out of the web proxy',
      instructions: `Set the address records of ${all} to "DNS only" at the provider of the proxy (${proxy}): they then name the mail server itself.`,
    }
  if (id === 'mx.ipv6_only')
    return {
      title: 'Give a mail host an IPv4 address',
      instructions: `Publish an A record of ${names.length === 1 ? all : `one of ${all}`} with an IPv4 address at which the mail server is reached, or add an MX host that has one: many senders cannot use IPv6.`,
    }
  return {
    title: 'Give the domain a mail host that exists',
    instructions: `${own.length > 0 ? `Publish an address record of ${own.join(', ')}, or MX records with hosts that have one.` : `Publish MX records with hosts that have an address, in place of ${all}.`} If the domain has no mail any more, publish the null MX "0 .", the TXT record "v=spf1 -all" and, at _dmarc, "v=DMARC1; p=reject" instead, and leave out the other steps.`,
  }
}

const TAKE_NONE = ['mx.ip_literal', 'mx.web_proxy', 'mx.not_public', 'mx.none_resolvable', 'mx.ipv6_only']

/** A name for MX records that are addresses. */
function namedHost({ hosts, records }: MailHosts, domain: string, name: string): Work['draft'] {
  const literals = hosts.filter(({ literal }) => literal !== undefined)
  const kept = records.filter(({ exchange }) => !literals.some((one) => one.exchange === exchange))
  const first = { preference: literals[0]?.preference ?? 0, exchange: name }
  return {
    title: 'Give the mail host a name',
    by: 'dns',
    changes: [
      ...literals.map(
        ({ literal = '' as Ip }): OverlayRecord => ({
          name,
          type: familyOf(literal) === 6 ? 'AAAA' : 'A',
          data: literal,
        }),
      ),
      ...[first, ...kept].map((data): OverlayRecord => ({ name: domain, type: 'MX', data })),
    ],
  }
}

/** The keys of selectors that mail is signed with and that have none, which only the signer can create. */
export const keylessSelectors: OthersWork = (now, domain) => {
  if (!applies('dkim', now.context)) return []
  return foundIn(now, 'dkim')
    .filter(({ finding: { id } }) => id === 'dkim.no_key')
    .map((found) => {
      const selector = String(found.finding.args?.selector)
      const { repair } = presentFinding(registry.dkim.table, found.finding)
      const draft = {
        title: `Publish the DKIM key of the selector ${selector}`,
        by: 'mail provider',
        ...(repair === undefined ? {} : { instructions: repair }),
        changes: [],
        facts: { records: [assumedKey(domain, selector)] },
      } as const
      return { found, draft }
    })
}

/** A DKIM key, which only the provider of the mail can create. */
export const providerKey: OthersWork = (now, domain) => keyFor(now, domain, NEEDS_KEY)

/** The key of the mailbox provider beside those of other services. */
export const mailboxKey: OthersWork = (now, domain) => keyFor(now, domain, new Set(['dkim.mailbox_key_missing']))

function keyFor(now: Snapshot, domain: string, ids: ReadonlySet<string>): readonly Work[] {
  const { dkim: facts } = now.facts
  const all = foundIn(now, 'dkim').filter(({ finding: { id } }) => ids.has(id))
  const isOfMailbox = ({ finding: { args } }: Found): boolean =>
    args?.provider !== undefined && args.provider === now.context.mailboxes?.provider.name
  const found = all.find(isOfMailbox) ?? all[0]
  // At a domain that sends nothing no key is missing.
  if (!found || facts instanceof Error || !applies('dkim', now.context)) return []
  const isOff = found.finding.id === 'dkim.dangling'
  // With another key that can be used, only the mail of the mailboxes is missing one.
  if (isOff && (found.finding.args?.provider === undefined || (hasUsableKey(facts) && !isOfMailbox(found)))) return []
  const selectors = [found.finding.args?.selector].flat()
  const dangling = facts.dangling.filter(({ selector: one }) => selectors.includes(one))
  const isOfMailboxes = found.finding.id === 'dkim.mailbox_key_missing'
  const providers = isOfMailboxes ? [now.context.mailboxes!.provider] : facts.providers
  const selector = providers.find(({ selectors }) => selectors.length > 0)?.selectors[0] ?? 'default'
  const { repair } = presentFinding(registry.dkim.table, found.finding)
  const draft = {
    title: keyTitle(found.finding.id),
    by: 'mail provider',
    ...(repair === undefined ? {} : { instructions: repair }),
    changes: [],
    facts: {
      records: isOff ? dangling.map(({ target }) => assumedTarget(target)) : [assumedKey(domain, selector)],
    },
  } as const
  return [{ found, draft }]
}

/** Targets of aliases that were published as text: the aliases, once signing is on at the provider. */
export const writtenAliases: OthersWork = (now) => {
  const { dkim: facts } = now.facts
  const found = foundIn(now, 'dkim').filter(({ finding: { fix } }) => fix?.rtype === 'CNAME')
  const [first] = found
  if (!first || facts instanceof Error) return []
  const fixes = found.map(({ finding: { fix } }) => fix!)
  const changes = fixes.flatMap(({ name, value }): OverlayChange[] => [
    ...(facts.keys.find((key) => key.name === name)?.records ?? []).map(
      (data): OverlayChange => ({ name, type: 'TXT', remove: true, data }),
    ),
    { name, type: 'CNAME', data: value.replace(/\.$/, '') },
  ])
  const draft = {
    title: 'Publish the DKIM selectors as aliases',
    by: 'dns',
    assumed: true,
    instructions: 'Then turn on signing at the provider of the aliases: a target has its key from then on.',
    changes,
    facts: { records: fixes.map(({ value }) => assumedTarget(value.replace(/\.$/, ''))) },
  } as const
  return [{ found: first, draft, ids: found.map(({ finding }) => finding.id) }]
}

/** Keys that cannot be used, once there is another: an empty key says that it is revoked (RFC 6376 §3.6.1). */
export const brokenKeys: OthersWork = (now) => {
  const { dkim: facts } = now.facts
  const found = foundIn(now, 'dkim').find(({ finding: { id, fix } }) => id === 'dkim.broken_key' && !fix)
  if (!found || facts instanceof Error || !hasUsableKey(facts)) return []
  const broken = facts.keys.filter(({ key, cname }) => key.state === 'broken' && cname.length === 0)
  if (broken.length === 0) return []
  const changes = broken.map(({ name }): OverlayRecord => ({ name, type: 'TXT', data: 'v=DKIM1; p=' }))
  const isOne = broken.length === 1
  const title = isOne ? 'Revoke the unusable DKIM key' : 'Revoke the unusable DKIM keys'
  const instructions = `If a service still signs with ${isOne ? 'this key' : 'one of these keys'}, publish the key again as that service shows it instead: a long key must be there to its last character.`
  return [
    {
      found,
      draft: { title: `${title}, or publish ${isOne ? 'it' : 'them'} again`, by: 'dns', changes, instructions },
    },
  ]
}

/** The PTR records of the domain's own addresses, which belong to whoever provides these. */
export const pointers: OthersWork = (now, domain) => {
  const { mail } = now.context
  // The address at the end of an alias is that of a web page.
  if (mail?.kind === 'implicit' && mail.cname.length > 0) return []
  const found = foundIn(now, 'ptr').filter(({ finding }) => finding.fix?.rtype === 'PTR')
  const changes = found.flatMap(({ finding }) => recordIn(finding.fix!, domain))
  const distinct = [...new Map(changes.map((change) => [change.name, change])).values()]
  const [first] = found
  if (!first || distinct.length === 0) return []
  const isOne = distinct.length === 1
  const draft = {
    title: isOne ? 'Set the PTR record' : 'Set the PTR records',
    by: 'address owner',
    instructions: `Ask whoever provides the ${isOne ? 'address' : 'addresses'} (the hosting provider or the network) to set ${isOne ? 'this record' : 'these records'}: reverse zones are not part of this domain.`,
    changes: distinct,
  } as const
  return [{ found: first, draft, ids: found.map(({ finding }) => finding.id) }]
}

/** The consent of report receivers elsewhere (RFC 9990 §4). */
export const consents: OthersWork = (now, domain) => {
  const { dmarc } = now.facts
  // Those of the organization's record are for the organization's plan.
  if (dmarc instanceof Error || dmarc.applied?.inherited) return []
  return foundIn(now, 'dmarc').flatMap((found) => {
    const { fix, id } = found.finding
    if (!fix || isWithin(fix.name, domain) || id !== 'dmarc.report_unauthorized') return []
    const host = fix.name.replace(/^.*\._report\._dmarc\./, '')
    const hosts = now.context.mail?.hosts ?? []
    // Nobody can agree at a host that only a step before is assumed to make.
    if (hosts.some(({ exchange, addresses }) => exchange === host && addresses.includes(ASSUMED_ADDRESS))) return []
    const changes = recordIn(fix, domain)
    const draft = {
      title: `Get the consent of ${host}`,
      by: 'report receiver',
      instructions:
        'Whoever runs that domain publishes this record, otherwise receivers send it no reports. If nobody there agrees, put an address of your own in its place.',
      changes,
    } as const
    return changes.length === 0 ? [] : [{ found, draft }]
  })
}

/** A record as a change; empty if it cannot be read. */
export function recordIn(
  { name, rtype, value }: { readonly name: string; readonly rtype: string; readonly value: string },
  domain: string,
): readonly OverlayRecord[] {
  const read = parseRecord({ name: `${name}.`, type: rtype, value }, domain)
  return read.ok ? [read.value] : []
}

/** Whether a key of the domain verifies mail, as far as that is known. */
export const hasUsableKey = (facts: Snapshot['facts']['dkim']): boolean => !(facts instanceof Error) && hasKey(facts)

/** Whether reports about the domain can come. */
export const hasReports = ({ facts: { dmarc } }: Snapshot): boolean =>
  !(dmarc instanceof Error) &&
  dmarc.rua.some(
    ({ problem, authorization, takesMail }) => !problem && authorization !== 'unauthorized' && takesMail !== false,
  )
