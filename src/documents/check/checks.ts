import type { DkimFields, DkimKey } from '../../answers/checks.ts'
import type { FindingAnswer } from '../../answers/finding.ts'
import { isJsonRecord, type JsonRecord } from '../../base/json.ts'
import { type Block, blocksOf, code, group, heading, type Inline, quiet, seen, text } from '../block.ts'
import { dmarcBlocks } from '../dmarc.ts'
import { fieldBlocks, labelOf } from '../plain.ts'
import { wordsFor } from '../words.ts'
import { type Answer, type Section, sectionsOf } from './answer.ts'
import { findingBlock } from './findings.ts'
import { hostBlocks } from './hosts.ts'
import { byLabel, checkLabel, findingLabel, type Label, marked } from './labels.ts'
import { sentenceOf } from './sentences.ts'
import { recordBlocks, spfBlocks } from './spf.ts'

/** A row of the checks, and what it is called. */
export type Row = { readonly label: Label; readonly block: Block }

/** One row per check, and `lists`, the worst first: its sentence; inside the records and findings. */
export function checkBlocks(answer: Answer, lists?: Row): readonly Block[] {
  const rows = sectionsOf(answer).map((section): Row => {
    const label = checkLabel(answer, section)
    return { label, block: rowBlock(answer, section, label) }
  })
  const all = lists === undefined ? rows : lists.label === 'broken' ? [lists, ...rows] : [...rows, lists]
  return all.toSorted((a, b) => byLabel(a.label, b.label)).map(({ block }) => block)
}

function rowBlock(answer: Answer, { key, name, purpose, status, reason, fields }: Section, label: Label): Block {
  const findings = answer.findings.filter(({ id }) => id.startsWith(`${key}.`))
  const sentence = label === 'unused' ? '' : sentenceOf(answer, key)
  // The title of a finding already says it.
  const isTold = reason === sentence || findings.some(({ title }) => title === reason)
  const known = status === 'not_applicable' ? reduced(answer, key) : evidence(answer, key, fields)
  return group(
    'row',
    heading(3, [name, ' ', marked(label), ...(sentence === '' ? [] : [' ', sentence])], key),
    purpose !== '' && quiet(purpose),
    reason !== undefined && !isTold && text({ strong: 'Reason: ' }, reason),
    known,
    findings.map((one) => {
      const own = findingLabel(answer, one)
      return findingBlock(isSeenIn(known, one) ? { ...one, evidence: undefined } : one, {
        step: answer.plan && one.steps?.[0],
        ...(own && { label: marked(own) }),
      })
    }),
  )
}

/** Whether the evidence of a finding is a record, or several, that already stand above it. */
function isSeenIn(blocks: readonly Block[], { evidence: text }: FindingAnswer): boolean {
  const texts = new Set(blocks.flatMap((block) => (block.kind === 'seen' ? [block.text].flat() : [])))
  return text?.split(' | ').every((part) => texts.has(part)) ?? false
}

/** For a check that does not apply: the published records, if any, without a judgement. */
function reduced(answer: Answer, key: string): readonly Block[] {
  if (key === 'mx') return hostBlocks({ ...answer, mx: [] })
  return key === 'dkim' && answer.dkim.keys.length > 0 ? keyBlocks(answer.dkim) : []
}

function evidence(answer: Answer, key: string, fields: JsonRecord = {}): readonly Block[] {
  if (key === 'mx') return [] // the map at the top
  if (key === 'spf') return spfBlocks(answer.spf, answer.domain)
  if (key === 'dmarc') return dmarcBlocks(answer.dmarc)
  return key === 'dkim' ? keyBlocks(answer.dkim) : factBlocks(fields)
}

/** Fields that are shown elsewhere: as the heading, the record or the reason. */
const TOLD = new Set(['status', 'reason', 'record', 'records', 'valid'])

const factBlocks = (fields: JsonRecord): readonly Block[] => [
  ...recordBlocks(recordsOf(fields)),
  ...fieldBlocks(fields, (name) => !TOLD.has(name), label),
]

const recordsOf = ({ record, records }: JsonRecord): string[] => {
  if (Array.isArray(records) && records.every((one) => typeof one === 'string')) return records
  if (Array.isArray(records)) return records.flatMap((one) => (isJsonRecord(one) ? caaText(one) : []))
  return typeof record === 'string' ? [record] : []
}

/** A CAA record in presentation format (RFC 8659 §4.1.1). */
const caaText = ({ critical, tag, value }: JsonRecord): string[] =>
  typeof tag === 'string' && typeof value === 'string' ? [`${critical === true ? 128 : 0} ${tag} "${value}"`] : []

const WORDS: Readonly<Record<string, string>> = {
  rua: 'Reports to (rua)',
  uri: 'Address',
  mx: 'MX',
  id: 'Id',
  ede: 'Extended errors',
  uncovered_mx: 'MX hosts missing from the policy',
  cname: 'CNAME',
  zone: 'Zone',
  domain: 'Found at',
  ptr: 'PTR',
  max_age: 'Maximum age (s)',
  refresh: 'Refresh (s)',
  retry: 'Retry (s)',
  expire: 'Expire (s)',
  expires_at: 'Expires',
  minimum: 'Minimum (s)',
  serial: 'Serial number',
  tcp: 'TCP',
  banner_name: 'Name in the greeting',
  ehlo_name: 'Name in EHLO',
  offered: 'STARTTLS',
  names: 'Names',
  name_matches: 'Name matches',
  forward_confirmed: 'Resolves back',
  lame: 'Lame',
  differs: 'Differs in',
}
const label = (name: string): string => wordsFor(WORDS, name) ?? labelOf(name)

/** Maximum number of keys shown. */
const MAX_KEYS = 20
const DISCOVERY: Readonly<Record<DkimFields['discovery'], string>> = {
  found: '',
  none_found: 'No key was found under the selectors that were tried; others may exist.',
  proven_absent: 'The DNS proves that there is no DKIM key at all.',
  unknown: 'It could not be determined whether there are keys.',
}

function keyBlocks({ keys, tried, wildcard, discovery, learned = [] }: DkimFields): readonly Block[] {
  const words = DISCOVERY[discovery]
  const all = wildcard ? '; a wildcard answers for every selector, so every name seems to be a selector.' : '.'
  const selectors = learned.length === 1 ? 'the selector ' : 'the selectors '
  return blocksOf([
    words !== '' && text(words),
    keys.slice(0, MAX_KEYS).map(keyOf),
    keys.length > MAX_KEYS && quiet(`${keys.length - MAX_KEYS} more keys are in the JSON.`),
    quiet(`${tried} selectors tried`, all),
    learned.length > 0 && quiet('Reports name ', selectors, code(learned.join(', ')), '.'),
  ])
}

function keyOf(key: DkimKey): readonly Block[] {
  const { revoked, usable, testing, problem, cname, key_bits: bits } = key
  const isOfReports = !usable && !revoked && problem === undefined
  const states = [
    key.key_type.toUpperCase(),
    ...(bits === null ? [] : [`${bits} bits`]),
    revoked ? 'revoked' : usable ? 'usable' : isOfReports ? 'for TLS reports' : 'not usable',
    ...(testing ? ['in test mode'] : []),
    ...(problem === undefined ? [] : [problem]),
  ]
  const through: Inline[] = cname.length === 0 ? [] : [', an alias of ', code(cname.at(-1)!)]
  return [
    text('Selector ', code(key.selector), `: ${states.filter((one) => one !== '').join(', ')}`, ...through),
    seen(`Record at ${key.name}`, key.record),
  ]
}
