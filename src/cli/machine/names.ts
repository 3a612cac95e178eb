import type { Severity } from '../severity.ts'
import type { Outcome } from './outcome.ts'

/** Formats that other programs read: annotations of GitHub Actions, JUnit XML, SARIF 2.1.0, the line and the exit status of a Nagios plugin. */
export const MACHINE_FORMATS = ['github', 'junit', 'sarif', 'nagios'] as const
export type MachineFormat = (typeof MACHINE_FORMATS)[number]

export const isMachineFormat = (format: string): format is MachineFormat =>
  MACHINE_FORMATS.some((known) => known === format)

/** What a format needs to know beside the outcomes. */
export type Setup = {
  readonly version: string
  /** From this severity on a finding is a failure. */
  readonly failOn: Severity
  /** The file that said what must be published (`--expect`), where there is one: findings are shown at it. */
  readonly file?: string
}

/** Writes outcomes as they come (`each`) and what stands once (`end`). */
export type Writer = {
  readonly each: (outcome: Outcome) => string
  readonly end: (all: readonly Outcome[]) => string
  /** The exit status, where the format has rules of its own. */
  readonly status?: (all: readonly Outcome[]) => number
}
