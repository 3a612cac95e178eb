import { printable } from '../../base/text.ts'
import type { Answer } from '../../net/dns/resolver.ts'
import { type Provider, providerOfAlias } from '../../providers/index.ts'
import { type DnsRecord, type Finding, notApplicable, type Outcome } from '../check.ts'
import { applies, type DomainContext } from '../context.ts'
import { type DkimFacts, doubledBase, type FoundKey, isEverySelectors, isForMail } from './facts.ts'
import { hasReportsKey, mendedKey, onlyUsable, providersOf, stepsAt, withoutTesting } from './fixes.ts'
import { dkimUnknown } from './problems.ts'

/** Recommended RSA bits (RFC 8301 §3.2). */
const ADVISED_BITS = 2_048
/** Maximum RSA bits that receivers must support (RFC 8301 §3.2). */
const MOST_BITS = 4_096

/**
 * Judges the keys. Without a key, and without proof that there is none, the check is unknown, because selectors cannot
 * be guessed.
 */
export function judgeDkim(facts: DkimFacts, context: DomainContext): Outcome<DkimFacts> {
  const ofReports = facts.keys.filter((key) => !isForMail(key)).flatMap((key) => findingsOf(key, facts.domain, []))
  const about = [...wildcard(facts), ...doubled(facts), ...named(facts), ...ofReports]
  const usable = facts.keys.filter(({ key }) => key.state === 'usable')
  // A revoked key is equivalent to no key (RFC 6376 §3.6.1).
  if (usable.length === 0 && !applies('dkim', context)) return notApplicable(facts, context, about.map(leftOver))
  const { domain } = facts
  const steps = stepsAt(facts.providers, domain)
  if (facts.discovery !== 'found' && maySignAbove(facts, context)) return signedAbove(facts, about, steps)
  if (facts.discovery === 'proven_absent') {
    const absent: Finding = { id: 'dkim.proven_absent', args: { domain, steps } }
    return { status: 'fail', facts, findings: facts.doubled ? about : [...about, absent] }
  }
  if (facts.discovery !== 'found') return unknown(facts, about)
  const keys = facts.keys.filter(isForMail)
  const each = keys.flatMap((key) => findingsOf(key, domain, facts.providers))
  // Statements about all keys together stay open while a selector has no answer.
  const all = together(usable)
  const isOpen = facts.unanswered > 0 && (all.length > 0 || facts.dangling.some((one) => mayBeSigned(facts, one)))
  if (usable.length === 0 && facts.unanswered > 0) return unknown(facts, [...about, ...each])
  const findings = [
    ...about,
    ...each,
    ...(isOpen ? [] : all),
    ...withoutSender(facts, usable, context),
    ...mailboxKey(facts, usable, context),
    ...notAsked(facts),
  ]
  if (usable.length === 0) {
    const cause = each.find(({ id }) => id === 'dkim.broken_key')
    const args = { selectors: keys.map(({ selector }) => selector), steps }
    const none: Finding = { id: 'dkim.only_revoked', args, ...(cause && { follows: cause.id }) }
    return { status: 'fail', facts, findings: [...findings, none] }
  }
  if (isOpen && !isWeak(findings)) {
    const reason = dkimUnknown('better', { count: facts.unanswered })
    return { status: 'unknown', reason, facts, findings }
  }
  return { status: isWeak(findings) ? 'warn' : 'pass', facts, findings }
}

/** An alias without a key at a domain that sends nothing: nothing fails by it. */
const leftOver = (found: Finding): Finding =>
  found.id === 'dkim.dangling' ? { ...found, severity: 'low', args: { ...found.args, steps: LEFT_OVER } } : found
const LEFT_OVER = 'Remove the alias, unless the domain is to send mail again: it sends none.'

/** One queried selector, for `GET /v1/dkim`. */
export type SelectorFacts = { readonly selector: string; readonly answer: Answer<'TXT'>; readonly key?: FoundKey }

