import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A measured figure: more is better, unless `isLessBetter`. */
export type Figure = {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly isLessBetter?: true
  /** What was to be reached: of the figure, or with `beside` of its ratio to the other program's. */
  readonly goal?: number
  /** Another program's figure of the same run. */
  readonly beside?: { readonly who: string; readonly value: number }
}

/** One run of a benchmark, as a line of `bench/history.ndjson`. */
export type Run = {
  readonly bench: string
  /** The day, `2026-11-23`. */
  readonly day: string
  readonly commit?: string
  readonly machine: string
  readonly command: string
  readonly figures?: readonly Figure[]
  /** The result in words, of benchmarks that have a sentence in the documents. */
  readonly sentence?: string
  /** Its tables, which the page does not show. */
  readonly detail?: readonly string[]
}

const ROOT = join(import.meta.dirname, '..')
const HISTORY = join(ROOT, 'bench/history.ndjson')
const PAGE = join(ROOT, 'contributing/benchmarks.md')
/** Maximum length of the page of results, lines. */
const MAX_LINES = 150

/** Appends a run to the history, and writes the page of results anew. */
export function record(run: Omit<Run, 'day' | 'commit' | 'command'>): void {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
  const words = ['node', ...process.argv.slice(1).map((word) => word.replace(`${ROOT}/`, ''))]
  const command = words.join(' ').replace(/ --write yes\b/, '')
  const line: Run = { ...run, day: new Date().toISOString().slice(0, 10), commit, command }
  appendFileSync(HISTORY, `${JSON.stringify(line)}\n`)
  writePage()
}

/** Writes the page of results from the last run of each benchmark. What stands before and after the results stays. */
export function writePage(): void {
  const [before = '', , after = ''] = readFileSync(PAGE, 'utf8').split(/<!-- \/?results -->/)
  const page = `${before}<!-- results -->\n${results(lastRuns())}\n<!-- /results -->${after}`
  const lines = page.split('\n').length
  if (lines > MAX_LINES) throw new Error(`${PAGE} would have ${lines} lines, more than ${MAX_LINES}`)
  writeFileSync(PAGE, page)
}

/** The last run of each benchmark. */
export function lastRuns(): readonly Run[] {
  const lines = readFileSync(HISTORY, 'utf8').trimEnd().split('\n')
  const runs = lines.map((line) => JSON.parse(line) as Run)
  return [...new Map(runs.map((run) => [run.bench, run])).values()]
}

/** The results as Markdown. */
export function results(runs: readonly Run[]): string {
  const all = runs.flatMap(({ figures = [] }) => figures)
  const beside = all.filter((figure) => figure.beside !== undefined)
  const alone = all.filter((figure) => figure.beside === undefined)
  const sentences = runs.flatMap(({ bench, sentence }) => (sentence ? [`- ${bench}: ${sentence}`] : []))
  return [
    '## Beside other programs',
    table(['what', 'mailsonde', 'beside it', 'has', 'ratio', 'goal'], beside.map(besideRow)),
    '## Alone',
    table(
      ['what', 'measured', 'goal'],
      alone.map((figure) => [figure.what, shown(figure), goalOf(figure)]),
    ),
    '## Where we lose',
    lossesOf(all),
    '## In words',
    sentences.join('\n'),
    '## Runs',
    machinesOf(runs).join('\n'),
  ].join('\n\n')
}

/** A line for each machine, with the runs on it. */
function machinesOf(runs: readonly Run[]): readonly string[] {
  const machines = new Map<string, string[]>()
  for (const { bench, day, commit, machine, command } of runs) {
    const [load = ''] = /load [^,]+/.exec(machine) ?? []
    const name = machine.replace(`, ${load}`, '')
    const facts = [day, ...(commit === undefined ? [] : [commit]), load, `\`${command}\``].join(', ')
    machines.set(name, [...(machines.get(name) ?? []), `${bench} (${facts})`])
  }
  return [...machines].map(([name, all]) => `- ${name}: ${all.join('; ')}.`)
}

const besideRow = (figure: Figure): readonly string[] => {
  const { who, value } = figure.beside!
  return [figure.what, shown(figure), who, shown({ ...figure, value }), ratioText(figure), goalOf(figure)]
}

/** The figure, or its ratio to the other program's: more than 1 is better than theirs. */
const scoreOf = ({ value, beside, isLessBetter }: Figure): number =>
  beside === undefined ? value : isLessBetter ? beside.value / value : value / beside.value

const ratioText = (figure: Figure): string =>
  `${isLost(figure) ? '**' : ''}${scoreOf(figure).toFixed(2)}${isLost(figure) ? '**' : ''}`

function isMissed(figure: Figure): boolean {
  if (figure.goal === undefined) return false
  const isLess = figure.isLessBetter === true && figure.beside === undefined
  return isLess ? figure.value > figure.goal : scoreOf(figure) < figure.goal
}

const isLost = (figure: Figure): boolean => isMissed(figure) || (figure.beside !== undefined && scoreOf(figure) < 1)

const goalOf = (figure: Figure): string =>
  figure.goal === undefined ? '' : `${number(figure.goal)}: ${isMissed(figure) ? '**missed**' : 'reached'}`

/** A line for what another program does better, and one for other goals that were missed. */
function lossesOf(all: readonly Figure[]): string {
  const behind = all.filter((figure) => figure.beside !== undefined && scoreOf(figure) < 1)
  const missed = all.filter((figure) => isMissed(figure) && !behind.includes(figure))
  const lines = [
    ['Another program is better', behind],
    ['A goal is missed', missed],
  ] as const
  const told = lines.flatMap(([title, some]) =>
    some.length === 0 ? [] : [`- ${title}. ${some.map(lossOf).join('; ')}.`],
  )
  return told.join('\n') || 'Nowhere.'
}

const lossOf = (figure: Figure): string => {
  const { what, beside } = figure
  const said = beside === undefined ? shown(figure) : `${scoreOf(figure).toFixed(2)} × ${beside.who}`
  return `${what}: ${said}${figure.goal === undefined ? '' : ` (goal ${number(figure.goal)})`}`
}

const shown = ({ value, unit }: Figure): string => `${number(value)}${unit === '' ? '' : ` ${unit}`}`
const number = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 })

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
