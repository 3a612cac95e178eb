import { canonicalName } from '../../names/domain.ts'
import type { RecordData, RecordType } from './resolver.ts'

/**
 * The data of a record as in a zone file, names with a final dot; a TXT is the text itself, without quotes, and an SOA
 * has no serial.
 */
export function presentationOf(type: RecordType, data: RecordData[RecordType]): string {
  if (typeof data === 'string') return NAMES.includes(type) ? dotted(data) : data
  if ('exchange' in data) return `${data.preference} ${dotted(data.exchange)}`
  if ('mname' in data) {
    const { mname, rname, refresh, retry, expire, minimum } = data
    return [dotted(mname), dotted(rname), '(serial)', refresh, retry, expire, minimum].join(' ')
  }
  if ('tag' in data) return `${data.critical ? 128 : 0} ${data.tag} ${JSON.stringify(data.value)}`
  return Object.values(data).join(' ')
}

const NAMES: readonly RecordType[] = ['CNAME', 'NS', 'PTR']
const dotted = (name: string): string => `${canonicalName(name)}.`