/** Judges one selector alone: an unusable key is a failure here, even if other selectors have usable ones. */
export function judgeSelector(facts: SelectorFacts): Outcome<SelectorFacts> {
  const { selector, answer, key } = facts
  const domain = answer.name.slice(answer.name.indexOf('._domainkey.') + '._domainkey.'.length)
  if (!key)
    return { status: 'fail', facts, findings: [keyless({ domain, providers: [] }, selector, answer.cname.at(-1))] }
  // Whether there is also an RSA key cannot be seen here.
  const weak = key.key.state === 'usable' ? together([key]).filter(({ id }) => id !== 'dkim.ed25519_only') : []
  const findings = [...findingsOf(key, domain, []), ...weak]
  if (!isForMail(key)) return { status: 'not_applicable', facts, findings }
  if (key.key.state !== 'usable') return { status: 'fail', facts, findings }
  return { status: isWeak(findings) ? 'warn' : 'pass', facts, findings }
}

/**
 * Whether a key of the organizational domain may sign for the name: it aligns where the record that applies is relaxed
 * (RFC 9989 §4.4.1). A missing answer may be that key.
 */
export const maySignAbove = (
  { parent, discovery }: DkimFacts,
  { relaxedAt }: Pick<DomainContext, 'relaxedAt'>,
): boolean =>
  discovery !== 'found' &&
  parent !== undefined &&
  (parent.selector !== undefined || parent.isOpen) &&
  (relaxedAt === null || relaxedAt === parent.domain)

function signedAbove(facts: DkimFacts, about: readonly Finding[], steps: readonly string[]): Outcome<DkimFacts> {
  const { domain } = facts
  const { domain: parent = '', selector } = facts.parent ?? {}
  const found: Finding[] =
    selector === undefined ? [] : [{ id: 'dkim.parent_key', args: { domain, parent, selector, steps } }]
  return { status: 'unknown', reason: dkimUnknown('parent', { parent }), facts, findings: [...about, ...found] }
}

/** Mailing services sign with a customer's domain and send with a return path of their own, whatever its SPF says. */
function withoutSender(facts: DkimFacts, usable: readonly FoundKey[], { sends }: DomainContext): Finding[] {
  if (sends !== false || usable.length === 0 || isEverySelectors(facts)) return []
  const services = [...new Set(usable.flatMap(({ cname }) => providerOfAlias(cname.at(-1) ?? '')?.name ?? []))]
  return [{ id: 'dkim.key_without_sender', args: { selectors: usable.map(({ selector }) => selector), services } }]
}

const isWeak = (findings: readonly Finding[]): boolean => findings.some(({ id }) => WEAK.has(id))

function wildcard({ domain, wildcardIsKey, wildcardRevokes, covered }: DkimFacts): Finding[] {
  if (!wildcardIsKey) return []
  const known = covered && { names: covered.selectors.map((one) => `${one}._domainkey.${domain}`), text: covered.text }
  return [{ id: wildcardRevokes ? 'dkim.wildcard_revoked' : 'dkim.wildcard', args: { domain, ...known } }]
}

/** A key at a name that contains the domain twice, with the record at the right name. */
function doubled({ domain, doubled: found }: DkimFacts): Finding[] {
  if (!found) return []
  const { selector, text } = found
  const fix = { name: `${selector}._domainkey.${domain}`, rtype: 'TXT', value: text }
  const args = { name: `${selector}.${doubledBase(domain)}`, meant: fix.name }
  return [{ id: 'dkim.doubled_name', args, evidence: printable(text, 600), fix }]
}

/** Selectors that should have a key: those that the caller named, and those with an alias. */
function named(facts: DkimFacts): Finding[] {
  const dangling = facts.dangling.filter((one) => isNext(facts, one.target) || !mayBeSigned(facts, one))
  const next = dangling.filter(({ target }) => isNext(facts, target))
  const off = Map.groupBy(
    dangling.filter((one) => !next.includes(one)),
    ({ selector, target }) => providerOfAlias(target)?.id ?? selector,
  )
  const aliases = [
    ...[...off.values()].map((group) => unsigned(facts, group)),
    ...next.map(({ selector, target }) => nextKey(selector, target)),
  ]
  const others = facts.keyless.filter((one) => !facts.dangling.some(({ selector }) => selector === one))
  return [...aliases, ...others.map((one) => keyless(facts, one))].slice(0, MAX_KEYLESS)
}

/**
 * Whether a provider that uses one key at a time may have its present key at a selector without an answer. Where all
 * of its selectors are aliases without a key, it has none.
 */
