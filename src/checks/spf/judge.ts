import type { Args, DnsRecord, Finding, Outcome, Severity } from '../check.ts'
import type { DomainContext, Role } from '../context.ts'
import { findings as table } from './findings.ts'
import { tidied, withAll, without } from './fixes.ts'
import { judgePermerror } from './judge-permerror.ts'
import type { SpfFacts, SpfLookup } from './lookup.ts'
import { sizeOf } from './passing/size.ts'
import { type Extent, isWide } from './passing/wide.ts'
import type { SpfReading } from './reading.ts'
import { MAX_LOOKUPS } from './run.ts'
import { shorter } from './shorter.ts'
import { formatMacroString, formatSpf } from './terms.ts'
import { chainOf, type SpfNode } from './tree.ts'

/** More IPv4 addresses than this, includes left out, are more than a domain's own mail hosts; so many in all are more than any provider's. */
const MANY_ADDRESSES = 2 ** 17
const VERY_MANY_ADDRESSES = 2 ** 24
/** Modifiers that ask for failure reports (RFC 6652 §3): receivers that send none pass them over. */
const REPORTING: ReadonlySet<string> = new Set(['ra', 'rp', 'rr'])
/** Modifiers without a meaning that are told one by one. */
const MAX_MODIFIERS = 5
/** RFC 7208 §3.4 */
const LONG_RECORD = 450
const VERY_LONG_RECORD = 512

/**
 * Judges what is published. `fail`: there is no record, receivers answer permerror, or everybody passes; `unknown`: a part could not be
 * asked; `warn`: a finding of weight; else `pass`, also for `~all`.
 */
export function judgeSpf(facts: SpfFacts, { role }: Pick<DomainContext, 'role'>): Outcome<SpfFacts> {
  const { tree, reading } = facts
  if (!tree || !reading) return judgeAbsent(facts, role)
  const findings = [...judgePermerror(facts, reading), ...judgeRecord(facts, tree, reading)]
  const failed = reading.permerrors.length > 0 || letsEverybodyPass(reading)
  const unknown = reading.unknown[0]
  if (!failed && unknown) return { status: 'unknown', reason: unknown.reason, facts, findings }
  return { status: failed ? 'fail' : findings.some(isWeighty) ? 'warn' : 'pass', facts, findings }
}

/** Whether exactly one record stands that evaluates without permerror; quality is another matter. False while it is not known. */
export const isValid = ({ reading }: SpfFacts): boolean =>
  reading !== undefined && reading.permerrors.length === 0 && reading.unknown.length === 0

/** Whether everybody passes, or would if the record were evaluated to its end. */
export const letsEverybodyPass = ({ extent, all }: SpfReading): boolean => extent.everybody || all === '+'

const WEIGHTY: readonly Severity[] = ['critical', 'high', 'medium', 'low']
const isWeighty = ({ id }: Finding): boolean => WEIGHTY.includes(table[id as keyof typeof table].severity)

function judgeAbsent(facts: SpfFacts, role: Role): Outcome<SpfFacts> {
  const { domain, exists, similar, hasMx } = facts
  const fail = (findings: readonly Finding[]): Outcome<SpfFacts> => ({ status: 'fail', facts, findings })
  if (!exists) return fail([{ id: 'spf.no_domain', args: { domain } }])
  if (role === 'web_name_only' && similar.length === 0) {
    const web: Finding = { id: 'spf.no_record_web', args: { domain }, fix: record(domain, 'v=spf1 -all') }
    return { status: 'warn', facts, findings: [web] }
  }
  const fix = hasMx === undefined ? {} : { fix: record(domain, hasMx ? 'v=spf1 mx -all' : 'v=spf1 -all') }
  const none: Finding = { id: 'spf.no_record', args: { domain }, ...fix }
  return fail([none, ...similar.map((text): Finding => ({ id: 'spf.not_spf', args: { domain }, evidence: text }))])
}

function judgeRecord(found: SpfLookup, root: SpfNode, reading: SpfReading): Finding[] {
  const { domain } = found
  const said = { domain, evidence: found.records[0] ?? '' }
  return [
    ...judgeAll(said, root, reading),
    ...judgeUse(said, root, reading),
    ...judgeForm(said, root, reading),
    ...reading.unknown.map(({ name, reason }): Finding => ({ id: 'spf.part_unknown', args: { name, reason } })),
    ...(found.limit ? [{ id: 'spf.not_all_read', args: { limit: found.limit } }] : []),
  ]
}

type Said = { readonly domain: string; readonly evidence: string }

