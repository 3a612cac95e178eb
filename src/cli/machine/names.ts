import type { Severity } from '../severity.ts'
import type { Outcome } from './outcome.ts'

/** Formats for other programs: annotations of GitHub Actions, JUnit XML, SARIF 2.1.0, the line and the exit status of a Nagios plugin. */
export const MACHINE_FORMATS = ['github', 'junit', 'sarif', 'nagios'] as const
export type MachineFormat = (typeof MACHINE_FORMATS)[number]

export const isMachineFormat = (format: string): format is MachineFormat =>
  MACHINE_FORMATS.some((known) => known === format)

/** What a format needs beside the outcomes. */
export type Setup = {
  readonly version: string
  /** Findings at or above this severity are failures. */
  readonly failOn: Severity
  /** The file of `--expect`, if given: findings are located in it. */
  readonly file?: string
}

/** Writes each outcome as it arrives (`each`), and the end of the output (`end`). */
export type Writer = {
  readonly each: (outcome: Outcome) => string
  readonly end: (all: readonly Outcome[]) => string
  /** The exit status, if the format defines its own. */
  readonly status?: (all: readonly Outcome[]) => number
}
