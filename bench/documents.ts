import { checkDocument } from '../src/documents/check/check-document.ts'
import { formatHtml } from '../src/documents/html/html.ts'
import { formatMarkdown } from '../src/documents/markdown/markdown.ts'
import { formatTerminal } from '../src/documents/terminal/terminal.ts'
import { reportExample } from '../src/operations/examples.ts'
import { report } from '../src/operations/report.ts'
import { exampleOf } from '../test/lab/answer.ts'
import { labDocuments } from '../test/lab/documents.ts'
import { report as enter } from './figures.ts'

/**
 * The cost of writing a report: the document and each format, median and 99th percentile of 2,000 after a warm-up, and
 * the mean processor time; with the ratio to JSON.stringify of the same answer.
 */
const ROUNDS = 2_000
const answer = exampleOf(report)
const many = { ...answer, findings: [...Array(400).keys()].map(() => answer.findings[0]!) }
const look = { width: 80, colour: true, unicode: true }
const document = checkDocument(answer, '0')
const large = checkDocument(many, '0')

const rows: readonly (readonly [string, () => unknown])[] = [
  ['JSON.stringify', () => JSON.stringify(answer)],
  ['document', () => checkDocument(answer, '0')],
  ['HTML', () => formatHtml(document)],
  ['Markdown', () => formatMarkdown(document)],
  ['terminal', () => formatTerminal(document, look)],
  ['HTML, 400 findings', () => formatHtml(large)],
]
const measured = rows.map(([name, work]) => ({ name, ...timesOf(work) }))
const [json] = measured
for (const { name, median, slow, cpu } of measured)
  console.log(
    `${name.padEnd(20)} ${median.toFixed(3)} ms, 99th ${slow.toFixed(3)} ms, processor ${cpu.toFixed(3)} ms, ${(median / json!.median).toFixed(1)} × JSON`,
  )
console.log(`HTML of ${reportExample.input.domain}: ${Buffer.byteLength(formatHtml(document))} bytes`)
const cost = (name: string): number => measured.find((row) => row.name === name)!.cpu
const common = { unit: 'ms', isLessBetter: true } as const
enter('documents', [
  { what: 'a report as HTML, processor time', value: cost('HTML'), ...common },
  { what: 'a report on a terminal, with colours, processor time', value: cost('terminal'), ...common },
])
const all = Object.values(await labDocuments())
console.log(`HTML of all ${all.length} documents: ${timesOf(() => all.map(formatHtml)).median.toFixed(1)} ms`)

function timesOf(work: () => unknown): { median: number; slow: number; cpu: number } {
  for (let i = 0; i < ROUNDS / 4; i++) work()
  const before = process.cpuUsage()
  const times = [...Array(ROUNDS)].map(() => {
    const begun = performance.now()
    work()
    return performance.now() - begun
  })
  const { user, system } = process.cpuUsage(before)
  times.sort((a, b) => a - b)
  return { median: times[ROUNDS / 2]!, slow: times[Math.floor(ROUNDS * 0.99)]!, cpu: (user + system) / 1_000 / ROUNDS }
}
