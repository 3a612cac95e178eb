import type { CheckSummary, ExpectAnswer, WhatIfAnswer } from '../answers/what-if.ts'
import { counted } from '../base/text.ts'
import * as checks from '../checks/registry.ts'
import {
  type Block,
  blocksOf,
  bullets,
  code,
  conclude,
  type Document,
  grouped,
  heading,
  type Inline,
  type Line,
  type Mark,
  type Parts,
  quiet,
  table,
  text,
} from './block.ts'
import { checkDocument } from './check/check-document.ts'
import { footerOf } from './words.ts'

/** The check as if records were published: the changes first, then the check itself. */
export function whatIfDocument(answer: WhatIfAnswer, version: string): Document {
  // The comparison of before and after has its own table; it is not a check.
  const { before: _before, after: _after, ...check } = answer
  const { blocks, footer } = checkDocument(check, version)
  const first = blocks.findIndex(({ kind }) => kind !== 'verdict' && kind !== 'bars')
  const title = `What if: ${answer.domain}`
  return {
    title,
    blocks: [
      ...blocks.slice(0, first).map((block) => supposed(block, title, answer)),
      ...blocksOf(changeParts(answer)),
      ...blocks.slice(first),
    ],
    footer,
  }
}

/** The verdict as one about records that are not published: nobody may take its score for that of the domain. */
function supposed(block: Block, subject: string, { as_if, before }: WhatIfAnswer): Block {
  if (block.kind !== 'verdict') return block
  const one = as_if.length === 1
  const note: Line = [
    `As if ${counted(as_if.length, 'record')} ${one ? 'was' : 'were'} ${as_if.some(({ remove }) => remove) ? 'changed' : 'published'}. Without ${one ? 'it' : 'them'}: ${gradeOf(before)}, ${scoreOf(before)} of 100.`,
  ]
  return { kind: 'verdict', verdict: { ...block.verdict, subject, notes: [note, ...block.verdict.notes] } }
}

/** Titles of all findings, by id: the answer has only the ids of those that would be fixed. */
const TITLES: ReadonlyMap<string, string> = new Map(
  Object.values(checks).flatMap(({ table }) => Object.entries(table).map(([id, { title }]) => [id, title] as const)),
)

function changeParts({ before, after, as_if, skipped }: WhatIfAnswer): Parts {
  const fixed = before.findings.filter((id) => !after.findings.includes(id))
  const added = after.findings.filter((id) => !before.findings.includes(id))
  const named = (id: string): Line => {
    const title = TITLES.get(id)
    return title === undefined ? [code(id)] : [`${title} (`, code(id), ')']
  }
  const passed = Object.entries(skipped).map(([type, count]) => `${count} ${type}`)
  return [
    heading(2, 'What would change', 'change'),
    text(...sentenceOf(before, after)),
    table(
      'Before and after',
      RESULTS,
      ['Result', ([name]) => name],
      ['Now', ([, of]) => of(before)],
      ['With these records', ([, of]) => of(after)],
    ),
    passingTable(before, after),
    fixed.length > 0 && [text({ strong: 'Findings that would be resolved:' }), bullets(fixed.map(named))],
    added.length > 0 && [text({ strong: 'New findings:' }), bullets(added.map(named))],
    heading(3, 'The records'),
    as_if.map(
      ({ name, type, data, remove }): Block => ({
        kind: 'seen',
        label: `${name} ${type}${remove ? ', removed' : ''}`,
        text: data === undefined ? 'all records' : typeof data === 'string' ? data : formatData(data),
      }),
    ),
    passed.length > 0 && quiet(`Omitted from the zone, because they have no effect here: ${passed.join(', ')}.`),
  ]
}

function sentenceOf(before: CheckSummary, after: CheckSummary): Inline[] {
  const gain = after.score - before.score
  if (gain === 0) return ['The score stays ', { strong: String(after.score) }, '.']
  return [
    `The score ${gain > 0 ? 'rises' : 'falls'} by ${counted(Math.abs(gain), 'point')}, from ${before.score} to `,
    { strong: String(after.score) },
    '.',
  ]
}

/** What is compared before and after. */
const RESULTS: readonly (readonly [name: string, of: (summary: CheckSummary) => Inline])[] = [
  ['Score', (summary) => scoreOf(summary)],
  ['Grade', ({ grade }) => grade ?? 'not known'],
  ['Status', ({ status }) => ({ status })],
  ['Findings', ({ findings }) => String(findings.length)],
]

