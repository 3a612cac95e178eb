import type { ShownFinding, WrittenRecord, WrittenZone } from './cases.ts'

type Fix = NonNullable<ShownFinding['fix']>

/**
 * The zone with the record of a fix published as its owner would: in place of the records of its name and type. Throws for a name with an alias that leads somewhere, beside which no record can stand. An SPF record leaves other text
 * at its name alone, and an MX record those of other preferences; a null MX is the only one.
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