function mayBeSigned({ unanswered, dangling }: DkimFacts, { target }: DkimFacts['dangling'][number]): boolean {
  const provider = providerOfAlias(target)
  const isEmpty = (selector: string): boolean => dangling.some((one) => one.selector === selector)
  return unanswered > 0 && provider?.alternates === true && !provider.selectors.every(isEmpty)
}

/** Maximum number of findings about selectors without a key. */
const MAX_KEYLESS = 10

/**
 * Whether an alias waits for the next key of a provider that uses one key at a time, while another selector has the
 * present key.
 */
function isNext({ keys }: DkimFacts, target: string): boolean {
  const provider = providerOfAlias(target)
  return (
    provider?.alternates === true &&
    keys.some(({ key, cname }) => key.state === 'usable' && cname.some((one) => providerOfAlias(one) === provider))
  )
}

const nextKey = (selector: string, target: string): Finding => ({
  id: 'dkim.next_key',
  args: { selector, target: printable(target, 255), provider: providerOfAlias(target)!.name },
})

/** What was found, unless one selector alone was asked. */
type Signing = Pick<DkimFacts, 'domain'> & Partial<Pick<DkimFacts, 'keys' | 'unanswered'>>

/** Aliases of one provider, or one of an unknown one, whose targets have no key: signing is off. */
function unsigned(facts: Signing, group: DkimFacts['dangling']): Finding {
  const provider = providerOfAlias(group[0]!.target)
  const selector = group.map((one) => one.selector)
  const target = group.map((one) => printable(one.target, 255))
  const told = provider && { provider: provider.name, steps: turnOn(provider, facts, group) }
  return { id: 'dkim.dangling', args: { selector, target, ...told } }
}

/** How to turn signing on where aliases are published; a provider that changes between keys needs all of them. */
function turnOn(provider: Provider, { domain, keys, unanswered }: Signing, group: DkimFacts['dangling']): string {
  const { name, signing, alternates, selectors } = provider
  const tenant = /([a-z0-9-]{1,63}\.onmicrosoft\.com)$/i.exec(group[0]!.target)?.[1]
  const how = signing?.replaceAll('{domain}', domain) ?? `Turn on DKIM for ${domain} at ${name}.`
  const known = [...group, ...(keys ?? [])].map(({ selector }) => selector)
  const missing = alternates && unanswered === 0 ? selectors.filter((one) => !known.includes(one)) : []
  const published =
    missing.length === 0
      ? 'The aliases are published.'
      : `The alias ${missing.map((one) => `${one}._domainkey.${domain}`).join(', ')} is missing: publish it with the target that ${name} shows.`
  return `${published} ${how}${tenant === undefined ? '' : ` The tenant is ${tenant}.`}`
}

function keyless(
  { domain, providers }: Pick<DkimFacts, 'domain' | 'providers'>,
  selector: string,
  target?: string,
): Finding {
  if (target !== undefined) return unsigned({ domain }, [{ selector, target }])
  const steps = stepsAt(providersOf(selector, target, providers), domain)
  return { id: 'dkim.no_key', args: { selector, name: `${selector}._domainkey.${domain}`, steps } }
}

/** The usable keys are those of services that send newsletters and the like, and none is the mailbox provider's. */
function mailboxKey(facts: DkimFacts, usable: readonly FoundKey[], context: DomainContext): Finding[] {
  const { mailboxes, sends, sendersOpen } = context
  // Who says that nobody sends misses no key; what SPF says may not be known.
  if (
    !mailboxes ||
    sends === false ||
    sendersOpen === 'any' ||
    mailboxes.key === 'usable' ||
    mailboxes.isOpen ||
    facts.unanswered > 0
  )
    return []
  if (facts.dangling.some(({ target }) => providerOfAlias(target) === mailboxes.provider)) return []
  const owners = usable.map(({ selector, cname }) => providersOf(selector, cname.at(-1), facts.providers))
  if (owners.length === 0 || owners.some((some) => some.length === 0 || some.some(({ kind }) => kind !== 'sender')))
    return []
  const keys = [...new Set(owners.flat().map(({ name }) => name))]
  const steps = stepsAt([mailboxes.provider], facts.domain)
  return [{ id: 'dkim.mailbox_key_missing', args: { provider: mailboxes.provider.name, keys, steps } }]
}

