import { unpasted } from '../../net/dns/pasted.ts'
import { dkimStepsOf, type Provider, providerOfAlias } from '../../providers/index.ts'
import type { DnsRecord } from '../check.ts'
import type { DkimFacts, FoundKey } from './facts.ts'
import { type KeyState, stateOf } from './key.ts'
import { KEY_VERSION, slipIn } from './parse.ts'

/**
 * The record of a testing key without its `t=y`; none if the name is a CNAME, whose target somebody else controls, or
 * has several records.
 */
export function withoutTesting({ name, records, others, cname }: FoundKey): DnsRecord | undefined {
  if (cname.length > 0 || records.length !== 1 || others > 0) return undefined
  const items = records[0]!.split(';').flatMap((item) => {
    const [tag, flags] = item.split('=')
    if (tag?.trim() !== 't' || flags === undefined) return [item]
    const kept = flags.split(':').filter((flag) => flag.trim().toLowerCase() !== 'y')
    return kept.length === 0 ? [] : [`${tag}=${kept.join(':')}`]
  })
  return { name, rtype: 'TXT', value: items.join(';').trim() }
}

/** The one usable record of several at a name; none if two could be meant, or if one is in use for TLS reports. */
export function onlyUsable({ name, records, cname }: FoundKey): DnsRecord | undefined {
  if (cname.length > 0 || hasReportsKey(records)) return undefined
  const usable = [...new Set(records)].filter((text) => stateOf(text).state === 'usable')
  return usable.length === 1 ? { name, rtype: 'TXT', value: usable[0]! } : undefined
}

export const hasReportsKey = (records: readonly string[]): boolean =>
  records.some((text) => stateOf(text).state === 'reports')

/**
 * PEM armour, quotation marks, backslashes, and anything that is neither printable ASCII nor a tab: none of these
 * belongs in a key record (RFC 6376 §3.6.1, §3.2).
 */
const FOREIGN = /-----(?:BEGIN|END) [A-Z ]{1,30}-----|["'\\]|[^\x20-\x7e\t]/g

/**
 * A key record that is usable after everything that does not belong in it is removed and its version is first; none if
 * somebody else controls it, or if that does not correct it.
 */
export function mendedKey({ name, records, others, cname, key }: FoundKey): DnsRecord | undefined {
  if (key.state !== 'broken' || cname.length > 0 || records.length !== 1 || others > 0) return undefined
  const text = unpasted(records[0]!, KEY_VERSION)
  const slip = slipIn(text)
  const body = text.replace(/["\s]/g, '')
  if (slip === 'alias') return { name, rtype: 'CNAME', value: body.replace(/\.?$/, '.').toLowerCase() }
  const items = (slip === 'bare_key' ? `k=rsa; p=${body}` : text)
    .replace(FOREIGN, (char) => (/\s/.test(char) ? ' ' : ''))
    .split(/;|[ \t]+(?=[vkhstgnp][ \t]*=)/) // a missing semicolon, too
    .map((item) => item.trim())
    .filter((item) => item !== '')
  // Of hashes sha1 alone lets no signature verify (RFC 8301 §3.1); without the tag all are allowed.
  const isLeftOut = (item: string): boolean =>
    /^v[ \t]*=/i.test(item) || (/^h[ \t]*=/i.test(item) && !/sha256/i.test(item))
  const tags = items
    .filter((item) => !isLeftOut(item))
    .map((item) => item.replace(/[ \t]*=[ \t]*/, '='))
    .map((item) => (item.startsWith('p=') ? item.replace(/[ \t]+/g, '') : item))
  const value = ['v=DKIM1', ...tags].join('; ')
  return isSound(stateOf(value)) ? { name, rtype: 'TXT', value } : undefined
}

const isSound = ({ state }: KeyState): boolean => state === 'usable' || state === 'reports'

/** Whether every key that verifies mail or reports before a fix also does so after it. */
export const keepsKeys = ({ keys: before }: DkimFacts, { keys: after }: DkimFacts): boolean =>
  before.every(
    ({ selector, key }) =>
      !isSound(key) || after.some((one) => one.selector === selector && one.key.state === key.state),
  )

/** Maximum number of providers whose steps are shown; those that host mailboxes come first. */
const MAX_TOLD = 3

/** How to enable DKIM at the providers of a domain, one instruction each. */
export function stepsAt(providers: readonly Provider[], domain: string): string[] {
  const byRank = [...providers].sort((a, b) => Number(a.kind !== 'mailbox') - Number(b.kind !== 'mailbox'))
  const steps = byRank.flatMap((provider) => {
    const text = dkimStepsOf(provider, domain)
    return text === undefined ? [] : [`${provider.name}: ${text}`]
  })
  return steps.slice(0, MAX_TOLD)
}

/** The provider of a selector: that of its alias, otherwise those of the domain that use the selector. */
export function providersOf(
  selector: string,
  target: string | undefined,
  providers: readonly Provider[],
): readonly Provider[] {
  const byAlias = target === undefined ? undefined : providerOfAlias(target)
  return byAlias ? [byAlias] : providers.filter(({ selectors }) => selectors.includes(selector.toLowerCase()))
}
