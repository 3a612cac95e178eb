import type { PlanRecord } from '../../src/answers/plan.ts'
import type { ShownFinding, WrittenNode, WrittenRecord, WrittenZone } from './cases.ts'

type Fix = NonNullable<ShownFinding['fix']>

/**
 * The zone with the record of a fix published as its owner would: in place of the records of its name and type. Throws
 * for a name with an alias that leads somewhere, beside which no record can stand. An SPF record leaves other text at
 * its name alone, and an MX record those of other preferences; a null MX is the only one.
 */
export function published(zone: WrittenZone, { name, rtype, value }: Fix): WrittenZone {
  const { CNAME = [], ...node } = zone[name] ?? {}
  if ([CNAME].flat().some((target) => zone[String(target)])) throw new Error(`${name} is an alias`)
  const isReplaced = REPLACES[rtype]?.(value) ?? (() => true)
  const records = node[rtype] ?? []
  if (typeof records === 'string') throw new TypeError(`${name} ${rtype} is the fault ${records}`)
  return { ...zone, [name]: { ...node, [rtype]: [...records.filter((one) => !isReplaced(one)), dataOf(rtype, value)] } }
}

/** Which records of the type the fix stands in place of. */
const REPLACES: Readonly<Record<string, (value: string) => (record: WrittenRecord) => boolean>> = {
  TXT: (value) => (record) => !/^v=spf1/i.test(value) || /^\s*"?v=spf/i.test(String([record].flat().join(''))),
  MX: (value) => (record) => value === '0 .' || [record].flat()[0] === Number.parseInt(value, 10),
}

/** What a zone of the archetypes writes for a record's presentation form. */
function dataOf(rtype: string, value: string): WrittenRecord {
  if (rtype === 'TXT') return value
  const words = value.split(' ').map((word) => (word.length > 1 && word.endsWith('.') ? word.slice(0, -1) : word))
  return rtype === 'MX' ? [Number(words[0]), words[1]!] : words.join(' ')
}

/**
 * The zone without the values that the records of a plan replace or remove, and without aliases at their names; the
 * rest stays.
 */
export function withoutReplaced(zone: WrittenZone, records: readonly PlanRecord[]): WrittenZone {
  const next: Record<string, WrittenNode> = { ...zone }
  for (const { name, type, value, was } of records) {
    const { CNAME: _alias, ...node } = next[name] ?? {}
    const gone = new Set([...was, value].map((one) => compared(type, one)))
    const all = node[type] ?? []
    const kept = typeof all === 'string' ? [] : all.filter((one) => !gone.has(compared(type, shown(type, one))))
    next[name] = { ...node, [type]: kept }
  }
  return next
}

const shown = (type: string, record: WrittenRecord): string => [record].flat().join(type === 'TXT' ? '' : ' ')
/** Octets outside of ASCII are written in one way in a zone and in another in an answer. */
const compared = (type: string, text: string): string => {
  const ascii = text.replace(/[^ -~]+/g, '')
  return type === 'TXT' ? ascii : ascii.toLowerCase().replace(/\.$/, '')
}
