import type { PlanRecord } from '../answers/plan.ts'
import type { OverlayChange } from '../net/dns/overlay.ts'
import { presentationOf } from '../net/dns/record-text.ts'
import type { RecordType } from '../net/dns/resolver.ts'
import { textKind } from '../net/dns/text-kind.ts'
import type { Published } from './snapshot.ts'

/** The TTL of records to publish, seconds. */
const TTL = 3_600

/** A name and type, and the kind of a TXT: what a record stands in place of. */
export const setKey = ({ name, type, data }: OverlayChange): string =>
  `${name} ${type} ${type === 'TXT' && typeof data === 'string' ? textKind(name, data) : ''}`

/** Changes over others: those of the same set replace them. */
export function layOver(below: readonly OverlayChange[], changes: readonly OverlayChange[]): readonly OverlayChange[] {
  const sets = new Set(changes.map(setKey))
  return [...below.filter((change) => !sets.has(setKey(change))), ...changes]
}
/** The state of the changed sets after a step; `before` are the changes of the steps before it. */
export async function recordsOf(
  published: (name: string, type: RecordType) => Promise<Published>,
  before: readonly OverlayChange[],
  changes: readonly OverlayChange[],
): Promise<PlanRecord[]> {
  const sets = Map.groupBy(changes, setKey)
  const recordsIn = async (key: string, values: readonly OverlayChange[]): Promise<PlanRecord[]> => {
    const { name, type } = values[0]!
    const kind = (text: string): string => (type === 'TXT' ? textKind(name, text) : '')
    const own = kind(String(values[0]!.data))
    const found = await published(name, type)
    const today = 'values' in found ? found.values : removedIn(values)
    const earlier = before.filter((change) => setKey(change) === key)
    const was = earlier.length > 0 ? textsOf(earlier) : today.filter((text) => kind(text) === own)
    const is = textsOf(values)
    const gone = was.filter((text) => !is.includes(text))
    const beside = type === 'TXT' ? today.filter((text) => kind(text) !== own) : []
    const first = is.find((text) => !was.includes(text))
    const rows = is.map((value) => ({
      action: was.includes(value)
        ? ('keep' as const)
        : value === first && gone.length > 0
          ? ('replace' as const)
          : ('add' as const),
      value,
      was: value === first ? [...gone] : [],
    }))
    // What goes stands with the first new value, or alone where none is new.
    const removed = first === undefined ? gone.map((value) => ({ action: 'remove' as const, value, was: [value] })) : []
    return [...rows, ...removed].map(({ action, value, was }) => ({
      action,
      name,
      type,
      ttl: TTL,
      value,
      was,
      ...(beside.length > 0 && { beside }),
      ...('unknown' in found && { beside_unknown: found.unknown }),
    }))
  }
  const shown: PlanRecord[] = []
  // One after another: which queries are still sent must not depend on the order of answers.
  for (const [key, values] of sets) shown.push(...(await recordsIn(key, values)))
  return shown
}

/** What changes remove, which was read when they were made. */
const removedIn = (changes: readonly OverlayChange[]): readonly string[] =>
  changes.flatMap(({ type, data, ...change }) =>
    'remove' in change && data !== undefined ? [presentationOf(type, data)] : [],
  )

const textsOf = (changes: readonly OverlayChange[]): readonly string[] =>
  changes.flatMap((change) => ('remove' in change ? [] : [presentationOf(change.type, change.data)]))