/** The weight of `all`: what a client that nothing else names gets (RFC 7208 §5.1, §4.7). */
function judgeAll({ domain, evidence }: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const own = root.record
  const found = (id: string, args: Args = {}): Finding[] => [
    { id, args, evidence, ...(own && !reading.redirects ? { fix: record(domain, withAll(own, '~')) } : {}) },
  ]
  if (!own) return []
  const { all, extent } = reading
  if (all === '+')
    return found('spf.plus_all', {
      path: chainOf(root)
        .map((node) => node.domain)
        .join(' > '),
    })
  if (extent.everybody) return [judgeEverybody({ domain, evidence }, root, extent)]
  if (reading.declaredNonSender) return [{ id: 'spf.sends_no_mail', args: { domain }, evidence }]
  if (all === '?') return found('spf.neutral_all')
  if (all === '~') return [{ id: 'spf.softfail', evidence }]
  const last = chainOf(root).at(-1)!
  const open = all === undefined && last.record !== undefined && !last.record.redirect
  return open ? found('spf.no_all', { record: last.domain }) : []
}

/** Everybody passes, and not by `+all`. A wide term of the own record can go; one in an include is for its owner to mend. */
function judgeEverybody({ domain, evidence }: Said, { record: own, terms }: SpfNode, extent: Extent): Finding {
  const { wide, passing } = extent
  const named = wide.map(({ text, domain: name }) => (name === domain ? text : `${text} in the record of ${name}`))
  const args = {
    domain,
    ipv4: sizeOf(passing.ip4),
    ipv6: sizeOf(passing.ip6) > 0,
    terms: named.length > 0 ? named : passing.terms.map(({ text }) => text),
  }
  const isOwn = wide.length > 0 && wide.every(({ domain: name }) => name === domain)
  const rest = own && { ...own, directives: own.directives.filter((directive) => !isWide(directive, terms)) }
  return { id: 'spf.everybody', args, evidence, ...(rest && isOwn ? { fix: record(domain, withAll(rest, '~')) } : {}) }
}

/** What the record lets pass, and at what cost. */
function judgeUse({ domain, evidence }: Said, { record: own }: SpfNode, reading: SpfReading): Finding[] {
  const { lookups, ptr, permerrors, reserved } = reading
  const findings: Finding[] = []
  if (ptr) {
    const text = own && without(own, ({ mechanism }) => mechanism.kind === 'ptr')
    const isOwn = own?.directives.some(({ mechanism }) => mechanism.kind === 'ptr')
    findings.push({ id: 'spf.ptr', evidence, ...(text && isOwn ? { fix: record(domain, text) } : {}) })
  }
  if (!letsEverybodyPass(reading)) findings.push(...judgeExtent(reading.extent, evidence))
  if (reserved.length > 0) findings.push({ id: 'spf.not_public', args: { terms: reserved }, evidence })
  if (permerrors.length === 0 && lookups >= MAX_LOOKUPS - 1)
    findings.push({ id: 'spf.lookups_near_limit', args: { lookups } })
  return findings
}

function judgeExtent({ ipv4, ownIpv4, passing }: Extent, evidence: string): Finding[] {
  if (passing.tooWide) return [{ id: 'spf.too_wide', evidence }]
  if (ipv4 >= VERY_MANY_ADDRESSES) return [{ id: 'spf.very_many_addresses', args: { count: ipv4 }, evidence }]
  if (ownIpv4 > MANY_ADDRESSES) return [{ id: 'spf.many_addresses', args: { count: ownIpv4 }, evidence }]
  return []
}

/** How the record is written. */
function judgeForm({ domain, evidence }: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { record: own } = root
  const { bytes, afterAll, duplicateIncludes } = reading
  const tidy = own && formatSpf(tidied(own))
  const fix = (text: string | undefined): { fix?: DnsRecord } =>
    text === undefined ? {} : { fix: record(domain, text) }
  const findings: Finding[] = []
  if (bytes > LONG_RECORD)
    findings.push({
      id: bytes > VERY_LONG_RECORD ? 'spf.very_long' : 'spf.long',
      args: { bytes },
      ...fix(shorterThan(root, LONG_RECORD)),
    })
  if (afterAll.length > 0) findings.push({ id: 'spf.after_all', args: { terms: afterAll }, evidence, ...fix(tidy) })
  if (duplicateIncludes.length > 0)
    findings.push({ id: 'spf.duplicate_include', args: { names: duplicateIncludes }, evidence, ...fix(shorter(root)) })
  const unknown = (own?.unknown ?? []).filter(({ name }) => !REPORTING.has(name.toLowerCase()))
  for (const { name, value } of unknown.slice(0, MAX_MODIFIERS))
    findings.push({ id: 'spf.unknown_modifier', args: { term: `${name}=${formatMacroString(value)}` }, evidence })
  return findings
}

function shorterThan(root: SpfNode, bytes: number): string | undefined {
  const text = shorter(root)
  return text !== undefined && text.length <= bytes ? text : undefined
}

const record = (name: string, value: string): DnsRecord => ({ name, rtype: 'TXT', value })
