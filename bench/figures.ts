import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'

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

/** Current and peak resident memory of a process, MiB; Linux. */
export function residentMiB(pid: number): { readonly now: number; readonly highest: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kiB = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return { now: kiB('VmRSS') / 1_024, highest: kiB('VmHWM') / 1_024 }
}

/** `--name value` pairs of a command line. */
export function flags(args: readonly string[]): Readonly<Record<string, string | undefined>> {
  const found: Record<string, string> = {}
  for (let i = 0; i + 1 < args.length; i += 2) found[args[i]!.replace(/^--/, '')] = args[i + 1]!
  return found
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * The documents whose figures are written by the benchmarks: between `<!-- figures NAME -->` and `<!-- /figures -->`
 * all, after `<!-- sentence NAME -->` the first part.
 */
const DOCUMENTS = ['docs/scale.md', 'docs/jobs.md', 'contributing/benchmarks.md']

/** Prints the figures of a benchmark, the sentence first; with `--write yes` they replace those in the documents. */
export function figures(name: string, parts: readonly string[]): void {
  const text = parts.join('\n\n')
  console.log(`\n${text}`)
  if (flags(process.argv.slice(2)).write === 'yes') enter(name, parts)
}

/** Replaces the figures of a measurement in the documents. */
export function enter(name: string, parts: readonly string[]): void {
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
