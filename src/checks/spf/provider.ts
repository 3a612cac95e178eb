import { providerOfInclude } from '../../providers/index.ts'
import type { Finding, Severity } from '../check.ts'
import type { DomainContext, Mailboxes } from '../context.ts'
import { withInclude } from './fixes.ts'
import { fixOf } from './judge-record.ts'
import type { SpfFacts } from './lookup.ts'
import { intersects } from './passing/intervals.ts'
import { namesNobody, type SpfReading } from './reading.ts'
import { allOf, type SpfRecord } from './terms.ts'
import { nodesOf, type SpfNode } from './tree.ts'

/** What is known of the mailboxes: `key` is the DKIM key of their provider for the domain. */
type Context = Pick<DomainContext, 'mailboxes' | 'enforces'>

/** The deduction for a provider that is missing: the points, and those in the best and the worst case. */
export type MissingProvider = {
  /** Absent if the provider's include could not be read. */
  readonly finding?: Finding
  readonly grade: Grade | 'none'
  readonly least: Grade | 'none'
  readonly most: Grade
}
type Grade = 'low' | 'medium' | 'high'

/**
 * The provider of the mailboxes does not pass: by none of the addresses that its include names. Undefined if it does, or
 * if the record says nothing about who sends.
 */
export function judgeProvider(
  facts: SpfFacts,
  root: SpfNode,
  reading: SpfReading,
  context: Context,
): MissingProvider | undefined {
  const { domain, records, unnamed } = facts
  const { mailboxes, enforces } = context
  const { permerrors, unknown, extent, all } = reading
  if (!unnamed || mailboxes?.provider !== unnamed.provider || permerrors.length + unknown.length > 0) return undefined
  // Whoever names senders of its own by macros may have written the provider's out.
  if (extent.everybody || extent.passing.conditional.length > 0 || namesNobody(reading)) return undefined
  // `-all` alone says that nobody sends; `~all` alone names nobody yet.
  if (reading.passesNobody && all === '-') return undefined
  const { provider, include, passing } = unnamed
  if (passing && (intersects(passing.ip4, extent.passing.ip4) || intersects(passing.ip6, extent.passing.ip6)))
    return undefined
  const record = root.record && !redirects(root.record) ? withInclude(root.record, include) : undefined
  const others = nodesOf(root).map((node) => providerOfInclude(node.domain))
  const other = others.find((one) => one && one !== provider && (one.kind === 'gateway' || one.kind === 'mailbox'))
  const gradeOf = (key: Mailboxes['key'], isStrict: boolean): Grade => {
    if (key === 'usable' && all !== '-') return 'low'
    return key === 'absent' && isStrict && !other ? 'high' : 'medium'
  }
  const keys = mailboxes.isOpen ? (['usable', 'absent', 'unknown'] as const) : [mailboxes.key]
  const strict = all === '-' ? [true] : enforces === null ? [false, true] : [enforces]
  const grades = keys.flatMap((key) => strict.map((isStrict) => gradeOf(key, isStrict)))
  const ranked = GRADES.filter((grade) => grades.includes(grade))
  const grade = gradeOf(mailboxes.key, strict[0] === true)
  const args = { provider: provider.name, include, key: mailboxes.key, ...(other && { other: other.name }) }
  const severity: { severity?: Severity } = grade === 'low' ? {} : { severity: grade }
  const finding = {
    id: 'spf.provider_missing',
    args,
    evidence: records[0] ?? '',
    ...severity,
    ...fixOf(domain, record),
  }
  const most = ranked.at(-1)!
  return passing ? { finding, grade, least: ranked[0]!, most } : { grade: 'none', least: 'none', most }
}

const GRADES = ['low', 'medium', 'high'] as const

const redirects = (record: SpfRecord): boolean => record.redirect !== undefined && !allOf(record)
