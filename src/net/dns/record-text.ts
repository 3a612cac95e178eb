import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { canonicalName, isWithin, labelsOf } from '../../names/domain.ts'
import { hostOf } from '../../names/pasted.ts'
import { unquoted } from '../../names/pasted-steps.ts'
import type { OverlayChange, OverlayRecord } from './overlay.ts'
import { recordProblem } from './problems.ts'
import {
  type Field,
  MAX_DATA,
  octetsOf,
  RECORD_TYPES,
  readFields,
  readSeconds,
  type TextType,
  textOf,
} from './record-data.ts'
import type { RecordData, RecordType } from './resolver.ts'
import { zoneEntries } from './zone-entries.ts'

/** A record as people write it: `value` is in presentation format; a TXT value without quotes is the text itself. */
export type RecordText = { readonly name: string; readonly type: string; readonly value: string }
/**
 * A record to publish, or with `remove` one to remove; a removal without a value is of all records of the name and
 * type.
 */
export type ChangeText = Omit<RecordText, 'value'> & {
  readonly value?: string | undefined
  readonly remove?: boolean | undefined
  /** The value is one that is published, to the last octet. */
  readonly asIs?: true
}

/**
 * Reads one record of a domain. `name` is `@`, relative to the domain (`_dmarc`), in full below it
 * (`_dmarc.example.org`), or absolute with a final dot. A name in the data is absolute if it ends in a dot; a single
 * label, or a name that ends in the domain, belongs to the domain; any other name is taken as a full name. Invisible
 * characters and quotes around both are passed over, and a value that is a whole line of a zone file is its data.
 */
export function parseRecord(
  { name, type, value: given, asIs }: RecordText & Pick<ChangeText, 'asIs'>,
  domain: string,
): Parsed<OverlayRecord> {
  const known = typeOf(type)
  if (!known.ok) return known
  const owner = ownerOf(name, domain)
  if (!owner.ok) return owner
  if (given.length > MAX_DATA) return problem(recordProblem('too_long', { max: MAX_DATA }))
  const value = asIs ? given : dataIn(given, known.value)
  if (known.value === 'TXT' && !value.trimStart().startsWith('"'))
    return value === '' ? problem(recordProblem('empty')) : made(owner.value, 'TXT', parsed(value))
  const fields = fieldsOf(value)
  if (!fields.ok) return fields
  if (known.value === 'TXT') return made(owner.value, 'TXT', textOfAll(fields.value))
  return made(
    owner.value,
    known.value,
    readFields(known.value, fields.value, (text) => targetOf(text, domain)),
  )
}