/** Who passes SPF before and after, term by term: an answer has at most 20 of each. */
function passingTable(before: CheckSummary, after: CheckSummary): Block | undefined {
  const terms = [...new Set([...(before.passing?.by ?? []), ...(after.passing?.by ?? [])].map(({ term }) => term))]
  const cell = ({ passing }: CheckSummary, term: string): Inline => {
    const found = passing?.by.find((each) => each.term === term)
    return found ? { mark: 'good', text: passingOf(found) } : { mark: 'none', text: 'no' }
  }
  const sum = ({ passing }: CheckSummary): Line => [
    passing ? `${passingOf(passing)}${passing.complete ? '' : ' or more'}` : 'nobody',
  ]
  const made = table(
    'Who may send (SPF)',
    terms,
    ['Term', (term) => code(term)],
    ['Now', (term) => cell(before, term)],
    ['With these records', (term) => cell(after, term)],
  )
  return made && { ...made, table: { ...made.table, sum: [['Total'], sum(before), sum(after)] } }
}

type Passing = {
  readonly ipv4?: number | undefined
  readonly ipv6_prefixes?: number | undefined
  readonly note?: string | undefined
}

function passingOf({ ipv4 = 0, ipv6_prefixes: ipv6 = 0, note }: Passing): string {
  if (note !== undefined) return note
  const parts = [
    ...(ipv4 > 0 ? [`${grouped(ipv4)} IPv4 address${ipv4 === 1 ? '' : 'es'}`] : []),
    ...(ipv6 > 0 ? [`${grouped(ipv6)} IPv6 network${ipv6 === 1 ? '' : 's'}`] : []),
  ]
  return parts.length === 0 ? 'no public address' : parts.join(', ')
}

const gradeOf = ({ grade }: CheckSummary): string => (grade === null ? 'grade not known' : `grade ${grade}`)
const scoreOf = ({ score, score_min: least = score, score_max: most = score }: CheckSummary): string =>
  least === most ? String(score) : `${score} (${least}–${most})`

/** Fields of a record's data in one line: `preference 10, exchange mx.example.org`. */
const formatData = (data: Readonly<Record<string, string | number | boolean>>): string =>
  Object.entries(data)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

/**
 * The differences between a file and the DNS, as a diff of each name and type: `-` is expected and not published, `+`
 * is published and not expected.
 */
export function expectDocument(answer: ExpectAnswer, version: string): Document {
  const { domain, total, differs, unknown, sets, observed_at } = answer
  const accepted = sets.filter((one) => one.accepted !== undefined).length
  const alike = sets.filter(({ status }) => status === 'same')
  return {
    title: `Expected records: ${domain}`,
    blocks: blocksOf([
      conclude(domain, ...judged(differs, unknown, total, accepted)),
      sets.filter(({ status }) => status !== 'same').map(diffOf),
      alike.length > 0 && [heading(2, 'As expected'), bullets(alike.map(({ name, type }) => code(`${name} ${type}`)))],
    ]),
    footer: footerOf(version, observed_at),
  }
}

function judged(
  differs: number,
  unknown: number,
  total: number,
  accepted: number,
): readonly [Mark, badge: string, words: string] {
  const sets = total === 1 ? 'record set' : 'record sets'
  if (differs > 0) {
    const verb = differs === 1 ? 'differs' : 'differ'
    return ['bad', 'Differs', `${differs} of ${total} ${sets} ${verb} from the expected records.`]
  }
  if (unknown > 0) return ['open', 'Unknown', `${unknown} of ${total} ${sets} could not be determined.`]
  if (accepted > 0)
    return [
      'good',
      'As accepted',
      `${accepted} of ${total} ${sets} ${accepted === 1 ? 'differs' : 'differ'}, as accepted.`,
    ]
  const words =
    total === 1 ? 'The record set is published as expected.' : `All ${total} ${sets} are published as expected.`
  return ['good', 'As expected', words]
}

function diffOf({
  name,
  type,
  status,
  expected,
  published,
  reason,
  accepted = [],
}: ExpectAnswer['sets'][number]): Block {
  if (status === 'unknown') return text(code(`${name} ${type}`), ` is unknown: ${reason ?? 'no answer'}`)
  const gone = expected.filter((value) => !published.includes(value)).map((value) => `- ${value}`)
  const kept = expected.filter((value) => published.includes(value)).map((value) => `  ${value}`)
  const added = published.filter((value) => !expected.includes(value)).map((value) => `+ ${value}`)
  const known = accepted.map((one) => `, accepted until ${one.until.slice(0, 10)} by ${one.by}: ${one.reason}`).join('')
  return {
    kind: 'seen',
    label: `${name} ${type} ${status === 'missing' ? 'is not published' : 'differs'}${known}`,
    text: [...kept, ...gone, ...added],
  }
}
