import { expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/answers/check.ts'
import type { PlanAnswer, PlanStep } from '../../src/answers/plan.ts'
import { printable } from '../../src/base/text.ts'
import { MACHINE_FORMATS, outcomeOf } from '../../src/cli/machine/outcome.ts'
import { writerOf } from '../../src/cli/machine/writers.ts'
import type { Document } from '../../src/documents/block.ts'
import { checkDocument } from '../../src/documents/check/check-document.ts'
import { formatHtml } from '../../src/documents/html/html.ts'
import { formatMarkdown } from '../../src/documents/markdown/markdown.ts'
import { planDocument } from '../../src/documents/plan.ts'
import { formatTerminal } from '../../src/documents/terminal/terminal.ts'
import { stepLines } from '../../src/monitors/run.ts'
import { domain } from '../../src/names/domain.ts'
import { checkDomain, checkVerdict } from '../../src/operations/check.ts'
import { formatDnscontrol } from '../../src/plan/formats/dnscontrol.ts'
import { formatOctodns } from '../../src/plan/formats/octodns.ts'
import { formatTerraform } from '../../src/plan/formats/terraform.ts'
import { formatZone } from '../../src/plan/formats/zone.ts'
import type { World } from '../../src/world.ts'
import { countedWorld } from '../golden/worlds.ts'
import { DOMAINS } from '../real/world.ts'
import { type DomainCase, domains } from './cases.ts'
import { worldOf } from './lab.ts'
import { calledTool } from './mcp.ts'

/**
 * Every face of an answer has the same records for a step, and a "step N" is the step that it describes: the page, the
 * Markdown, the terminal, the tools of assistants (MCP), the files for DNS tools, the mail of monitors, and the
 * lines for other programs beside the JSON.
 */
const { cases, ...shared } = domains()
const CASES = cases.filter(({ domain: name, path, expect: { refused } }) => name && !path && !refused)

type Row = { readonly id: string; readonly world: () => World; readonly row: Partial<DomainCase> }
const ROWS: readonly Row[] = [
  ...CASES.map((row) => ({ id: row.id, world: () => worldOf(row, shared), row })),
  ...DOMAINS.map(({ name }) => ({ id: name, world: () => countedWorld(), row: { domain: name } })),
]

it.each(ROWS.map((row) => [row.id, row] as const))(
  '%s',
  async (_, { world, row: { domain: name = '', query = {} } }) => {
    const ctx = { ...world(), signal: AbortSignal.timeout(20_000) }
    const deps = { smtpPort: 25, heloName: async () => 'sonde.test' }
    const wanted = { selectors: query.selector?.split(',') ?? [], starttls: query.starttls === 'true', plan: true }
    const answer = await checkDomain(ctx, deps, domain(name), wanted)
    expect([...faultsOf(answer), ...(await toolFaults(answer))]).toEqual([])
  },
)

/** The records of each step, by its number. */
type Shown = ReadonlyMap<number, readonly string[]>

/** Of each way of a choice, alone; and all of them stand in the documents of both. */
function faultsOf(answer: CheckAnswer): readonly string[] {
  const { choice, ...plan } = answer.plan!
  if (!choice) return faultsOfWay(answer)
  const others = choice.options.slice(1)
  const texts = [checkDocument(answer, '1'), planDocument({ ...answer, ...answer.plan! } as PlanAnswer, '1')]
    .map((document) => formatMarkdown(document))
    .map(plain)
  return [
    ...faultsOfWay({ ...answer, plan }),
    ...others.flatMap(({ steps, end }) => faultsOfWay({ ...answer, findings: [], plan: { ...plan, steps, end } })),
    ...others.flatMap(({ steps }) =>
      steps.flatMap(({ title, records }) =>
        [title, ...records.filter(({ action }) => action === 'add').map(({ value }) => printable(value).trim())]
          .filter((text) => !texts.every((one) => one.includes(plain(text))))
          .map((text) => `"${text}" of the other way is missing`),
      ),
    ),
  ]
}

/** What an assistant gets by its tools: all parts of the text together, and the JSON of a small answer. */
async function toolFaults(answer: CheckAnswer): Promise<readonly string[]> {
  const plan = { ...answer, ...answer.plan! } as PlanAnswer
  const called = await Promise.all([
    calledTool('check', answer.domain, { answer, document: checkDocument(answer, '1') }),
    calledTool('plan', answer.domain, { answer: plan, document: planDocument(plan, '1') }),
  ])
  const ways = answer.plan!.choice ? [] : called // each way of a choice begins with a step 1
  return [
    ...ways.flatMap(({ text }, i) => shownFaults(answer, [`MCP ${i + 1}`, inTerminal(text), always])),
    ...called.flatMap(({ json }, i) => {
      const told = json && ('plan' in json ? (json.plan as PlanAnswer) : (json as PlanAnswer))
      const isSame = told === undefined || JSON.stringify(told.steps) === JSON.stringify(plan.steps)
      return isSame ? [] : [`the JSON of MCP ${i + 1} has other steps`]
    }),
    ...mentionFaults(
      answer,
      called.map(({ text }) => text),
    ),
  ]
}

type Face = readonly [face: string, shown: Shown, isShown: (step: PlanStep, at: number) => boolean]

function faultsOfWay(answer: CheckAnswer): readonly string[] {
  const { steps } = answer.plan!
  const plan = { ...answer, ...answer.plan! } as PlanAnswer
  const firstWait = steps.findIndex(({ wait }) => wait !== undefined)
  /** Steps that the files of some tools have in comments. */
  const later = ({ optional, by, wait }: PlanStep, at: number): boolean =>
    optional === true || by !== 'dns' || wait !== undefined || (firstWait >= 0 && at >= firstWait)
  const firstLater = steps.findIndex(({ wait, optional }) => wait !== undefined || optional === true)
  /** The mail has what need not wait, at most five steps. */
  const now = (_: PlanStep, at: number): boolean => at < 5 && (firstLater < 0 || at < firstLater)
  const documents: readonly Document[] = [checkDocument(answer, '1'), planDocument(plan, '1')]
  const faces: readonly Face[] = [
    ...documents.flatMap((document, i): Face[] => [
      [`page ${i + 1}`, inPage(formatHtml(document)), always] as const,
      [`Markdown ${i + 1}`, inMarkdown(formatMarkdown(document)), always] as const,
      [
        `terminal ${i + 1}`,
        inTerminal(formatTerminal(document, { width: 400, colour: false, unicode: true })),
        always,
      ] as const,
    ]),
    ['zone', inZone(formatZone(plan)), always],
    ['dnscontrol', inDnscontrol(formatDnscontrol(plan), answer.domain), always],
    ['octodns', laterIn(formatOctodns(plan)), later],
    ['terraform', laterIn(formatTerraform(plan, 'cloudflare')), later],
    ['mail of a monitor', inMail(stepLines(answer).join('\n')), now],
  ]
  return [
    ...faces.flatMap((face) => shownFaults(answer, face)),
    ...machineFaults(answer),
    ...mentionFaults(answer, documents.map(formatMarkdown)),
  ]
}

/** Steps whose records a face shows otherwise than the answer has them. */
function shownFaults({ domain, plan }: CheckAnswer, [face, shown, isShown]: Face): readonly string[] {
  return plan!.steps.flatMap((step, i) => {
    const expected = isShown(step, i) ? recordsOf(step, domain) : []
    const kept = step.records.filter(({ action }) => action === 'keep')
    const stays = kept.map(({ name, type, value }) => compared([lineOf(name, type, value)]))
    const found = (shown.get(i + 1) ?? []).filter((line) => !stays.includes(compared([line])))
    return compared(expected) === compared(found)
      ? []
      : [`${face}: step ${i + 1} shows ${compared(found) || 'nothing'} and is ${compared(expected) || 'nothing'}`]
  })
}

const always = (): boolean => true

/** What is to be published of a step, one text a record. */
const recordsOf = ({ records }: PlanStep, at: string): readonly string[] =>
  records
    .filter(({ action }) => action === 'add' || action === 'replace')
    .map(({ name, type, value }) => lineOf(name, type, value, at))

const lineOf = (name: string, type: string, value: string, at = ''): string =>
  `${name || at} ${type} ${printable(value).replace(/\s+/g, ' ').trim()}`

const compared = (lines: readonly string[]): string => lines.map(plain).toSorted().join(' | ')
/** Octets outside of ASCII and what is escaped are written in each format's own way. */
const plain = (line: string): string =>
  line.replace(/\\u\{?[0-9a-f]+\}?|\\x[0-9a-f]{2}|\\\d{3}|[^ -~]+|[\\"]/gi, '').replace(/\.(?= |$)/g, '')

/** The text of each step, by its number, where `head` begins one. */
function sections(text: string, head: RegExp): ReadonlyMap<number, string> {
  const heads = [...text.matchAll(head)]
  return new Map(heads.map((one, i) => [Number(one[1]), text.slice(one.index, heads[i + 1]?.index)]))
}

const shownIn = (text: string, head: RegExp, record: RegExp, read: (match: RegExpExecArray) => string): Shown =>
  new Map(
    [...sections(text, head)].map(([number, part]) => [number, [...part.matchAll(record)].map((one) => read(one))]),
  )

const unescaped = (html: string): string =>
  html
    .replace(/<[^>]+>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')

const inPage = (html: string): Shown =>
  shownIn(
    html.slice(0, html.indexOf('id="checks"') < 0 ? undefined : html.indexOf('id="checks"')),
    /<h3 id="step-(\d+)">/g,
    /<dt>Name<\/dt><dd><code>(.*?)<\/code><\/dd><dt>Type<\/dt><dd><code>(.*?)<\/code><\/dd><dt>Value<\/dt><dd class="value"><code>(.*?)<\/code><\/dd>/g,
    ([, name = '', type = '', value = '']) => lineOf(unescaped(name), type, unescaped(value)),
  )

const inMarkdown = (text: string): Shown =>
  shownIn(
    text.split(/^## (?!The path|What the records)/m).filter((part) => part.includes('### Step 1:'))[0] ?? '',
    /^### Step (\d+): /gm,
    /^Record to publish at `([^`]*)`, type (\w+):\n\n```+\n(.*?)\n```+$/gms,
    ([, name = '', type = '', value = '']) => lineOf(name, type, value),
  )

const inTerminal = (text: string): Shown =>
  shownIn(
    text.slice(0, text.indexOf('\nAll checks\n') < 0 ? undefined : text.indexOf('\nAll checks\n')),
    /^(\d+)\. {1,2}\S/gm,
    /^ *Publish this (\w+) record at\s+(\S+):\n\n(.*?)\n(?= *in place of|\n)/gms,
    ([, type = '', name = '', value = '']) => lineOf(name, type, value),
  )

const inMail = (text: string): Shown =>
  shownIn(text, /^Step (\d+): /gm, /^ {2}Publish (\S+) (\S+) (.*)$/gm, ([, name = '', type = '', value = '']) =>
    lineOf(name, type, value),
  )

/** The strings of a quoted text together. */
const quoted = (value: string): string =>
  value.startsWith('"') ? [...value.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, one]) => one).join('') : value

const inZone = (text: string): Shown =>
  shownIn(text, /^; Step (\d+): /gm, /^(?:; )?(\S+) \d+ IN (\w+) (.*)$/gm, ([, name = '', type = '', value = '']) =>
    lineOf(name, type, quoted(value)),
  )

const inDnscontrol = (text: string, at: string): Shown =>
  shownIn(text, /^ *\/\/ Step (\d+): /gm, /^ *(?:\/\/ )?([A-Z]+)\("([^"]*)", (.*), TTL\(\d+\)\),?$/gm, (match) => {
    const [, type = '', name = '', args = ''] = match
    const full = name === '@' ? at : name.endsWith('.') ? name.slice(0, -1) : `${name}.${at}`
    const value = type === 'MX' ? args.replace(', ', ' ').replaceAll('"', '') : quoted(args.replace(/^\[|\]$/g, ''))
    return lineOf(full, type, value)
  })

/** The records in the comments of steps that wait. */
const laterIn = (text: string): Shown =>
  shownIn(text, /^# Step (\d+): /gm, /^# {2}(\S+) ([A-Z]+) (.*)$/gm, ([, name = '', type = '', value = '']) =>
    lineOf(name, type, value),
  )

/** A finding with a record has it, and its step, in the lines for other programs. */
function machineFaults(answer: CheckAnswer): readonly string[] {
  const outcome = outcomeOf('check', answer.domain, checkVerdict(answer), JSON.parse(JSON.stringify(answer)))
  const told = answer.findings.filter(({ severity }) => severity !== 'low' && severity !== 'info')
  return MACHINE_FORMATS.flatMap((format) => {
    const writer = writerOf(format, { version: '1' })
    const text = unescaped(writer.each(outcome) + writer.end([outcome]))
      .replaceAll('%25', '%')
      .replaceAll('%3A', ':')
    return told.flatMap(({ id, steps: [first] = [], fix }) => {
      const step = first === undefined ? undefined : answer.plan?.steps[first - 1]
      if (!step || outcome.issues.length > 50) return []
      const title = plain(`Step ${first}: ${step.title}`)
      const record = fix ? plain(lineOf(fix.name, fix.rtype, fix.value)) : ''
      return plain(text).includes(title) && plain(text).includes(record)
        ? []
        : [`${format}: ${id} is without step ${first}: ${record}`]
    })
  })
}

/** A step that a document names for a finding resolves it. */
function mentionFaults({ plan, findings }: CheckAnswer, texts: readonly string[]): readonly string[] {
  const count = plan!.steps.length
  const missing = texts.flatMap((text) =>
    [...text.matchAll(/\bstep (\d+)\b/gi)].flatMap(([words, number]) =>
      Number(number) >= 1 && Number(number) <= count ? [] : [`"${words}" is not there`],
    ),
  )
  const wrong = findings.flatMap(({ id, steps = [] }) =>
    steps.filter((number) => !plan!.steps[number - 1]?.findings.includes(id)).map((number) => `${id}: step ${number}`),
  )
  return [...missing, ...wrong]
}