/** The data in a value that may be a whole line of a zone file, with its name, TTL, class and type. */
function dataIn(given: string, type: TextType): string {
  const value = type === 'TXT' ? unquoted(given, /^(['`])(.*)\1$/s) : unquoted(given)
  const [before, word] = BEFORE_DATA.exec(value) ?? []
  const behind = value.slice(before?.length ?? 0)
  const isLine = word?.toUpperCase() === type && (type !== 'TXT' || /^(?:["(]|v=)/i.test(behind))
  const data = (isLine ? behind : value).replace(/^\((.*)\)\s*(?:;[^"\r\n]*)?$/s, '$1').trimStart()
  // A text without quotes has the line ends of its page, and the semicolons that a zone file escapes.
  return data.startsWith('"') ? data : data.replace(/\s*[\r\n]\s*/g, ' ').replaceAll('\\;', ';')
}
/** Name, TTL, class and type in front of the data of a line. */
const BEFORE_DATA = /^(?:[^\s"()]{1,255}\s+)??(?:\d\w{0,9}\s+)?(?:IN\s+)?([A-Z]{1,6})\s+(?=\S)/i

/** Reads a record to publish or to remove, as {@link parseRecord} does. */
export function parseChange({ name, type, value, remove, asIs }: ChangeText, domain: string): Parsed<OverlayChange> {
  if (!remove) return parseRecord({ name, type, value: value ?? '', ...(asIs && { asIs }) }, domain)
  if (value !== undefined) {
    const record = parseRecord({ name, type, value, asIs: true }, domain)
    return record.ok ? parsed({ ...record.value, remove: true }) : record
  }
  const known = typeOf(type)
  if (!known.ok) return known
  const owner = ownerOf(name, domain)
  return owner.ok ? parsed({ name: owner.value, type: known.value, remove: true }) : owner
}

/** Reads a line such as `_dmarc TXT "v=DMARC1; p=none"` into its parts; a TTL and the class IN may precede the type. */
export function parseRecordLine(line: string): Parsed<RecordText> {
  const match = /^\s{0,100}(\S+)\s+(.*)$/su.exec(line.slice(0, MAX_DATA))
  if (!match) return problem(recordProblem('line', { text: line }))
  let rest = match[2]!
  for (let i = 0; i < 2; i++) {
    const word = /^(\S+)\s+/u.exec(rest)
    if (word && (word[1]!.toUpperCase() === 'IN' || readSeconds(word[1]!) !== undefined))
      rest = rest.slice(word[0].length)
  }
  const typed = /^(\S+)(?:\s+(.*))?$/su.exec(rest)
  if (!typed || typed[2] === undefined) return problem(recordProblem('no_value', { text: line }))
  return parsed({ name: match[1]!, type: typed[1]!, value: typed[2].trim() })
}

/** The type with that name, in any case. */
export function typeOf(text: string): Parsed<TextType> {
  const type = text.trim().toUpperCase()
  const known = RECORD_TYPES.find((one) => one === type)
  return known ? parsed(known) : problem(recordProblem('type', { text, known: RECORD_TYPES }))
}

/** A name as in zone files: `@` is the origin, and a name without a final dot is relative to it (RFC 1035 §5.1). */
export function absoluteName(text: string, origin: string): Parsed<string> {
  if (text === '@') return parsed(origin)
  const full = text.endsWith('.') && !text.endsWith('\\.') ? text : origin === '' ? text : `${text}.${origin}`
  const name = full === '.' ? '' : canonicalName(full)
  if (name === '') return parsed('')
  const labels = labelsOf(name)
  if (/[^\u0021-\u007e]|["();]/.test(name)) return problem(recordProblem('name', { text }))
  if (labels.some((label) => label === '' || label.length > 63) || name.length > 253)
    return problem(recordProblem('name_length', { text }))
  return parsed(name)
}

function ownerOf(given: string, domain: string): Parsed<string> {
  const text = unquoted(given).replace(/[,:;]+$/, '')
  if (text === '') return parsed(domain)
  if (/\s/.test(text)) return problem(recordProblem('name_blank', { text }))
  const host = hostOf(text)
  if (host !== undefined) return problem(recordProblem('name_url', { text, host }))
  return absoluteName(isWithin(text.toLowerCase(), domain) ? `${text}.` : text, domain)
}

function targetOf(text: string, domain: string): Parsed<string> {
  const host = hostOf(text)
  if (host !== undefined) return problem(recordProblem('name_url', { text, host }))
  const isRelative = text === '@' || !text.includes('.')
  return absoluteName(isRelative || text.endsWith('.') ? text : `${text}.`, domain)
}

/** The fields of one value; line breaks in it do not end it. */
function fieldsOf(value: string): Parsed<readonly Field[]> {
  const entries = [...zoneEntries(`( ${value.replaceAll(/[\r\n]/g, ' ')} )`)]
  const [entry] = entries
  if (entry && 'problem' in entry) return problem(entry.problem)
  return entry ? parsed(entry.fields) : problem(recordProblem('empty'))
}

/** A long text in one pair of quotes is split into strings, as the forms of providers do. */
function textOfAll(fields: readonly Field[]): Parsed<string> {
  const parts: Buffer[] = []
  for (const { text } of fields) {
    const octets = octetsOf(text)
    if (!octets.ok) return octets
    parts.push(octets.value)
  }
  return parsed(textOf(Buffer.concat(parts)))
}

/** A record of the type with its data, or the data's problem. */
export function made(name: string, type: RecordType, data: Parsed<unknown>): Parsed<OverlayRecord> {
  return data.ok ? parsed({ name, type, data: data.value } as OverlayRecord) : data
}

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
