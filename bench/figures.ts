import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { type Figure, record } from './history.ts'

/** The settings of V8 that the unit file and the image have. */
export const V8_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=40']

/** The median of the values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The machine in one line, with its load: the conditions of a measurement. */
export const machine = (): string =>
  `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.version}`

/** Processor time of a process, user and system, ms; Linux. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10 // proc(5): utime and stime, in hundredths of a second
}

/**
 * Resident memory of a process, MiB; Linux: all of it, its peak, and the two parts of the present one: `anonymous` is
 * the process's own, `mapped` are pages of files, such as Node's binary, which all processes share.
 */
export type Resident = { readonly [part in 'now' | 'highest' | 'anonymous' | 'mapped']: number }

export function residentMiB(pid: number): Resident {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kiB = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  const [now, highest, anonymous, mapped] = ['VmRSS', 'VmHWM', 'RssAnon', 'RssFile'].map((name) => kiB(name) / 1_024)
  return { now: now!, highest: highest!, anonymous: anonymous!, mapped: mapped! }
}

/** `--name value` pairs of a command line. */
export function flags(args: readonly string[]): Readonly<Record<string, string | undefined>> {
  const found: Record<string, string> = {}
  for (let i = 0; i + 1 < args.length; i += 2) found[args[i]!.replace(/^--/, '')] = args[i + 1]!
  return found
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Whether figures are entered in history, page of results and documents: in `npm run bench`, and with `--write yes`.
 */
const isEntered = process.env.BENCH_WRITE === 'yes' || flags(process.argv.slice(2)).write === 'yes'

/** Enters the figures of a run, if they are to be entered. Its own output is that of the benchmark. */
export function report(bench: string, measured: readonly Figure[]): void {
  if (isEntered) record({ bench, machine: machine(), figures: measured })
}

/**
 * The documents whose figures are written by the benchmarks: between `<!-- figures NAME -->` and `<!-- /figures -->`
 * all, after `<!-- sentence NAME -->` the first part.
 */
const DOCUMENTS = ['docs/scale.md', 'docs/jobs.md']

/** Prints the figures of a benchmark, the sentence first, and enters them, if they are to be entered. */
export function figures(name: string, parts: readonly string[]): void {
  const text = parts.join('\n\n')
  console.log(`\n${text}`)
  if (isEntered) enter(name, parts)
}

/** Enters a measurement: its sentence in history and page of results, all of it in the documents. */
export function enter(name: string, parts: readonly string[]): void {
  record({ bench: name, machine: machine(), sentence: parts[0]!, detail: parts.slice(1) })
  const text = parts.join('\n\n')
  for (const document of DOCUMENTS) {
    const path = join(import.meta.dirname, '..', document)
    const old = readFileSync(path, 'utf8')
    const now = between(between(old, `figures ${name}`, `\n${text}\n`), `sentence ${name}`, parts[0]!)
    if (now !== old) writeFileSync(path, now)
  }
}

function between(text: string, what: string, inner: string): string {
  const [begin, end] = [`<!-- ${what} -->`, `<!-- /${what.split(' ')[0]} -->`]
  return text
    .split(begin)
    .map((part, n) => (n === 0 ? part : `${begin}${inner}${part.slice(part.indexOf(end))}`))
    .join('')
}

/** A table of a document. */
export const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map((_, n) => (n === 0 ? '---' : '--:')), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
