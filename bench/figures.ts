import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'

/** The middle one of the values, and the mean of the two in the middle of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The machine in one line: what a figure was measured on, and how busy it was with other things. */
export const machine = (): string =>
  `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.version}`

/** Processor time that a process has used, program and kernel, ms; Linux. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10 // proc(5): utime and stime, in hundredths of a second
}

/** Resident memory of a process now and its highest, MiB; Linux. */
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
