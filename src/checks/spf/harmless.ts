import { isProvidersInclude, namesSomebody } from './fixes.ts'
import type { SpfFacts } from './lookup.ts'
import { mend } from './mend.ts'
import { isWithin } from './passing/intervals.ts'
import type { Passing } from './passing/passing.ts'
import type { SpfReading } from './reading.ts'
import { formatDirective } from './terms.ts'
import { termsOf as allTermsOf, MAX_VOID_LOOKUPS, type SpfNode, type SpfTerm } from './tree.ts'

/**
 * Whether `after` is no worse for a domain's mail than `before`: every sender that passes still passes, and receivers
 * refuse no mail that they accept today. The exception is a record that lets everybody pass: it may name the known
 * senders, and end in `~all`.
 */
export function isHarmless(before: SpfFacts, after: SpfFacts): boolean {
  if (!after.reading || !after.tree) return false
  const isBroken = (before.reading?.permerrors.length ?? 0) > 0
  const works = before.reading !== undefined && !isBroken
  // The include of a provider that this DNS does not know is offered only where no record works today.
  const breaks = after.reading.permerrors.some(
    (fault) => works || !(fault.kind === 'no_record' && isProvidersInclude(fault.node.domain)),
  )
  return (
    (!breaks || isBroken) && keepsSenders(before, after.reading, after.tree) && refusesNoMore(before, after.reading)
  )
}

function keepsSenders({ reading, tree, free = [] }: SpfFacts, after: SpfReading, root: SpfNode): boolean {
  if (!reading || !tree) return true
  if (reading.extent.everybody) return after.permerrors.length === 0
  const [now, then] = [reading.extent.passing, after.extent.passing]
  const kept = new Set(then.conditional)
  // Nobody passes because of a name that does not exist.
  const isEmpty = (text: string): boolean => free.some(({ term }) => term === text)
  return (
    isWithin(now.ip4, then.ip4) &&
    isWithin(now.ip6, then.ip6) &&
    now.conditional.every((text) => kept.has(text) || isEmpty(text)) &&
    (isKnown(now) || keepsTerms(tree, root, isEmpty))
  )
}

const isKnown = ({ open, tooWide }: Passing): boolean => !open && !tooWide

/** If it is not known who passes, every term of the record must stay. */
function keepsTerms(before: SpfNode, after: SpfNode, isEmpty: (term: string) => boolean): boolean {
  const kept = new Set(termsOf(after))
  return termsOf(before).every((text) => kept.has(text) || isEmpty(text))
}

const termsOf = ({ record, terms }: SpfNode): readonly string[] => [
  ...(record?.directives ?? []).filter(({ mechanism }) => mechanism.kind !== 'all').map(formatDirective),
  ...terms.filter(({ directive }) => !directive).map(({ text }) => text),
]

/** `-all` is offered only if it takes effect today, and if the owner names nobody. */
function refusesNoMore(before: SpfFacts, after: SpfReading): boolean {
  if (after.all !== '-') return true
  const isInForce = before.reading?.permerrors.length === 0 && !(before.tree && failsForFamily(before.tree))
  if (before.reading?.all === '-' && isInForce) return true
  return after.declaredNonSender && [...before.records, ...before.similar].every(namesNobody)
}

/**
 * Whether clients of IPv4 or of IPv6 get more void lookups than permitted: for them an `a` is void if the name has only
 * addresses of the other family.
 */
const failsForFamily = (root: SpfNode): boolean =>
  FAMILIES.some((family) => {
    const isVoid = ({ state, directive, found }: SpfTerm): boolean =>
      state === 'void' || (directive?.mechanism.kind === 'a' && found?.[family].kind === 'void')
    return allTermsOf(root).filter(isVoid).length > MAX_VOID_LOOKUPS // RFC 7208 §4.6.4
  })
const FAMILIES = ['ip4', 'ip6'] as const

function namesNobody(text: string): boolean {
  const found = mend(text)
  return found.ok && !found.value.records.some(namesSomebody)
}