const WEAK = new Set([
  'dkim.short_key',
  'dkim.testing',
  'dkim.ed25519_only',
  'dkim.several_records',
  'dkim.broken_key',
  'dkim.wildcard',
  'dkim.no_key',
  'dkim.dangling',
])

function unknown(facts: DkimFacts, findings: readonly Finding[]): Outcome<DkimFacts> {
  if (facts.error) {
    const reason = dkimUnknown('unanswered', { count: facts.unanswered, why: facts.error.problem })
    return { status: 'unknown', reason, facts, findings: [...findings, ...notAsked(facts)] }
  }
  const reason = dkimUnknown('none_found', { count: facts.tried })
  const args = { tried: facts.tried, ...unguessable(facts) }
  // That signing is off at the provider of the aliases is the cause.
  if (findings.some(({ id, args }) => id === 'dkim.dangling' && args?.provider !== undefined))
    return { status: 'unknown', reason, facts, findings }
  // Its owner signs reports with a key of their own, and may have taken it for one that signs mail.
  const reports = facts.keys.filter((key) => !isForMail(key)).map(({ selector }) => selector)
  const told = reports.length > 0 && ({ args: { ...args, reports }, severity: 'low' } as const)
  return { status: 'unknown', reason, facts, findings: [...findings, { id: 'dkim.none_found', args, ...told }] }
}

const unguessable = ({
  providers,
  domain,
}: DkimFacts): { readonly unguessable: string[]; readonly steps: string[] } => ({
  unguessable: providers.filter(({ guessable }) => !guessable).map(({ name }) => name),
  steps: stepsAt(providers, domain),
})

const notAsked = (facts: DkimFacts): Finding[] =>
  facts.error ? [{ id: 'dkim.not_asked', args: { count: facts.unanswered, reason: facts.error.problem } }] : []

function findingsOf(found: FoundKey, domain: string, providers: readonly Provider[]): Finding[] {
  const { selector, key, records, others, cname } = found
  const evidence = printable(records[0] ?? '', 600)
  const count = records.length + others
  const told = hasReportsKey(records) && { forReports: true }
  const several: Finding[] =
    count > 1
      ? [{ id: 'dkim.several_records', args: { selector, count, ...told }, evidence, ...fixed(onlyUsable(found)) }]
      : []
  if (key.state === 'revoked') return [...several, { id: 'dkim.revoked_key', args: { selector }, evidence }]
  if (key.state === 'reports') return [...several, { id: 'dkim.reports_key', args: { selector }, evidence }]
  if (key.state === 'broken')
    return [
      ...several,
      {
        id: 'dkim.broken_key',
        args: {
          selector,
          problem: key.problem,
          steps: stepsAt(providersOf(selector, cname.at(-1), providers), domain),
        },
        evidence,
        ...fixed(mendedKey(found)),
      },
    ]
  if (key.type === 'rsa' && key.bits > MOST_BITS)
    return [...several, { id: 'dkim.long_key', args: { selector, bits: key.bits }, evidence }]
  return several
}

/** Properties of the usable keys together: one good key is enough. */
function together(usable: readonly FoundKey[]): Finding[] {
  if (usable.length === 0) return []
  const findings: Finding[] = []
  const keys = usable.flatMap(({ selector, key }) => (key.state === 'usable' ? [{ selector, ...key }] : []))
  const best = keys.filter(({ type }) => type === 'rsa').sort((a, b) => b.bits - a.bits)[0]
  if (!best) findings.push({ id: 'dkim.ed25519_only' })
  else if (best.bits < ADVISED_BITS)
    findings.push({ id: 'dkim.short_key', args: { selector: best.selector, bits: best.bits } })
  if (keys.every(({ testing }) => testing)) {
    const selectors = keys.map(({ selector }) => selector)
    findings.push({ id: 'dkim.testing', args: { selectors }, ...fixed(withoutTesting(usable[0]!)) })
  }
  return findings
}

const fixed = (fix: DnsRecord | undefined): { readonly fix?: DnsRecord } => (fix ? { fix } : {})
