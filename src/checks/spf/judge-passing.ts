import type { Finding } from '../check.ts'
import { namesSomebody, withAll, without } from './fixes.ts'
import { fixOf, type Said } from './judge-form.ts'
import { sizeOf } from './passing/size.ts'
import { type Extent, isWide } from './passing/wide.ts'
import { firstRecord } from './proposal.ts'
import type { SpfNode } from './tree.ts'

/** More IPv4 addresses than this, without includes, exceed a domain's own mail hosts. */
const MANY_ADDRESSES = 2 ** 17
/** A total that exceeds that of several large providers. */
const VERY_MANY_ADDRESSES = 2 ** 24

/** Judges how many may pass. */
export function judgeExtent(said: Said, root: SpfNode, extent: Extent): Finding[] {
  const { ipv4, ownIpv4, passing } = extent
  const { evidence } = said
  if (extent.everybody) return [judgeEverybody(said, root, extent)]
  if (passing.tooWide) return [{ id: 'spf.too_wide', evidence }]
  if (ipv4 >= VERY_MANY_ADDRESSES) return [{ id: 'spf.very_many_addresses', args: { count: ipv4 }, evidence }]
  if (ownIpv4 > MANY_ADDRESSES) return [{ id: 'spf.many_addresses', args: { count: ownIpv4 }, evidence }]
  return []
}

/** Everybody passes, but not by `+all`. A wide term of the domain's own record can be removed; the owner of an include must correct one there. */
function judgeEverybody(said: Said, root: SpfNode, { wide, passing }: Extent): Finding {
  const { domain, evidence } = said
  const named = wide.map(({ text, domain: name }) => (name === domain ? text : `${text} in the record of ${name}`))
  const args = {
    domain,
    ipv4: sizeOf(passing.ip4),
    ipv6: sizeOf(passing.ip6) > 0,
    terms: named.length > 0 ? named : passing.terms.map(({ text }) => text),
  }
  const isOwn = wide.length > 0 && wide.every(({ domain: name }) => name === domain)
  return { id: 'spf.everybody', args, evidence, ...fixOf(domain, isOwn ? knownSenders(said, root) : undefined) }
}

/** The record without the terms that let everybody pass, ending in `~all`; if it then names nobody, the senders that follow from the mail hosts. */
export function knownSenders({ mail }: Said, { record, terms }: SpfNode): string | undefined {
  if (!record) return undefined
  const rest = without(record, (directive) => isWide(directive, terms))
  const first = namesSomebody(rest) ? undefined : firstRecord(mail)
  // Everybody passed until now, so nobody is refused at once.
  return first?.endsWith(' ~all') ? first : withAll(rest, '~')
}
